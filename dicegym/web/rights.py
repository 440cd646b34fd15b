"""Rights: holders of tokens hand bots in, operators start servers and run contests.

A server that only its own machine reaches prints an address with a token, as Jupyter does. A browser that opens it is
the operator's from then on, by a cookie. Everybody else enters a token that an operator made, or sends it along.
All of it may read a file: call it in a thread, as plain functions that answer requests are.
"""

from __future__ import annotations

import hmac

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dicegym.server.admission import is_loopback
from dicegym.web import address
from dicegym.web.context import Web
from dicegym.web.door import SEEN
from dicegym.web.enter.room import EnteringRoom
from dicegym.web.enter.tokens import SESSION, TokenHolder
from dicegym.web.forms import sign
from dicegym.web.pages import web_of
from dicegym.web.web_settings import WebSettings

FORWARDED = ("x-forwarded-for", "forwarded", "x-real-ip")
"""Headers by which proxies name their clients."""
COOKIE = "dicegym_operator"
KEPT = 30 * 86_400
"""Seconds for which a browser is an operator's."""
SESSION_COOKIE = "dicegym_session"


def is_private(settings: WebSettings) -> bool:
    """Return whether nobody but this machine reaches a server of pages."""
    return address.is_private(settings.host, settings.hosts, settings.proxies)


def operator_address(web: Web, page: str) -> str:
    """Return the address that makes a browser the operator's; ``page`` itself where others reach the server."""
    return address.with_token(page, web.token) if is_private(web.settings) else page


def _bearer(request: Request) -> str | None:
    """Return the token that a program sends; None if it sends no such header, empty if its scheme is another one."""
    given = request.headers.get("authorization")
    if given is None:
        return None
    scheme, _, token = given.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _is_here(request: Request) -> bool:
    """Return whether this machine itself asks, of a server that nobody else reaches."""
    client = request.client.host if request.client else ""
    private = is_private(web_of(request).settings)
    return private and is_loopback(client) and not any(name in request.headers for name in FORWARDED)


def _is_token(request: Request, given: str) -> bool:
    return hmac.compare_digest(given.encode(), web_of(request).token.encode())


def _signature(request: Request) -> str:
    return sign(web_of(request), "operator", request.state.visitor)


def sign_operator_in(request: Request) -> Response | None:
    """Return what makes a browser the operator's, if it opens the printed address; None if it opens another one.

    Raises HTTPException (403) for a token that is not the one of this server.
    """
    given = request.query_params.get(address.FIELD)
    if given is None or not is_private(web_of(request).settings):
        return None
    if not _is_here(request) or not _is_token(request, given):
        raise HTTPException(
            403, "the token in this address is not valid: open the address that `dicegym web` printed at its last start"
        )
    response = RedirectResponse(request.url.path, SEEN)  # so that the token stays in no history
    response.set_cookie(COOKIE, _signature(request), max_age=KEPT, httponly=True, samesite="lax")
    return response


def _has_printed_token(request: Request) -> bool:
    """Return whether a request comes from this machine with the printed token: by its cookie, or ``Bearer``."""
    if not _is_here(request):
        return False
    token = _bearer(request)
    if token:
        return _is_token(request, token)
    return hmac.compare_digest(request.cookies.get(COOKIE, "").encode(), _signature(request).encode())


def holder_of(request: Request) -> TokenHolder | None:
    """Return whose token a request shows; None if it shows no valid one."""
    tokens, token = web_of(request).get(EnteringRoom).tokens, _bearer(request)
    if token is not None:
        return tokens.holder(token)
    session = request.cookies.get(SESSION_COOKIE)
    return tokens.of_session(session) if session else None


def need_holder(request: Request) -> TokenHolder:
    """Return whose token a request shows. Raises HTTPException (401) if it shows no valid one."""
    holder = holder_of(request)
    if holder is None:
        raise HTTPException(
            401,
            "this needs a token: enter yours at /enter, or send it as `Authorization: Bearer TOKEN`; the operator of "
            "these pages makes one by `dicegym web token add NAME`",
            {"WWW-Authenticate": "Bearer"},
        )
    return holder


def is_operator(request: Request) -> bool:
    """Return whether a request comes with an operator's token, or with the printed one."""
    holder = holder_of(request)
    return _has_printed_token(request) if holder is None else holder.operator


def need_operator(request: Request) -> str:
    """Return the name of the operator; empty for the printed token.

    Raises HTTPException: 401 without a token, 403 for one that is not an operator's.
    """
    holder = holder_of(request)
    if holder is None and _has_printed_token(request):
        return ""
    if holder is not None and not holder.operator:
        raise HTTPException(403, "only operators may do this: ask the operator of these pages")
    if holder is None:
        raise HTTPException(
            401,
            "only operators may do this: open the address with a token that `dicegym web` printed, or enter an "
            "operator's token at /enter",
            {"WWW-Authenticate": "Bearer"},
        )
    return holder.name


def remember(request: Request, response: Response, session: str) -> None:
    """Let a browser show from now on whose token was entered in it."""
    seconds = round(SESSION.total_seconds())
    secure = request.url.scheme == "https"
    response.set_cookie(SESSION_COOKIE, session, max_age=seconds, httponly=True, samesite="lax", secure=secure)


def forget(request: Request, response: Response) -> None:
    """End what `remember` began."""
    if session := request.cookies.get(SESSION_COOKIE):
        web_of(request).get(EnteringRoom).tokens.end_session(session)
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="lax")
