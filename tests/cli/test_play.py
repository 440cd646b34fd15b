"""``dicegym play``: the table that is laid, the command that repeats a game, and how it ends."""

from __future__ import annotations

import io
import re
import shlex
import types
from pathlib import Path

import pytest
from command_line import Run

from dicegym.games.parts import CONTROLS, need
from dicegym.registry import GAMES


def test_play_at_the_keyboard_until_the_end(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("x\n99\n" + "6\n" * 200))
    status, out, err = run("play", "hog", "--against", "always_roll(1)", "-p", "goal=20")
    assert status == 0, err
    assert "your move> x\n'x' means nothing here" in out
    assert re.search(r"You win, \d+ to|always_roll\(1\) wins, \d+ to", out)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "the input for moves is closed: play at a keyboard"),  # as Python has it if it was closed
        (io.StringIO(), "the input ended before the game: play at a keyboard"),
    ],
)
def test_without_input_there_is_no_game(
    given: io.StringIO | None, said: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", given)
    status, _, err = run("play", "hog")
    assert (status, said in err) == (2, True)


def typed(monkeypatch: pytest.MonkeyPatch, *answers: str | BaseException) -> None:
    """Let a command read these answers, or meet these exceptions."""
    waiting = iter(answers)

    def answer(question: str) -> str:
        given = next(waiting)
        if isinstance(given, BaseException):
            raise given
        return given

    monkeypatch.setattr("builtins.input", answer)


def test_a_game_is_played_again_by_the_command_that_is_printed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "5", "bacon", "again", "5", "quit")
    status, out, _ = run("play", "hog", "-p", "goal=60", "--against", "easy")
    assert status == 0
    commands = re.findall(r"^  dicegym (play .*)$", out, re.MULTILINE)
    assert len(commands) == 2
    assert commands[0] != commands[1]
    first = out[: out.index(f"  dicegym {commands[1]}")]
    first = first[: first.rindex("\nHog, in")].rstrip("\n").removesuffix("again")
    typed(monkeypatch, "5", "bacon", "quit")
    status, out, _ = run(*shlex.split(commands[0]))
    assert out.startswith(first)
    assert "You take Free bacon" in first


def test_the_seat_is_drawn_by_the_seed_unless_it_is_given(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seats = set()
    for seed in range(8):
        for given in ((), ("--seat", "1")):
            typed(monkeypatch, "quit")
            out = run("play", "yatzy", "--against", "at_once", "--seed", str(seed), *given)[1]
            seats.add((bool(given), re.search(r"--seat (\d)", out)[1]))
    assert seats == {(False, "0"), (False, "1"), (True, "1")}


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("yatzy", "--against", "hard"), {"planner", "you"}),
        (("yatzy", "-p", "players=1"), {"alone"}),
        (("liarsdice",), {"honest", "honest 2", "you"}),
        (("liarsdice", "--against", "easy", "--against", "bayes"), {"timid", "bayes", "you"}),
        (("liarsdice", "-p", "players=2"), {"honest", "you"}),
        (("lucky", "-p", "players=3", "--against", "idle"), {"idle", "idle 2", "you"}),
        (("lucky", "-p", "players=2"), {"compound", "you"}),
    ],
)
def test_who_sits_at_the_table(
    arguments: tuple[str, ...], names: set[str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(monkeypatch, "quit")
    status, out, _ = run("play", *arguments)
    assert status == 0
    first = out.splitlines()[0].rstrip(".")
    assert {*first.rpartition("of play: ")[2].split(", ")} == names or first.endswith(*names)


def test_leaving_by_keys_is_quiet(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, KeyboardInterrupt())
    status, out, err = run("play", "hog")
    assert (status, err) == (130, "")
    assert out.endswith("\nInterrupted.\n")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    typed(monkeypatch, EOFError())
    status, out, err = run("play", "hog")
    assert (status, err) == (0, "")
    assert out.endswith("\nGoodbye.\n")


def test_the_page_names_the_opponents_of_each_strength() -> None:
    page = (Path(__file__).parents[2] / "docs" / "play.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \| `(\w+)` \| `(\w+)` \| `(\w+)` \|$", page, re.MULTILINE)
    opponents = [tuple(need(name, CONTROLS).OPPONENTS.values()) for name in GAMES]
    assert sorted(row[1:] for row in rows) == sorted(opponents)


def test_strengths_and_agents_are_completed() -> None:
    from dicegym.cli.play_command import complete_rival

    context = types.SimpleNamespace(params={"game": "hog"})
    assert complete_rival(context, "ha") == ["hard", "ham", "haphazard"]
    assert complete_rival(types.SimpleNamespace(params={}), "e") == ["easy"]
