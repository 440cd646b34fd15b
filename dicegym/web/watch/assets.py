"""Styles and scripts that these pages share with the files of HTML that need no server."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from dicegym.arena.pages.template import asset
from dicegym.arena.replay.page import part

PREFIX = "/watch/files"
FILES: dict[str, tuple[str, Callable[[str], str]]] = {
    "tables.css": ("parts.css", asset),
    "analysed.css": ("analysed.css", asset),
    "tables.js": ("tables.js", asset),
    "player.css": ("player.css", part),
    "player.js": ("player.js", part),
}
KINDS = {"css": "text/css", "js": "text/javascript"}


def address(name: str) -> str:
    """Return where a file is to be had; another address once it has changed, so that browsers may keep it for good."""
    return f"{PREFIX}/{name}?v={_digest(name)}"


async def answer(request: Request) -> Response:
    """Answer with a file."""
    name = request.path_params["name"]
    if name not in FILES:
        raise HTTPException(404)
    lasts = "max-age=31536000, immutable" if request.query_params.get("v") == _digest(name) else "no-cache"
    return Response(
        _text(name), media_type=KINDS[name.rpartition(".")[2]], headers={"Cache-Control": f"public, {lasts}"}
    )


def _text(name: str) -> str:
    file, read = FILES[name]
    return read(file)


def _digest(name: str) -> str:
    return hashlib.sha256(_text(name).encode()).hexdigest()[:12]
