"""Game servers on pages: started, watched, stopped, and known when they run in another process."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient
from web_pages import Visitor, barriers, too_wide

from dicegym.arena.store.reading import StoreReader
from dicegym.web.application import create_app
from dicegym.web.rights import operator_address
from dicegym.web.server.server_boards import list_served
from dicegym.web.web_settings import WebSettings

if TYPE_CHECKING:
    from conftest import Running
    from playwright.sync_api import Page

SECONDS = 60.0
LOCAL = ("127.0.0.1", 50000)


@pytest.fixture
def operator(settings: WebSettings) -> Iterator[TestClient]:
    with Visitor(create_app(settings), client=LOCAL) as asked:
        asked.sign_operator_in()
        yield asked


def until(asked: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not asked():  # asked again it may be over: games take moments
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("game", list_served())
def test_a_server_is_started_watched_and_stopped(operator: TestClient, game: str, settings: WebSettings) -> None:
    agents = [name for name in ("thrifty", "gather") if f'value="{name}"' in operator.get(f"/server/{game}").text]
    assert len(agents) == 2
    begun = operator.post(f"/server/{game}/start", data={"tcp": "0", "players": "2", "agents": agents, "always": "on"})
    assert begun.status_code == 200
    until(lambda: len(operator.get(f"/api/servers/{game}").json()["ratings"]) == 2)
    told = operator.get(f"/api/servers/{game}").json()
    assert told["running"]
    assert told["addresses"][0].startswith("127.0.0.1:")
    until(lambda: bool(operator.get(f"/api/servers/{game}").json()["tables"]))
    shown = operator.get(f"/server/{game}").text
    assert "Stop the server" in shown
    assert "Games in progress" in shown
    again = operator.post(f"/server/{game}/start", data={"tcp": "0", "players": "2"})
    assert again.status_code == 400
    assert "runs already" in again.text
    # another process of pages knows of it by the store alone
    with Visitor(create_app(dataclasses.replace(settings, folder=settings.folder / "other")), client=LOCAL) as other:
        other.sign_operator_in()
        assert "in another process" in other.get(f"/server/{game}").text
        assert "where it was started" in other.post(f"/server/{game}/stop").text
    one = f"/watch/served/{told['games'][0]['id']}"
    with StoreReader(settings.store) as reader:
        seed = str(reader.find_served_game(told["games"][0]["id"]).seed)
    assert seed not in operator.get(one).text, "the dice of later games follow from it"
    stopped = operator.post(f"/server/{game}/stop")
    assert "Stopped" in stopped.text
    assert one in stopped.text
    assert seed in operator.get(one).text


def test_a_server_ends_with_the_pages(settings: WebSettings) -> None:
    game = list_served()[0]
    with Visitor(create_app(settings), client=LOCAL) as asked:
        asked.sign_operator_in()
        asked.post(f"/server/{game}/start", data={"tcp": "0", "players": "2"})
        until(lambda: bool(asked.get(f"/api/servers/{game}").json()["addresses"]))
    with Visitor(create_app(settings), client=LOCAL) as asked:
        assert not asked.get(f"/api/servers/{game}").json()["running"]


@pytest.mark.parametrize(
    ("changed", "headers", "status"),
    [
        ({"host": "0.0.0.0"}, {}, 200),
        ({"hosts": ("games.example.org",)}, {}, 200),
        ({"proxies": ("127.0.0.1",)}, {}, 200),
        ({}, {"X-Forwarded-For": "198.51.100.1"}, 403),
    ],
)
def test_strangers_start_and_stop_nothing(
    settings: WebSettings, changed: dict, headers: dict[str, str], status: int
) -> None:
    with Visitor(create_app(dataclasses.replace(settings, **changed)), client=LOCAL, headers=headers) as asked:
        assert asked.get(f"/?token={asked.app.state.web.token}").status_code == status
        refuse_operations(asked)


def refuse_operations(asked: TestClient) -> None:
    """Have a visitor try what is the operator's, on every page that has some of it."""
    game = list_served()[0]
    assert "Start the server" not in asked.get(f"/server/{game}").text
    assert "Run a contest" not in asked.get("/enter").text
    for action in ("start", "stop"):
        refused = asked.post(f"/server/{game}/{action}", data={"tcp": "0", "players": "2"})
        assert refused.status_code in (401, 403)
        assert "operator" in refused.text
    assert asked.get("/enter/contests/new").status_code == 401
    assert asked.post("/enter/contests", data={"name": "mine", "game": "hog"}).status_code == 401


def test_who_uses_the_machine_is_an_operator_by_the_printed_address_alone(settings: WebSettings) -> None:
    game, app = list_served()[0], create_app(settings)
    token = app.state.web.token
    with Visitor(app, client=LOCAL) as other, Visitor(app, client=LOCAL) as asked:
        for wrong in ("", "0" * 32, token.upper() + "0", "\u00fc"):
            refused = other.get("/", params={"token": wrong})
            assert (refused.status_code, "dicegym web" in refused.text) == (403, True)
        refuse_operations(other)
        opened = asked.get(f"/?token={token}", follow_redirects=False)
        assert (opened.status_code, opened.headers["Location"]) == (303, "/")
        (cookie,) = [one for one in opened.headers.get_list("Set-Cookie") if one.startswith("dicegym_operator=")]
        assert {"httponly", "samesite=lax"} <= set(cookie.lower().split("; "))
        assert "Start the server" in asked.get(f"/server/{game}").text
        assert "Run a contest" in asked.get("/enter").text
        assert asked.get("/enter/contests/new").status_code == 200
        other.cookies.set("dicegym_operator", asked.cookies["dicegym_operator"])
        refuse_operations(other)  # a cookie is worth nothing to another visitor
        kept = dict(asked.cookies)
    bearer = {"Authorization": f"Bearer {token}"}
    with TestClient(app, base_url="http://127.0.0.1:8000", client=LOCAL, headers=bearer) as program:
        assert program.get("/enter/contests/new").status_code == 200
    with Visitor(create_app(settings), client=LOCAL, cookies=kept) as again:  # a restart forgets the token alone
        assert again.get("/enter/contests/new").status_code == 200
        assert again.get(f"/?token={token}").status_code == 403


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"tcp": "", "players": "2"}, "no client could reach"),
        ({"tcp": "many", "players": "2"}, "not a whole number: write one"),
        ({"tcp": "0", "players": "900"}, "number of players"),
        ({"tcp": "0", "players": "2", "agents": "../../etc/passwd"}, "unknown agent"),
    ],
)
def test_what_cannot_be_served_is_said(operator: TestClient, data: dict[str, str], says: str) -> None:
    refused = operator.post(f"/server/{list_served()[0]}/start", data=data)
    assert refused.status_code in (400, 422)
    assert says in refused.text


def test_a_game_without_a_server_is_not_found(operator: TestClient) -> None:
    assert operator.get("/server/chess").status_code == 404
    assert operator.get("/api/servers/chess").status_code == 404


@pytest.mark.slow
def test_the_scoreboard_is_live(
    running: Running, open_page: Callable[..., Page], shot: Callable[[Page, str], None]
) -> None:
    page = open_page(operator_address(running.web, f"{running.url}/"), viewport={"width": 1280, "height": 900})
    page.goto(f"{running.url}/server")
    page.locator("main .cards a").first.click()
    page.get_by_label("Port for TCP").fill("0")
    for name in page.locator("input[name=agents]").all()[:2]:
        name.check()
    page.get_by_label("They play each other").check()
    page.get_by_role("button", name="Start the server").click()
    page.get_by_role("heading", name="Games in progress").wait_for()
    page.get_by_role("region", name="Ratings").wait_for(timeout=30000)
    assert barriers(page) == []
    shot(page, "desk")
    page.set_viewport_size({"width": 360, "height": 740})
    assert not too_wide(page)
    shot(page, "phone")
    page.get_by_role("button", name="Stop the server").click()
    page.get_by_text("Stopped.").wait_for()
