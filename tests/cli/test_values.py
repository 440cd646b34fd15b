"""The commands about values: what is best in a state, what decisions cost, and solutions."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import Run
from solutions_toy import Counting, Toy, play_with

import dicegym
from dicegym.arena.replay import load
from dicegym.games.positions import position, position_id


def begun(name: str, steps: int = 2, **parameters: int) -> tuple[dicegym.Game, str]:
    """Return a game, and the id of what the player to move knows after some decisions of the baseline."""
    game = dicegym.game(name, **parameters)
    states = game.new_game(3)
    for _ in range(steps):
        game.step(states[0], int(game.legal(states[0]).argmax()))
    return game, position_id(game, states[0], int(states[0]["player"]))


def test_choices_are_ranked(tmp_path: Path, run: Run) -> None:
    _, text = begun("hog")
    status, out, err = run("values", "hint", text, "--top", "2", "-o", tmp_path / "h.json")
    assert (status, err) == (0, "")
    assert [word for word in (f"State: {text}", "(10 more)", "source exact") if word not in out] == []
    found = json.loads((tmp_path / "h.json").read_text("utf-8"))
    values = [one["value"] for one in found["choices"]]
    assert values == sorted(values, reverse=True)
    assert (len(values), found["state"], found["kind"]) == (12, text, "exact")
    status, out, _ = run("values", "hint", text, "--top", "0", "--values", "rollouts")
    assert (status, "± error" in out, "more)" in out) == (0, True, False)


def test_a_state_is_played_on(tmp_path: Path, run: Run) -> None:
    options = ("values", "hint", begun("liarsdice", dice=2)[1], "--games", "150", "-o", tmp_path / "r.json")
    status, out, err = run(*options)
    assert (status, err) == (0, "")
    assert "means of up to 150 games each" in out
    found = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert found["kind"] == "rollouts"
    assert all(one["error"] > 0 for one in found["choices"])
    assert run(*options)[1] == out


def test_a_person_asks_while_it_plays(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = iter(["hint", "id", "help", "quit"])
    monkeypatch.setattr("builtins.input", lambda question: next(typed))
    status, out, _ = run("play", "hog", "--seed", "3", "--seat", "0")
    assert (status, "source exact" in out) == (0, True)
    text = re.search(r"^hog-\S+$", out, re.MULTILINE)
    assert text is not None
    assert position(text[0]).seat == 0
    assert "a short text that stands for this state" in out


def test_a_moment_of_a_game_is_a_state_and_what_names_none_is_refused(file: Path, run: Run) -> None:
    last = len(load(file).actions)
    status, out, _ = run("values", "hint", f"{file}:{last}", "--top", "1")
    assert (status, "goal" in out.partition("State")[2]) == (0, False)
    game, text = begun("liarsdice")
    for wrong, says in (
        (text + "A", "cut or mistyped"),
        (position_id(game, game.new_game(3)[0], 1), "seat 0 is to move"),
        ("hog", "invalid state"),
        (f"{file}:0", "no action 0: give 1 to"),
        (f"{file}:{last + 1}", f"no action {last + 1}: give 1 to {last}"),
        (f"{file}:x", "invalid state"),
        (f"{file}:{'9' * 5000}", "invalid state"),
        ("nim-AAAA", "no game 'nim'"),
        ((text, "--games", "10", "--values", "equilibrium"), "leave one out"),
    ):
        status, out, err = run("values", "hint", *([wrong] if isinstance(wrong, str) else wrong))
        assert (status, out, says in err) == (2, "", True), wrong


# --- what decisions cost -------------------------------------------------------------------------------------------


def test_a_game_is_analysed(file: Path, tmp_path: Path, run: Run) -> None:
    plain = tmp_path / "a.json"
    status, out, err = run("values", "analyse", file, "-o", plain)
    assert (status, err) == (0, "")
    assert out.startswith("Hog: ")
    assert [word for word in ("regret", "Marks: ?! a doubtful choice from 2.0% on") if word not in out] == []
    values = json.loads(plain.read_text("utf-8"))
    assert values["decisions"]
    for total in values["totals"]:
        came = total["start"] - total["cost"] + total["gained"] + total["luck"]
        assert came == pytest.approx(total["result"], abs=1e-9)
    status, short, _ = run("values", "analyse", file, "--worst", "1", "--values", "exact")
    assert (status, "Move " in short, len(short) < len(out)) == (0, True, True)


def test_agents_are_graded(tmp_path: Path, run: Run) -> None:
    plain = tmp_path / "grades.json"
    words = ("values", "grade", "hog", "bacon", "best_by_scores", "--games", "20", "-p", "goal=30", "-o", plain)
    status, out, err = run(*words)
    assert (status, err) == (0, "")
    assert "20 games each, against always_roll(5)" in out
    assert [line.split()[0] for line in out.splitlines()[2:5]] == ["agent", "best_by_scores", "bacon"]
    bacon, best = json.loads(plain.read_text("utf-8"))["grades"]
    assert bacon["name"] == "bacon"
    assert bacon["error_rate"]["mean"] > best["error_rate"]["mean"]


def test_a_replay_tells_what_mistakes_cost(file: Path, tmp_path: Path, run: Run) -> None:
    replay = ("arena", "replay", file)
    status, plain, _ = run(*replay)
    assert (status, " loses " in plain) == (0, False)
    status, _, err = run(*replay, "--analyse", "-o", tmp_path / "game.html")
    assert (status, err) == (0, "")
    assert "?? loses" in (tmp_path / "game.html").read_text("utf-8")
    told = [line for line in run(*replay, "--analyse")[1].splitlines() if "?? loses" in line]
    assert told
    assert all("better: " in line for line in told)
    own = run(*replay, "--analyse", "--seat", "0")[1]
    first = plain.splitlines()[0].split(": ")[1].split(", ")[0]
    assert {line.partition(": ")[0] for line in own.splitlines() if " loses " in line} == {first}


# --- `dicegym values solve`, with a solution that counts -----------------------------------------------------------


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> type[Counting]:
    """Return the one solution that Hog has in these tests."""
    kind = type("Counting", (Counting,), {})
    play_with(monkeypatch, Toy(kind))
    return kind


def test_it_says_what_it_takes_solves_and_tells(run: Run, tmp_path: Path, counting: type[Counting]) -> None:
    file = tmp_path / "result.json"
    status, out, err = run("values", "solve", "hog", "-p", "goal=20", "--to", "0.1", "-o", file)
    assert status == 0
    assert re.search(r"dicegym.game\('hog'.*it needs next to nothing", err)
    assert "what is left 0.1\nkept in " in out
    found = json.loads(file.read_text())
    assert (found["quality"], found["goal"], found["done"], found["game"]) == (0.1, 0.01, False, "hog")
    status, out, err = run("values", "solve", "hog", "-p", "goal=20", "--to", "0.1")
    assert (status, err) == (0, "dicegym: solved already, nothing is computed; give --to for a better solution\n")
    assert "what is left 0.1\nkept in " in out
    status, out, _ = run("values", "solve", "-o", file)
    assert status == 0
    assert out.count("dicegym values solve hog -p goal=") == 2
    assert "    what is left 0.1\n" in out
    assert "    not solved yet\n" in out
    assert [one["quality"] for one in json.loads(file.read_text())] == [0.1, None]


def test_an_end_says_how_to_go_on(run: Run, counting: type[Counting]) -> None:
    counting.stop_at = 3
    status, out, err = run("values", "solve", "hog", "-p", "goal=20")
    assert (status, out) == (130, "")
    assert "the best tables so far are kept: solve again by `dicegym values solve hog -p goal=20`" in err


@pytest.mark.usefixtures("counting")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--minutes 3", "the options need a game"),
        ("yatzy", "ask for hog"),
        ("hog", "give it goal=20, or goal=30"),
        ("hog nothing -p goal=20", "unexpected extra argument"),
        ("hog -p goal=20 --to -1", "'--to'"),
        ("hog -p goal=20 -o /nowhere/at/all.json", "does not exist"),
    ],
)
def test_what_cannot_be_solved(run: Run, words: str, said: str) -> None:
    status, out, err = run("values", "solve", *words.split())
    assert (status, out, said in err) == (2, "", True)
