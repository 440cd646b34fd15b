"""Cards of the games, each with buttons to start one."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

from dicegym import games
from dicegym.games.rules_page import rules_page
from dicegym.players.roster import agent_names, resolve
from dicegym.web.static_files import address, files


class GameCard(NamedTuple):
    """A game on the first page."""

    name: str
    title: str
    about: str
    cover: str
    """The address of its picture; for a game from another package the icon."""
    trained: str
    """A shipped model, or an empty text."""
    seats: str
    """Numbers of players: ``2`` or ``2 to 6``."""


def list_cards() -> list[GameCard]:
    """Return the cards of all games."""
    return [make_card(name) for name in games.loadable()]


@functools.cache
def make_card(name: str) -> GameCard:
    """Return the card of a game."""
    first = rules_page(name).split("\n\n")[0]
    about = " ".join(first.partition(": ")[2].split()) or first
    low, high = games.spec(name).players
    table, cover = games.game(name), f"covers/{name}.svg"
    return GameCard(
        name,
        games.spec(name).title,
        f"{about[:1].upper()}{about[1:]}",
        address(cover if cover in files() else "icon.svg"),
        next((agent for agent in agent_names(table) if isinstance(resolve(table, agent), Path)), ""),
        f"{low} to {high}" if low < high else str(low),
    )
