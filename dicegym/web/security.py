"""What keeps pages and their visitors safe, before anything else sees a request, and after all else has answered it.

In this order: the host name, the visitor, whether there is room for it, how often it asks, whether another site sent
the request, how large it is and how long it takes, whether a form is one of ours. Errors that nobody expected become a
page with a number, which is in the log beside what happened. Slow connections are the proxy's to end.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
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
from dicegym.web.door import API, TOO_LARGE
from dicegym.web.faults import answer_error, answer_failure
from dicegym.web.pages import FORM_KEY, HEADER, check_form_key, sign

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
"""Of every answer that does not say otherwise."""
COOKIE = "dicegym_visitor"
KEPT = 31_536_000
"""Seconds, a year."""
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
FORMS = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
OF_FORMS = FORMS | {"text/plain", ""}
"""What a page of another site can have a browser send without asking here first."""
FIELDS = 200
"""Of a form, at most."""
SECONDS = 20.0
"""For a small body; a larger one has a second more for each `SLOWEST` bytes."""
SLOWEST = 50_000
LARGE_AT_ONCE = 8
"""Bodies above `SMALL_BODY` that are in memory at the same time."""
LET_PASS = 64 << 20
"""Bytes of what is too large that are read and forgotten: a browser shows no answer before all it sends was taken."""
_NUMBER = 16
"""Letters of a visitor's number; as many of its signature follow."""
_VISITOR = re.compile(rf"[0-9a-f]{{{2 * _NUMBER}}}")
_log = logging.getLogger("dicegym.web")


class Safety:
    """Gives each visitor a number that nobody guesses, refuses what may not come in, and sets the headers."""

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
            scope = {**scope, "method": "GET"}  # answered alike; the server leaves the body out
        request = Request(scope)
        known = request.cookies.get(COOKIE, "")
        is_known = _VISITOR.fullmatch(known) is not None and hmac.compare_digest(known, self._visitor(known[:_NUMBER]))
        visitor = known if is_known else self._visitor(secrets.token_hex(_NUMBER // 2))
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
            await self._answer(request, receive, answer, is_known)
        except ClientDisconnect:
            return
        except Exception:
            number = secrets.token_hex(4)
            _log.exception("error %s: %s %s", number, request.method, ascii(request.url.path))
            if begun:
                raise _BrokenOffError(number) from None
            await answer_failure(request, number)(scope, receive, answer)

    def _visitor(self, number: str) -> str:
        """Return what a visitor is known by: a number, and our signature of it."""
        return number + sign(self._web, "visitor", number)[:_NUMBER]

    async def _answer(self, request: Request, receive: Receive, send: Send, is_known: bool) -> None:
        async with contextlib.AsyncExitStack() as stack:
            try:
                if not is_known and self._web.crowded():
                    raise HTTPException(503, "too many people are here: try again in a minute", {"Retry-After": "60"})
                self._check_sender(request)
                if request.method not in SAFE:
                    receive = replay_body(await self._read(request, receive), receive)
                    if not request.url.path.startswith(API):
                        largest = self._web.limits.bodies.get(request.url.path, SMALL_BODY)
                        sent = Request(request.scope, receive)
                        form = sent.form(max_files=1, max_fields=FIELDS, max_part_size=largest)
                        request.scope["state"]["form"] = await stack.enter_async_context(form)
                    _check_form(request)
            except (DicegymError, HTTPException) as error:
                response = await answer_error(request, error)
                response.headers["Connection"] = "close"  # what it still sends is not read
                await response(request.scope, receive, send)
                return
            await self._app(request.scope, receive, send)

    async def _read(self, request: Request, receive: Receive) -> bytes:
        """Return a body. Raises HTTPException: it is too large or too slow, or too many large ones are being read.

        Of a form that is too large the beginning is returned, and `TOO_LARGE` is set: the page fills it in again.
        """
        largest = self._web.limits.bodies.get(request.url.path, SMALL_BODY)
        length = request.headers.get("content-length", "")
        said = min(int(length), largest) if length.isascii() and length.isdigit() else largest
        large = said > SMALL_BODY
        wanted = not large or self._large < LARGE_AT_ONCE
        seconds = SECONDS + said / SLOWEST if large else SECONDS
        size, body = 0, bytearray()
        self._large += large
        try:
            async with asyncio.timeout(seconds):
                async for part in Request(request.scope, receive).stream():
                    size += len(part)
                    if wanted:
                        body += part[: largest - len(body)]
                    if size > LET_PASS:
                        break
        except TimeoutError:
            words = f"what you sent did not arrive within {seconds:.0f} seconds: send it again"
            raise HTTPException(408, words) from None
        finally:
            self._large -= large
        if size > largest:
            words = f"{size:,} bytes are more than the {largest:,} that are taken here: send less"
            if size > LET_PASS or not wanted or request.url.path.startswith(API) or _media_type(request) not in FORMS:
                raise HTTPException(413, words)
            request.scope["state"][TOO_LARGE] = words
        if not wanted:
            raise HTTPException(503, "many files are being sent already: try again in a minute")
        return bytes(body)

    def _check_sender(self, request: Request) -> None:
        # Uvicorn refuses what is longer and comes in parts; what comes at once it has read by then.
        if sum(len(name) + len(value) for name, value in request.headers.raw) > HEADER_BYTES:
            raise HTTPException(431, f"the headers have more than the {HEADER_BYTES:,} bytes that are taken: send less")
        fault = self._origins.fault(request.headers.getlist("host"), ())
        if fault:
            raise HTTPException(421, fault)
        self._web.limits.pay(request)
        if request.method not in SAFE and _of_another_site(request):
            raise HTTPException(403, "this form was sent by another site: it is not taken")


class _BrokenOffError(Exception):
    """An answer had begun when something failed: its connection is closed, as nothing else can be said."""


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read once more, and then what comes after it."""
    first = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def again() -> Message:
        return next(first, None) or await receive()

    return again


def _check_form(request: Request) -> None:
    """Raise HTTPException (403) for a form that was not shown to its visitor.

    Programs are not asked: what they send is JSON, or carries a token, and browsers do neither for another site
    without asking here first, which is not answered.
    """
    kind = _media_type(request)
    as_program = not kind and request.url.path.startswith(API)
    if "authorization" in request.headers or as_program or kind not in OF_FORMS:
        return
    given: object = request.headers.get(HEADER)
    if given is None and not request.url.path.startswith(API):
        given = request.state.form.get(FORM_KEY)
    check_form_key(request, given)


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _of_another_site(request: Request) -> bool:
    """Return whether a browser says that another site sent a request; programs say nothing of the kind."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return True
    origin = request.headers.get("origin")
    return origin is not None and origin.partition("://")[2] != request.headers.get("host")


def _cookie(visitor: str, scheme: str) -> str:
    return f"{COOKIE}={visitor}; Path=/; Max-Age={KEPT}; HttpOnly; SameSite=Lax" + "; Secure" * (scheme == "https")
