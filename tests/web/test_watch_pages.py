"""Contests, matches, games and agents on pages: as they stand in the store, for people and for programs."""

from __future__ import annotations

import json
import re
import shutil
import threading
import time
import types
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from calls import counted
from made_up import disorderly
from starlette.testclient import TestClient
from web_pages import Visitor, usable
from web_stores import ENTRIES, ended, multiplied, reopened

import dicegym
from dicegym.agents import FunctionPlayer
from dicegym.arena import contest
from dicegym.arena.replay import from_json
from dicegym.arena.replay.page import page_data
from dicegym.arena.replay.replay import moments, result_lines
from dicegym.arena.replay.stored_replays import find_replay
from dicegym.arena.storage import Storage
from dicegym.arena.store.opening import BusyError
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.store import ContestStore, lock_contest
from dicegym.errors import ParameterError
from dicegym.learning.curves import CURVE
from dicegym.play.turn import Turn
from dicegym.players.model_file import facts
from dicegym.web import workers
from dicegym.web.application import create_app
from dicegym.web.enter.plans import ContestPlan
from dicegym.web.enter.runner import Runner, SubmissionService
from dicegym.web.play.review import GAME_COST
from dicegym.web.watch import agent_pages, contest_boards, contest_pages
from dicegym.web.web_settings import WebSettings

if TYPE_CHECKING:
    from conftest import Running
    from playwright.sync_api import Page

PATIENCE = 20.0
SMALL = dicegym.game("hog", goal=20)
"""Before its contests each entry is asked 400 questions instead of 10,000."""
LEARNING = (CURVE, "began_with")
"""What a training notes of its evaluations."""


@pytest.fixture
def own_store(contest_store: Path, settings: WebSettings) -> Path:
    """The store of a test's own server."""
    path = Path(settings.store)
    shutil.copy(contest_store, path)
    return path


@pytest.fixture
def watching(own_store: Path, settings: WebSettings) -> Iterator[TestClient]:
    with Visitor(create_app(settings)) as asked:
        yield asked


@pytest.fixture(scope="module")
def held(contest_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Pages of a contest that has ended, of which nothing is changed."""
    folder = tmp_path_factory.mktemp("held")
    shutil.copy(contest_store, folder / "arena.sqlite")
    with Visitor(create_app(WebSettings(folder / "web", str(folder / "arena.sqlite"), (folder / "runs",)))) as asked:
        yield asked


def shown_when_computed(watching: TestClient, address: str = "/watch/contests/1", word: str = "Rankings") -> str:
    """Return a page once it holds a word: where computing takes long, it says first that this is being done."""
    until = time.monotonic() + PATIENCE
    unrated = "Ratings are being computed"
    while (word not in (page := watching.get(address).text) or unrated in page) and time.monotonic() < until:
        time.sleep(0.05)
    return page


def test_without_a_store_it_says_how_to_make_one(client: TestClient) -> None:
    answer = client.get("/watch")
    assert answer.status_code == 200
    assert "dicegym tournament hog" in answer.text
    assert client.get("/watch/contests/1").status_code == 404
    assert client.get("/api/contests").json() == {"contests": [], "next": None}


def test_contests_are_listed_and_shown(held: TestClient) -> None:
    shown = held.get("/watch").text
    assert 'href="/watch/contests/1"' in shown
    assert "ended" in shown
    page = shown_when_computed(held)
    for word in ("Rankings", "Rating", "Games in which the row was ahead", *ENTRIES, "/watch/matches/1"):
        assert word in page
    assert held.get("/watch?game=yatzy").text.count("/watch/contests/") == 0


@pytest.mark.parametrize(
    ("address", "status", "says"),
    [
        ("/watch/contests/9", 404, ""),
        ("/watch/matches/99", 404, ""),
        ("/watch/games/1/99", 404, ""),
        ("/watch/agents/hog/agent?name=nobody", 404, ""),
        ("/watch/agents?game=nothing", 404, ""),
        ("/watch/agents/nothing/agent?name=ham", 404, ""),
        ("/watch/contests/1/matches?before=x", 422, ""),
        ("/watch/games/1/1/review?seat=2", 400, ""),
        ("/watch/new?game=hog&players=9", 400, ""),
        ("/watch/new?game=hog&players=3", 400, "exactly 2"),
        ("/watch/game?seed=3&game=hog&agent=/etc/passwd&agent=ham", 404, ""),
        ("/watch/game?seed=3&game=hog&agent=../hog/ham.py&agent=ham", 404, ""),
        ("/watch/game?seed=3&game=hog&agent=x/../../best.zip&agent=ham", 400, ""),
        ("/watch/game?seed=3&game=chess&agent=ham&agent=ham", 404, ""),
        ("/watch/game?seed=-1&game=hog&agent=ham&agent=ham", 422, ""),
        (f"/watch/game?seed={'9' * 30}&game=hog&agent=ham&agent=ham", 422, ""),
        ("/watch/game?game=hog&agent=swap", 400, "1 agent cannot play Hog: choose 2 agents"),
        ("/watch/game?game=yatzy" + "&agent=thrifty" * 7, 400, "7 agents cannot play Yatzy: choose 1 to 6 agents"),
    ],
)
def test_what_cannot_be_shown_is_told(held: TestClient, address: str, status: int, says: str) -> None:
    answer = held.get(address)
    assert (answer.status_code, 'role="alert"' in answer.text) == (status, True)
    assert says in answer.text


def test_matches_are_told_page_by_page(watching: TestClient, own_store: Path) -> None:
    multiplied(own_store, 25)
    found: list[int] = []
    address: str | None = "/watch/contests/1/matches"
    while address is not None:
        page = watching.get(address).text
        found += map(int, re.findall(r'href="/watch/matches/(\d+)"', page))
        older = re.search(r'href="(\?before=\d+)[^"]*" rel="next"', page)
        address = None if older is None else f"/watch/contests/1/matches{older[1]}"
    assert found == list(range(75, 0, -1))
    own = watching.get("/watch/contests/1/matches?entry=ham").text
    assert len(re.findall(r'href="/watch/matches/(\d+)"', own)) == 50
    rows = watching.get("/api/contests/1/matches?count=2&before=50&entry=ham").json()
    assert [row["id"] for row in rows["matches"]] == sorted((row["id"] for row in rows["matches"]), reverse=True)
    assert all("ham" in row["entries"] for row in rows["matches"])
    assert rows["next"] == rows["matches"][-1]["id"]
    assert watching.get("/api/contests/1/matches?count=0").status_code == 422


def test_a_game_is_shown_with_and_without_scripts(held: TestClient, contest_store: Path) -> None:
    with StoreReader(contest_store) as reader:
        replay = find_replay(reader, "2.3")
    page = held.get("/watch/games/2/3?move=4").text
    assert data_on(page) == json.loads(json.dumps(page_data(replay)))
    *_, end = seen = list(moments(replay))
    still = page.partition("<noscript>")[2].partition("</noscript>")[0]
    assert [unescape(one) for one in re.findall("<li>(.*?)</li>", still)] == ["; ".join(one.done) for one in seen[1:]]
    assert end.scene.text() in unescape(still)
    assert end.picture().svg() in still
    assert [line for line in result_lines(replay) if line not in unescape(still)] == []
    assert 'href="/api/matches/2/games/3"' in page


def data_on(page: str) -> Any:
    """Return the game that a page holds for its script."""
    return json.loads(page.partition('<script type="application/json" id="data">')[2].partition("</script>")[0])


def test_while_a_contest_is_held_nobody_sees_all(watching: TestClient, own_store: Path) -> None:
    with StoreReader(own_store) as reader:
        seed = str(find_replay(reader, "1.1").seed)
    assert seed in watching.get("/watch/games/1/1").text
    reopened(own_store)
    page = watching.get("/watch/games/1/1?seat=1").text
    assert data_on(page)["views"] == [1]
    assert (seed in page, "still running" in page) == (False, True)
    assert {watching.get(f"/watch/games/1/1?seat={seat}").status_code for seat in ("7", "x", "1" * 30)} == {400}
    for address in ("/watch/games/1/1/review", "/api/matches/1/games/1"):
        assert watching.get(address).status_code == 400
    shown = shown_when_computed(watching, word="stopped")  # nobody is at it
    assert ("seed" in shown, "stopped" in shown) == (False, True)


def choose_slowly(turn: Turn) -> int:
    time.sleep(0.02)
    return int(turn.mask.argmax())


def test_a_running_contest_is_told_game_by_game(client: TestClient, settings: WebSettings) -> None:
    slow = FunctionPlayer(choose_slowly, "slow")
    played = threading.Thread(
        target=lambda: contest("yatzy", [slow, "thrifty"], 1, 1, games=6, store=settings.store), daemon=True
    )
    played.start()
    folder, found = Path(settings.store).parent, set[str]()
    until = time.monotonic() + 6 * PATIENCE  # on a busy machine processes take long to start
    while len(found) < 3 and time.monotonic() < until and played.is_alive():
        if list(folder.glob("*-live.json")):
            found |= set(re.findall(r"game (\d+) of 6", client.get("/watch/contests/1").text))
        time.sleep(0.1)
    assert len(found) >= 3, found
    played.join(PATIENCE)
    assert "In progress" not in client.get("/watch/contests/1").text
    assert not list(folder.glob("*-live.json"))


OPEN_SEED = 8_123_456_789_012_345
ADDRESSES = (
    "/",
    "/watch",
    "/watch/contests/1",
    "/watch/contests/1/matches",
    "/watch/matches/1",
    "/watch/games/1/1",
    "/watch/games/1/1?seat=1",
    "/watch/games/1/1/review",
    "/watch/agents",
    "/watch/agents/hog/agent?name=bacon",
    "/enter",
    "/enter/contests/1",
    "/api/contests",
    "/api/contests/1",
    "/api/contests/1/matches",
    "/api/matches/1",
    "/api/matches/1/games/1",
    "/api/enter/contests",
    "/api/enter/contests/1",
)
"""All that is told of a contest."""


@pytest.fixture
def open_contest(settings: WebSettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A server with a contest that takes bots, and was held just now."""
    monkeypatch.setattr(Runner, "start", lambda self: None)
    with Visitor(create_app(settings)) as asked:
        room = asked.app.state.web.get(SubmissionService)  # type: ignore[attr-defined]  # Starlette's, which the type hides
        made = room.contests.add("Cup", ContestPlan("hog", agents=("bacon", "ham")))
        store = Storage(settings.store, label=made.label)
        contest(SMALL, ["bacon", "ham"], OPEN_SEED, executors=disorderly(), games=2, store=store)
        yield asked


def test_until_a_contest_is_closed_nobody_sees_its_seeds(open_contest: TestClient, settings: WebSettings) -> None:
    """Whoever enters anew would play known dice."""
    with StoreReader(settings.store) as reader:
        assert reader.contest(1).ended is not None
        secrets = {str(OPEN_SEED), *(str(match.seed) for match in reader.matches(1))}

    def told() -> set[str]:
        assert "Rankings" in shown_when_computed(open_contest)
        texts = [open_contest.get(address).text for address in ADDRESSES]
        return {secret for secret in secrets if any(secret in text for text in texts)}

    assert told() == set()
    assert open_contest.get("/api/matches/1/games/1").status_code == 400
    contests = open_contest.app.state.web.get(SubmissionService).contests  # type: ignore[attr-defined]  # as above
    contests.note(1, stored=1)
    assert told() == set()
    contests.close(1)
    assert told() == secrets
    assert open_contest.get("/api/matches/1/games/1").status_code == 200


def test_mistakes_are_computed_when_somebody_asks(held: TestClient) -> None:
    for seat in (0, 1):
        page = shown_when_computed(held, f"/watch/games/1/1/review?seat={seat}", "Chance to win")
        assert "The choices lost" in page
        assert f'href="?seat={seat}&amp;at=' in page


def test_agents_have_cards_and_contests(held: TestClient) -> None:
    listed = held.get("/watch/agents?game=hog").text
    assert "/watch/agents/hog/agent?name=ham" in listed
    assert "yatzy/agent" not in listed
    page = held.get("/watch/agents/hog/agent?name=ham").text
    for word in ("<h2>Card</h2>", "/watch/contests/1", "/watch/contests/1/matches?entry=ham"):
        assert word in page
    assert re.search("<h3>.*?</h3>|<p>", page.partition("<h2>Card</h2>")[2])
    assert "Learning curve" not in page


def test_a_models_page_shows_how_it_was_learned(held: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """If its file says so: those of models of one's own do not."""
    page = held.get("/watch/agents/hog/agent?name=taught").text
    section = page.partition("Learning curve")[2].partition("</section>")[0]
    for word in ("<polyline", "exact win rate", "against always_roll(5)"):
        assert word in section
    monkeypatch.setattr(agent_pages, "facts", lambda path: {k: v for k, v in facts(path).items() if k not in LEARNING})
    monkeypatch.setattr(
        agent_pages, "_learned", agent_pages._learned.__wrapped__
    )  # what was found before is not asked again
    without = held.get("/watch/agents/hog/agent?name=taught").text
    assert "Learning curve" not in without
    assert "<h2>Card</h2>" in without


def test_programs_are_told_the_same(held: TestClient, contest_store: Path) -> None:
    board = held.get("/api/contests/1").json()
    assert board["contest"]["state"] == "ended"
    assert {row["name"] for row in board["ratings"]} == set(ENTRIES)
    assert [row["place"] for row in board["standings"]]
    assert len(held.get("/api/matches/1").json()["games"]) == 4
    replay = held.get("/api/matches/1/games/2").json()["replay"]
    with StoreReader(contest_store) as reader:
        assert from_json(replay) == find_replay(reader, "1.2")
    described = held.get("/api/openapi.json").json()["paths"]
    assert {"/api/contests", "/api/matches/{match}"} <= described.keys()


def failing(error: Exception) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise error

    return fail


def test_ratings_that_could_not_be_computed_are_tried_again(
    watching: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "RETRY_SECONDS", 0.0)
    with monkeypatch.context() as busy:
        busy.setattr(contest_boards, "places_to_rate", failing(BusyError("somebody writes")))
        assert "Ratings are being computed" in watching.get("/watch/contests/1").text
    assert "Ratings are being computed" not in shown_when_computed(watching)


def test_what_keeps_a_contest_from_being_shown_is_told(watching: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contest_boards, "build_report", failing(ParameterError("its game is not installed")))
    monkeypatch.setattr(contest_pages, "PATIENCE", PATIENCE)
    for address in ("/watch/contests/1", "/api/contests/1"):
        answer = watching.get(address)
        assert answer.status_code == 400
        assert "its game is not installed" in answer.text


def test_a_game_is_played_to_be_watched(client: TestClient) -> None:
    form = {"game": "hog", "agent": ["bacon", "swap"], "seed": ""}
    address = str(client.get("/watch/game", params=form).url)
    assert re.search(r"seed=\d+", address), "its address is the game, whenever it is asked for"
    page = shown_when_computed(client, address, "Another game")
    assert "Hog: bacon, swap" in page
    assert data_on(page)["names"] == ["bacon", "swap"]
    assert shown_when_computed(client, address.replace("/game?", "/game/review?"), "The choices lost")
    assert client.get(address, headers={"HX-Request": "true"}).headers["HX-Refresh"] == "true"
    same = shown_when_computed(client, "/watch/game?game=hog&agent=ham&agent=ham&seed=7", "Another game")
    assert "seed 7" in same


def test_a_game_that_begins_costs_its_visitor_whatever_asks_for_it(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dicegym.web.context.AT_ONCE", GAME_COST + 200)
    monkeypatch.setattr("dicegym.web.context.A_SECOND", 0.001)
    address, script = "/watch/game?game=hog&agent=ham&agent=ham&seed=", {"HX-Request": "true"}
    assert client.get(f"{address}1", headers=script).status_code == 204
    assert client.get(f"{address}2", headers=script).status_code == 429
    assert client.get(f"{address}1", headers=script).status_code == 204
    assert "Another game" in shown_when_computed(client, f"{address}1", "Another game")
    review = client.get(f"{address.replace('/game?', '/game/review?')}1")
    assert review.status_code == 429, "nor is a review free, which takes longer"


def test_large_contests_stay_quick(own_store: Path, settings: WebSettings) -> None:
    """After the first time, which computes ratings, pages call 9,000 to 22,000 functions, of a thousand matches.

    Of ten thousand they call as many: the bound is less than twenty calls a match.
    """
    multiplied(own_store, 334)
    addresses = ("/watch", "/watch/contests/1", "/watch/contests/1/matches?entry=ham", "/watch/matches/900")
    took = []
    with counted(threads=True) as calls, Visitor(create_app(settings)) as asked:
        assert asked.get("/api/contests/1").json()["contest"]["played"] == 1_002
        shown_when_computed(asked)
        for address in addresses:
            assert asked.get(address).status_code == 200  # and once more, when all is remembered
            before = calls.made
            assert asked.get(address).status_code == 200
            took.append(calls.made - before)
    assert min(took) > 1_000
    assert max(took) < 40_000


@pytest.mark.slow
def test_a_contest_is_watched_while_it_is_held(
    own_store: Path, running: Running, open_page: Callable[..., Page]
) -> None:
    reopened(own_store)
    with ContestStore(own_store) as store, lock_contest(store, 1):
        from playwright.sync_api import expect

        page = open_page(running.url + "/watch/contests/1")
        status = page.locator("[role=status]")
        expect(status).to_contain_text("3 of 5 matches played")  # once its ratings are computed
        usable(page)
        multiplied(own_store, 2)
        expect(status).to_contain_text("6 of 5 matches played", timeout=20_000)
        assert page.locator("#played tbody tr").count() == 6
        ended(own_store)
        expect(page.locator(".badge")).to_have_count(0, timeout=20_000)  # it has ended: its result is shown
    assert page.locator("h2", has_text="Rankings").count() == 1


@pytest.mark.slow
def test_a_game_is_stepped_through_by_keys_and_kept_in_the_address(
    own_store: Path, running: Running, open_page: Callable[..., Page]
) -> None:
    page = open_page(running.url + "/watch/new?game=hog", viewport={"width": 360, "height": 740})
    usable(page)
    page.get_by_role("button", name="Play it").click()
    page.wait_for_selector("#replay:not([hidden])")
    page.goto(running.url + "/watch/games/1/1?move=2&seat=1")
    assert page.locator("#count").inner_text().startswith("move 2 of")
    for key, move in (("ArrowRight", 3), ("ArrowLeft", 2), ("Home", 0), ("v", 0)):
        page.keyboard.press(key)
        page.wait_for_url(re.compile(rf"move={move}\b"), timeout=10_000)
    assert "seat=" not in page.url  # from seat 1 on to everybody
    assert page.locator("#picture svg").count() == 1
    usable(page)
    page.reload()
    assert page.locator("#count").inner_text().startswith("move 0 of")
    first = page.get_by_text("the beginning", exact=True).bounding_box()
    assert first is not None
    assert first["width"] > 1  # the site has other classes of these names


def test_no_page_waits_for_what_takes_long(own_store: Path, settings: WebSettings) -> None:
    """First for the whole board, then for its ratings alone."""
    for name, at_once in (("compute_boards", ()), ("fit", ("Rankings", "Ratings are"))):
        go, computed = threading.Event(), getattr(contest_boards, name)
        with pytest.MonkeyPatch.context() as patch, Visitor(create_app(settings)) as asked:
            patch.setattr(contest_boards, name, lambda *given, go=go, do=computed: go.wait(PATIENCE) and do(*given))
            page = asked.get("/watch/contests/1").text
            assert all(word in page for word in (*at_once, "being computed"))
            go.set()
            page = shown_when_computed(asked, word="95 % interval")
        assert ("Rankings" in page, "Ratings are being computed" in page) == (True, False)


def test_a_matrix_has_the_best_entries_alone(watching: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dicegym.arena.pages.contest_page.MOST_NAMES", 2)
    page = shown_when_computed(watching, word="95 % interval")
    matrix = page.partition('class="heat"')[2].partition("</table>")[0]
    assert "the best 2 of 3" in page
    assert matrix.count("<tr>") == 3


def test_a_rating_without_an_upper_end_is_shown(settings: WebSettings) -> None:
    """The winner of all its games may be of any strength."""
    contest(SMALL, ["bacon", "ham", "swap"], 0, executors=disorderly(), games=1, store=settings.store)
    with Visitor(create_app(settings)) as client:
        page = shown_when_computed(client, word="95 % interval")
        assert "or more" in page or "or less" in page or "unknown" in page
        ratings = client.get("/api/contests/1").json()["ratings"]
        assert any(None in (row["low"], row["high"]) for row in ratings)


@pytest.mark.parametrize(("took", "pause"), [(0.01, contest_boards.SHORTEST_PAUSE), (3.0, 8 * 3.0)])
def test_the_board_of_a_running_contest_is_kept_for_a_multiple_of_its_cost(
    took: float, pause: float, contest_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([100.0, 100.0 + took])
    monkeypatch.setattr(contest_boards, "time", types.SimpleNamespace(monotonic=lambda: next(clock)))
    with StoreReader(contest_store) as reader:
        *_, board = contest_boards.compute_boards(reader, reader.contest(1), secret=False)
    assert board.fresh_until == 100.0 + took + pause
