"""The commands about a state: what is best in it, and where its id is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import run_with

import dicegym
from dicegym.arena.match import play_match
from dicegym.arena.replay import load, replay_of, save
from dicegym.games.positions import position, position_id
from dicegym.play.player import FunctionPlayer


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A game of Hog, in a file."""
    game = dicegym.game("hog", goal=30)
    players = [FunctionPlayer(lambda turn: 11, "ten"), FunctionPlayer(lambda turn: 6, "five")]
    save(replay_of(game, ["ten", "five"], 3, play_match(game, players, 3, 1)), tmp_path / "game.json")
    return tmp_path / "game.json"


def begun(name: str, steps: int = 2, **parameters: int) -> tuple[dicegym.Game, str]:
    """Return a game, and the id of what the player to move knows after some decisions of the baseline."""
    game = dicegym.game(name, **parameters)
    states = game.new_game(3)
    for _ in range(steps):
        action = int(game.legal(states[0]).argmax())
        game.step(states[0], action)
    return game, position_id(game, states[0], int(states[0]["player"]))


def test_choices_are_ranked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, text = begun("hog")
    status, out, err = run_with(capsys, "values", "hint", text, "--top", "2", "-o", str(tmp_path / "h.json"))
    assert (status, err) == (0, "")
    assert f"State: {text}" in out
    assert "(10 more)" in out
    assert "source exact" in out
    found = json.loads((tmp_path / "h.json").read_text("utf-8"))
    values = [one["value"] for one in found["choices"]]
    assert values == sorted(values, reverse=True)
    assert len(values) == 12
    assert (found["state"], found["kind"]) == (text, "exact")
    status, out, _ = run_with(capsys, "values", "hint", text, "--top", "0", "--values", "rollouts")
    assert status == 0
    assert "± error" in out
    assert "more)" not in out


def test_a_state_is_played_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, text = begun("liarsdice", dice=2)
    options = ("values", "hint", text, "--games", "150", "-o", str(tmp_path / "r.json"))
    status, out, err = run_with(capsys, *options)
    assert (status, err) == (0, "")
    assert "means of up to 150 games each" in out
    found = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert found["kind"] == "rollouts"
    assert all(one["error"] > 0 for one in found["choices"])
    assert run_with(capsys, *options)[1] == out
    status, _, err = run_with(capsys, "values", "hint", text, "--games", "10", "--values", "equilibrium")
    assert status == 2
    assert "give one of both" in err


def test_a_moment_of_a_game_is_a_state(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    last = len(load(file).actions)
    status, out, _ = run_with(capsys, "values", "hint", f"{file}:{last}", "--top", "1")
    assert status == 0
    assert "goal" not in out.partition("State")[2]
    status, _, err = run_with(capsys, "values", "hint", f"{file}:{last + 1}")
    assert status == 2
    assert f"the actions 1 to {last}" in err


def test_a_person_asks_while_it_plays(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    typed = iter(["hint", "id", "help", "quit"])
    monkeypatch.setattr("builtins.input", lambda question: next(typed))
    status, out, _ = run_with(capsys, "play", "hog", "--seed", "3", "--seat", "0")
    assert status == 0
    assert "source exact" in out
    text = re.search(r"^hog-\S+$", out, re.MULTILINE)
    assert text is not None
    assert position(text[0]).seat == 0
    assert "a short text that stands for this state" in out


def test_what_names_no_state_is_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game, text = begun("liarsdice")
    other = position_id(game, game.new_game(3)[0], 1)
    for wrong, says in (
        (text + "A", "cut or mistyped"),
        (other, "seat 0 is to move"),
        ("hog", "cannot be read as a state"),
        (f"{file}:0", "the actions 1 to"),
        (f"{file}:x", "cannot be read as a state"),
        (f"{file}:{'9' * 5000}", "cannot be read as a state"),
        ("nim-AAAA", "no game 'nim'"),
    ):
        status, out, err = run_with(capsys, "values", "hint", wrong)
        assert status == 2, wrong
        assert says in err
        assert not out
