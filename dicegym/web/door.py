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
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.datastructures import FormData, ImmutableMultiDict
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dicegym.errors import DicegymError, one_line
from dicegym.web.context import Web
from dicegym.web.pages import page

API = "/api"
SEEN = 303
"""Status that has a browser get another page after a form."""
AGAIN = (400, 404, 409, 413, 422, 503)
"""Statuses of errors after which a form is shown again, where its operation can do so."""
TOO_LARGE = "too_large"
"""The key of a request's state that says, in words, that a form was too large: only its beginning was read."""
DICT = "-"
"""Separates the name of a field that is a mapping from a key: ``parameters-goal``."""
DIGITS = 9
LARGEST = 10**DIGITS - 1
"""The largest number in an address: no table here has more rows."""
PathNumber = Annotated[int, Path(ge=0, le=LARGEST)]
"""A number in a path, of `NumberConvertor`."""
EMPTY = BeforeValidator(lambda given: None if given == "" else given)
"""Takes an empty field of a form for one that is missing."""
QueryNumber = Annotated[Annotated[int, Field(ge=0, le=LARGEST)] | None, EMPTY, Query()]
"""A number in a query, which may be missing or empty."""
Finite = Annotated[float | None, BeforeValidator(lambda given: None if given is None or not isfinite(given) else given)]
"""A number of an answer; infinity and what is undefined are null."""
_Function = TypeVar("_Function", bound=Callable[..., Any])


class NumberConvertor(IntegerConvertor):
    """A whole number from 0 to `LARGEST` in an address; another address leads nowhere, as one without a number."""

    regex = f"[0-9]{{1,{DIGITS}}}"


register_url_convertor("number", NumberConvertor())


class InvalidError(DicegymError):
    """A query, a form or a body does not have the fields that its operation takes."""

    status = 422


class TooLargeError(DicegymError):
    """A form is larger than its operation takes."""

    status = 413


class Fault(BaseModel):
    """An error, as programs get it."""

    error: str = Field(description="what was wrong and what to do instead")


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
    token: bool = False
    """Whether programs send a token (``Authorization: Bearer ...``)."""
    extra: Mapping[str, Any] | None = None
    """More fields of its description in the OpenAPI document."""


class Door:
    """A section of the pages, with its operations.

    Args:
        path: where it begins, such as ``/play``; empty for what is in no menu.
        title: its name in the menu, and the heading of its operations in the OpenAPI document.
        about: what one does there, in a sentence.
        setup: called once for each server, before it starts.
    """

    def __init__(self, path: str, title: str, about: str, setup: Callable[[Web], object] = lambda web: None) -> None:
        self.path, self.title, self.about, self.setup = path, title, about, setup
        self.operations: list[Operation] = []
        self._routes: list[list[APIRoute]] = []

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
        """Add the routes of all operations to an application.

        Each is made once: it knows nothing of the application, and takes a millisecond.
        """
        for one in self.operations[len(self._routes) :]:
            self._routes.append(_routes_of(one, self.title))
        for routes in self._routes:
            app.router.routes.extend(routes)


def _routes_of(one: Operation, tag: str) -> list[APIRoute]:
    routes = []
    if one.page:
        methods = ["GET" if one.method == "GET" else "POST"]
        endpoint = _page_endpoint(one)
        routes.append(APIRoute(one.page, endpoint, methods=methods, include_in_schema=False, response_model=None))
    if one.api:
        routes.append(_api_route(one, tag))
    return routes


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
    """Return what answers a browser: the operation, called with the form if it takes one, and its template."""
    hints = get_type_hints(one.function, include_extras=True)
    declared = inspect.signature(one.function).parameters.values()
    parameters = [each.replace(annotation=hints[each.name]) for each in declared]
    form = next(
        (each for each in parameters if inspect.isclass(each.annotation) and issubclass(each.annotation, BaseModel)),
        None,
    )

    async def answer(**given: Any) -> Response:
        request: Request = given["request"]
        if one.method == "GET":
            return await _called(one, request, given)
        fields = request.state.form
        try:
            if words := request.scope["state"].get(TOO_LARGE):
                raise TooLargeError(words)
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
    """Return the answer. A coroutine function's is made in the event loop, with its page: it awaits what takes long."""
    if inspect.iscoroutinefunction(one.function):
        return _shown(one, request, await one.function(**given))
    return await run_in_threadpool(lambda: _shown(one, request, one.function(**given)))


def _shown(one: Operation, request: Request, found: Any) -> Response:
    if one.to and not isinstance(found, Response):
        return RedirectResponse(one.to.format(found), SEEN)
    values = found if one.view is None or isinstance(found, Response) else one.view(request, found)
    return values if isinstance(values, Response) else page(request, one.template, **values)


def for_programs(request: Request) -> bool:
    """Return whether a program asks: it gets JSON."""
    return request.url.path.startswith(API + "/")


def form_of(model: type[BaseModel], form: FormData) -> BaseModel:
    """Return a form as a model. An empty field is one that is missing; a list takes all values of its name.

    Raises InvalidError.
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
        raise InvalidError(faults_in(error.errors(), "the form")) from None


def text_in(form: ImmutableMultiDict[str, Any] | None, name: str) -> str:
    """Return the text of a field; empty if it is missing."""
    found = form.get(name) if form is not None else None
    return found.strip() if isinstance(found, str) else ""


def faults_in(errors: Sequence[Any], where: str) -> str:
    """Return the first five validation errors of Pydantic in words, each with its field and what was given.

    ``where`` says what is wrong if no field is, such as "the form".
    """
    told = []
    for one in errors[:5]:
        names = [part for part in one["loc"] if isinstance(part, str) and part not in ("query", "body", "path")]
        field = ".".join(names) or where
        if one["type"] == "missing":
            told.append(f"{field} is missing")
        elif one["type"].startswith("int_"):
            told.append(f"{field} {one_line(repr(one['input']), 40)} is not a whole number: write one such as 3")
        else:
            told.append(f"{field} {one_line(repr(one.get('input')), 40)}: {one['msg']}")
    return one_line("; ".join(told))


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of an application, made when it is first asked for."""
    document: dict[str, Any] = app.openapi()  # which keeps it
    scheme = {"type": "http", "scheme": "bearer", "description": "A token from the operator of this server"}
    document["components"]["securitySchemes"] = {"token": scheme}
    document["servers"] = [{"url": "/"}]
    return document
