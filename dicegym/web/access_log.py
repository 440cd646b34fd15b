"""What was asked for, as lines of JSON, where an operator wants that; nobody does unless told."""

from __future__ import annotations

import datetime
import hashlib
import json
import sys
from pathlib import Path
from typing import TextIO

from starlette.requests import Request

from dicegym.errors import ParameterError


class AccessLog:
    """Writes a line for each request: when, what, how it ended, how long it took, and of which visitor.

    Addresses that people open are not in it, but the kind of page (``/play/{id}``), as they may open somebody's game;
    visitors are in it by a digest that does not lead back to them.

    Args:
        to: path of a file, which is added to; ``-``: standard error; empty: nothing is written.

    Raises:
        ParameterError: the file cannot be written.
    """

    def __init__(self, to: str) -> None:
        self.on = bool(to)
        self._file: TextIO = sys.stderr
        if to not in ("", "-"):
            try:
                self._file = Path(to).open("a", encoding="utf-8", buffering=1)  # noqa: SIM115 - as long as the server
            except OSError as error:
                raise ParameterError(f"--log {to} cannot be written ({error.strerror}): name another file") from None

    def write(self, request: Request, status: int, size: int, seconds: float) -> None:
        """Add a line for a request that was answered."""
        kind = getattr(request.scope.get("route"), "path", None)
        told = {
            "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
            "method": request.method[:10],
            "page": kind,
            "status": status,
            "bytes": size,
            "ms": round(1000 * seconds, 1),
            "address": request.client.host if request.client else None,
            "visitor": hashlib.sha256(request.state.visitor.encode()).hexdigest()[:8],
        }
        print(json.dumps(told), file=self._file)
