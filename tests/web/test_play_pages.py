"""The pages on which people play: whole games through the forms, what comes late or from others, and restarts."""

from __future__ import annotations

import json
import os
import random
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest
from played_forms import data_of, form_to, forms_of
from starlette.testclient import TestClient
from variants import each_game, one_always
from web_pages import Visitor

import dicegym
from dicegym import shipped
from dicegym.arena.replay import from_json
from dicegym.errors import AgentError, ParameterError
from dicegym.games.controls import NumberedControls
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn
from dicegym.players.roster import AGENTS_VARIABLE, agent_names
from dicegym.web.application import create_app
from dicegym.web.play import game_sessions, person_table
from dicegym.web.play.game_sessions import GAMES_PER_VISITOR, GameSessions, NewGame
from dicegym.web.play.person_table import PlayedTable
from dicegym.web.play.rivals import SharedPlayers, list_rivals
from dicegym.web.play.saved_games import read_sheet
from dicegym.web.security import COOKIE
from dicegym.web.web_settings import WebSettings

"""Moves after which a game is given up."""
ENOUGH = 20
"""Moves that are made by forms; a game that goes on is played on without pages."""
SECONDS = 30.0


def hall(client: TestClient) -> GameSessions:
    found = client.app.state.web.get(GameSessions)  # type: ignore[attr-defined]  # Starlette's own
    return found


def begun(client: TestClient, game: str = "hog", **given: str) -> PlayedTable:
    """Begin a game by the form, and return its table when it is laid."""
    answer = client.post("/play/new", data={"game": game, "seed": "3", "seat": "0", **given})
    assert answer.status_code == 200, answer.text
    table = table_at(client, str(answer.url))
    assert table.job.result(SECONDS) is None
    return table


def table_at(client: TestClient, address: str) -> PlayedTable:
    """Return the table of a visitor at an address."""
    return hall(client).find(client.cookies[COOKIE], address.rpartition("/")[2])


def address(table: PlayedTable) -> str:
    return f"/play/{table.sheet.id}"


def moved(client: TestClient, table: PlayedTable, generator: random.Random) -> int:
    """Make some move by the forms of the page; return the status of the answer."""
    page = client.get(address(table)).text
    forms = [form for form in forms_of(page) if form.action.endswith("/move")]
    assert forms, page
    form = generator.choice(forms)
    answer = client.post(form.action, data=data_of(form.filled(generator)))
    assert table.job.result(SECONDS) is None
    assert not table.broken
    return answer.status_code


@pytest.mark.slow_after(2)
@each_game
@pytest.mark.parametrize("controls", one_always([True, False]))
def test_a_whole_game_is_played_by_its_forms(
    name: str, controls: bool, client: TestClient, settings: WebSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is legal can be chosen, and moves come back; the record is the engine's, after a restart too."""
    if not controls:
        monkeypatch.setattr(person_table, "controls_of", lambda game: NumberedControls())
    generator = random.Random(5)
    table = begun(client, name, against="easy", **({"parameters-goal": "40"} if name == "hog" else {}))
    taken = 0
    for number in range(ENOUGH):
        if table.over:
            break
        before = table.sheet.move
        assert moved(client, table, generator) in (200, 400)  # what a form allows together may be too much
        if number % 9 == 8 and table.sheet.marks:
            form = form_to(client.get(address(table)).text, "/undo")
            client.post(form.action, data=data_of(form.fixed))
            assert table.job.result(SECONDS) is None
            taken += 1
        assert table.sheet.move >= before
    assert table.sheet.taken_back == taken
    assert table.sheet.marks
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8000") as restarted:
        again = hall(restarted).find(table.sheet.visitor, table.sheet.id)
        assert again.job.result(SECONDS) is None
        assert again.state.tobytes() == table.state.tobytes()
        assert again.told == table.told
        assert again.sheet == table.sheet
    played = table.game.new_game(3)[0]
    for action in table.sheet.actions:
        assert table.game.step(played, action) == 0
    assert played.tobytes() == table.state.tobytes()


def test_the_whole_game_its_file_and_its_review_are_shown_when_it_is_over(client: TestClient) -> None:
    table = begun(client, "liarsdice")
    for ending in ("/game.json", "/review", "/replay"):
        answer = client.get(address(table) + ending)
        assert (answer.status_code, "not over" in answer.text) == (400, True)


def test_a_game_that_is_over_is_reviewed_and_downloaded(client: TestClient) -> None:
    table = begun(client, **{"parameters-goal": "40"})
    for _ in range(ENOUGH):
        if not table.over:
            table.act(table.sheet.move, [6])
            assert table.job.result(SECONDS) is None
    page = client.get(address(table)).text
    assert "The game is over" in page
    assert not [form for form in forms_of(page) if form.action.endswith("/move")]
    replay = from_json(client.get(address(table) + "/game.json").json())
    replay.states()
    assert replay.actions == tuple(table.sheet.actions)
    until = time.monotonic() + SECONDS
    while "is judged" in (page := client.get(address(table) + "/review").text) and time.monotonic() < until:
        time.sleep(0.1)
    assert [words for words in ("The choices lost", "Luck was worth", "exact") if words not in page] == []
    judged = [number for number in range(len(table.sheet.actions)) if f'"?at={number}#at"' in page]
    assert judged == table.sheet.marks  # each decision is linked, and shown on the board
    for number in (judged[0], judged[-1], 10**8):
        again = client.get(f"{address(table)}/review?at={number}").text
        assert again.count('aria-current="true"') == 1
        if number in judged:
            assert f'"?at={number}#at" aria-current="true"' in again
    assert f'href="{address(table)}/game.json"' in client.get(f"{address(table)}/replay?move=3").text
    fresh = client.post(address(table) + "/again")
    assert fresh.url.path != address(table)
    other = table_at(client, fresh.url.path).sheet
    assert (other.seed, other.seat, other.rivals) == (4, 0, table.sheet.rivals)


def test_what_is_sent_twice_or_late_is_played_once(client: TestClient) -> None:
    table = begun(client)
    page = client.get(address(table)).text
    sent = data_of(form_to(page, "/move").filled(random.Random(2)))
    assert client.post(f"{address(table)}/move", data=sent).status_code == 200
    assert table.job.result(SECONDS) is None
    actions = list(table.sheet.actions)
    late = client.post(f"{address(table)}/move", data=sent)
    assert late.status_code == 409
    assert "was not played again" in late.text
    assert "Your turn" in late.text
    assert client.post(f"{address(table)}/undo", data={"move": "0"}).status_code == 409
    assert table.sheet.actions == actions
    swapped = client.post(f"{address(table)}/move", data=sent, headers={"HX-Request": "true"})
    assert swapped.status_code == 200  # htmx shows no errors
    assert "was not played again" in swapped.text
    for given in ({}, {"form": "nothing"}, {"form": "x" * 999}, {"form": "\0", "number": "😀"}):
        answer = client.post(f"{address(table)}/move", data={"move": str(table.sheet.move), **given})
        assert (answer.status_code, 'role="alert"' in answer.text) == (400, True)
    assert table.sheet.actions == actions
    for move in ("", "x", "-1", "9" * 50, "٣"):
        assert client.post(f"{address(table)}/move", data=sent | {"move": [move]}).status_code in (409, 422)
    assert client.post(f"{address(table)}/undo", data={"move": str(table.sheet.move)}).status_code == 200
    assert table.job.result(SECONDS) is None
    assert client.post(f"{address(table)}/move", data=sent).status_code == 409  # the same state is another move now


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"game": "chess"}, "chess"),
        ({"against": "../../etc/passwd"}, "no opponent"),
        ({"against": "/etc/passwd.zip"}, "not a model"),
        ({"against": "/tmp/evil.py"}, "no opponent"),
        ({"against": "mcts(1000000)"}, "no opponent"),
        ({"seed": "-1"}, "seed"),
        ({"seed": "1e9"}, "not a whole number"),
        ({"seat": "2"}, "seat"),
        ({"players": "7"}, "players"),
        ({"parameters-goal": "0"}, "goal"),
        ({"parameters-players": "2"}, "players"),
        ({"parameters-name": "2"}, "name"),
        ({"tutor": "harsh"}, "harsh"),
    ],
)
def test_games_that_cannot_be_are_refused(client: TestClient, given: dict[str, str], words: str) -> None:
    answer = client.post("/play/new", data={"game": "hog"} | given)
    assert answer.status_code in (400, 404, 422)
    assert words in answer.text
    assert not list(hall(client).folder.rglob("*.json"))


def test_files_that_are_no_games_are_told_or_left_out(client: TestClient) -> None:
    """Those that are being written or dropped, and damaged ones."""
    folder = hall(client).folder / begun(client).sheet.visitor
    (kept,) = hall(client).of(folder.name)
    shutil.copy(folder / f"{kept.id}.json", folder / f".{kept.id}-0.json")
    (folder / "gone.json").symlink_to("nowhere")
    assert [one.id for one in hall(client).of(folder.name)] == [kept.id]
    (folder / f"{'A' * 16}.json").write_text(json.dumps({"kind": "no"}), encoding="utf-8")
    answer = client.get(f"/play/{'A' * 16}")
    assert (answer.status_code, "start another game" in answer.text) == (400, True)
    assert client.get("/play").status_code == 200


def test_another_visitor_sees_and_moves_nothing(client: TestClient) -> None:
    table = begun(client)
    sent = data_of(form_to(client.get(address(table)).text, "/move").filled(random.Random(2)))
    other = Visitor(client.app)  # type: ignore[arg-type]  # Starlette's own
    for path in ("", "/review", "/replay", "/game.json", f"?hint={table.sheet.move}"):
        answer = other.get(address(table) + path)
        assert answer.status_code == 404
        assert "another visitor" in answer.text
    assert other.post(f"{address(table)}/move", data=sent).status_code == 404
    assert table.sheet.actions == []
    for id in ("nothing", "A" * 16, "..%2fsecret", "%00"):
        assert client.get(f"/play/{id}").status_code == 404


@pytest.mark.skipif(os.name != "posix", reason="needs modes of folders")
def test_nobody_on_the_machine_lists_visitors(client: TestClient) -> None:
    """Their folders are called as their cookies."""
    folder = client.app.state.web.get(GameSessions).folder  # type: ignore[attr-defined]  # Starlette's own
    assert folder.stat().st_mode & 0o077 == 0


def test_the_tutor_asks_once_and_hints_say_how_sure(client: TestClient) -> None:
    table = begun(client, tutor="doubtful")
    table.act(table.sheet.move, [0])
    assert table.job.result(SECONDS) is None
    page = client.get(address(table)).text
    assert " loses " in page
    assert "Play it anyway" in page
    assert not [form for form in forms_of(page) if form.action.endswith("/move")]
    table.act(table.sheet.move, [0])  # sent twice: the question is still to be answered
    assert table.sheet.actions == []
    client.post(f"{address(table)}/reconsider", data={"move": str(table.sheet.move)})
    assert "Play it anyway" not in client.get(address(table)).text
    until, hint = time.monotonic() + SECONDS, f"{address(table)}?hint={table.sheet.move}"
    while "Best: " not in (page := client.get(hint).text) and time.monotonic() < until:
        time.sleep(0.05)
    assert "Best: " in page
    assert "exact" in page
    table.act(table.sheet.move, [0])  # it has asked, and does not ask again
    assert table.job.result(SECONDS) is None
    assert table.sheet.actions[0] == 0


def test_the_newest_games_are_kept(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    first = begun(client)
    visitor = first.sheet.visitor
    monkeypatch.setattr(game_sessions, "MOST_IN_MEMORY", 0)
    for _ in range(GAMES_PER_VISITOR - 1):
        assert hall(client).begin(visitor, NewGame(game="hog")).job.result(SECONDS) is None
    found = table_at(client, address(first))
    assert found is not first, "it is laid again"
    assert found.job.result(SECONDS) is None
    page = client.get("/play").text
    assert page.count('href="/play/') >= GAMES_PER_VISITOR
    assert address(first) in page
    hall(client).begin(visitor, NewGame(game="hog"))
    assert len(list(hall(client).of(visitor))) == GAMES_PER_VISITOR
    assert address(first) not in client.get("/play").text
    assert client.get(address(first)).status_code == 404


def test_a_table_that_cannot_be_laid_takes_no_move(client: TestClient) -> None:
    sheet = begun(client).sheet

    def fail(game: dicegym.Game) -> list[Player]:
        raise AgentError("best.zip", "is gone")

    def do_at_once(job: Callable[[], None]) -> Future[None]:
        job()
        return Future()

    table = PlayedTable(sheet, fail, lambda kept: None, do_at_once)
    table.restore()
    for play in (table.insist, table.reconsider, lambda move: table.choose(move, "turn", {"number": ["5"]})):
        with pytest.raises(ParameterError, match=r"cannot continue: best\.zip fails: is gone"):
            play(sheet.move)


class Failing(Player):
    """Thinks until it is told to answer, and fails."""

    name = "failing"
    pure = True

    def __init__(self, told: threading.Event, fails: Exception | None = None) -> None:
        self.told, self.fails = told, fails

    def join(self, game: dicegym.Game, seat: int, seed: int) -> Act:
        def act(turn: Turn) -> int:
            assert self.told.wait(SECONDS)
            if self.fails:
                raise self.fails
            return int(turn.mask.nonzero()[0][0])

        return act


def test_a_player_that_fails_or_thinks_long_holds_nobody_up(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = threading.Event()
    told.set()
    for error, said in (
        (AgentError("bacon", "of no mind"), "bacon fails: of no mind"),
        (RuntimeError("no <b>idea</b>"), "no &lt;b&gt;idea"),
    ):
        monkeypatch.setattr(SharedPlayers, "player", lambda *_, error=error: Failing(told, error))
        table = begun(client)
        table.act(0, [5])
        assert table.job.result(SECONDS) is None
        page = client.get(address(table)).text
        assert [words for words in ("The game cannot continue", said) if words not in page] == []
    form = form_to(page, "/undo")
    assert client.post(form.action, data=data_of(form.fixed)).status_code == 200
    assert table.job.result(SECONDS) is None
    assert table.yours
    monkeypatch.setattr(SharedPlayers, "player", lambda *_: Failing(told))
    table = begun(client)
    told.clear()
    form = form_to(client.get(address(table)).text, "/move")
    page = client.post(f"{address(table)}/move", data=data_of(form.filled(random.Random(1)))).text
    assert "thinks" in page  # it comes although the other player has not answered
    assert not table.job.done()
    kept = read_sheet(hall(client).folder / table.sheet.visitor / f"{table.sheet.id}.json")
    assert kept.marks == [0]  # what the person was told to be taken outlives the server
    assert "hx-trigger" in page
    told.set()
    assert table.job.result(SECONDS) is None
    assert "Your turn" in client.get(address(table)).text


def test_a_program_that_does_not_ship_is_not_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would play in the server of the pages."""
    shutil.copytree(shipped.shipped_folder("agents") / "hog", tmp_path / "hog")
    (tmp_path / "hog" / "placed.py").write_text("def final_strategy(score, opponent_score):\n    return 5\n")
    monkeypatch.setattr(shipped, "shipped_folder", lambda name: tmp_path)
    monkeypatch.setenv(AGENTS_VARIABLE, str(tmp_path))
    game = dicegym.game("hog")
    assert "placed" in agent_names(game)
    list_rivals.cache_clear()
    try:
        names = [one.name for one in list_rivals(game)]
    finally:
        list_rivals.cache_clear()
    assert "placed" not in names
    assert {"bacon", "taught"} < set(names)


def test_the_search_is_offered_and_plays(client: TestClient) -> None:
    assert "<option>mcts(1000)</option>" in client.get("/play/new?game=hog").text
    table = begun(client, "hog", against="mcts(1000)", **{"parameters-goal": "20"})
    table.act(0, [0])
    assert table.job.result(SECONDS) is None
    assert (table.broken, table.yours or table.over) == ("", True)
