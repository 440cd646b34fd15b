"""What keeps pages and their visitors safe: headers, names of hosts, visitors, and forms that others may not send."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dicegym.web.context import Web

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
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
COOKIE = "dicegym_visitor"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_VISITOR = re.compile(r"[0-9a-f]{32}")


class Safety:
    """Gives each visitor a number that nobody guesses, refuses forms of other sites, and sets the headers."""

    def __init__(self, app: ASGIApp, web: Web) -> None:
        self._app = app
        self._web = web

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        known = request.cookies.get(COOKIE, "")
        visitor = known if _VISITOR.fullmatch(known) else secrets.token_hex(16)
        scope.setdefault("state", {})
        scope["state"] |= {"visitor": visitor, "web": self._web}

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if visitor != known:
                    headers.append(
                        "Set-Cookie", f"{COOKIE}={visitor}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax"
                    )
            await send(message)

        if request.method not in SAFE and _of_another_site(request):
            await PlainTextResponse("this form was sent by another site: it is not taken\n", 403)(
                scope, receive, answer
            )
            return
        await self._app(scope, receive, answer)


def _of_another_site(request: Request) -> bool:
    """Return whether a browser says that another site sent a request; programs say nothing of the kind."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return True
    origin = request.headers.get("origin")
    return origin is not None and origin.partition("://")[2] != request.headers.get("host")


def signed(web: Web, *words: str) -> str:
    """Return a signature of some words that nobody else can make."""
    return hmac.new(web.secret, "\0".join(words).encode(), hashlib.sha256).hexdigest()


FORM_KEY = "form_key"
"""The hidden field of a form by which it is known as one of ours."""


def form_key(request: Request) -> str:
    """Return what the forms of a page carry in `FORM_KEY`: nobody else can know it."""
    return signed(request.state.web, "form", request.state.visitor)


def check_form_key(request: Request, given: object) -> None:
    """Raise HTTPException (403) if a form does not carry what `form_key` gave its visitor."""
    if not isinstance(given, str) or not hmac.compare_digest(given.encode(), form_key(request).encode()):
        raise HTTPException(403, "this form is not one that was shown to you here: open its page again, then send it")
