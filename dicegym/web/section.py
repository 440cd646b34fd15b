"""Sections of the site. An operation is one typed function, which answers people with a page and programs with JSON.

The decorators of a `Section` register a function at the address of a page, at one below `API`, or at both::

    @SECTION.get(
        "/watch/matches/{match:number}", api="/matches/{match:number}", template="watch/match.html", returns=Match
    )
    def show_match(request: Request, match: PathNumber) -> dict[str, Any]: ...

The function returns its result as a mapping or an object. The template renders it; ``returns`` selects the fields of
the JSON. A parameter that is a Pydantic model is filled from the form of a page or the JSON body of a program. FastAPI
reads paths, queries and bodies, and writes the OpenAPI document.
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
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.datastructures import FormData, ImmutableMultiDict
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dicegym.errors import DicegymError, one_line
from dicegym.web.context import Web
from dicegym.web.pages import render_page

API = "/api"
SEE_OTHER = 303
"""The status that redirects a browser to a page after a form."""
SHOW_AGAIN = (400, 404, 409, 413, 422, 503)
"""Statuses of errors after which an operation with `Operation.again` shows its form again."""
TOO_LARGE = "too_large"
"""The key in a request's state for the message that a form was too large; only its beginning was read."""
DICT = "-"
"""Separates the name of a mapping's field from a key: ``parameters-goal``."""
DIGITS = 9
LARGEST = 10**DIGITS - 1
"""The largest number in an address; no table has more rows."""
PathNumber = Annotated[int, Path(ge=0, le=LARGEST)]
"""A number in a path, for `NumberConvertor`."""
EMPTY = BeforeValidator(lambda given: None if given == "" else given)
"""Treats an empty field of a form as a missing one."""
QueryNumber = Annotated[Annotated[int, Field(ge=0, le=LARGEST)] | None, EMPTY, Query()]
"""An optional number in a query."""
Finite = Annotated[float | None, BeforeValidator(lambda given: None if given is None or not isfinite(given) else given)]
"""A number of an answer; infinity and NaN become null."""
_Function = TypeVar("_Function", bound=Callable[..., Any])


class NumberConvertor(IntegerConvertor):
    """A whole number from 0 to `LARGEST` in an address; other addresses match no route."""

    regex = f"[0-9]{{1,{DIGITS}}}"


register_url_convertor("number", NumberConvertor())


class InvalidError(DicegymError):
    """A query, form or body does not match the fields of its operation."""

    status = 422


class TooLargeError(DicegymError):
    """A form is larger than its operation accepts."""

    status = 413


class Fault(BaseModel):
    """An error, as programs get it."""

    error: str = Field(description="what was wrong and what to do instead")


class Operation(NamedTuple):
    """A function with its addresses and its forms of answers."""

    function: Callable[..., Any]
    """Returns a mapping, an object for ``view``, or a Response. Takes ``request`` if there is a page."""
    method: str
    page: str = ""
    """The address of the page; empty: no page. Forms are sent by POST, whatever ``method`` is."""
    api: str = ""
    """The address below `API`; empty: not for programs."""
    template: str = ""
    view: Callable[[Request, Any], Mapping[str, Any] | Response] | None = None
    """Turns the result into the template's variables (default: the result), or into a whole answer."""
    to: str = ""
    """Redirects a browser instead of rendering: a format string for the result, such as ``/play/{0.id}``."""
    again: Callable[[Request, FormData, DicegymError], Response] | None = None
    """Shows a refused form again with its values."""
    returns: Any = None
    """The JSON for programs: a Pydantic model, filled from the result."""
    status: int = 200
    token: bool = False
    """Whether programs need a token (``Authorization: Bearer ...``)."""
    extra: Mapping[str, Any] | None = None
    """Further fields of its entry in the OpenAPI document."""


class Section:
    """A section of the site with the routes of its operations, which all applications share.

    Args:
        path: the address of its first page, such as ``/play``; empty: not in the menu.
        title: its name in the menu, and the tag of its operations in the OpenAPI document.
        about: its purpose, in a sentence.
        setup: called once for each server, before it starts.
    """

    def __init__(self, path: str, title: str, about: str, setup: Callable[[Web], object] = lambda web: None) -> None:
        self.path, self.title, self.about, self.setup = path, title, about, setup
        self.routes: list[APIRoute] = []

    def get(self, page: str = "", **options: Any) -> Callable[[_Function], _Function]:
        """Register a function that only reads; ``options`` are fields of `Operation`."""
        return self.operation("GET", page, **options)

    def post(self, page: str = "", **options: Any) -> Callable[[_Function], _Function]:
        """Register a function that changes something; ``options`` are fields of `Operation`."""
        return self.operation("POST", page, **options)

    def operation(self, method: str, page: str = "", **options: Any) -> Callable[[_Function], _Function]:
        """Register a function for an HTTP method; ``options`` are fields of `Operation`."""

        def add(function: _Function) -> _Function:
            one = Operation(function, method, page, **options)
            if page:
                methods, endpoint = ["GET" if method == "GET" else "POST"], _page_endpoint(one)
                route = APIRoute(page, endpoint, methods=methods, include_in_schema=False, response_model=None)
                self.routes.append(route)
            if one.api:
                self.routes.append(_api_route(one, self.title))
            return function

        return add


def _api_route(one: Operation, tag: str) -> APIRoute:
    security: dict[str, Any] = {"security": [{"token": []}]} if one.token else {}
    return APIRoute(
        API + one.api,
        one.function,
        methods=[one.method],
        response_model=one.returns,
        status_code=one.status,
        tags=[tag],
        summary=(inspect.getdoc(one.function) or "").partition("\n")[0],
        responses={"4XX": {"model": Fault}, "5XX": {"model": Fault}},
        operation_id=one.function.__name__,
        openapi_extra={**security, **(one.extra or {})},
    )


def _page_endpoint(one: Operation) -> Callable[..., Any]:
    """Return the endpoint for browsers: it reads the form if there is one, calls the operation and renders the page."""
    hints = get_type_hints(one.function, include_extras=True)
    declared = inspect.signature(one.function).parameters.values()
    parameters = [each.replace(annotation=hints[each.name]) for each in declared]
    form = next(
        (each for each in parameters if inspect.isclass(each.annotation) and issubclass(each.annotation, BaseModel)),
        None,
    )

    async def endpoint(**given: Any) -> Response:
        request: Request = given["request"]
        if one.method == "GET":
            return await _call(one, request, given)
        fields = request.state.form
        try:
            if words := request.scope["state"].get(TOO_LARGE):
                raise TooLargeError(words)
            if form is not None:
                given[form.name] = parse_form(form.annotation, fields)
            return await _call(one, request, given)
        except DicegymError as error:
            if one.again is None or getattr(error, "status", 400) not in SHOW_AGAIN:
                raise
            return await run_in_threadpool(one.again, request, fields, error)

    endpoint.__name__ = one.function.__name__
    signature = inspect.Signature([each for each in parameters if each is not form])
    endpoint.__signature__ = signature  # type: ignore[attr-defined]
    return endpoint


async def _call(one: Operation, request: Request, given: dict[str, Any]) -> Response:
    """Call an operation and render its answer: coroutine functions in the event loop, others in a thread."""
    if inspect.iscoroutinefunction(one.function):
        return _render(one, request, await one.function(**given))
    return await run_in_threadpool(lambda: _render(one, request, one.function(**given)))


def _render(one: Operation, request: Request, found: Any) -> Response:
    if one.to and not isinstance(found, Response):
        return RedirectResponse(one.to.format(found), SEE_OTHER)
    values = found if one.view is None or isinstance(found, Response) else one.view(request, found)
    return values if isinstance(values, Response) else render_page(request, one.template, **values)


def for_programs(request: Request) -> bool:
    """Return whether a program sent the request, which is answered by JSON."""
    return request.url.path.startswith(API + "/")


def parse_form(model: type[BaseModel], form: FormData) -> BaseModel:
    """Return a form as a model. Empty fields count as missing; a list takes all values of its name.

    Raises InvalidError if the values do not fit the model.
    """
    given: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        values = [one.strip() if isinstance(one, str) else one for one in form.getlist(name)]
        filled = [one for one in values if one != ""]
        if get_origin(field.annotation) is dict:
            keys = [key for key in form if key.startswith(name + DICT)]
            given[name] = {key.removeprefix(name + DICT): form[key] for key in keys if form[key] != ""}
        elif get_origin(field.annotation) is list:
            given[name] = filled
        elif filled:
            given[name] = filled[0]
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise InvalidError(describe_errors(error.errors(), "the form")) from None


def text_in(form: ImmutableMultiDict[str, Any] | None, name: str) -> str:
    """Return the text of a field, stripped; empty if it is missing."""
    found = form.get(name) if form is not None else None
    return found.strip() if isinstance(found, str) else ""


def describe_errors(errors: Sequence[Any], where: str) -> str:
    """Return the first five validation errors of Pydantic in words, each with its field and value.

    ``where``, such as "the form", replaces the field in errors of no single field.
    """
    words = []
    for one in errors[:5]:
        names = [part for part in one["loc"] if isinstance(part, str) and part not in ("query", "body", "path")]
        field = ".".join(names) or where
        if one["type"] == "missing":
            words.append(f"{field} is missing")
        elif one["type"].startswith("int_"):
            words.append(f"{field} {one_line(repr(one['input']), 40)} is not a whole number: write one such as 3")
        else:
            words.append(f"{field} {one_line(repr(one.get('input')), 40)}: {one['msg']}")
    return one_line("; ".join(words))


def describe_api(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of an application; FastAPI caches it."""
    document: dict[str, Any] = app.openapi()
    scheme = {"type": "http", "scheme": "bearer", "description": "A token from the operator of this server"}
    document["components"]["securitySchemes"] = {"token": scheme}
    document["servers"] = [{"url": "/"}]
    return document
