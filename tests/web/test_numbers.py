"""Numbers of any size, in every place where an address, a query or a form takes one: never an error of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.convertors import IntegerConvertor
from starlette.routing import Route
from starlette.testclient import TestClient
from web_pages import Visitor
from web_stores import held_store

from dicegym.web.application import create_app
from dicegym.web.enter.runner import SubmissionService
from dicegym.web.section import LARGEST, NumberConvertor
from dicegym.web.web_settings import WebSettings

LOCAL = ("127.0.0.1", 50000)
SIZES = (str(LARGEST), str(1 << 63), str(1 << 64), "9" * 40, "9" * 5000)
IN_QUERIES = ("before", "first", "move", "page", "players", "run", "seat", "seed", "version", "name")
IN_FORMS = (
    *("action", "bot", "contest", "games", "memory", "move", "number", "players", "rounds"),
    *("seat", "seconds", "seed", "dice", "goal"),
)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return somebody who may do everything, with a store in which there is something."""
    folder = tmp_path_factory.mktemp("numbers")
    held_store(folder / "arena.sqlite")
    app = create_app(WebSettings(folder / "web", str(folder / "arena.sqlite"), (Path(folder / "runs"),)))
    with Visitor(app, client=LOCAL, raise_server_exceptions=False) as visitor:
        token = app.state.web.get(SubmissionService).tokens.add("ann")
        visitor.headers["Authorization"] = f"Bearer {token}"
        yield visitor


def routes(asked: TestClient, numbered: bool = False) -> list[Route]:
    """Return all routes, or those with a number in their address."""
    found = [one for one in asked.app.routes if isinstance(one, Route)]  # type: ignore[attr-defined]
    return [one for one in found if has_number(one) or not numbered]


def has_number(route: Route) -> bool:
    return any(isinstance(kind, NumberConvertor) for kind in route.param_convertors.values())


def filled(route: Route, number: object) -> str:
    """Return the address of a route with one number in place of all that varies, except the names of games."""
    path = route.path_format
    for name, convertor in route.param_convertors.items():
        game = name == "game" and not isinstance(convertor, NumberConvertor)
        path = path.replace(f"{{{name}}}", "hog" if game else str(number))
    return path


def test_numbers_in_addresses_are_bounded(asked: TestClient) -> None:
    found = routes(asked)
    kinds = [kind for route in found for kind in route.param_convertors.values()]
    assert not [kind for kind in kinds if type(kind) is IntegerConvertor]
    assert len(found) > 50
    assert sum(isinstance(kind, NumberConvertor) for kind in kinds) > 15


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{len(size)}-{size[:3]}")
def test_a_number_in_an_address_that_nothing_has_is_not_found(asked: TestClient, size: str) -> None:
    for route in routes(asked, numbered=True):
        path = filled(route, size)
        for method in sorted({"GET", "POST", "DELETE", "PUT"} & (route.methods or set())):
            status = asked.request(method, path).status_code
            assert status < 500, (method, path[:80], status)
            if has_number(route) and method == "GET":
                assert status == 404, (path[:80], status)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("size", SIZES[1:], ids=lambda size: f"{len(size)}-{size[:3]}")
def test_a_number_in_a_query_is_answered(asked: TestClient, size: str) -> None:
    for route in routes(asked):
        if "GET" not in (route.methods or ()):
            continue
        for names in (IN_QUERIES, ("seat", "move", "first")):  # what is refused first hides what is read later
            query = dict.fromkeys(names, size) | {"game": "hog"}
            status = asked.get(filled(route, 1), params=query).status_code
            assert status < 500, (route.path, names, status)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("size", SIZES[1:4])
def test_a_number_in_a_form_is_answered(asked: TestClient, size: str) -> None:
    for route in routes(asked):
        if "POST" not in (route.methods or ()) or route.path.startswith("/api"):
            continue
        for sign in ("", "-"):
            form = dict.fromkeys(IN_FORMS, f"{sign}{size}") | {"game": "hog", "name": f"a{size}"}
            status = asked.post(filled(route, 1), data=form).status_code
            assert status < 500, (route.path, status)
