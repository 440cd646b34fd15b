"""What rendering returns, for one game and for many. A scene comes from the game, its picture from `drawing`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import gymnasium as gym

from dicegym.engine.scene import Scene
from dicegym.envs.drawing import draw_scene


def render_game(mode: str | None, scene: Callable[[], Scene]) -> Any:
    """Return a scene in the form of ``mode``: text, or uint8[height, width, 3]; "human" prints it and returns None.

    Raises DependencyError for "rgb_array" without Pillow.
    """
    shown = render_games(mode, lambda: [scene()])
    return shown[0] if shown else None


def render_games(mode: str | None, scenes: Callable[[], Iterable[Scene]]) -> tuple[Any, ...] | None:
    """As `render_game`, for many scenes: a tuple, or None where nothing is returned."""
    if mode is None:
        gym.logger.warn("render() without a render_mode: give render_mode='ansi', 'rgb_array' or 'human'")
        return None
    if mode == "rgb_array":
        return tuple(draw_scene(scene) for scene in scenes())
    texts = tuple(scene.text() for scene in scenes())
    if mode == "ansi":
        return texts
    print("\n\n".join(texts))
    return None
