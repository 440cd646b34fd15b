"""Drawings as pixels, by resvg. Needs the extra ``render``.

Most of a picture is as it was in the one before. So tiles are drawn on their own and kept, and a picture is put
together of them: that is as quick as if the letters were not drawn at all, and the same whatever was drawn before.
"""

from __future__ import annotations

import importlib
import io
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from dicegym.errors import DependencyError
from dicegym.pictures import fonts
from dicegym.pictures.svg import Drawing

KEPT_TILES = 512
"""Tiles that stay drawn: most are words and dice of some kilobytes."""


class _Pixels(NamedTuple):
    colours: Any
    """An image of Pillow, RGB."""
    covered: Any
    """An image of Pillow, L: how much of what is below each pixel covers; None: all of it."""


@lru_cache(maxsize=KEPT_TILES)
def _drawn(width: int, height: int, body: str) -> _Pixels:
    document = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="{fonts.FAMILY}">{body}</svg>'
    )
    image = _library("PIL.Image", "Pillow").open(io.BytesIO(_png(document))).convert("RGBA")
    covered = image.getchannel("A")
    return _Pixels(image.convert("RGB"), None if covered.getextrema()[0] == 255 else covered)


def _png(document: str) -> bytes:
    resvg: Any = _library("resvg_py", "resvg-py")
    made: bytes = resvg.svg_to_bytes(svg_string=document, skip_system_fonts=True, font_files=list(fonts.FILES))
    return bytes(made)


def can_draw_pixels() -> bool:
    """Return whether what the extra ``render`` brings for `pixels` is installed."""
    return all(find_spec(module) is not None for module in ("PIL", "resvg_py"))


def _library(module: str, name: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise DependencyError.for_extra(name, "render", "a picture of pixels (render_mode='rgb_array')") from error


def pixels(drawing: Drawing) -> np.ndarray:
    """Return a drawing at its own size: uint8[height, width, 3].

    Raises DependencyError without the extra ``render``.
    """
    return np.asarray(_image(drawing))


def _image(drawing: Drawing) -> Any:
    _library("resvg_py", "resvg-py")  # missing, it is told also where all tiles are kept
    image = _library("PIL.Image", "Pillow").new("RGB", (drawing.width, drawing.height))
    for tile in drawing.tiles:
        for part in tile.parts or (tile._replace(x=0, y=0),):
            drawn = _drawn(part.width, part.height, part.body)
            image.paste(drawn.colours, (tile.x + part.x, tile.y + part.y), drawn.covered)
    return image


def png(drawing: Drawing) -> bytes:
    """Return a drawing as a file of PNG, of `pixels`."""
    written = io.BytesIO()
    _image(drawing).save(written, "PNG")
    return written.getvalue()
