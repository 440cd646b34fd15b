"""What becomes of errors: a page for people, or JSON for programs, that says what was wrong and what to do."""

from __future__ import annotations

import http
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from dicegym.arena.store.opening import BusyError
from dicegym.errors import DicegymError, UnknownNameError
from dicegym.web.door import API, faults_in
from dicegym.web.pages import page

STATUSES: dict[type[DicegymError], int] = {UnknownNameError: 404, BusyError: 503}
"""Of errors from outside of the pages, whose own have an attribute ``status``; all others have 400."""
WORDS = {
    404: "there is nothing here: the address is wrong, or what was here is gone",
    405: "this is not done at this address",
}
"""Where the web's own words are all that is known."""


async def answer_error(request: Request, error: Exception) -> Response:
    """Answer a request that an error of ours, or of Starlette's, ended."""
    if isinstance(error, HTTPException):
        known = error.detail != http.HTTPStatus(error.status_code).phrase
        words = error.detail if known else WORDS.get(error.status_code, error.detail)
        return _said(request, error.status_code, words, error.headers)
    if isinstance(error, RequestValidationError):
        return _said(request, 422, faults_in(error.errors(), "the body"))
    known_status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 400)
    return _said(request, getattr(error, "status", known_status), str(error))


def answer_failure(request: Request, number: str) -> Response:
    """Answer a request that ended in an unexpected error; ``number`` is in the log beside it."""
    return _said(request, 500, f"Internal error {number}: the operator of these pages finds it in the log.")


def _said(request: Request, status: int, words: str, headers: Mapping[str, str] | None = None) -> Response:
    answer: Response
    if request.url.path.startswith(API):
        answer = JSONResponse({"error": words}, status)
    else:
        answer = page(request, "error.html", status, words=words, code=status)
    answer.headers.update(headers or {})
    return answer


HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]] = dict.fromkeys(
    (DicegymError, HTTPException, RequestValidationError), answer_error
)
