"""The original commands of classic Liar's Dice, and contests at one table of all entries."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import dicegym
from dicegym.arena.formats.one_table import one_table
from dicegym.cli import main
from dicegym.errors import ParameterError
from dicegym.sandbox.limits import Limits

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Return a function that runs a command in an empty folder, with what is typed."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str, typed: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        try:
            main(list(arguments))
            status = 0
        except SystemExit as stop:
            status = int(stop.code or 0)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return command


def robot(folder: str, body: str, name: str = "player.py", function: str = "get_play") -> None:
    """Write a robot into the current folder."""
    Path(folder).mkdir(exist_ok=True)
    (Path(folder) / name).write_text(f"def {function}(me, hands, history):\n    {body}\n")


def wins(out: str) -> dict[str, int]:
    """Read the table of a tournament."""
    return {
        name: int(won) for name, won in re.findall(r"^ +\d+  (\S+(?: \(\d\))?) +(\d+) +[\d.]+% ", out, re.MULTILINE)
    }


# --- tournament ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_words_of_the_text(run: Run) -> None:
    status, out, err = run("liarsdice", "tournament", "100", "p_robot", "p_computer", "--seed", "0")
    assert (status, err) == (0, "")
    assert "Liar's Dice: 2 entries, one table, 100 games, seed 0" in out
    found = wins(out)
    assert list(found) == ["p_computer", "p_robot"]  # in the order of wins
    assert sum(found.values()) == 100
    assert "faults: 0" in out
    assert run("liarsdice", "tournament", "100", "p_robot", "p_computer", "--seed", "0")[1] == out
    assert run("liarsdice", "tournament", "100", "p_robot", "p_computer", "--seed", "1")[1] != out


def test_a_folder_here_comes_before_an_agent_of_that_name(run: Run) -> None:
    robot("p_robot", "return 25 if not history else 0")
    status, out, _ = run("liarsdice", "tournament", "20", "p_robot", "p_computer", "p_robot", "p_robot:player:get_play")
    assert status == 0
    assert set(wins(out)) == {"p_robot", "p_robot (2)", "p_robot:player:get_play", "p_computer"}
    assert sum(wins(out).values()) == 20


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("name", ["dir", "dir:bot", "dir:bot.py:play", "dir/bot.py"])
def test_names_of_entries(run: Run, name: str) -> None:
    robot("dir", "return 0 if history else 11", "bot.py", "play")
    status, out, _ = run("liarsdice", "tournament", "5", name, "bayes", "--dice", "1")
    assert status == 0
    assert sum(wins(out).values()) == 5


def test_a_game_of_bots_is_told_call_by_call(run: Run) -> None:
    status, out, _ = run("liarsdice", "play", "even", "timid", "--seed", "3", "--dice", "2")
    assert status == 0
    assert out.startswith("Liar's Dice: timid, even, in the order of their seats\n")  # drawn by the seed
    assert len(re.findall(r"^(even|timid): liar$", out, re.MULTILINE)) == 2
    assert "even called liar on 1 one of timid: there were 0; timid loses 1 die" in out
    assert "you" not in out
    assert "\neven wins\n" in out
    assert "dicegym watch timid --against even --game liarsdice" in out  # the same game again


def test_faults_are_told_with_bot_game_turn_and_reason(run: Run) -> None:
    robot("bad", "return 1 / 0 if history[-2:] != ':0' else 0")
    robot("wild", "return 77 if history[-2:] != ':0' else 0")
    status, out, _ = run("liarsdice", "tournament", "3", "bad", "wild", "p_computer", "--dice", "1", "--seed", "0")
    assert status == 0
    assert sum(wins(out).values()) == 3
    assert re.search(
        r"fault: bad: game 1 against wild, p_computer, turn 1: raised ZeroDivisionError "
        r"\(says: \"division by zero\"\) when asked \('A', '.*', '.*'\) \(player\.py, line 2\)",
        out,
    )
    assert re.search(
        r"fault: wild: game 1 against bad, p_computer, turn 1: no play at all \(taken as liar\): returned 77, of", out
    )
    assert "fault: p_computer" not in out


def test_who_cannot_be_loaded_is_left_out(run: Run) -> None:
    robot("broken", "return (")
    status, out, _ = run("liarsdice", "tournament", "4", "broken", "even", "timid")
    assert status == 0
    assert set(wins(out)) == {"even", "timid"}
    assert "disqualified: broken: player.py is not Python" in out
    status, out, _ = run("liarsdice", "tournament", "4", "broken", "even")
    assert status == 1
    assert "disqualified: broken" in out
    assert re.search(r"^ +1  even +0 +- ", out, re.MULTILINE)  # who is sound is not forgotten
    assert "nothing to compare: a contest needs two entries" in out


def test_the_result_as_json(run: Run) -> None:
    assert run("liarsdice", "tournament", "6", "even", "timid", "-o", "found.json")[0] == 0
    found = json.loads(Path("found.json").read_text())
    assert found["games"] == 6
    assert sum(one["wins"] for one in found["standings"]) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tournament", "10", "p_human", "even"), "p_human is a person: play with `dicegym liarsdice play`"),
        (("tournament", "10", "even"), "players=1 cannot be used"),
        (("tournament", "10", *["even"] * 7), "players=7"),
        (("tournament", "0", "even", "timid"), "games=0 cannot be used"),
        (("tournament", "10", "even", "nobody"), "there is no agent of Liar's Dice 'nobody'"),
        (("tournament", "10", "even", "timid", "--dice", "6"), "dice=6 cannot be used"),
        (("tournament", "10", "even", "timid", "-o", "no/x.json"), "there is no folder no"),
        (("play", "p_human", "p_human"), "p_human is named 2 times, and there is one keyboard"),
        (("play", "p_human", "even"), "the input ended before the game did"),
        (("play", "p_human"), "players=1"),
    ],
)
def test_mistakes(run: Run, arguments: tuple[str, ...], message: str) -> None:
    status, _, err = run("liarsdice", *arguments)
    assert status == 2
    assert message in err


def test_a_hanging_bot_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ndef get_play(*_):\n    time.sleep(60)\n")
    game = dicegym.game("liarsdice", dice=1)
    result = one_table(game, {"slow": tmp_path / "slow.py", "a": "even", "b": "timid"}, 6, limits=Limits(seconds=0.2))
    assert sum(place["wins"] for place in result.standings) == 6
    assert any("took more than 2 s by the clock" in misplay.reason for misplay in result.misplays)
    assert {misplay.name for misplay in result.misplays} == {"slow"}


def test_one_table_takes_any_game_of_several_players() -> None:
    game = dicegym.game("liarsdice_spot_on", dice=2)
    result = one_table(game, {name: name for name in ("even", "timid", "honest")}, 10, seed=5)
    assert sorted(place.name for place in result.standings) == ["even", "honest", "timid"]
    assert sum(place["wins"] for place in result.standings) == 10
    assert result == one_table(game, {name: name for name in ("even", "timid", "honest")}, 10, seed=5)
    assert result.standings[0].place == 1
    with pytest.raises(ParameterError, match="players=1"):
        one_table(game, {"even": "even"}, 10)


# --- play ------------------------------------------------------------------------------------------------------


def test_a_person_types_plays_as_in_the_text(run: Run) -> None:
    """Against a robot that always calls; whatever is not allowed is asked again."""
    robot("caller", "return 0 if history else 15")
    status, out, err = run(
        "liarsdice",
        "play",
        "caller",
        "p_human",
        "--dice",
        "2",
        "--seed",
        "1",
        typed="0\nfour\n27\n51\n41\n" * 9 + "quit",
    )
    assert (status, err) == (0, "")
    assert "Liar's Dice, in the order of play: " in out
    assert "how many of which face you bid" in out  # of "four"
    assert "5 ones is more than can be bid: at most 4 dice" in out
    assert "You bid 4 ones." in out
    assert "calls liar on your 4 ones." in out
    assert re.search(r"wins?, with \d dic?e left after \d hands", out)


def test_computers_play_among_themselves(run: Run) -> None:
    robot("bad", "return 1 / 0")
    status, out, _ = run("liarsdice", "play", "bad", "even", "--seed", "1", "--dice", "1")
    assert status == 0
    assert "bad: no answer (raised ZeroDivisionError" in out
    assert re.search(r"^(bad|even) wins$", out, re.MULTILINE)


def test_the_command_line_lists_what_games_bring(run: Run) -> None:
    assert re.search(r"^  liarsdice +Classic Liar's Dice with its original commands", run("--help")[1], re.MULTILINE)
    assert "tournament" in run("liarsdice", "--help")[1]
