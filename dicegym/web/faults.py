"""What becomes of errors: a page for people, or JSON for programs, that says what was wrong and what to do."""

from __future__ import annotations

import http
import math
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from dicegym.arena.store.opening import BusyError
from dicegym.errors import DicegymError, UnknownNameError
from dicegym.web.address_limits import TooOftenError
from dicegym.web.door import API, faults_in
from dicegym.web.pages import page

WRONG, FAILED = 400, 500
STATUSES: tuple[tuple[type[DicegymError], int], ...] = (
    (UnknownNameError, 404),
    (BusyError, 503),
)
"""Of errors from outside of the pages, whose own have an attribute ``status``; all others have `WRONG`."""
WORDS = {
    404: "there is nothing here: the address is wrong, or what was here is gone",
    405: "this is not done at this address",
}
"""Where the web's own words are all that is known."""


async def answer_error(request: Request, error: Exception) -> Response:
    """Answer a request that an error of ours, or of Starlette's, ended."""
    headers: dict[str, str] = {}
    if isinstance(error, HTTPException):
        status, words = error.status_code, error.detail
        headers |= dict(error.headers or {})
        if words == http.HTTPStatus(status).phrase:
            words = WORDS.get(status, words)
    elif isinstance(error, RequestValidationError):
        body = getattr(request.scope.get("route"), "body_field", None)
        model = getattr(getattr(body, "field_info", None), "annotation", None)
        status, words = 422, faults_in(error.errors(), "the body", model)
    else:
        status = next((number for kind, number in STATUSES if isinstance(error, kind)), getattr(error, "status", WRONG))
        words = str(error)
    if isinstance(error, TooOftenError):
        headers["Retry-After"] = str(max(1, math.ceil(error.wait)))
    return _said(request, status, words, headers)


def answer_failure(request: Request, number: str) -> Response:
    """Answer a request that ended in an unexpected error; ``number`` is in the log beside it."""
    words = f"Internal error {number}: the operator of these pages finds it in the log."
    return _said(request, FAILED, words, {})


def _said(request: Request, status: int, words: str, headers: dict[str, str]) -> Response:
    answer: Response
    if request.url.path.startswith(API):
        answer = JSONResponse({"error": words}, status)
    else:
        answer = page(request, "error.html", status, words=words, code=status)
    answer.headers.update(headers)
    return answer


HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]] = dict.fromkeys(
    (DicegymError, HTTPException, RequestValidationError), answer_error
)
