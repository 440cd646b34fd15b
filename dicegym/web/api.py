"""The interface for programs: operations that say what they take and give, and what is read of requests for them.

`dicegym.web.openapi` describes them to other programs, and to people.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dicegym.errors import DicegymError, one_line

PREFIX = "/api"
Model = TypeVar("Model", bound=BaseModel)


class InvalidError(DicegymError):
    """What a program sent does not have the form that its operation takes."""


class Operation(NamedTuple):
    """Something that programs may ask for."""

    method: str
    path: str
    """Below `PREFIX`, with parameters as Starlette has them: ``/games/{id}``."""
    summary: str
    answer: Callable[[Request], Awaitable[BaseModel]]
    """Returns what ``returns`` says; errors of `dicegym.errors` become answers with a status (`dicegym.web.faults`)."""
    returns: type[BaseModel]
    takes: type[BaseModel] | None = None
    """What the request's body holds, if it has one: `body_of` has it."""
    query: type[BaseModel] | None = None
    """What may stand in the query: `query_of` has it. Fields are plain values."""
    status: int = 200
    """Of an answer: 201 where something is made."""
    tag: str = ""
    """What it is listed under; the first part of its path unless told otherwise."""
    token: bool = False
    """Whether it is for who has a token (``Authorization: Bearer ...``); what checks it is the operation's own."""
    raw: str = ""
    """The media type of a body that is no JSON, such as an upload's."""
    errors: tuple[int, ...] = ()
    """Statuses it may end with besides those that all have."""
    example: dict[str, Any] | None = None
    """Of a body."""


def body_of(request: Request, model: type[Model]) -> Model:
    """Return what a request of an operation took in its body, which ``takes`` says."""
    found: Model = request.state.body
    return found


def query_of(request: Request, model: type[Model]) -> Model:
    """Return what a request of an operation said in its query, which ``query`` says."""
    found: Model = request.state.query
    return found


def routes(operations: Sequence[Operation]) -> list[Route]:
    """Return what answers the operations."""

    def route(one: Operation) -> Route:
        async def answer(request: Request) -> Response:
            if one.takes is not None:
                kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
                if kind != "application/json":
                    raise InvalidError(f"the body is {kind or 'of no kind'}: send Content-Type: application/json")
                request.state.body = _read(one.takes, await request.body(), "the body")
            if one.query is not None:
                request.state.query = _read(one.query, dict(request.query_params), "the query")
            found = await one.answer(request)
            return Response(found.model_dump_json(), one.status, media_type="application/json")

        return Route(PREFIX + one.path, answer, methods=[one.method])

    return [route(one) for one in operations]


def _read(model: type[Model], given: bytes | dict[str, str], where: str) -> Model:
    try:
        return model.model_validate_json(given) if isinstance(given, bytes) else model.model_validate(given)
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, one['loc'])) or where}: {one['msg']}"
            for one in error.errors(include_url=False, include_input=False, include_context=False)
        ]
        fields = ", ".join(name if field.is_required() else f"[{name}]" for name, field in model.model_fields.items())
        shown = one_line("; ".join(faults[:5]))
        raise InvalidError(f"{where} cannot be read: {shown}. It has these fields: {fields or 'none'}") from None
