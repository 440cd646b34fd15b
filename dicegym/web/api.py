"""The interface for programs: operations that say what they take and give, and the OpenAPI document made of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import dicegym

PREFIX = "/api"


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
    """What the request's body holds, if it has one."""
    query: type[BaseModel] | None = None
    """What may stand in the query."""


def routes(operations: Sequence[Operation]) -> list[Route]:
    """Return what answers the operations, and ``/api/openapi.json``, which describes them."""

    def route(one: Operation) -> Route:
        async def answer(request: Request) -> Response:
            found = await one.answer(request)
            return Response(found.model_dump_json(), media_type="application/json")

        return Route(PREFIX + one.path, answer, methods=[one.method])

    document = openapi(operations)

    async def describe(request: Request) -> Response:
        return JSONResponse(document)

    return [*(route(one) for one in operations), Route(f"{PREFIX}/openapi.json", describe)]


def openapi(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of operations."""
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {}
    for one in operations:
        schema = one.returns.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= schema.pop("$defs", {})
        schemas[one.returns.__name__] = schema
        content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{one.returns.__name__}"}}}
        paths.setdefault(PREFIX + one.path, {})[one.method.lower()] = {
            "summary": one.summary,
            "responses": {"200": {"description": one.summary, "content": content}},
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "dicegym", "version": dicegym.__version__},
        "paths": paths,
        "components": {"schemas": schemas},
    }
