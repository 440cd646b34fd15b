"""Every page that can be reached from the first one: whole, small, without barriers, and with no script but our own.

It grows with the sections: what is linked is looked at.
"""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

import pytest
from made_up import disorderly
from starlette.routing import Match
from starlette.testclient import TestClient
from web_pages import LARGEST, Visitor, usable

import dicegym
from benchmarks.visitors import Forms
from dicegym import arena
from dicegym.web import static_files
from dicegym.web.application import create_app
from dicegym.web.security import COOKIE
from dicegym.web.web_settings import WebSettings

from .conftest import Running
from .test_learn_pages import training

if TYPE_CHECKING:
    from playwright.sync_api import Page

OF_ONE_KIND = 2
"""Pages of one route that are looked at: they come from one template."""
LOCAL = ("127.0.0.1", 50000)
_HREF = re.compile(r"\b(?:href|src)=\"([^\"#]+)")
_SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script>", re.DOTALL)
_HANDLER = re.compile(r"<[a-z][^>]*\s(?:on\w+|style|hx-on[\w:-]*)=", re.IGNORECASE)


class Crawled(NamedTuple):
    """A page that was reached."""

    address: str
    route: str
    came_from: str
    html: str


class World(NamedTuple):
    """Pages with something on each of them."""

    settings: WebSettings
    cookie: str
    pages: list[Crawled]


def played(client: TestClient, game: str, moves: int, **parameters: str) -> None:
    """Play a game by its forms, whatever game it is, for so many moves."""
    generator = random.Random(0)
    form = next(one for one in Forms(client.get(f"/play/new?game={game}").text).found if one.action == "/play/new")
    firsts = [(name, values[0]) for name, values in form.choices.items() if name not in dict(form.fields)]
    table = client.post("/play/new", data=dict(form.fields + firsts) | parameters)
    for _ in range(moves):
        at = table.url.path
        forms = [one for one in Forms(client.get(at).text).found if one.action == f"{at}/move"]
        if not forms:
            return
        one = generator.choice(forms)
        chosen = [(name, generator.choice(values)) for name, values in one.choices.items()]
        button = [generator.choice(one.buttons)] if one.buttons else []
        fields: dict[str, list[str]] = {}
        for name, value in one.fields + chosen + button:
            fields.setdefault(name, []).append(value)
        client.post(f"{at}/move", data=fields)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    settings = WebSettings(folder / "web", str(folder / "arena.sqlite"), (folder / "runs",))
    small, store = dicegym.game("hog", goal=20), folder / "arena.sqlite"
    arena.contest(small, ["bacon", "always_roll(5)"], 3, executors=disorderly(), games=4, store=store)
    training(folder / "runs" / "hog" / "one")
    app = create_app(settings)
    with Visitor(app, client=LOCAL) as client:
        client.get("/")
        played(client, "hog", 200, **{"parameters-goal": "20"})
        played(client, "liarsdice", 1)
        yield World(settings, client.cookies[COOKIE], crawled(client, app))


def crawled(client: TestClient, app: object) -> list[Crawled]:
    """Return pages reached from the first one, `OF_ONE_KIND` of each route at most."""
    found, seen, counts = [], {"/"}, {}
    waiting = [("/", "")]
    while waiting:
        address, came_from = waiting.pop(0)
        parts = urlsplit(address)
        scope = {"type": "http", "path": parts.path, "method": "GET"}
        route = next((one.path for one in app.routes if one.matches(scope)[0] == Match.FULL), parts.path)
        counts[route] = counts.get(route, 0) + 1
        if counts[route] > OF_ONE_KIND:
            continue
        answer = client.get(address)
        assert answer.status_code < 400, (
            f"{address}, which {came_from} links to: {answer.status_code} {answer.text[:300]}"
        )
        if answer.headers["content-type"].startswith("text/html"):
            found.append(Crawled(address, route, came_from, answer.text))
            for link in _HREF.findall(answer.text):
                there = urljoin(address, link.replace("&amp;", "&"))
                if not urlsplit(there).netloc and there not in seen and not there.startswith("data:"):
                    seen.add(there)
                    waiting.append((there, address))
    return found


def test_every_page_can_be_read_and_is_one_of_ours(world: World) -> None:
    assert len({page.route for page in world.pages}) > 8
    wrong = []
    for page in world.pages:
        for attributes, text in _SCRIPT.findall(page.html):
            if "src=" not in attributes and "application/json" not in attributes:
                wrong.append((page.address, "a script stands in the page", text[:80]))
        if handler := _HANDLER.search(page.html):
            wrong.append((page.address, handler[0][:120]))
        heads = re.findall(r"<h1\b", page.html), re.findall(r"<title>[^<]+ - dicegym</title>", page.html)
        if [len(head) for head in heads] != [1, 1]:
            wrong.append((page.address, "it has no heading or title of its own, or several"))
    assert not wrong


def test_every_page_is_small_with_all_it_loads(world: World) -> None:
    sizes = {}
    for page in world.pages:
        loaded = set(re.findall(rf"{static_files.PREFIX}/([^\"?#]+)", page.html))
        files = (static_files.files()[name] for name in loaded)
        whole = len(gzip.compress(page.html.encode(), 5)) + sum(len(gzip.compress(one.body, 5)) for one in files)
        sizes[page.address] = whole
    assert all(size < LARGEST for size in sizes.values()), {at: size for at, size in sizes.items() if size >= LARGEST}


@pytest.mark.slow
def test_no_page_keeps_anybody_out(world: World, open_page: Callable[..., Page]) -> None:
    """One page of each route: those of one come from one template."""
    running = Running(world.settings)
    try:
        page = open_page(running.url, viewport={"width": 360, "height": 740}, color_scheme="dark")
        page.context.add_cookies([{"name": COOKIE, "value": world.cookie, "url": running.url}])
        wrong = []
        for number, one in enumerate({one.route: one for one in reversed(world.pages)}.values()):
            page.emulate_media(color_scheme="dark" if number % 2 else "light")
            page.goto(running.url + one.address)
            try:
                usable(page)
            except AssertionError as fault:
                wrong.append(str(fault))
        assert not wrong, "\n".join(wrong)
    finally:
        running.stop()
