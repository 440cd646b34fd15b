"""The interface for programs, described: an OpenAPI 3.1 document, and a page to read."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import dicegym
from dicegym.web.api import PREFIX, Operation
from dicegym.web.door import describe as describe_app
from dicegym.web.numbers import LARGEST, NUMBER
from dicegym.web.pages import page

SHAPES = {NUMBER: {"type": "integer", "minimum": 0, "maximum": LARGEST}}
"""What kinds of parameters of a path are called; all others are strings."""
OF_ALL = {
    400: "It cannot be done; `error` says why, and what to do instead",
    429: "Asked for too often; `Retry-After` says for how many seconds to wait",
    500: "Something went wrong that should not have; the operator finds its number in the log",
    503: "The server has too much to do, or is about to end; try again in a minute",
}
OF_SOME = {
    401: "No token was sent, or one that is not known",
    403: "It is not yours to do",
    404: "There is no such thing",
    409: "It was asked for in a state that is gone; ask for the present one first",
    413: "The body is too large",
    422: "Body or query do not have the form below",
}
_PARAMETER = re.compile(r"{(\w+)(?::(\w+))?}")


def routes(app: Any, operations: Sequence[Operation]) -> list[Route]:
    """Return what answers ``/api``, a page for people, and ``/api/openapi.json``, the same for programs."""

    @functools.cache
    def document() -> dict[str, Any]:
        """When it is first asked for: a tenth of a second, which a start need not take. Tests of pages ask for it."""
        found, old = describe_app(app), openapi(operations)
        found["paths"] |= old["paths"]
        found["components"]["schemas"] |= {k: v for k, v in old["components"]["schemas"].items() if k != "Fault"}
        return found

    async def describe(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(document), headers={"Cache-Control": "public, no-cache"})

    async def read(request: Request) -> Response:
        tags: dict[str, list[dict[str, Any]]] = {}
        described = await run_in_threadpool(document)
        for one in operations:
            tags.setdefault(tag_of(one), []).append(_shown(one, described))
        return page(request, "api.html", tags=tags, host=request.url.netloc, scheme=request.url.scheme)

    return [Route(PREFIX, read), Route(f"{PREFIX}/openapi.json", describe)]


def openapi(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of operations."""
    schemas: dict[str, Any] = {"Fault": _FAULT}
    paths: dict[str, Any] = {}
    for one in operations:
        path = PREFIX + _PARAMETER.sub(r"{\1}", one.path)
        paths.setdefault(path, {})[one.method.lower()] = _described(one, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "dicegym",
            "version": dicegym.__version__,
            "description": "What the pages of this server offer, for programs. Errors are JSON: `error` says in words "
            "what was wrong and what to do instead.",
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name} for name in dict.fromkeys(tag_of(one) for one in operations)],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "A token that the operator has given out"}
            },
        },
    }


def tag_of(operation: Operation) -> str:
    """Return what an operation is listed under."""
    return operation.tag or operation.path.strip("/").partition("/")[0]


_FAULT = {
    "type": "object",
    "title": "Fault",
    "properties": {"error": {"type": "string", "description": "What was wrong and what to do instead"}},
    "required": ["error"],
}


def _described(one: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    parameters = _parameters(one)
    status = {*OF_ALL, *one.errors}
    status |= {404} if _PARAMETER.search(one.path) else set()
    status |= {422} if one.takes or one.query else set()
    status |= {413} if one.takes or one.raw else set()
    status |= {401, 403} if one.token else set()
    words = OF_ALL | OF_SOME
    responses: dict[str, Any] = {
        str(one.status): {"description": one.summary, "content": _json(_named(one.returns, schemas, "serialization"))}
    }
    for number in sorted(status):
        said = {"description": words.get(number, "It did not work"), "content": _json(_reference("Fault"))}
        responses[str(number)] = said
    told: dict[str, Any] = {
        "summary": one.summary,
        "operationId": _identifier(one),
        "tags": [tag_of(one)],
        "responses": responses,
    }
    if parameters:
        told["parameters"] = parameters
    if one.takes is not None:
        content = _json(_named(one.takes, schemas, "validation"))
        if one.example is not None:
            content["application/json"]["example"] = one.example
        told["requestBody"] = {"required": True, "content": content}
    elif one.raw:
        told["requestBody"] = {"required": True, "content": {one.raw: {}}}
    if one.token:
        told["security"] = [{"token": []}]
    return told


def _parameters(one: Operation) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": SHAPES.get(kind, {"type": "string"})}
        for name, kind in _PARAMETER.findall(one.path)
    ]
    if one.query is not None:
        schema = one.query.model_json_schema(ref_template="#/components/schemas/{model}")
        required = schema.get("required", ())
        for name, shape in schema.get("properties", {}).items():
            about = {"description": shape["description"]} if "description" in shape else {}
            found.append({"name": name, "in": "query", "required": name in required, "schema": shape, **about})
    return found


def _named(model: type[BaseModel], schemas: dict[str, Any], mode: Any) -> dict[str, str]:
    """Put a model, and those in it, among the schemas, and return a reference to it."""
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}", mode=mode)
    schemas |= schema.pop("$defs", {})
    schemas.setdefault(model.__name__, schema)
    return _reference(model.__name__)


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(schema: dict[str, str]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _identifier(one: Operation) -> str:
    words = re.findall(r"[A-Za-z0-9]+", _PARAMETER.sub(r"by_\1", one.path))
    return "_".join([one.method.lower(), *words])


def _shown(one: Operation, document: dict[str, Any]) -> dict[str, Any]:
    """Return what the page says of an operation."""
    path = PREFIX + _PARAMETER.sub(r"{\1}", one.path)
    told = document["paths"][path][one.method.lower()]
    schemas = document["components"]["schemas"]
    return {
        "method": one.method,
        "path": path,
        "summary": one.summary,
        "token": one.token,
        "raw": one.raw,
        "parameters": told.get("parameters", []),
        "takes": _fields(schemas.get(one.takes.__name__, {})) if one.takes else [],
        "returns": _fields(schemas.get(one.returns.__name__, {})),
        "example": json.dumps(one.example) if one.example else "",
        "status": one.status,
        "errors": [(number, said["description"]) for number, said in told["responses"].items() if int(number) >= 400],
    }


def _fields(schema: dict[str, Any]) -> list[dict[str, Any]]:
    required = schema.get("required", ())
    return [
        {"name": name, "type": _type(one), "required": name in required, "about": one.get("description", "")}
        for name, one in schema.get("properties", {}).items()
    ]


def _type(schema: dict[str, Any]) -> str:
    """Return a schema in a word or two."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(json.dumps(one) for one in schema["enum"])
    if schema.get("type") == "array":
        return f"array of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "anything"))
