"""Rendering of one game or many. Scenes and pictures come from the games.

Mode "ansi" returns the scene. For one seat's view it adds the facts and legal actions that a language model reads
(`dicegym.players.prompts.observation_text`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gymnasium as gym

from dicegym.engine.game import Game
from dicegym.pictures.drawing import draw
from dicegym.pictures.raster import pixels
from dicegym.players.prompts import observation_text

RenderedTables = Iterable[tuple[Any, int | None]]
"""Records, each with the seat whose view is shown (None: everything)."""


def render_game(mode: str | None, game: Game, state: Any, seat: int | None) -> Any:
    """Return a table as text or as uint8[height, width, 3]; "human" prints it and returns None.

    Args:
        mode: one of `dicegym.envs.options.RENDER_MODES`.
        game: the game.
        state: its record.
        seat: whose view is shown; None: everything.

    Raises DependencyError for "rgb_array" without the extra ``render``.
    """
    shown = render_games(mode, game, [(state, seat)])
    return shown[0] if shown else None


def render_games(mode: str | None, game: Game, tables: RenderedTables) -> tuple[Any, ...] | None:
    """Do what `render_game` does for many tables; return a tuple, or None where that returns None."""
    if mode is None:
        gym.logger.warn("render() without a render_mode: give render_mode='ansi', 'rgb_array' or 'human'")
        return None
    if mode == "rgb_array":
        return tuple(pixels(draw(game, state, seat)) for state, seat in tables)
    if mode == "ansi":
        return tuple(
            game.scene(state).text() if seat is None else observation_text(game, state, seat) for state, seat in tables
        )
    print("\n\n".join(game.scene(state, seat).text() for state, seat in tables))
    return None
