"""Who asks: by a cookie, once a token was entered in a browser, or by a token that a program sends along.

All of it reads a file: call it in a thread, as plain functions that answer requests are.
"""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from dicegym.web.enter.room import room_of
from dicegym.web.enter.tokens import SESSION, TokenHolder
from dicegym.web.pages import web_of
from dicegym.web.rights import has_printed_token

COOKIE = "dicegym_session"
_SCHEME = "bearer"


def holder_of(request: Request) -> TokenHolder | None:
    """Return whose token a request shows; None if it shows none that is valid."""
    tokens = room_of(web_of(request)).tokens
    given = request.headers.get("authorization")
    if given is not None:
        scheme, _, token = given.partition(" ")
        return tokens.holder(token.strip()) if scheme.lower() == _SCHEME else None
    session = request.cookies.get(COOKIE)
    return tokens.of_session(session) if session else None


def is_operator(request: Request) -> bool:
    """Return whether a request shows an operator's token."""
    holder = holder_of(request)
    return holder is not None and holder.operator


def needed_holder(request: Request) -> TokenHolder:
    """Return whose token a request shows. Raises HTTPException (401) if it shows none that is valid."""
    holder = holder_of(request)
    if holder is None:
        raise HTTPException(
            401,
            "this is for who has a token: enter yours at /enter, or send it as `Authorization: Bearer TOKEN`; whoever "
            "runs these pages hands them out",
            {"WWW-Authenticate": "Bearer"},
        )
    return holder


def may_operate(request: Request) -> bool:
    """Return whether a request comes with an operator's token, or with the printed one."""
    holder = holder_of(request)
    return has_printed_token(request) if holder is None else holder.operator


def needed_operator(request: Request) -> str:
    """Return the name of the operator who asks; nothing for who has the printed token.

    Raises HTTPException: 401 without a token, 403 for one that is no operator's.
    """
    holder = holder_of(request)
    if holder is None and has_printed_token(request):
        return ""
    if holder is not None and not holder.operator:
        raise HTTPException(403, "this is for operators: ask whoever runs these pages")
    return needed_holder(request).name


def remember(request: Request, response: Response, session: str) -> None:
    """Let the browser show from now on who it is."""
    response.set_cookie(
        COOKIE,
        session,
        max_age=round(SESSION.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )


def forget(response: Response) -> None:
    """Let the browser show nothing any more."""
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")
