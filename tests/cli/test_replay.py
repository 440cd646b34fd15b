"""The command that shows a stored game again."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command_line import Run

import dicegym
from dicegym.arena import contest
from dicegym.arena.replay import load
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.play.player import FunctionPlayer


def test_a_game_is_told_move_by_move(file: Path, run: Run) -> None:
    status, out, err = run("arena", "replay", str(file))
    assert (status, err) == (0, "")
    replay = load(file)
    lines = out.splitlines()
    assert lines[0] == f"Hog: {', '.join(replay.seats)}; seed 3, number 0"
    assert f"move {len(replay.actions)} of {len(replay.actions)}" in lines
    for name, value in zip(replay.seats, replay.returns, strict=True):
        assert f"{name} {value:g}" in lines[-1]
    assert any(line.startswith(f"{replay.seats[1]}: roll ") for line in lines)
    own = run("arena", "replay", str(file), "--seat", "0")[1].splitlines()
    assert own[0].endswith(f", as {replay.seats[0]} (seat 0) was shown it")
    assert "seed" not in own[0], "and with it all dice"
    assert not any(line.startswith(f"{replay.seats[1]}: ") for line in own)
    assert any(line.startswith(f"{replay.seats[0]}: roll ") for line in own)


def test_it_is_written_in_every_form(file: Path, tmp_path: Path, run: Run) -> None:
    image = pytest.importorskip("PIL.Image")
    again, page, film = tmp_path / "again.json", tmp_path / "game.html", tmp_path / "game.gif"
    status, out, _ = run("arena", "replay", str(file), "-o", str(again), "-o", str(page), "-o", str(film))
    assert status == 0
    assert again.read_bytes() == file.read_bytes()
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    with image.open(film) as opened:
        assert opened.n_frames == len(load(file).actions) + 1
    written = [line.partition(":")[0].rpartition("/")[2] for line in out.splitlines() if line.startswith("wrote")]
    assert written == ["again.json", "game.html", "game.gif"]
    assert "move 1" not in out
    assert run("arena", "replay", str(file), "-o", str(page), "--seat", "1")[0] == 0
    assert '"views":[1]' in page.read_text(encoding="utf-8")


def test_other_rules_are_refused_in_words(file: Path, tmp_path: Path, run: Run) -> None:
    values = json.loads(file.read_text())
    values["rules"] |= {"fingerprint": "0123456789abcdef", "dicegym": "0.0.3"}
    (tmp_path / "old.json").write_text(json.dumps(values))
    status, out, err = run("arena", "replay", tmp_path / "old.json")
    assert (status, out) == (2, "")
    assert "was recorded under rules 0123456789abcdef (dicegym 0.0.3), and these are " in err


def test_contests_keep_their_games(tmp_path: Path, run: Run) -> None:
    """Each game of a match by number, with what went wrong in it, to the returns that are stored."""
    pytest.importorskip("sqlalchemy")
    from dicegym.arena.replay.stored_replays import find_replay
    from dicegym.arena.store.reading import StoreReader

    def careless(turn: dicegym.Turn) -> int:
        return turn.game.n_actions + 5

    where = tmp_path / "contests.sqlite"
    contest("liarsdice", ["even", FunctionPlayer(careless, "careless")], seed=2, games=3, workers=1, store=where)
    with StoreReader(where) as reader:
        match = reader.match(1)
        (whole,) = reader.whole([match])
        for game in whole.games:
            replay = find_replay(reader, f"{match.id}.{game.number + 1}")
            replay.states()
            assert replay.id == f"{match.id}.{game.number + 1}"
            assert replay.actions == game.actions
            assert replay.seats == tuple(match.entries[player] for player in game.seats)
            wrong = [one for frame in replay.frames() for one in frame.done if one.fault]
            assert [one.reason for one in wrong] == [incident.reason for incident in replay.incidents]
            assert {replay.seats[one.seat] for one in wrong} == {"careless"}
            assert replay.fingerprint == replay.table().fingerprint
    assert len(whole.games) == 3
    status, out, _ = run("arena", "replay", f"{match.id}", "--store", str(where))
    assert status == 0
    assert f"game {match.id}.1, seed {match.seed}, number 0" in out
    for called, words in (
        (f"{match.id}.4", f"match {match.id} has no game 4: give {match.id}.1 to {match.id}.3"),
        ("77", "there is no match 77 in"),
        ("ffffffff", "'ffffffff' names no game"),
    ):
        status, _, err = run("arena", "replay", called, "--store", str(where))
        assert status == 2
        assert words in err


def test_matches_without_games_are_refused() -> None:
    pytest.importorskip("sqlalchemy")
    from dicegym.arena.replay.stored_replays import find_replay
    from dicegym.arena.store.stored_rows import StoredMatch

    def match(number: int) -> StoredMatch:
        if number > 2000:
            raise UnknownNameError(f"no match {number}")
        pair = ("ann", "bob")
        return StoredMatch(number, "abcd", 0, 1, 9, pair, pair, (0, 0), (0, 0), (0, 0), "ann", "raised\x1b")

    reader: Any = SimpleNamespace(name="store", match=match)
    with pytest.raises(ParameterError, match=r"match 3 has no games to see, as ann ended it: raised\\x1b"):
        find_replay(reader, "3.2")
    with pytest.raises(ParameterError, match="'abc' names no game: give MATCH"):
        find_replay(reader, "abc")
    with pytest.raises(UnknownNameError, match="no match 999"):
        find_replay(reader, "999999")
