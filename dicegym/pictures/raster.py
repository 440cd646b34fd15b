"""Drawings as pixels, by resvg. Needs the extra ``render``.

Most of a picture is the same as in the one before. So tiles are drawn separately and cached, and a picture is composed
of them. The result does not depend on what was drawn before.
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
"""Cached tiles; most are words and dice of some kilobytes."""


class _Pixels(NamedTuple):
    colours: Any
    """A Pillow image, RGB."""
    covered: Any
    """A Pillow image, L: the opacity of each pixel. None: opaque."""


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
    """Return whether the packages for `pixels` are installed."""
    return all(find_spec(module) is not None for module in ("PIL", "resvg_py"))


def _library(module: str, name: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise DependencyError.for_extra(name, "render", "a picture of pixels (render_mode='rgb_array')") from error


def pixels(drawing: Drawing) -> np.ndarray:
    """Return a drawing at its original size: uint8[height, width, 3].

    Raises DependencyError without the extra ``render``.
    """
    return np.asarray(_image(drawing))


def _image(drawing: Drawing) -> Any:
    _library("resvg_py", "resvg-py")  # report a missing package even if all tiles are cached
    image = _library("PIL.Image", "Pillow").new("RGB", (drawing.width, drawing.height))
    for tile in drawing.tiles:
        for part in tile.parts or (tile._replace(x=0, y=0),):
            drawn = _drawn(part.width, part.height, part.body)
            image.paste(drawn.colours, (tile.x + part.x, tile.y + part.y), drawn.covered)
    return image


def png(drawing: Drawing) -> bytes:
    """Return the `pixels` of a drawing as PNG."""
    written = io.BytesIO()
    _image(drawing).save(written, "PNG")
    return written.getvalue()
