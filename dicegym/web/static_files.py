"""Static files, read once. Their addresses contain a hash of the content, so browsers can cache them forever."""

from __future__ import annotations

import functools
import hashlib
import mimetypes
from pathlib import Path
from typing import NamedTuple

from dicegym.arena.pages.template import asset

PREFIX, FOLDER = "/static", Path(__file__).parent / "static"
TYPES = {".js": "text/javascript", ".svg": "image/svg+xml", ".css": "text/css"}
"""Media types by suffix; `mimetypes` depends on the system for these."""

OF_ARENA = {"tables.css": "parts.css", "tables.js": "tables.js", "player.css": "player.css", "player.js": "player.js"}
"""Files shared with the self-contained pages of contests: name below ``arena/`` -> asset of the arena."""


class StaticFile(NamedTuple):
    """A file as it is sent; ``tag`` is a hash of its content."""

    body: bytes
    media_type: str
    tag: str


@functools.cache
def files() -> dict[str, StaticFile]:
    """Return all files by their paths below `PREFIX`."""
    found = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()}
    found |= {f"arena/{name}": asset(file).encode() for name, file in OF_ARENA.items()}
    made = {}
    for name, body in found.items():
        media_type = TYPES.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
        made[name] = StaticFile(body, media_type, hashlib.sha256(body).hexdigest()[:16])
    return made


def address(name: str) -> str:
    """Return the address of a file with its tag, such as ``/static/style.css?v=...`` for ``style.css``."""
    return f"{PREFIX}/{name}?v={files()[name].tag}"
