"""Measuring by executors: the same results as in one process, with isolated users' bots."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from variants import FINISHED

import dicegym
from dicegym.arena.executors import Executors, local
from dicegym.cli import main
from dicegym.engine.game import Game
from dicegym.errors import AgentError, FaultWarning, ParameterError
from dicegym.learning import blocks
from dicegym.learning.blocks import EvaluationBlock, blocks_of, seating_of
from dicegym.learning.evaluate import evaluate, keep_open, limits_of
from dicegym.play.player import FunctionPlayer, Player
from dicegym.play.printed import Printed
from dicegym.play.turn import Act, Turn
from dicegym.players.roster import AGENTS_VARIABLE, agents_folder, is_strangers
from dicegym.sandbox.heartbeat import Heartbeat
from dicegym.sandbox.jobs import entry, here

SPY = """
import sys
{pure}
if "pytest" in sys.modules:
    raise ValueError("it runs where it must not")
def final_strategy(score, opponent_score):
    return 4 + (score > 50)
"""


@pytest.fixture(scope="module")
def two() -> Iterator[Executors]:
    """Return executors of two processes, started once for each game."""
    with keep_open(local(2)) as executors:
        yield executors


def _stranger(game: Game, name: str, folder: Path) -> str:
    """Return the path of a copy of a shipped bot, which counts as a user's."""
    source = agents_folder(game) / f"{name}.py"
    for file in [source, *source.parent.glob("_*.py")]:
        shutil.copy(file, folder)
    return str(folder / source.name)


QUICK = ("hog", "liarsdice")
"""Games that are always tried: one with exact values, and one whose compiled bots draw otherwise than their files."""


@pytest.mark.parametrize(
    "name", [one if one in QUICK else pytest.param(one, marks=pytest.mark.slow) for one in FINISHED]
)
def test_results_are_those_of_one_process(
    name: str, two: Executors, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With players in the referees' processes, and with a user's bot, in any process."""
    monkeypatch.setattr(blocks, "SIDE_BY_SIDE", 8)
    monkeypatch.setattr(blocks, "APART", 8)
    game = dicegym.game(name)
    rival = "ppo" if game.players > 1 else None
    here = evaluate(game, "haphazard", rival, 12, exact=False)
    assert evaluate(game, "haphazard", rival, 12, exact=False, executors=two) == here
    stranger = _stranger(game, "haphazard", tmp_path)
    assert is_strangers(game, stranger)
    assert not is_strangers(game, "haphazard")
    assert evaluate(game, stranger, rival, 12, exact=False, executors=two) == here


def test_a_users_bot_that_may_draw_plays_where_its_table_would_cost_more(two: Executors, tmp_path: Path) -> None:
    game = dicegym.game("liarsdice", dice=1)
    bot = tmp_path / "bot.py"
    for pure, games in (("", 40), ("PURE = True", 0)):
        bot.write_text(f"{pure}\ndef get_play(me, hands, history):\n    return 0 if history else 11\n")
        for rival in ("even", "bluffer"):
            score = evaluate(game, str(bot), rival, 40, executors=two)
            assert score.games == (games if rival == "even" else 40)


def test_users_bots_never_run_in_this_process(two: Executors, tmp_path: Path) -> None:
    """Neither for exact values nor for games, in batches or one by one."""
    game = dicegym.game("hog")
    for pure in ("PURE = True", ""):
        bot = tmp_path / f"spy{len(pure)}.py"
        bot.write_text(SPY.format(pure=pure))
        with pytest.raises(AgentError, match="it runs where it must not"):
            evaluate(game, str(bot), "bacon")
        exact = evaluate(game, str(bot), "bacon", executors=two)
        assert exact.games == 0
        played = evaluate(game, str(bot), "bacon", 400, exact=False, executors=two)
        assert abs(played.value - exact.value) < 0.1


def test_a_users_bot_with_the_name_of_a_compiled_bot_is_isolated(
    two: Executors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hog").mkdir()
    (tmp_path / "hog" / "haphazard.py").write_text(SPY.format(pure=""))
    monkeypatch.setenv(AGENTS_VARIABLE, str(tmp_path))
    for less_luck in (False, True):
        score = evaluate("hog", "haphazard", "haphazard", 10, exact=False, less_luck=less_luck, executors=two)
        assert score.games == 10


TOO_LONG = r"took more than (0\.2 s|2 s by the clock)"
"""Of a bot that computes without end: a machine with more to do may not have given it 0.2 s after 2 s."""


@pytest.mark.parametrize(
    ("pure", "body", "match"),
    [
        (True, "while True: pass", TOO_LONG),
        (False, "__import__('os')._exit(3)", r"ended its process \(exit status 3\)"),
        pytest.param(False, "while True: pass", TOO_LONG, marks=pytest.mark.slow),
        pytest.param(True, "__import__('os')._exit(3)", r"ended its process \(exit", marks=pytest.mark.slow),
    ],
    ids=["pure hangs", "ends", "hangs", "pure ends"],
)
def test_a_users_bot_that_hangs_or_exits_ends_the_evaluation(pure: bool, body: str, match: str, tmp_path: Path) -> None:
    bot = tmp_path / "player.py"
    bot.write_text(f"PURE = {pure}\ndef get_play(me, hands, history):\n    {body}\n")
    began = time.monotonic()
    with pytest.raises(AgentError, match=match):
        evaluate("liarsdice", str(bot), "even", 400, executors=local(1), limits=limits_of(0.2))
    assert time.monotonic() - began < 60


def test_faults_are_reported_as_in_one_process(two: Executors, tmp_path: Path) -> None:
    """With the same counts and words, also for bots that answer in batches."""
    game = dicegym.game("liarsdice")
    told = []
    for pure in (True, False):
        bot = tmp_path / f"player{pure}.py"
        bot.write_text(f"PURE = {pure}\ndef get_play(me, hands, history):\n    return [][len(history) % 2]\n")
        for executors in (None, two):
            with pytest.warns(FaultWarning) as caught:
                score = evaluate(game, str(bot), "even", 20, executors=executors)
            told.append((score.value, len(caught)))
            assert "IndexError" in str(caught[0].message)
    assert told[0] == told[1] == told[2] == told[3]
    assert told[0][1] >= 20 * 5  # it loses every die of every game by one


def test_a_users_bot_may_fill_several_seats(two: Executors, tmp_path: Path) -> None:
    game = dicegym.game("lucky")
    stranger = _stranger(game, "gambler", tmp_path)
    here = evaluate(game, "ppo", [stranger, "strategist"], 14)
    assert evaluate(game, "ppo", [stranger, "strategist"], 14, executors=two) == here


def test_blocks_do_not_depend_on_who_plays_them(tmp_path: Path) -> None:
    met = [seating_of(number, 4, 2) for number in range(8)]  # seats alternate and opponents move on
    assert [seat for seat, _ in met] == [0, 1, 2, 3, 0, 1, 2, 3]
    after = [[who[(seat + place) % 4] for place in range(4)] for seat, who in met]
    assert after == [[0, 1, 2, 1]] * 4 + [[0, 2, 1, 2]] * 4
    game = dicegym.game("hog")
    trusted = entry(game, "a", "bacon"), entry(game, "b", "swap")
    sizes = [block.games for block in blocks_of(game, trusted, 2500, 1)]
    assert sizes == [1000, 1000, 500]
    stranger = entry(game, "c", _stranger(game, "ham", tmp_path))
    found = blocks_of(game, (stranger, trusted[0]), 2500, 1)
    assert sum(block.games for block in found) == 2500
    assert {block.games for block in found} == {blocks.APART, 100}
    assert found[1].facts == {"kind": "evaluation", "seed": 1, "first": 200, "games": 200}
    assert isinstance(found[0], EvaluationBlock)


@pytest.mark.parametrize("failing", range(3))
def test_the_player_that_failed_is_blamed(failing: int) -> None:
    """Hog's rules do not say what a failure costs, so it ends the block."""

    def fail(turn: Turn) -> int:
        raise AgentError(f"number {failing}", "has no dice left")

    game = dicegym.game("hog")
    players = [FunctionPlayer(fail if number == failing else lambda turn: 4, f"number {number}") for number in range(3)]
    entries = tuple(entry(game, player.name, player) for player in players)
    heartbeat = Heartbeat.private()
    (block,) = blocks_of(game, entries, 8, 1)
    with pytest.raises(AgentError, match=f"number {failing}"):
        block.run(here(heartbeat, Printed()))
    assert heartbeat.blamed == failing


@pytest.mark.parametrize("failing", range(2))
def test_a_given_player_is_blamed_for_other_errors(failing: int) -> None:
    """Bots and models raise only AgentError; here the others are loaded last, or first."""

    class Broken(Player):
        name = "mine"

        def join(self, game: Game, seat: int, seed: int) -> Act:
            raise ZeroDivisionError

    game = dicegym.game("hog")
    specs: list[Any] = ["bacon", "swap"]
    specs.insert(failing, Broken())
    entries = tuple(entry(game, str(number), spec) for number, spec in enumerate(specs))
    heartbeat = Heartbeat.private()
    (block,) = blocks_of(game, entries, 8, 1)
    with pytest.raises(ZeroDivisionError):
        block.run(here(heartbeat, Printed()))
    assert heartbeat.blamed == failing


def test_agents_that_cannot_be_sent_are_refused(two: Executors) -> None:
    lock = threading.Lock()
    with pytest.raises(ParameterError, match="cannot be sent"):
        evaluate("hog", FunctionPlayer(lambda turn: lock and 4), "bacon", 10, False, executors=two)


def test_the_command_isolates_users_bots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bot, result = tmp_path / "mine.py", tmp_path / "score.json"
    bot.write_text("def final_strategy(score, opponent_score):\n    return 4\n")
    with pytest.raises(SystemExit, match="0"):
        main(["evaluate", str(bot), "--game", "hog", "--against", "bacon", "-o", str(result)])
    said = capsys.readouterr()
    assert "bots are isolated by" in said.err
    assert "exact win rate against bacon" in said.out
    (score,) = json.loads(result.read_text())
    assert score["value"] == pytest.approx(evaluate("hog", "always_roll(4)", "bacon").value, abs=1e-12)
