"""Games of servers in a store with contests: listed and replayed."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from command_line import Run
from made_up import disorderly

import dicegym
from dicegym.errors import ParameterError, ReplayError, UnknownNameError

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from dicegym.arena import contest
from dicegym.arena.replay.stored_replays import find_replay, game_id
from dicegym.arena.store.reading import StoreReader
from dicegym.games.yatzy.protocol import totals_of
from dicegym.server.game_results import GameResult, SeatResult
from dicegym.server.result_store import ResultStore


def played(seed: int, number: int) -> GameResult:
    """Return a game of two players that always take the first legal action."""
    game = dicegym.game("yatzy")
    state, actions = game.new_game(seed, number)[0], []
    while not state["over"]:
        actions.append(int(game.legal(state).argmax()))
        game.step(state, actions[-1])
    totals = totals_of(game, state)
    places = tuple(
        SeatResult(name, total, 1 + sum(other > total for other in totals), 1200.0, 1216.0)
        for name, total in zip(("anna", "bob"), totals, strict=True)
    )
    return GameResult(number, seed, 1.0, tuple(actions), places, ())


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with a contest and two games of a server."""
    path = tmp_path_factory.mktemp("stores") / "both.sqlite"
    contest("hog", ["bacon", "swap"], 1, executors=disorderly(), store=path)
    store = ResultStore(path, "yatzy")
    store.begin_run(2**63, dicegym.game("yatzy"))
    store.write([played(2**63, 0), played(2**63, 1)])
    store.close()
    return path


@pytest.fixture
def path(both: Path, tmp_path: Path) -> Path:
    """Return a copy of the store."""
    return Path(shutil.copy(both, tmp_path))


def test_a_store_may_contain_contests_and_servers(path: Path, run: Run) -> None:
    _, told, _ = run("arena", "list", "--store", path)
    assert "round-robin" in told
    assert "yatzy" not in told
    with StoreReader(path) as reader:
        assert reader.contest().game == "hog"


def test_a_game_of_a_server_is_played_again_to_its_points(path: Path, run: Run) -> None:
    with StoreReader(path) as reader:
        replay = find_replay(reader, "server:2")
        replay.states()
        assert (replay.seats, replay.seed, replay.number) == (("anna", "bob"), 2**63, 1)
        replay.check_rules()
    _, told, _ = run("arena", "replay", "server:2", "--store", path, "--delay", "0")
    assert "game server:2" in told
    assert "anna" in told
    assert "there is no game 9 of a server" in run("arena", "replay", "server:9", "--store", path)[2]


@pytest.mark.parametrize("text", ["server:", "server:0", "server:x", "server:-1", "server:1.1", "server:" + "9" * 40])
def test_invalid_names_of_a_servers_game(text: str) -> None:
    with pytest.raises(ParameterError, match="names no game of a server: give server:NUMBER"):
        game_id(text)
    assert game_id("server:12") == (0, 12)
    assert game_id("12.3") == (12, 3)


@pytest.mark.parametrize(
    ("statement", "error", "words"),
    [
        ("UPDATE server_results SET total = total + 1 WHERE seat = 1", ReplayError, "bob scores .*, but .* was stored"),
        ("UPDATE server_games SET actions = '[0]'", ReplayError, "not over after its last action"),
        ("UPDATE server_games SET actions = '{}'", ParameterError, "is damaged .*whole numbers"),
        ("UPDATE server_games SET actions = '[[1]]'", ParameterError, "is damaged .*whole numbers"),
        ("UPDATE server_games SET actions = 'x'", ParameterError, "is damaged"),
        ("UPDATE server_games SET seed = 'x'", ParameterError, "is damaged"),
        ("UPDATE server_runs SET game = 'chess'", UnknownNameError, "chess"),
        ("DELETE FROM server_results", ParameterError, "is damaged .*no such seats"),
        (
            "INSERT INTO server_incidents (game, seat, turn, reason) VALUES (1, 9, 1, 'x')",
            ParameterError,
            "is damaged .*no such seats",
        ),
        ("UPDATE server_runs SET rules = NULL", ReplayError, "the rules of game .* were not stored"),
        (
            "UPDATE rules SET fingerprint = 'another', version = '0.0.1' WHERE game = 'yatzy'",
            ReplayError,
            r"under rules another \(dicegym 0\.0\.1\)",
        ),
    ],
)
def test_games_that_cannot_be_replayed_are_explained(statement: str, error: Any, words: str, path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)
    with StoreReader(path) as reader, pytest.raises(error, match=words):
        find_replay(reader, "server:1")
