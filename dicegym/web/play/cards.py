"""The games in short, each with what begins one by a click."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

from dicegym import games
from dicegym.games.rules_page import rules_page
from dicegym.players.roster import agent_names, resolve
from dicegym.web.static_files import address, files


class GameToBegin(NamedTuple):
    """A game that can be begun."""

    name: str
    title: str
    about: str
    cover: str
    """The address of its picture; of a game from outside it is the icon."""
    trained: str
    """A model that comes with it; empty if none does."""
    seats: str
    """How many may play: ``2`` or ``2 to 6``."""


def list_cards() -> list[GameToBegin]:
    """Return all games."""
    return [make_card(name) for name in games.loadable()]


@functools.cache
def make_card(name: str) -> GameToBegin:
    """Return a game in short."""
    told = rules_page(name).split("\n\n")[0]
    about = " ".join(told.partition(": ")[2].split()) or told
    low, high = games.spec(name).players
    table, cover = games.game(name), f"covers/{name}.svg"
    return GameToBegin(
        name,
        games.spec(name).title,
        f"{about[:1].upper()}{about[1:]}",
        address(cover if cover in files() else "icon.svg"),
        next((agent for agent in agent_names(table) if isinstance(resolve(table, agent), Path)), ""),
        f"{low} to {high}" if low < high else str(low),
    )
