"""Who may do what only whoever runs the pages should: start a server, hold a contest.

A server that only its own machine reaches prints an address with a token, as Jupyter does. A browser that opens it is
the operator's from then on, by a cookie; everybody else on the machine is an ordinary visitor.
"""

from __future__ import annotations

import hmac

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dicegym.errors import DicegymError
from dicegym.server.access import is_loopback
from dicegym.web import address
from dicegym.web.context import Web
from dicegym.web.forms import signed
from dicegym.web.settings import WebSettings

FORWARDED = ("x-forwarded-for", "forwarded", "x-real-ip")
"""What proxies say of those they ask for."""
COOKIE = "dicegym_operator"
KEPT = 30 * 86_400
"""Seconds for which a browser is an operator's."""
SEEN = 303


class NotAllowedError(DicegymError):
    """Somebody asked for what only an operator may do."""


def is_private(settings: WebSettings) -> bool:
    """Return whether nobody but this machine reaches a server of pages."""
    return address.is_private(settings.host, settings.hosts, settings.proxies)


def operator_address(web: Web, page: str) -> str:
    """Return the address that makes a browser the operator's; ``page`` itself where others reach the server."""
    return address.with_token(page, web.token) if is_private(web.settings) else page


def _is_here(request: Request) -> bool:
    """Return whether somebody asks on this machine itself, of a server that nobody else reaches."""
    web: Web = request.state.web
    client = request.client.host if request.client else ""
    return is_private(web.settings) and is_loopback(client) and not any(name in request.headers for name in FORWARDED)


def _is_token(request: Request, given: str) -> bool:
    return hmac.compare_digest(given.encode(), request.state.web.token.encode())


def _signature(request: Request) -> str:
    return signed(request.state.web, "operator", request.state.visitor)


def sign_operator_in(request: Request) -> Response | None:
    """Return what makes a browser the operator's, if it opens the printed address; None if it opens another one.

    Raises HTTPException (403) for a token that is not the one of this server.
    """
    given = request.query_params.get(address.FIELD)
    if given is None or not is_private(request.state.web.settings):
        return None
    if not _is_here(request) or not _is_token(request, given):
        raise HTTPException(
            403, "the token in this address is not valid: open the address that `dicegym web` printed at its last start"
        )
    response = RedirectResponse(request.url.path, SEEN)  # so that the token stays in no history
    response.set_cookie(COOKIE, _signature(request), max_age=KEPT, httponly=True, samesite="lax")
    return response


def has_printed_token(request: Request) -> bool:
    """Return whether a request comes from this machine with the printed token: by its cookie, or ``Bearer``."""
    if not _is_here(request):
        return False
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return _is_token(request, token.strip())
    return hmac.compare_digest(request.cookies.get(COOKIE, "").encode(), _signature(request).encode())


def is_operator(request: Request) -> bool:
    """Return whether somebody may do what operators do; it may ask a file, so call it in a thread."""
    web: Web = request.state.web
    return has_printed_token(request) or any(known(request) for known in web.operators)


def need_operator(request: Request, what: str) -> None:
    """Raise NotAllowedError unless an operator asks for ``what``: "a server is started"."""
    if not is_operator(request):
        raise NotAllowedError(
            f"{what} by operators alone: open the address with a token that `dicegym web` printed, or enter a token of "
            "an operator"
        )
