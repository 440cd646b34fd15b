"""One door: an operation is one typed function, which answers people with a page and programs with JSON.

A section has a `Door`. Its decorators register a function at the address of a page, at one below `API`, or at both::

    @DOOR.get(
        "/watch/matches/{match:number}", api="/matches/{match:number}", template="watch/match.html", returns=Match
    )
    def show_match(request: Request, match: PathNumber) -> dict[str, Any]: ...

The function returns all that it found, as a mapping or an object. The template shows it; ``returns`` says which of its
fields programs get. A parameter that is a Pydantic model is the JSON body of the one, and the form of the other.
FastAPI reads paths, queries and bodies, and writes the OpenAPI document.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Annotated, Any, NamedTuple, TypeVar, get_origin, get_type_hints

from fastapi import FastAPI, Path, Query
from fastapi.routing import APIRoute
from pydantic import BaseModel, BeforeValidator, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, ImmutableMultiDict
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dicegym.errors import DicegymError, one_line
from dicegym.web.numbers import LARGEST
from dicegym.web.pages import page

API = "/api"
SEEN = 303
"""Status that has a browser get another page after a form."""
AGAIN = (400, 404, 409, 413, 422, 503)
"""Statuses of errors after which a form is shown again, where its operation can do so."""
MOST_FIELDS = 200
PLACES = ("query", "body", "path")
"""Parts of a request, which FastAPI puts before the name of a field."""
DICT = "-"
"""Separates the name of a field that is a mapping from a key: ``parameters-goal``."""
PathNumber = Annotated[int, Path(ge=0, le=LARGEST)]
"""A number in a path, of the convertor in `dicegym.web.numbers`."""
_EMPTY = BeforeValidator(lambda given: None if given == "" else given)
QueryNumber = Annotated[Annotated[int, Field(ge=0, le=LARGEST)] | None, _EMPTY, Query()]
"""A number in a query, which may be missing or empty."""
Finite = Annotated[float | None, BeforeValidator(lambda given: None if given is None or not isfinite(given) else given)]
"""A number of an answer; infinity and what is undefined are null."""
_Function = TypeVar("_Function", bound=Callable[..., Any])


class InvalidError(DicegymError):
    """A query, a form or a body does not have the fields that its operation takes."""

    status = 422


class Fault(BaseModel):
    """An error, as programs get it."""

    error: str = Field(description="what was wrong and what to do instead")


FAULTS = {
    400: "It cannot be done; `error` says why, and what to do instead",
    401: "The token is missing or invalid",
    403: "You may not do this",
    404: "It does not exist",
    409: "The state has changed since you asked: get the present one first",
    413: "The body is too large",
    422: "Query or body do not have the form below",
    429: "Too many requests; `Retry-After` says how many seconds to wait",
    500: "An internal error; its number is in the operator's log",
    503: "The server is busy or shutting down; try again in a minute",
}
ALWAYS = (400, 422, 429, 500, 503)
"""Statuses with which any operation may end."""


class Operation(NamedTuple):
    """What people and programs may ask for."""

    function: Callable[..., Any]
    """Returns a mapping, an object for ``view``, or a Response. It takes ``request`` if it has a page."""
    method: str
    page: str = ""
    """The address of the page; empty: it has none. A form is sent by POST, whatever ``method`` is."""
    api: str = ""
    """The address below `API`; empty: programs cannot ask for it."""
    template: str = ""
    view: Callable[[Request, Any], Mapping[str, Any] | Response] | None = None
    """Makes of the result what the template names (default: the fields of the result), or a whole answer."""
    to: str = ""
    """Where a browser goes instead of a template: a format string for the result, such as ``/play/{0.id}``."""
    again: Callable[[Request, FormData, DicegymError], Response] | None = None
    """Shows a refused form again, with what was filled in."""
    returns: Any = None
    """What programs get: a Pydantic model, which takes its fields from the result."""
    status: int = 200
    errors: tuple[int, ...] = ()
    """Statuses beside `ALWAYS`, and 404 where the path has a parameter."""
    token: bool = False
    """Whether programs send a token (``Authorization: Bearer ...``)."""
    extra: Mapping[str, Any] | None = None
    """More fields of its description in the OpenAPI document."""


class Door:
    """The operations of a section.

    Args:
        tag: their heading in the OpenAPI document.
    """

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.operations: list[Operation] = []

    def get(self, page: str = "", **options: Any) -> Callable[[_Function], _Function]:
        """Register a function that changes nothing; options are the fields of `Operation`."""
        return self.operation("GET", page, **options)

    def post(self, page: str = "", **options: Any) -> Callable[[_Function], _Function]:
        """Register a function that changes something; options are the fields of `Operation`."""
        return self.operation("POST", page, **options)

    def operation(self, method: str, page: str = "", **options: Any) -> Callable[[_Function], _Function]:
        """Register a function; options are the fields of `Operation`."""

        def add(function: _Function) -> _Function:
            self.operations.append(Operation(function, method, page, **options))
            return function

        return add

    def open_in(self, app: FastAPI) -> None:
        """Add the routes of all operations to an application."""
        for one in self.operations:
            if one.page:
                endpoint = _page_endpoint(one)
                method = "GET" if one.method == "GET" else "POST"
                route = APIRoute(one.page, endpoint, methods=[method], include_in_schema=False, response_model=None)
                app.router.routes.append(route)
            if one.api:
                app.router.routes.append(_api_route(one, self.tag))


def _api_route(one: Operation, tag: str) -> APIRoute:
    numbers = {*ALWAYS, *one.errors} | ({404} if "{" in one.api else set()) | ({401, 403} if one.token else set())
    return APIRoute(
        API + one.api,
        one.function,
        methods=[one.method],
        response_model=one.returns,
        status_code=one.status,
        tags=[tag],
        summary=(inspect.getdoc(one.function) or "").partition("\n")[0],
        responses={number: {"model": Fault, "description": FAULTS[number]} for number in sorted(numbers)},
        operation_id=one.function.__name__,
        openapi_extra={**({"security": [{"token": []}]} if one.token else {}), **(one.extra or {})},
    )


def _page_endpoint(one: Operation) -> Callable[..., Any]:
    """Return what answers a browser: the operation, called with the form if it takes one, and its template."""
    hints = get_type_hints(one.function, include_extras=True)
    declared = inspect.signature(one.function).parameters.values()
    parameters = [each.replace(annotation=hints[each.name]) for each in declared]
    form = next((each for each in parameters if _is_model(each.annotation)), None)

    async def answer(**given: Any) -> Response:
        request: Request = given["request"]
        if one.method == "GET":
            return await _called(one, request, given)
        async with request.form(max_files=1, max_fields=MOST_FIELDS, max_part_size=request.state.largest) as fields:
            request.state.form = fields
            try:
                if request.state.refusal is not None:
                    raise request.state.refusal
                if form is not None:
                    given[form.name] = form_of(form.annotation, fields)
                return await _called(one, request, given)
            except DicegymError as error:
                if one.again is None or getattr(error, "status", 400) not in AGAIN:
                    raise
                return await run_in_threadpool(one.again, request, fields, error)

    answer.__name__ = one.function.__name__
    answer.__signature__ = inspect.Signature([each for each in parameters if each is not form])  # type: ignore[attr-defined]
    return answer


async def _called(one: Operation, request: Request, given: dict[str, Any]) -> Response:
    if inspect.iscoroutinefunction(one.function):
        return await run_in_threadpool(_shown, one, request, await one.function(**given))
    return await run_in_threadpool(lambda: _shown(one, request, one.function(**given)))


def _shown(one: Operation, request: Request, found: Any) -> Response:
    if isinstance(found, Response):
        return found
    if one.to:
        return RedirectResponse(one.to.format(found), SEEN)
    values = found if one.view is None else one.view(request, found)
    if isinstance(values, Response):
        return values
    return page(request, one.template, **values)


def for_programs(request: Request) -> bool:
    """Return whether a program asks: it gets JSON."""
    return request.url.path.startswith(API + "/")


def _is_model(kind: Any) -> bool:
    return inspect.isclass(kind) and issubclass(kind, BaseModel)


def form_of(model: type[BaseModel], form: FormData) -> BaseModel:
    """Return a form as a model. An empty field is one that is missing; a list takes all values of its name.

    Raises InvalidError.
    """
    given: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        called = field.alias or name
        values = [one.strip() if isinstance(one, str) else one for one in form.getlist(called)]
        filled = [one for one in values if one != ""]
        if get_origin(field.annotation) is dict and called not in form:
            keys = [key for key in form if key.startswith(called + DICT)]
            given[called] = {key.removeprefix(called + DICT): form[key] for key in keys if form[key] != ""}
        elif get_origin(field.annotation) in (list, tuple):
            given[called] = filled
        elif filled:
            given[called] = filled[0]
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise InvalidError(faults_in(error.errors(), "the form", model)) from None


def text_in(form: ImmutableMultiDict[str, Any] | None, name: str) -> str:
    """Return the text of a field; empty if there is none."""
    found = form.get(name) if form is not None else None
    return found.strip() if isinstance(found, str) else ""


def faults_in(errors: Sequence[Any], where: str, model: Any = None) -> str:
    """Return validation errors in words: field by field, the first five, each with what was given.

    Args:
        errors: of Pydantic.
        where: what is wrong if no field is: "the form".
        model: whose fields are listed where one is missing or unknown.
    """
    told = []
    for one in errors[:5]:
        field = ".".join(str(part) for part in one["loc"] if part not in PLACES) or where
        given, kind = one_line(repr(one.get("input")), 40), one["type"]
        if kind == "json_invalid":
            told.append(f"{where} is not JSON: {one.get('ctx', {}).get('error', one['msg'])}")
        elif kind == "missing":
            told.append(f"{field} is missing")
        elif kind == "extra_forbidden":
            told.append(f"{field} is not a field")
        elif kind.startswith("int_"):
            told.append(f"{field} {given} is not a whole number: write one in figures, such as 3")
        else:
            told.append(f"{field} {given}: {one['msg']}")
    if _is_model(model) and any(one["type"] in ("missing", "extra_forbidden") for one in errors):
        fields = model.model_fields.items()
        told.append("the fields are " + ", ".join(name if one.is_required() else f"[{name}]" for name, one in fields))
    return one_line("; ".join(told))


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of an application, made when it is first asked for."""
    document: dict[str, Any] = app.openapi()  # which keeps it
    scheme = {"type": "http", "scheme": "bearer", "description": "A token from the operator of this server"}
    document["components"]["securitySchemes"] = {"token": scheme}
    document["servers"] = [{"url": "/"}]
    return document
