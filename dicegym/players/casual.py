"""Who sits down with a person who says little: opponents by strength, seats that are usual, a seat that is drawn."""

from __future__ import annotations

from typing import Any

from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.errors import UnknownNameError
from dicegym.games.keyboard import STRENGTHS
from dicegym.players.human import keyboard_of
from dicegym.players.roster import resolve

USUAL = STRENGTHS[1]
"""The strength of opponents unless another one is asked for."""


def strengths(game: Game) -> dict[str, str]:
    """Return the agent that each strength names; nothing in a game that has none."""
    return dict(keyboard_of(game).OPPONENTS)


def usual_rivals(game: Game) -> list[str]:
    """Return who sits at the table if nobody is named: a strength or agents, for the other seats in turn."""
    usual: Any = game.spec.default_opponent  # an agent, or several with weights
    return [USUAL] if strengths(game) else [usual] if isinstance(usual, str) else [*usual]


def rival_named(game: Game, name: str) -> str:
    """Return the agent that is meant by a strength or by its own name. Raises UnknownNameError."""
    found = strengths(game)
    if name in found:
        return found[name]
    try:
        resolve(game, name)
    except UnknownNameError as error:
        if not found:
            raise
        by_strength = ", ".join(f"{strength} ({agent})" for strength, agent in found.items())
        raise UnknownNameError(f"{error} Opponents by strength: {by_strength}.") from None
    return name


def usual_seats(game: Game, rivals: int = 0) -> int:
    """Return how many sit at a table unless it is said, where so many rivals are named."""
    low, high = game.spec.players
    wanted = rivals + 1 if rivals > 1 else keyboard_of(game).SEATS or game.players
    return min(max(low, 2, wanted), high)


def drawn_seat(seed: int, players: int) -> int:
    """Return the person's seat in the game of a seed, where none is asked for."""
    return named_seed("seat", seed) % players
