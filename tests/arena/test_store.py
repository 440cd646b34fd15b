"""A contest in a store: only what is missing is played, and the result is the same."""

from __future__ import annotations

import contextlib
import itertools
import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from command_line import Run
from made_up import SMALL, disorderly
from variants import one_always

import dicegym
from dicegym.arena import Limits, contest
from dicegym.arena.match import Match
from dicegym.arena.results import ContestResult
from dicegym.arena.storage import Stored, default_store, key_of
from dicegym.arena.store.schema import whole_numbers
from dicegym.arena.store.store import ContestStore
from dicegym.errors import DamagedFileError, DependencyError, ParameterError, UnknownNameError
from dicegym.registry import GAMES
from dicegym.sandbox.jobs import entry
from dicegym.web.web_settings import WebSettings

ROLLS = "def final_strategy(score, opponent_score):\n    return {}\n"


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(path)
    found = connection.execute(query).fetchall()
    connection.close()
    return found


def stored(result: ContestResult) -> Stored:
    assert result.stored is not None
    return result.stored


@pytest.fixture
def bots(tmp_path: Path) -> Callable[..., list[str]]:
    """Return what writes bots that always roll so many dice, each in a file, and names them."""

    def write(**rolls: int) -> list[str]:
        for name, dice in rolls.items():
            (tmp_path / f"{name}.py").write_text(ROLLS.format(dice))
        return [str(tmp_path / f"{name}.py") for name in rolls]

    return write


def competitive() -> Iterator[str]:
    return (name for name in GAMES if dicegym.game(name).players > 1)


@pytest.mark.parametrize("name", one_always(competitive()))
def test_a_stored_contest_is_found_and_equals_one_that_is_kept_nowhere(name: str, tmp_path: Path) -> None:
    game = dicegym.game(name)
    agents = [agent for agent in dicegym.agent_names(game) if not agent.startswith(("ppo", "optimal"))]
    entries = agents[: game.players]
    path, how = tmp_path / "arena.sqlite", {"executors": disorderly(), "games": 2}
    plain, first, again = (contest(game, entries, 3, store=where, **how) for where in (None, path, path))  # type: ignore[call-overload]  # one game of many
    assert plain == first == again
    assert stored(first).found == stored(again).played == 0
    assert stored(first).played == stored(again).found > len(entries)
    seed, games, outcome, actions = rows(path, "SELECT seed, games, outcome, actions FROM matches")[0]
    found = json.loads(outcome)
    played = list(zip(found["seats"], found["returns"], json.loads(actions), strict=True))
    assert len(played) == games
    for number, (seats, returns, moves) in enumerate(played):  # games can be played again
        state = game.new_game(int(seed), number)[0]
        for action in moves:
            game.step(state, action)
        assert state["over"]
        by_seat = game.returns(state).tolist()
        assert [by_seat[seats.index(player)] for player in range(game.players)] == returns


def test_who_is_added_or_changed_costs_its_own_matches_and_who_leaves_none(
    tmp_path: Path, bots: Callable[..., list[str]]
) -> None:
    store = tmp_path / "arena.sqlite"

    def hold(entries: list[str]) -> Stored:
        return stored(contest(SMALL, entries, executors=disorderly(), store=store))

    three = bots(ann=3, bob=4, cat=5)
    assert hold(three).played == 3 + 3
    assert hold([*three, *bots(dan=6)])[2:] == (6, 1 + 3, 2, 1, 0, ())
    bots(ann=7)  # in the same file
    changed = hold([*three, str(tmp_path / "dan.py")])
    assert changed[2:] == (3 + 3, 1 + 3, 3, 0, 0, ("ann",))
    assert str(changed).endswith("6 found in the store (changed since the run before: ann)")
    (tmp_path / "bob.json").write_text("[1]")  # weights
    data = hold([*three[1:], str(tmp_path / "dan.py")])
    assert data[2:] == (2 + 1, 1 + 2, 4, 0, 1, ("bob",))
    assert str(data).endswith("(1 left; changed since the run before: bob)")
    (tmp_path / "bob.json").unlink()
    assert hold(three[1:])[2:4] == (2 + 1, 0)
    assert [row[0] for row in rows(store, "SELECT count(*) FROM plays")] == [1]
    bots(ann=3)
    assert hold([*three, str(tmp_path / "dan.py")])[2:4] == (4 + 6, 0)  # what it was is still known


def test_failures_incidents_and_prints_are_stored(tmp_path: Path) -> None:
    late = "calls = 0\ndef final_strategy(score, opponent_score):\n    global calls\n    calls += 1\n"
    (tmp_path / "late.py").write_text(f"{late}    if calls > 5: raise ValueError('enough')\n    return 4\n")
    (tmp_path / "odd.py").write_text("def get_play(me, hands, history):\n    print('hm')\n    return 'nonsense'\n")
    found = []
    for game, entries in (
        (SMALL, ["bacon", "swap", tmp_path / "late.py"]),
        ("liarsdice", ["p_robot", tmp_path / "odd.py"]),
    ):
        how: dict[str, Any] = {"games": 4, "executors": disorderly(), "store": tmp_path / "arena.sqlite"}
        results = [contest(game, entries, 3, **how) for _ in range(2)]
        assert results[0] == results[1]
        assert stored(results[1]).played == 0
        found.append(results[1])
    assert found[0].disqualified[0].name == "late"
    assert found[1].misplays
    assert found[1].printed["odd"].startswith("hm")


def test_luck_is_taken_out_of_matches_that_are_stored(tmp_path: Path) -> None:
    entries, store = ["bacon", "swap", "ham"], tmp_path / "a.sqlite"
    how: dict[str, Any] = {"games": 4, "executors": disorderly()}
    contest(SMALL, entries, 5, store=store, **how)
    found = contest(SMALL, entries, 5, less_luck=True, store=store, **how)
    assert stored(found).played == 0
    assert found == contest(SMALL, entries, 5, less_luck=True, **how)


def test_a_key_follows_from_all_that_a_match_follows_from(tmp_path: Path, bots: Callable[..., list[str]]) -> None:
    ann, bob = bots(ann=3, bob=4)

    def key(game: Any = None, first: str = ann, name: str = "ann", seconds: float = 10, **match: int) -> str:
        game = game or dicegym.game("hog")
        pair = (entry(game, name, first), entry(game, "bob", bob))
        facts: Any = {"contest_seed": 1, "games": 9} | match
        return key_of(Match(game, pair, **facts), Limits(seconds))

    keys = [
        key(),
        key(game=dicegym.game("hog", goal=50)),
        key(first=bob),
        key(name="anna"),
        key(contest_seed=2),
        key(games=8),
        key(seconds=9),
        key(number=1),
    ]
    assert len(set(keys)) == len(keys)
    assert key() == keys[0]
    bots(ann=5)
    assert key() not in keys


def test_an_identity_is_that_of_all_that_a_bot_imports(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("DICE = 3\n")
    (tmp_path / "ann.py").write_text("import helper\ndef final_strategy(a, b): return helper.DICE\n")
    game = dicegym.game("hog")
    before = entry(game, "ann", str(tmp_path / "ann.py")).identity
    (tmp_path / "beside.py").write_text("pass\n")
    assert entry(game, "other", str(tmp_path / "ann.py")).identity == before
    (tmp_path / "helper.py").write_text("DICE = 4\n")
    assert entry(game, "ann", str(tmp_path / "ann.py")).identity != before
    before = entry(game, "ann", str(tmp_path / "ann.py")).identity
    (tmp_path / "ann.json").write_text("[1, 2]")
    data = entry(game, "ann", str(tmp_path / "ann.py")).identity
    assert data != before
    (tmp_path / "ann.json").unlink()
    model, player = entry(game, "ppo", "ppo"), entry(game, "f", dicegym.agent(game, "always_roll(3)"))
    assert len({model.identity, player.identity, before}) == 3


@contextlib.contextmanager
def locked_for(path: Path, seconds: float) -> Iterator[None]:
    """Lock a store as another program would, for some seconds."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")
    thread = threading.Timer(seconds, connection.close)
    thread.start()
    try:
        yield
    finally:
        thread.join()


PAIR = ("hog", "bacon", "swap", "--parameter", "goal=20", "--seed", "1")
COMMANDS = {
    "a contest": ("tournament", *PAIR),
    "a comparison": ("compare", *PAIR, "--games", "10"),
    "a list": ("arena", "list"),
    "a contest that is shown": ("arena", "show"),
    "a replay": ("arena", "replay", "1.1", "--delay", "0"),
}


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_wait_for_a_store_that_is_locked(command: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "arena.sqlite"
    contest(SMALL, ["bacon", "swap"], 1, executors=disorderly(), store=path)
    with locked_for(path, 0.3):
        status, _, err = run(*COMMANDS[command], "--store", path)
    assert status == 0, err


def test_contests_are_kept_in_the_users_folder_wherever_one_stands(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    monkeypatch.delenv("DICEGYM_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", str(data))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    monkeypatch.chdir(here)
    status, _, err = run("tournament", *PAIR)
    assert status == 0
    (line,) = [line for line in err.splitlines() if "contest 1 of" in line]
    store = Path(default_store())
    assert store.is_relative_to(tmp_path)
    assert str(store) in line.replace("\n", "")
    assert store.is_file()
    assert store.parent.stat().st_mode & 0o077 == 0
    monkeypatch.chdir(there)
    assert run("compare", *PAIR, "--games", "10")[0] == 0
    assert len([line for line in run("arena", "list")[1].splitlines() if "hog" in line]) == 2
    assert run("arena", "replay", "1.1", "--delay", "0")[0] == 0
    assert WebSettings(tmp_path / "web").store == str(store)
    assert [*here.iterdir(), *there.iterdir()] == []
    other = tmp_path / "other.sqlite"
    monkeypatch.setenv("DICEGYM_STORE", str(other))
    assert run("tournament", *PAIR)[0] == 0
    assert other.is_file()


def test_what_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    text, other = tmp_path / "text", tmp_path / "other.sqlite"
    text.write_text("no database at all, but a text that is longer than nothing\n" * 9)
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    before = text.read_bytes(), other.read_bytes()
    for where, error, words in (
        (text, DamagedFileError, "is not a database.* give another --store"),
        (other, ParameterError, "is a database of something else: give another --store"),
        (tmp_path, ParameterError, "is a folder: name a file in it"),
        (tmp_path / "no" / "where", ParameterError, "there is no folder .*no: make it first"),
        ("", ParameterError, "does not name a store"),
        (1.0, ParameterError, "does not name a store"),
        ("mysql://me@here/x", ParameterError, "postgresql://"),
        ("postgresql://me:secret@127.0.0.1:1/x", ParameterError, r"store at postgresql://me:\*\*\*@127"),
    ):
        with pytest.raises(error, match=words):
            contest("hog", ["bacon", "swap"], 1, 1, store=where)
    assert before == (text.read_bytes(), other.read_bytes())


def test_a_wrong_entry_leaves_the_contest_of_before_as_it_was(tmp_path: Path) -> None:
    how: dict[str, Any] = {"executors": disorderly(), "store": tmp_path / "arena.sqlite"}
    contest(SMALL, ["bacon", "swap"], **how)
    before = rows(tmp_path / "arena.sqlite", "SELECT * FROM contests")
    with pytest.raises(UnknownNameError):
        contest(SMALL, ["bacon", "bakon"], **how)
    assert rows(tmp_path / "arena.sqlite", "SELECT * FROM contests") == before


def test_a_store_that_cannot_be_written_any_more_ends_the_contest_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dicegym.arena.store import book

    counter = itertools.count()

    def full(connection: sa.Connection, *arguments: Any) -> int:
        if next(counter):
            raise sqlite3.OperationalError("database or disk is full")
        return add_match(connection, *arguments)

    add_match = book.add_match
    monkeypatch.setattr(book, "add_match", full)
    with pytest.raises(ParameterError, match="disk is full"):
        contest(SMALL, ["bacon", "swap", "tuned", "ham", "wild"], 1, 1, store=tmp_path / "arena.sqlite")


@pytest.mark.parametrize(("store", "extra"), [("arena.sqlite", "arena"), ("postgresql://host/base", "postgres")])
def test_a_library_that_is_missing_is_named(store: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from dicegym.cli import shared_options, web

    monkeypatch.setattr(dicegym.arena, "store", dicegym.arena.store)  # the package as it is, for whoever comes next
    for name in [name for name in sys.modules if name.startswith("dicegym.arena.store")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(DependencyError, match=rf"keeping a contest needs sqlalchemy.*pip install -e '\.\[{extra}\]'"):
        contest("hog", ["bacon", "swap"], 1, 1, store=store)
    monkeypatch.setattr("dicegym.shipped.CHECKOUT", False)
    for use in (shared_options.store_name, lambda store: shared_options.StoreOptions(store).storage()):
        with pytest.raises(DependencyError, match=rf"needs sqlalchemy.*: pip install 'dicegym\[{extra}\]'"):
            use(store)
    with pytest.raises(DependencyError, match=r"pip install 'dicegym\[web\]'"):
        web.check_places(Path("pages"), store, [])


def test_no_file_that_a_command_writes_takes_the_place_of_a_store(tmp_path: Path) -> None:
    from dicegym.cli.console import check_writable

    store = tmp_path / "arena.sqlite"
    with ContestStore(store):
        pass
    with pytest.raises(ParameterError, match="is a database"):
        check_writable(store)
    check_writable(tmp_path / "arena.json")


@pytest.mark.parametrize("found", [[2**63], [-(2**63)], [1, True], ["1"], [1.0], 1, None], ids=str)
def test_only_whole_numbers_of_64_bits_are_read(found: Any) -> None:
    largest = [2**63 - 1, 1 - 2**63]
    assert whole_numbers(largest) == tuple(largest)
    with pytest.raises(ValueError, match="instead of whole numbers"):
        whole_numbers(found)
