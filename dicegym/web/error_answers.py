"""Answers to requests that fail: a page for people, JSON for programs."""

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
from dicegym.web.pages import render_page
from dicegym.web.section import describe_errors, for_programs

STATUSES: dict[type[DicegymError], int] = {UnknownNameError: 404, BusyError: 503}
"""HTTP statuses of errors without an attribute ``status``; all others have 400."""
WORDS = {
    404: "page not found: the address is wrong, or the page is gone",
    405: "this address does not accept such a request",
}
"""Texts that replace the standard phrase of a status."""


async def answer_error(request: Request, error: Exception) -> Response:
    """Answer a request that raised an error of dicegym, Starlette or FastAPI."""
    if isinstance(error, HTTPException):
        known = error.detail != http.HTTPStatus(error.status_code).phrase
        words = error.detail if known else WORDS.get(error.status_code, error.detail)
        return _respond(request, error.status_code, words, error.headers)
    if isinstance(error, RequestValidationError):
        return _respond(request, 422, describe_errors(error.errors(), "the body"))
    known_status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 400)
    return _respond(request, getattr(error, "status", known_status), str(error))


def answer_failure(request: Request, number: str) -> Response:
    """Answer a request that raised an unexpected error; the log has ``number`` beside the traceback."""
    return _respond(request, 500, f"Internal error {number}: the operator finds it in the log by this number.")


def _respond(request: Request, status: int, words: str, headers: Mapping[str, str] | None = None) -> Response:
    answer: Response
    if for_programs(request):
        answer = JSONResponse({"error": words}, status)
    else:
        answer = render_page(request, "error.html", status, words=words, code=status)
    answer.headers.update(headers or {})
    return answer


HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]] = dict.fromkeys(
    (DicegymError, HTTPException, RequestValidationError), answer_error
)
