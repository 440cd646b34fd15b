"""What failures cost by the rules, what followers are told, and secrets."""

from __future__ import annotations

import dataclasses
import re
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from flawed.rules import SPEC

from dicegym import checks
from dicegym.arena.match import MOST_INCIDENTS, play_match
from dicegym.arena.match_rows import (
    KEPT,
    SHOWN,
    MatchRow,
    Misplay,
    PlayedMatch,
    misplay_lines,
    misplays_of,
    sum_up,
)
from dicegym.engine.game import Game
from dicegym.envs.single import SingleAgentEnv
from dicegym.envs.vector import BatchEnv
from dicegym.errors import AgentError, ConformanceError
from dicegym.play.drive import play_game
from dicegym.play.player import FunctionPlayer, Player, RandomPlayer
from dicegym.play.printed import Printed
from dicegym.play.turn import Act, Turn
from dicegym.sandbox.jobs import Failure

FORFEIT = 99
"""Not an action: the rules answer with fault 1, raise the total, and ask the same player again."""


def game(**facts: Any) -> Game:
    return Game(dataclasses.replace(SPEC, forfeit=FORFEIT, public_event="turn", **facts))


def fails(turn: Turn) -> int:
    if turn.view.total % 3 == 0:
        raise AgentError("failing", "gave up")
    return int(np.flatnonzero(turn.mask)[0])


def nonsense(turn: Turn) -> Any:
    return "seven"


FAILING, ODD = FunctionPlayer(fails, "failing"), FunctionPlayer(nonsense, "odd")


class Watcher(Player):
    """Plays the first legal action and notes what it is told."""

    name = "watcher"

    def __init__(self, fail: bool = False) -> None:
        self.told: list[int] = []
        self.fail = fail

    def join(self, game: Game, seat: int, seed: int) -> Act:
        watcher = self

        class Seated:
            def __call__(self, turn: Turn) -> int:
                return int(np.flatnonzero(turn.mask)[0])

            def follow(self, turn: Turn) -> None:
                assert turn.seat == seat
                watcher.told.append(turn.view.total)
                if watcher.fail:
                    raise AgentError("watcher", "fell asleep")

        return Seated()


# --- matches -----------------------------------------------------------------------------------------------


def test_a_failing_player_pays_and_the_match_goes_on() -> None:
    found = play_match(game(), [FAILING, RandomPlayer()], 3, 5)
    assert len(found.returns) == 5
    assert found.faults[0] == len(found.incidents) > 0
    assert found.faults[1] == 0
    for player, number, turn, reason in found.incidents:
        assert (player, reason) == (0, "gave up")
        assert 1 <= number <= 5
        assert turn >= 1
    found = play_match(game(), [FunctionPlayer(lambda turn: 7, "seven"), RandomPlayer()], 3, 1)
    assert {incident.reason for incident in found.incidents} == {SPEC.faults[1]}, "illegal actions are told by it"


def test_nonsense_is_a_failure_too_and_many_of_them_are_counted_but_not_told() -> None:
    found = play_match(game(), [ODD, RandomPlayer()], 3, 5)
    assert found.faults[0] == found.noted[0] > MOST_INCIDENTS == len(found.incidents)
    assert "'seven', which is no action" in found.incidents[0].reason
    misplays = misplays_of(("odd", "uniform"), found._asdict())
    assert len(misplays) == MOST_INCIDENTS
    assert misplay_lines(misplays, {"odd": found.noted[0]})[-1] == f"odd: and {found.faults[0] - SHOWN:,} more"


def test_who_cannot_sit_down_fails_whenever_it_is_asked() -> None:
    class Absent(Player):
        name = "absent"

        def join(self, game: Game, seat: int, seed: int) -> Act:
            raise AgentError("absent", "is not there")

    found = play_match(game(), [Absent(), RandomPlayer()], 3, 2)
    assert {incident.reason for incident in found.incidents} == {"is not there"}
    with pytest.raises(AgentError, match="is not there"):
        play_match(Game(SPEC), [Absent(), RandomPlayer()], 3, 2)


@pytest.mark.parametrize("forfeits", [True, False])
def test_printing_costs_nothing_and_is_kept(forfeits: bool) -> None:
    class Loud(RandomPlayer):
        name = "loud"

        def __init__(self) -> None:
            self.printed = Printed()

        def join(self, game: Game, seat: int, seed: int) -> Act:
            act = super().join(game, seat, seed)

            def loud(turn: Turn) -> int:
                self.printed.write("hello")
                return act(turn)

            return loud

    found = play_match(game() if forfeits else Game(SPEC), [Loud(), RandomPlayer()], 3, 2)
    assert found.faults == (0, 0)
    assert found.incidents == ()
    assert re.fullmatch("(hello)+", found.printed[0])
    assert found.printed[1] == ""


def test_what_is_printed_past_the_bots_own_print_is_that_of_who_is_asked() -> None:
    stray = Printed()

    def writes(turn: Turn) -> int:
        stray.write("x")
        return int(np.flatnonzero(turn.mask)[0])

    found = play_match(game(), [RandomPlayer(), FunctionPlayer(writes, "writes")], 3, 2, stray=stray)
    assert found.printed[0] == ""
    assert re.fullmatch("x+", found.printed[1])


def test_a_dismissed_player_is_not_asked_from_its_decision_on() -> None:
    asked: list[int] = []

    def count(turn: Turn) -> int:
        asked.append(turn.seat)
        return int(np.flatnonzero(turn.mask)[0])

    whole = play_match(game(), [FunctionPlayer(count, "a"), RandomPlayer()], 3, 4)
    before = len(asked)
    asked.clear()
    found = play_match(
        game(), [FunctionPlayer(count, "a"), RandomPlayer()], 3, 4, dismissals=[Failure(0, "hung", 3, 2)]
    )
    assert 0 < len(asked) < before
    assert found.returns[:2] == whole.returns[:2]
    assert (found.incidents[0].game, found.incidents[0].turn, found.incidents[0].reason) == (3, 2, "hung")
    assert all(incident.game >= 3 for incident in found.incidents)


# --- environments ------------------------------------------------------------------------------------------


def test_games_elsewhere_go_on_with_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing warns when nobody fails
        play_game(game(), [RandomPlayer(), RandomPlayer()], 1)
    with pytest.warns(RuntimeWarning, match="'failing': gave up; Flawed takes that for a fault"):
        state = play_game(game(), [FAILING, FAILING], 1)
    assert state["over"]
    env = SingleAgentEnv(game(), opponent=FAILING)
    batch = BatchEnv(game(), 8, opponent=FAILING, autoreset_mode="SameStep")
    for played in (env, batch):
        with pytest.warns(RuntimeWarning, match="gave up"):
            play_some(played)


def play_some(played: gym.Env | BatchEnv, steps: int = 40) -> None:
    _, info = played.reset(seed=1)
    for _ in range(steps):
        *_, ended, _, info = played.step(info["action_mask"].argmax(axis=-1))
        if isinstance(played, SingleAgentEnv) and ended:
            _, info = played.reset()


# --- followers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fail", [False, True])
def test_followers_are_told_of_every_public_event(fail: bool) -> None:
    watcher = Watcher(fail)
    state = play_game(game(), [watcher, RandomPlayer()], 5)
    assert len(watcher.told) == int(state["turn"])
    assert watcher.told[-1] == int(state["total"])

    other = Watcher(fail)
    found = play_match(game(), [RandomPlayer(), other], 5, 2)
    assert len(other.told) > 10
    assert found.faults == (0, 0)
    assert {incident.reason for incident in found.incidents} == ({"fell asleep"} if fail else set())
    assert {incident.turn for incident in found.incidents} <= {0}

    nobody = Watcher()
    play_game(Game(SPEC), [nobody, RandomPlayer()], 5)
    assert nobody.told == []


def test_followers_are_told_the_same_in_every_environment() -> None:
    told = []
    for make in (
        lambda player: SingleAgentEnv(game(), opponent=player, seat=1),
        lambda player: BatchEnv(game(), 1, opponent=player, seat=1, autoreset_mode="Disabled"),
    ):
        watcher = Watcher()
        env: gym.Env | BatchEnv = make(watcher)
        _, info = env.reset(seed=4)
        over = False
        while not over:
            *_, terminated, _, info = env.step(info["action_mask"].argmax(axis=-1))
            over = bool(np.all(terminated))
        told.append(watcher.told)
    assert told[0] == told[1]
    assert len(told[0]) > 5
    assert told[0][-1] >= 40


# --- secrets -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"secret": frozenset({"total"})}, r"seat 0\) changes with the total of the game"),
        ({"secret": frozenset({"last"})}, "legal changes with the last of the game"),
        ({"secret": frozenset({"lost"})}, "'lost' is not a field of the record"),
        ({"private": frozenset({"total"})}, "'total' has no entry for each of 2 seats"),
        ({"sighted": {"memmory": 1}}, "sighted says memmory=1, which is not a value of a parameter"),
    ],
)
def test_fields_that_nobody_may_know_and_everybody_sees_are_noticed(facts: dict[str, Any], words: str) -> None:
    with pytest.raises(ConformanceError, match=words):
        checks.check_game(game(**facts))


# --- reports -----------------------------------------------------------------------------------------------


def test_reports_name_bot_game_turn_and_reason_of_the_first_misplays_of_each() -> None:
    outcome = {"incidents": [[1, 3, n, f"reason {n}\nsecond line"] for n in range(SHOWN + 2)]}
    misplays = misplays_of(("a", "b", "c"), outcome)
    assert misplays[1] == Misplay("b", ("a", "c"), 3, 1, "reason 1 second line")
    lines = misplay_lines(misplays, {"b": SHOWN + 2})
    assert lines[0] == "b: game 3 against a, c: reason 0 second line"
    assert lines[1] == "b: game 3 against a, c, turn 1: reason 1 second line"
    assert lines[SHOWN:] == ["b: and 2 more"]
    misplays = [Misplay(name, tuple("ab".replace(name, "")), 1, n, "x") for n in range(KEPT + 1) for name in "ab"]
    incidents = [("ab".index(one.name), one.game, one.turn, one.reason) for one in misplays]
    found = sum_up([PlayedMatch(MatchRow(("a", "b"), (0, 0)), {"incidents": incidents, "noted": (KEPT + 1, KEPT + 1)})])
    assert list(found["misplays"]) == misplays[: 2 * KEPT]
    assert found["faults"] == {"a": KEPT + 1, "b": KEPT + 1}
