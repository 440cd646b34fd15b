"""What becomes of errors: a page for people, or JSON for programs, that says what was wrong and what to do."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from dicegym.errors import DicegymError, UnknownNameError
from dicegym.web.api import PREFIX
from dicegym.web.pages import page

NOT_FOUND, WRONG = 404, 400


async def refused(request: Request, error: Exception) -> Response:
    """Answer a request that an error of ours, or of Starlette's, ended."""
    if isinstance(error, HTTPException):
        status, words = error.status_code, error.detail
    else:
        status, words = (NOT_FOUND if isinstance(error, UnknownNameError) else WRONG), str(error)
    if request.url.path.startswith(PREFIX):
        return JSONResponse({"error": words}, status)
    return page(request, "error.html", status, words=words, code=status)


HANDLERS = {DicegymError: refused, HTTPException: refused}
