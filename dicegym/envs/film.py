"""Games as moving pictures: GIF by Pillow, MP4 by moviepy. Needs the extra ``render``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import overload

import numpy as np

from dicegym.errors import DependencyError, ParameterError
from dicegym.files import writing
from dicegym.pictures.captions import add_caption
from dicegym.pictures.raster import pixels
from dicegym.pictures.watched import WatchedMove

LAST = 4
"""How many times as long as any other picture the last one stays."""


class Film(Sequence[np.ndarray]):
    """The pictures of a game's moments, drawn when they are asked for: all of a long game would take a gigabyte."""

    def __init__(self, moments: Sequence[WatchedMove]) -> None:
        self._moments = moments

    def __len__(self) -> int:
        """Return how many pictures there are."""
        return len(self._moments)

    @overload
    def __getitem__(self, which: int) -> np.ndarray: ...
    @overload
    def __getitem__(self, which: slice) -> Film: ...
    def __getitem__(self, which: int | slice) -> np.ndarray | Film:
        """Return a picture, or a part of the film."""
        if isinstance(which, slice):
            return Film(self._moments[which])
        return _picture(self._moments[which])


def _picture(moment: WatchedMove) -> np.ndarray:
    return pixels(add_caption(moment.picture(), moment.done))


def film_of(moments: Iterable[WatchedMove]) -> Film:
    """Return a picture of each moment, below it what was done: uint8[height, width, 3], all of one even size.

    Raises DependencyError without Pillow.
    """
    return Film(list(moments))


def write_gif(frames: Sequence[np.ndarray], path: Path, delay: float) -> None:
    """Write pictures as a GIF that begins again at its end.

    Args:
        frames: uint8[height, width, 3] each, at least one.
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
    whole = Image.fromarray(np.concatenate([frames[0], frames[-1]]))
    palette = whole.quantize(64, dither=Image.Dither.NONE)
    small = (Image.fromarray(one).quantize(palette=palette, dither=Image.Dither.NONE) for one in frames)
    first = next(small)
    durations = [round(1000 * delay)] * (len(frames) - 1) + [round(1000 * delay * LAST)]
    with writing(path) as unfinished:
        first.save(
            unfinished, format="GIF", save_all=True, append_images=small, duration=durations, loop=0, optimize=False
        )


def write_mp4(frames: Sequence[np.ndarray], path: Path, delay: float) -> None:
    """Write pictures as an MP4 film (H.264); arguments as for `write_gif`. Raises DependencyError without moviepy."""
    try:
        from moviepy import ImageSequenceClip
    except ImportError as error:
        raise DependencyError.for_extra("moviepy", "render", "an MP4") from error
    clip = ImageSequenceClip(list(frames), durations=[delay] * (len(frames) - 1) + [delay * LAST])
    rate = max(1.0, min(10.0, 2 / delay))
    with writing(path) as unfinished:
        clip.write_videofile(str(unfinished), fps=rate, codec="libx264", audio=False, logger=None)


WRITERS: dict[str, Callable[[Sequence[np.ndarray], Path, float], None]] = {".gif": write_gif, ".mp4": write_mp4}
"""The ending of a film's name -> what writes it."""


def write_film(frames: Sequence[np.ndarray], path: Path, delay: float) -> None:
    """Write pictures in the form that the file's name ends with, one of `WRITERS`. Raises ParameterError for others."""
    if path.suffix not in WRITERS:
        raise ParameterError(f"{path} ends in {path.suffix!r}: films are {' or '.join(WRITERS)}")
    WRITERS[path.suffix](frames, path, delay)
