"""The process of a window: shows what comes on its standard input, until that ends or somebody closes the window.

Run by its path, with the title as its argument: it imports nothing of the package, which takes longer than a window.
"""

from __future__ import annotations

import os
import struct
import sys
import threading
from typing import Any

HEAD = struct.Struct("<II")
LEAST = 160
"""Width and height below which a window is not made smaller."""
LOOKS = 30
"""Times a second that it looks whether something has come."""
SHARE = 0.85
"""How much of the screen a new window may take."""


class Pictures:
    """The picture that came last, read by a thread."""

    def __init__(self) -> None:
        self.latest: tuple[tuple[int, int], bytes] | None = None
        self.number = 0
        self.ended = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        source = sys.stdin.buffer
        while len(head := source.read(HEAD.size)) == HEAD.size:
            width, height = HEAD.unpack(head)
            data = source.read(width * height * 3)
            if len(data) < width * height * 3:
                break
            self.latest = (width, height), data
            self.number += 1
        self.ended = True


def main(title: str) -> None:
    """Show pictures."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    import pygame

    pygame.display.init()
    screen_size = (pygame.display.get_desktop_sizes() or [(1280, 800)])[0]
    print("ready", flush=True)
    pictures, clock = Pictures(), pygame.time.Clock()
    window: Any = None
    shown = 0
    while not pictures.ended:
        stale = False
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                return
            stale = stale or event.type in (pygame.VIDEORESIZE, pygame.WINDOWEXPOSED)
        if pictures.latest is not None and (stale or shown != pictures.number):
            shown = pictures.number
            size, data = pictures.latest
            if window is None:
                scale = min(1.0, *(SHARE * most / own for most, own in zip(screen_size, size, strict=True)))
                first = (max(LEAST, int(size[0] * scale)), max(LEAST, int(size[1] * scale)))
                window = pygame.display.set_mode(first, pygame.RESIZABLE)
                pygame.display.set_caption(title)
            put(pygame, window, pygame.image.frombuffer(data, size, "RGB"))
        clock.tick(LOOKS)


def put(pygame: Any, window: Any, picture: Any) -> None:
    """Put a picture into the middle of the window, as large as it fits."""
    width, height = window.get_size()
    scale = min(width / picture.get_width(), height / picture.get_height())
    size = (max(1, int(picture.get_width() * scale)), max(1, int(picture.get_height() * scale)))
    fitting = picture if size == picture.get_size() else pygame.transform.smoothscale(picture, size)
    window.fill((9, 74, 47))
    window.blit(fitting, ((width - size[0]) // 2, (height - size[1]) // 2))
    pygame.display.flip()


if __name__ == "__main__":
    main(sys.argv[1])
