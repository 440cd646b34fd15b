"""What keeps pages and their visitors safe, before anything else sees a request, and after all else has answered it.

In this order: the host name, the visitor, how often it asks, whether another site sent the request, how large it is
and how long it takes, whether a form is one of ours. Errors that nobody expected become a page with a number, which
is in the log beside what happened.
"""

from __future__ import annotations

import logging
import re
import secrets
import time

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dicegym.errors import DicegymError
from dicegym.server.admission import Origins
from dicegym.web.access_log import AccessLog
from dicegym.web.address_limits import TooLargeError
from dicegym.web.bodies import Bodies, GoneAwayError, replay_body, whole_fields
from dicegym.web.context import Web
from dicegym.web.door import API
from dicegym.web.faults import answer_error, answer_failure
from dicegym.web.forms import FORM_KEY, HEADER, check_form_key

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
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
FILES, FIELDS = 20, 200
_VISITOR = re.compile(r"[0-9a-f]{32}")
_log = logging.getLogger("dicegym.web")


class Safety:
    """Gives each visitor a number that nobody guesses, refuses what may not come in, and sets the headers."""

    def __init__(self, app: ASGIApp, web: Web) -> None:
        self._app = app
        self._web = web
        self._origins = Origins(web.settings.host, web.settings.hosts)
        self._bodies = Bodies()
        self._access = AccessLog(web.settings.log)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}  # answered alike; the server leaves the body out
        request = Request(scope)
        known = request.cookies.get(COOKIE, "")
        visitor = known if _VISITOR.fullmatch(known) else secrets.token_hex(16)
        scope.setdefault("state", {})
        largest = self._web.limits.largest(request.url.path)
        scope["state"] |= {"visitor": visitor, "web": self._web, "largest": largest, "refusal": None}
        began, status, size = time.perf_counter(), 0, 0

        async def answer(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in SAFETY_HEADERS.items():
                    headers.setdefault(name, value)
                if visitor != known and headers["Cache-Control"].startswith("private"):
                    headers.append("Set-Cookie", _cookie(visitor, scope["scheme"]))
            size += len(message.get("body", b""))
            await send(message)

        try:
            await self._answer(request, receive, answer)
        except GoneAwayError:
            return
        except Exception:
            number = secrets.token_hex(4)
            _log.exception("error %s: %s %s", number, request.method, ascii(request.url.path))
            if status:
                raise _BrokenOffError(number) from None
            await answer_failure(request, number)(scope, receive, answer)
        finally:
            if self._access.on:
                self._access.write(request, status, size, time.perf_counter() - began)

    async def _answer(self, request: Request, receive: Receive, send: Send) -> None:
        try:
            self._check_sender(request)
            if request.method not in SAFE:
                body = await self._read(request, receive)
                receive = replay_body(body, receive)
                await _check_form(request, replay_body(body, receive))
        except (DicegymError, HTTPException) as error:
            response = await answer_error(request, error)
            response.headers["Connection"] = "close"  # what it still sends is not read
            await response(request.scope, receive, send)
            return
        await self._app(request.scope, receive, send)

    async def _read(self, request: Request, receive: Receive) -> bytes:
        """Return a body; of a form that is too large the fields before its file, and its operation refuses it."""
        try:
            return await self._bodies.read(request, receive, request.state.largest)
        except TooLargeError as error:
            fields = whole_fields(error.head, request.headers.get("content-type", ""))
            if fields is None or request.url.path.startswith(API):
                raise
            request.state.refusal = error
            return fields

    def _check_sender(self, request: Request) -> None:
        fault = self._origins.fault(request.headers.getlist("host"), ())
        if fault:
            raise HTTPException(421, fault)
        self._web.limits.pay(request)
        if request.method not in SAFE and _of_another_site(request):
            raise HTTPException(403, "this form was sent by another site: it is not taken")


class _BrokenOffError(Exception):
    """An answer had begun when something failed: its connection is closed, as nothing else can be said."""


async def _check_form(request: Request, receive: Receive) -> None:
    """Raise HTTPException (403) for a form that was not shown to its visitor.

    Programs are not asked: what they send is JSON, or carries a token, and browsers do neither for another site
    without asking here first, which is not answered.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    as_program = not kind and request.url.path.startswith(API)
    if "authorization" in request.headers or as_program or kind not in OF_FORMS:
        return
    given: object = request.headers.get(HEADER)
    if given is None and kind in FORMS:
        async with Request(request.scope, receive).form(max_files=FILES, max_fields=FIELDS) as form:
            given = form.get(FORM_KEY)
    check_form_key(request, given)


def _of_another_site(request: Request) -> bool:
    """Return whether a browser says that another site sent a request; programs say nothing of the kind."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return True
    origin = request.headers.get("origin")
    return origin is not None and origin.partition("://")[2] != request.headers.get("host")


def _cookie(visitor: str, scheme: str) -> str:
    return f"{COOKIE}={visitor}; Path=/; Max-Age={KEPT}; HttpOnly; SameSite=Lax" + "; Secure" * (scheme == "https")
