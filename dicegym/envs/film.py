"""Animated GIFs of games, written by Pillow. Needs the extra ``render``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dicegym.errors import DependencyError
from dicegym.files import writing
from dicegym.pictures.captions import add_caption
from dicegym.pictures.raster import pixels
from dicegym.pictures.watched import WatchedMove

LAST = 4
"""The last picture is shown this many times as long as the others."""


def draw_frame(moment: WatchedMove) -> np.ndarray:
    """Return a picture of a moment with a caption: uint8[height, width, 3], the same size for all moments of a game."""
    return pixels(add_caption(moment.picture(), moment.done))


def write_gif(moments: Sequence[WatchedMove], path: Path, delay: float) -> None:
    """Write a picture of each moment as an endless GIF.

    Args:
        moments: at least one.
        path: the file.
        delay: seconds for each picture; the last one stays `LAST` times as long.

    Raises:
        DependencyError: Pillow is missing.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise DependencyError.for_extra("Pillow", "render", "a GIF") from error
    # All pictures share one palette, taken from the first and the last, so that only differences are written.
    whole = Image.fromarray(np.concatenate([draw_frame(moments[0]), draw_frame(moments[-1])]))
    palette = whole.quantize(64, dither=Image.Dither.NONE)
    small = (Image.fromarray(draw_frame(one)).quantize(palette=palette, dither=Image.Dither.NONE) for one in moments)
    first = next(small)
    durations = [round(1000 * delay)] * (len(moments) - 1) + [round(1000 * delay * LAST)]
    with writing(path) as unfinished:
        first.save(
            unfinished, format="GIF", save_all=True, append_images=small, duration=durations, loop=0, optimize=False
        )
