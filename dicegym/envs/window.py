"""A window that shows a game while it is played (`render_mode="human"`); without one, the table as text.

Windows are pygame's (extra ``render``). They follow the game at `render_fps` pictures a second at the most, can be made
larger and smaller, and may be closed: the game continues without.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from dicegym.errors import install_command

DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
"""Variables of the environment of which Linux sets one where windows can be opened."""


class Window:
    """What `render_mode="human"` shows a game in; nothing is opened before the first picture.

    Args:
        title: of the window.
        fps: pictures a second at the most.
    """

    def __init__(self, title: str, fps: float) -> None:
        self._title = title
        self._pause = 1 / fps
        self._window: Any = None
        self._closed = False
        self._shown = 0.0

    def show(self, picture: Callable[[], np.ndarray], text: Callable[[], str]) -> None:
        """Show a picture, uint8[height, width, 3], in a window; where none can be opened, print the text.

        Raises DependencyError if pygame is there and what draws pictures is not.
        """
        pygame = _pygame()
        if pygame is None:
            print(text())
            return
        if self._closed:
            return
        frame = picture()
        if self._window is None:
            self._window = pygame.Window(self._title, frame.shape[1::-1], resizable=True)
        self._wait(pygame)
        if self._closed:
            return
        drawn = pygame.surfarray.make_surface(frame.swapaxes(0, 1))
        surface = self._window.get_surface()
        scale = min(surface.get_width() / drawn.get_width(), surface.get_height() / drawn.get_height())
        size = (max(1, round(drawn.get_width() * scale)), max(1, round(drawn.get_height() * scale)))
        surface.fill("black")
        place = ((surface.get_width() - size[0]) // 2, (surface.get_height() - size[1]) // 2)
        surface.blit(drawn if scale == 1 else pygame.transform.smoothscale(drawn, size), place)
        self._window.flip()
        self._shown = time.monotonic()

    def _wait(self, pygame: Any) -> None:
        """Let the last picture be seen for its time, and hear meanwhile what the person does with the window."""
        while not self._closed:
            for event in pygame.event.get():
                if event.type in (pygame.QUIT, pygame.WINDOWCLOSE):
                    self.close()
            left = self._shown + self._pause - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, 0.02))

    def close(self) -> None:
        """Close the window for good."""
        self._closed = True
        if self._window is not None:
            self._window.destroy()
            self._window = None


def _say(words: str) -> None:
    print(words, file=sys.stderr)


@cache
def _pygame() -> Any:
    """Return pygame, ready for windows; None, said once and why, where none can be opened."""
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in DISPLAYS):
        _say("render_mode='human' prints the table: there is no display to open a window on")
        return None
    try:
        pygame = importlib.import_module("pygame")
    except ImportError:
        _say(f"render_mode='human' prints the table: for a window, {install_command('render')}")
        return None
    try:
        pygame.display.init()
    except pygame.error as error:
        _say(f"render_mode='human' prints the table: no window can be opened ({error})")
        return None
    return pygame
