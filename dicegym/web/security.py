"""The outermost middleware: it identifies visitors, checks requests, and sets the security headers of all answers.

It checks in this order: size of the headers, host name, rate of requests, origin, size and duration of the body. An
unexpected error becomes a page with a number, and the log has the number beside the traceback. Ending slow connections
is left to a proxy.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import secrets

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dicegym.errors import DicegymError
from dicegym.server.admission import Origins
from dicegym.web.context import HEADER_BYTES, SMALL_BODY, Web
from dicegym.web.error_answers import answer_error, answer_failure
from dicegym.web.section import TOO_LARGE, for_programs

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SAFETY_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "private, no-cache",
}
"""Default headers of all answers."""
COOKIE = "dicegym_visitor"
COOKIE_SECONDS = 31_536_000
"""Lifetime of the cookie in seconds: a year."""
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
FORMS = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
MOST_FORM_FIELDS = 200
BODY_SECONDS = 20.0
"""Time limit of a small body; a larger one gets a second more for each `SLOWEST` bytes."""
SLOWEST = 50_000
LARGE_AT_ONCE = 8
"""Most bodies above `SMALL_BODY` in memory at the same time."""
DISCARDED = 64 << 20
"""Bytes of a body over the limit that are read and discarded: browsers show no answer before they sent everything."""
_VISITOR = re.compile("[0-9a-f]{32}")
"""A visitor's 128 random bits."""
_log = logging.getLogger("dicegym.web")


class Safety:
    """Give each visitor an unguessable number, refuse forbidden requests, and set the headers."""

    def __init__(self, app: ASGIApp, web: Web) -> None:
        self._app = app
        self._web = web
        self._origins = Origins(web.settings.host, web.settings.hosts)
        self._large = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}  # the server drops the body
        request = Request(scope)
        known = request.cookies.get(COOKIE, "")
        visitor = known if _VISITOR.fullmatch(known) else secrets.token_hex(16)
        scope.setdefault("state", {})
        scope["state"] |= {"visitor": visitor, "web": self._web}
        begun = False

        async def answer(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in SAFETY_HEADERS.items():
                    headers.setdefault(name, value)
                if visitor != known and headers["Cache-Control"].startswith("private"):
                    headers.append("Set-Cookie", _cookie(visitor, scope["scheme"]))
            await send(message)

        try:
            await self._answer(request, receive, answer)
        except ClientDisconnect:
            return
        except Exception:
            number = secrets.token_hex(4)
            _log.exception("error %s: %s %s", number, request.method, ascii(request.url.path))
            if begun:
                raise _BrokenAnswerError(number) from None
            await answer_failure(request, number)(scope, receive, answer)

    async def _answer(self, request: Request, receive: Receive, send: Send) -> None:
        async with contextlib.AsyncExitStack() as stack:
            try:
                self._check_sender(request)
                if request.method not in SAFE:
                    receive = replay_body(await self._read(request, receive), receive)
                    if not for_programs(request):
                        largest = self._web.limits.bodies.get(request.url.path, SMALL_BODY)
                        sent = Request(request.scope, receive)
                        form = sent.form(max_files=1, max_fields=MOST_FORM_FIELDS, max_part_size=largest)
                        request.scope["state"]["form"] = await stack.enter_async_context(form)
            except (DicegymError, HTTPException) as error:
                response = await answer_error(request, error)
                response.headers["Connection"] = "close"  # the rest of the request is not read
                await response(request.scope, receive, send)
                return
            await self._app(request.scope, receive, send)

    async def _read(self, request: Request, receive: Receive) -> bytes:
        """Return a body. Raises HTTPException if it is too large or too slow, or too many large ones are being read.

        For a form that is too large, return its beginning and set `TOO_LARGE`: the page shows its fields again.
        """
        largest = self._web.limits.bodies.get(request.url.path, SMALL_BODY)
        length = request.headers.get("content-length", "")
        said = min(int(length), largest) if length.isascii() and length.isdigit() else largest
        large = said > SMALL_BODY
        wanted = not large or self._large < LARGE_AT_ONCE
        seconds = BODY_SECONDS + said / SLOWEST if large else BODY_SECONDS
        size, body = 0, bytearray()
        self._large += large
        try:
            async with asyncio.timeout(seconds):
                async for part in Request(request.scope, receive).stream():
                    size += len(part)
                    if wanted:
                        body += part[: largest - len(body)]
                    if size > DISCARDED:
                        break
        except TimeoutError:
            words = f"the request did not arrive within {seconds:.0f} seconds: send it again"
            raise HTTPException(408, words) from None
        finally:
            self._large -= large
        if size > largest:
            words = f"{size:,} bytes are more than the {largest:,} that are accepted here: send less"
            if size > DISCARDED or not wanted or for_programs(request) or _media_type(request) not in FORMS:
                raise HTTPException(413, words)
            request.scope["state"][TOO_LARGE] = words
        if not wanted:
            raise HTTPException(503, "too many large uploads at once: try again in a minute")
        return bytes(body)

    def _check_sender(self, request: Request) -> None:
        # Uvicorn refuses longer headers only if they arrive in several parts.
        if sum(len(name) + len(value) for name, value in request.headers.raw) > HEADER_BYTES:
            raise HTTPException(431, f"the headers have more than {HEADER_BYTES:,} bytes: send fewer or shorter ones")
        fault = self._origins.fault(request.headers.getlist("host"), ())
        if fault:
            raise HTTPException(421, fault)
        self._web.limits.pay(request)
        if request.method not in SAFE and _is_cross_site(request):
            raise HTTPException(403, "another site's page may have sent this: open the form on this site")


class _BrokenAnswerError(Exception):
    """An error after the answer had begun: all that is left to do is to close the connection."""


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `Receive` that yields ``body``, which was read already, then the messages of ``receive``."""
    first = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def again() -> Message:
        return next(first, None) or await receive()

    return again


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _is_cross_site(request: Request) -> bool:
    """Return whether another site's page may have sent a request in a visitor's name.

    All browsers since 2020 send ``Origin`` with a form, and ``Sec-Fetch-Site`` over https. What sends neither is a
    program or a text browser. Go's ``CrossOriginProtection`` checks the same.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        return site not in ("same-origin", "none")
    return origin is not None and origin.partition("://")[2] != request.headers.get("host")


def _cookie(visitor: str, scheme: str) -> str:
    secure = "; Secure" if scheme == "https" else ""
    return f"{COOKIE}={visitor}; Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Lax{secure}"
