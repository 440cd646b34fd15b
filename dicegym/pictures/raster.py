"""Drawings as pixels, by resvg. Needs the extra ``render``.

Most of a picture is as it was in the one before. So tiles are drawn on their own and kept, and a picture is put
together of them: that is as quick as if the letters were not drawn at all, and the same whatever was drawn before.
"""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np

from dicegym.errors import DependencyError
from dicegym.pictures import fonts
from dicegym.pictures.svg import Drawing, Tile

KEPT_BYTES = 32 * 1024**2
"""Memory for tiles that were drawn."""


class _Pixels(NamedTuple):
    colours: np.ndarray
    """[height, width, 3]: uint8 if nothing shines through, else uint16, multiplied with the share that covers."""
    through: np.ndarray | None
    """uint16[height, width, 1], 255 where all shines through; None: nothing does."""

    @property
    def size(self) -> int:
        return self.colours.nbytes + (0 if self.through is None else self.through.nbytes)


class _Kept:
    """Tiles by size and content; those that were not asked for longest are forgotten first."""

    def __init__(self) -> None:
        self._tiles: OrderedDict[tuple[int, int, str], _Pixels] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def pixels(self, tile: Tile) -> _Pixels:
        key = tile[2:]
        with self._lock:
            if (found := self._tiles.get(key)) is not None:
                self._tiles.move_to_end(key)
                return found
        made = _drawn(tile)
        with self._lock:
            if key not in self._tiles:
                self._tiles[key] = made
                self._bytes += made.size
            while self._bytes > KEPT_BYTES:
                self._bytes -= self._tiles.popitem(last=False)[1].size
        return made


_KEPT = _Kept()


def _drawn(tile: Tile) -> _Pixels:
    _, _, width, height, body = tile
    document = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="{fonts.FAMILY}">{body}</svg>'
    )
    image = _library("PIL.Image", "Pillow").open(io.BytesIO(_png(document)))
    colours = np.asarray(image.convert("RGBA"))
    covered = colours[..., 3:].astype(np.uint16)
    if covered.min() == 255:
        return _Pixels(np.ascontiguousarray(colours[..., :3]), None)
    return _Pixels(colours[..., :3] * covered, 255 - covered)


def _png(document: str) -> bytes:
    resvg: Any = _library("resvg_py", "resvg-py")
    made: bytes = resvg.svg_to_bytes(svg_string=document, skip_system_fonts=True, font_files=list(fonts.FILES))
    return bytes(made)


def _library(module: str, name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise DependencyError.for_extra(name, "render", "a picture of pixels (render_mode='rgb_array')") from error


def pixels(drawing: Drawing) -> np.ndarray:
    """Return a drawing at its own size: uint8[height, width, 3].

    Raises DependencyError without the extra ``render``.
    """
    image = np.zeros((drawing.height, drawing.width, 3), np.uint8)
    for tile in drawing.tiles:
        place = image[max(tile.y, 0) : tile.y + tile.height, max(tile.x, 0) : tile.x + tile.width]
        drawn = _KEPT.pixels(tile)
        colours = drawn.colours[max(-tile.y, 0) :, max(-tile.x, 0) :][: place.shape[0], : place.shape[1]]
        if drawn.through is None:
            place[:] = colours
            continue
        through = drawn.through[max(-tile.y, 0) :, max(-tile.x, 0) :][: place.shape[0], : place.shape[1]]
        place[:] = (place * through + colours + 127) // 255
    return image


def png(drawing: Drawing) -> bytes:
    """Return a drawing as a file of PNG, of `pixels`."""
    written = io.BytesIO()
    _library("PIL.Image", "Pillow").fromarray(pixels(drawing)).save(written, "PNG")
    return written.getvalue()
