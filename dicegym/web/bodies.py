"""Bodies of requests: read before anybody works on them, within a time and up to a size."""

from __future__ import annotations

import asyncio
import contextlib
import re

from starlette.requests import Request
from starlette.types import Message, Receive

from dicegym.web.address_limits import SMALL_BODY, TooLargeError, TooSlowError
from dicegym.web.workers import TooBusyError

SECONDS = 20.0
"""For a small body; a larger one has a second more for each `SLOWEST` bytes."""
SLOWEST = 50_000
LARGE_AT_ONCE = 8
"""Bodies above `SMALL_BODY` that are in memory at the same time."""
HEAD = 64 * 1024
"""Bytes of what is too large that are kept: a form whose file is too large is shown again with its other fields."""
LET_PASS = 64 << 20
"""Bytes of what is too large that are read and forgotten: a browser shows no answer before all it sends was taken."""


class GoneAwayError(Exception):
    """A client left before its request was read."""


class Bodies:
    """Reads bodies.

    Args:
        seconds: for a small one.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._large = 0

    async def read(self, request: Request, receive: Receive, largest: int) -> bytes:
        """Return a request's body.

        Raises:
            TooLargeError: it is, or is said to be, larger than ``largest`` bytes.
            TooSlowError: it did not come in time.
            TooBusyError: too many large ones are being read.
            GoneAwayError: the client left.
        """
        length = request.headers.get("content-length", "")
        said = (
            int(length) if length.isascii() and length.isdigit() else largest
        )  # a client that does not say may send this much
        if said > largest:
            raise _too_large(said, largest, await self._let_pass(request, receive, said))
        large = said > SMALL_BODY
        if large and self._large >= LARGE_AT_ONCE:
            await self._let_pass(request, receive, said)
            raise TooBusyError("many files are being sent already: try again in a minute")
        self._large += large
        seconds = self._seconds + said / SLOWEST if large else self._seconds
        try:
            async with asyncio.timeout(seconds):
                return await _whole(receive, largest)
        except TimeoutError:
            raise TooSlowError(f"what you sent did not arrive within {seconds:.0f} seconds: send it again") from None
        finally:
            self._large -= large

    async def _let_pass(self, request: Request, receive: Receive, said: int) -> bytes:
        """Read what is not wanted, for as long as a small body may take; return its beginning."""
        head = b""
        if said > LET_PASS or "expect" in request.headers:  # a client that asks before sending sends nothing if refused
            return head
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise GoneAwayError
                    if len(head) < HEAD:
                        head += message.get("body", b"")
                    if not message.get("more_body", False):
                        break
        return head


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read once more, and then what comes after it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _whole(receive: Receive, largest: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise GoneAwayError
        body += message.get("body", b"")
        if len(body) > largest:
            raise _too_large(len(body), largest, bytes(body[:HEAD]))
        if not message.get("more_body", False):
            return bytes(body)


def whole_fields(head: bytes, content_type: str) -> bytes | None:
    """Return the fields at the beginning of a form as a form of their own; None without any."""
    found = re.search(r'multipart/form-data;.*boundary="?([^";,]+)', content_type, re.IGNORECASE)
    delimiter = b"--" + found[1].strip().encode() if found else b""
    end = head.rfind(delimiter) if found else -1
    return head[:end] + delimiter + b"--\r\n" if end > 0 else None


def _too_large(size: int, largest: int, head: bytes) -> TooLargeError:
    return TooLargeError(f"{size:,} bytes are more than the {largest:,} that are taken here: send less", head)
