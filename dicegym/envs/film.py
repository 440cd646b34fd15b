"""Games as moving pictures: animated GIFs by Pillow. Needs the extra ``render``."""

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
"""How many times as long as any other picture the last one stays."""


def draw_frame(moment: WatchedMove) -> np.ndarray:
    """Return a picture of a moment, below it what was done: uint8[height, width, 3]; of one game all have one size."""
    return pixels(add_caption(moment.picture(), moment.done))


def write_gif(moments: Sequence[WatchedMove], path: Path, delay: float) -> None:
    """Write a picture of each moment as a GIF that begins again at its end.

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
    # One palette for all pictures, that of the first and the last one: then only what changes is written.
    whole = Image.fromarray(np.concatenate([draw_frame(moments[0]), draw_frame(moments[-1])]))
    palette = whole.quantize(64, dither=Image.Dither.NONE)
    small = (Image.fromarray(draw_frame(one)).quantize(palette=palette, dither=Image.Dither.NONE) for one in moments)
    first = next(small)
    durations = [round(1000 * delay)] * (len(moments) - 1) + [round(1000 * delay * LAST)]
    with writing(path) as unfinished:
        first.save(
            unfinished, format="GIF", save_all=True, append_images=small, duration=durations, loop=0, optimize=False
        )
