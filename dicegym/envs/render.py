"""What rendering returns, for one game and for many: a scene as text, or the game's picture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gymnasium as gym
import numpy as np

from dicegym.engine.game import Game
from dicegym.envs.window import Window
from dicegym.pictures.drawing import draw
from dicegym.pictures.raster import pixels
from dicegym.pictures.svg import Drawing

FRAMES = 2
"""Pictures a second, where an environment shows its games itself: ``metadata["render_fps"]``."""
MOST_SHOWN = 9
"""So many of the games of a batch are shown in one window, or in a notebook."""


class Renderer:
    """Shows the games of an environment.

    Args:
        game: the game.
        mode: "ansi", "rgb_array", "human" or None.
    """

    def __init__(self, game: Game, mode: str | None) -> None:
        self._game, self._mode = game, mode
        self._window = Window(game.spec.title, FRAMES)

    def one(self, state: Any, seat: int | None) -> Any:
        """Return a state as ``seat`` sees it, or all of it for None: text, or uint8[height, width, 3].

        "human" shows it in a window, or prints it where there can be none, and returns None.
        Raises DependencyError for "rgb_array" without the extra ``render``.
        """
        shown = self.many([state], [seat])
        return shown[0] if shown else None

    def many(self, states: Iterable[Any], seats: Iterable[int | None]) -> tuple[Any, ...] | None:
        """As `one`, for many games: a tuple, or None where nothing is returned."""
        if self._mode is None:
            gym.logger.warn("render() without a render_mode: give render_mode='ansi', 'rgb_array' or 'human'")
            return None
        pairs = list(zip(states, seats, strict=True))
        if self._mode == "ansi":
            return tuple(self._game.scene(state, seat).text() for state, seat in pairs)
        if self._mode == "rgb_array":
            return tuple(pixels(self.drawing(state, seat)) for state, seat in pairs)
        if self._window.opens():
            self._window.show(_beside([pixels(self.drawing(*pair)) for pair in pairs[:MOST_SHOWN]]))
        else:
            print("\n\n".join(self._game.scene(state, seat).text() for state, seat in pairs))
        return None

    def drawing(self, state: Any, seat: int | None) -> Drawing:
        """Return the picture of a state."""
        return draw(self._game, state, seat)

    def close(self) -> None:
        """Close the window, if there is one; the next picture opens another."""
        self._window.close()


def _beside(pictures: list[np.ndarray]) -> np.ndarray:
    """Return pictures of one size side by side, in about as many rows as columns."""
    columns = int(np.ceil(np.sqrt(len(pictures))))
    rows = -(-len(pictures) // columns)
    height, width, _ = pictures[0].shape
    whole = np.zeros((rows * height, columns * width, 3), np.uint8)
    for number, picture in enumerate(pictures):
        row, column = divmod(number, columns)
        whole[row * height : (row + 1) * height, column * width : (column + 1) * width] = picture
    return whole
