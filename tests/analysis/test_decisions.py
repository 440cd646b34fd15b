"""What decisions cost: it adds up to the result whatever values are, and is what true values say where there are."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_values import MadeUp, ManyMadeUp
from variants import each_game, one_always, pick

import dicegym
from dicegym.analysis.decisions import Analysis, analyse
from dicegym.analysis.grades import grade
from dicegym.analysis.valuers import (
    MARKS,
    OBVIOUS,
    TRIVIAL,
    UNITS,
    Stake,
    amount,
    assess_state,
    mark_of,
    threshold,
    valuer,
)
from dicegym.analysis.variance_reduction import luck_of
from dicegym.engine.game import Game
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.games.worth import Valuer
from dicegym.games.yatzy import values as exact
from dicegym.play.drive import Referee
from dicegym.play.player import FunctionPlayer, Player, RandomPlayer
from dicegym.registry import GAMES

EXACT = {"hog": {"goal": 30}, "yatzy": {"players": 1}, "liarsdice": {"players": 2, "dice": 1}}
"""Games whose exact values are computed at once, with what parameters."""


def played(game: Game, seed: int = 1, most: int = 400, wide: int | None = None) -> tuple[list[Any], list[int]]:
    """Return the states and actions of a random game; its last action is ``wide``, if one is given."""
    state = game.new_game(seed)[0]
    states, actions = [state.copy()], []
    while not state["over"] and len(actions) < most:
        actions.append(pick(game.legal(state), seed, len(actions)))
        game.step(state, actions[-1])
        states.append(state.copy())
    if wide is not None:
        states, actions = states[:-1], [*actions[:-1], wide]
        last = states[-1].copy()
        game.step(last, wide)
        states.append(last)
    return states, actions


def adds_up(analysis: Analysis) -> None:
    for total in analysis.totals:
        assert total.start - total.cost + total.gained + total.luck == pytest.approx(total.result, abs=1e-9)
        assert total.adjusted == pytest.approx(total.start - total.cost + total.gained, abs=1e-9)
    costs = math.fsum(one.cost for one in analysis.totals)
    assert math.fsum(one.cost for one in analysis.decisions) == pytest.approx(costs, abs=1e-9)


@pytest.mark.parametrize(
    ("players", "name"),
    [
        *(("fewest", name) for name in GAMES),
        *(pytest.param("most", name, marks=[] if name == "liarsdice" else pytest.mark.slow) for name in GAMES),
    ],
)
def test_costs_and_luck_add_up_to_the_result_in_every_game(name: str, players: str) -> None:
    low, high = dicegym.game(name).spec.players
    game = dicegym.game(name, players=low if players == "fewest" else high)
    states, actions = played(game)
    analysis = analyse(game, states, actions, valuer=MadeUp(game))
    adds_up(analysis)
    movers = [int(state["player"]) for state in states[:-1]]
    assert sum(len(one.actions) for one in analysis.decisions) == len(actions)
    assert next(one.turn for one in analysis.decisions if one.seat == 0) == 1
    if game.spec.joint_action is None:
        assert [one.seat for one in analysis.decisions] == movers
        made_up = MadeUp(game)
        pairs = zip(states, actions, strict=False)
        costs = [assess_state(made_up, state).judge([action]).costs[0] for state, action in pairs]
        assert [one.cost for one in analysis.decisions] == costs
    else:
        assert len(analysis.decisions) == 1 + int((np.diff(movers) != 0).sum())
    many = analyse(game, states, actions, valuer=ManyMadeUp(game))
    assert many.decisions == analysis.decisions
    assert analysis.text()
    rows = json.loads(json.dumps(analysis.to_json(), allow_nan=False))["decisions"]
    assert [row["cost"] for row in rows] == [one.cost for one in analysis.decisions]
    assert {row["mark"] for row in rows} <= {"", *(mark.sign for mark in MARKS)}


def test_what_one_loses_the_others_share() -> None:
    game = dicegym.game("liarsdice", players=4)
    states, actions = played(game)
    totals = analyse(game, states, actions, valuer=MadeUp(game)).totals
    assert sum(total.cost for total in totals) == pytest.approx(sum(total.gained for total in totals))
    assert sum(total.luck for total in totals) == pytest.approx(0, abs=1e-9)
    alone = dicegym.game("yatzy", players=3)
    states, actions = played(alone)
    assert {one.gained for one in analyse(alone, states, actions, valuer=MadeUp(alone, unit="points")).totals} == {0}


@pytest.mark.parametrize("name", one_always(EXACT))
def test_a_planted_blunder_is_found_priced_and_explained(name: str) -> None:
    game = dicegym.game(name, **EXACT[name])
    asked = valuer(game)
    state = game.new_game(7)[0]
    states, actions, planted = [state.copy()], [], -1
    while not state["over"]:
        values = asked.action_values(state).values
        worst, best = int(np.nanargmin(values)), int(np.nanargmax(values))
        blunder = planted < 0 and values[best] - values[worst] > 1.2 * threshold("bad", asked.unit)
        if blunder:
            planted, price, names = len(actions), values[best] - values[worst], (worst, best)
        actions.append(worst if blunder else best)
        game.step(state, actions[-1])
        states.append(state.copy())
    analysis = analyse(game, states, actions, ["a", "b"][: game.players], asked)
    adds_up(analysis)
    (found,) = analysis.worst()
    assert (found.number, found.actions) == (planted + 1, (names[0],))
    assert found.cost == pytest.approx(price, abs=1e-9)
    assert found.mark(analysis.unit) == MARKS[-1]
    words = analysis.explain(found)
    played, better = analysis.describe_choice(found), analysis.better(found)
    assert words == f"a blunder: {played} instead of {better} loses {amount(price, asked.unit)}"
    assert (names[1],) in found.best
    assert words in analysis.text()
    assert analysis.totals[found.seat].marks == {"?!": 0, "?": 0, "??": 1}
    if game.players == 2:
        assert analysis.totals[1 - found.seat].gained == pytest.approx(price, abs=1e-9)


def test_costs_in_hog_are_what_the_next_states_say() -> None:
    game = dicegym.game("hog", goal=30)
    asked = valuer(game)
    states, actions = played(game, 3)
    for state, action in zip(states, actions, strict=False):
        seat = int(state["player"])
        values = asked.action_values(state).values
        for sure in (0, 1):  # an exchange and Free bacon leave nothing to chance
            after = state.copy()
            game.step(after, sure)
            assert asked.value(after, seat) == pytest.approx(values[sure], abs=1e-9)
        found = assess_state(asked, state).judge([action])
        assert found.costs[0] == pytest.approx(values.max() - values[action], abs=1e-9)
        assert asked.value(state, seat) == pytest.approx(values.max(), abs=1e-9)
    states, actions = played(game, 2, wide=40)  # what is no action is priced by what the rules make of it
    analysis = analyse(game, states, actions)
    adds_up(analysis)
    assert (analysis.decisions[-1].value, analysis.decisions[-1].cost) == (0, analysis.decisions[-1].best_value)


@pytest.mark.slow
def test_costs_in_yatzy_alone_are_those_that_take_the_luck_out_of_its_mean() -> None:
    game = dicegym.game("yatzy", players=1)
    for seed, agent in enumerate(("thrifty", "gather")):
        player = dicegym.agent(game, agent)
        referee = Referee(game, game.new_game(seed, 0), [player])
        states = [referee.states.copy()]
        for _ in referee.moves():
            states.append(referee.states.copy())
        analysis = analyse(game, states, referee.actions)
        adds_up(analysis)
        luck = luck_of(game, [player], [[0]], seed, [0], [referee.actions])[0, 0]
        score = float(game.returns(referee.state)[0])
        assert exact.optimum(game) - analysis.totals[0].cost == pytest.approx(score - luck, abs=1e-9)


def stub(values: list[float], unit: Any = "win rate", errors: float = 0.0) -> tuple[Game, Any, Valuer]:
    game = dicegym.game("hog")
    row = np.array(values + [values[-1]] * (game.n_actions - len(values)), np.float64)
    return game, game.new_game(0)[0], MadeUp(game, lambda _: row, unit, errors)


NAN = float("nan")


@pytest.mark.parametrize(
    ("values", "action", "stake"),
    [
        ([0.5, 0.4, 0.3], 0, Stake.CHOICE),
        ([0.5, 0.4, 0.3], 1, Stake.CHOICE),
        ([0.5, NAN], 0, Stake.FORCED),
        ([0.5, NAN], 1, Stake.UNKNOWN),
        ([NAN], 1, Stake.UNKNOWN),
        ([0.5, 0.5 + TRIVIAL / 2], 0, Stake.TRIVIAL),
        ([0.5 + OBVIOUS + 0.1, 0.5, 0.3], 0, Stake.OBVIOUS),
        ([0.5 + OBVIOUS + 0.1, 0.5 + OBVIOUS + 0.1, 0.3], 1, Stake.OBVIOUS),
        ([0.5 + OBVIOUS + 0.1, 0.5, 0.3], 1, Stake.CHOICE),
        ([0.5 + OBVIOUS - 0.01, 0.5, 0.3], 0, Stake.CHOICE),
    ],
)
@pytest.mark.parametrize("unit", UNITS)
def test_what_is_at_stake(values: list[float], action: int, stake: Stake, unit: Any) -> None:
    _, state, asked = stub([UNITS[unit] * value for value in values], unit)
    assert Stake(assess_state(asked, state).judge([action]).stakes[0]) == stake


def test_forced_trivial_and_obvious_choices_are_left_out_of_the_rate() -> None:
    game = dicegym.game("hog", goal=30)
    states, actions = played(game, 4)
    rows = iter([[0.5, NAN], [0.5, 0.5], [0.9, 0.1], *([[0.5, 0.4]] * len(actions))])
    table = {state.tobytes(): next(rows) for state in states}

    def values(state: Any) -> list[float]:
        row = table[state.tobytes()]
        return row + [row[-1]] * (game.n_actions - 2)

    actions = [0] * 3 + [1] * (len(actions) - 3)
    analysis = analyse(game, states, actions, valuer=MadeUp(game, values))
    stakes = [Stake.FORCED, Stake.TRIVIAL, Stake.OBVIOUS, Stake.CHOICE]
    assert [one.stake for one in analysis.decisions[:4]] == stakes
    for total in analysis.totals:
        own = [one for one in analysis.decisions[3:] if one.seat == total.seat]
        assert total.unforced == len(own)
        assert total.error_rate == pytest.approx(0.1 if own else 0)


def test_marks_by_their_thresholds(root: Path) -> None:
    _, state, asked = stub([0.5, 0.35], errors=0.02)
    sure = assess_state(asked, state).judge([1])
    assert sure.errors[0] == pytest.approx(math.hypot(0.02, 0.02))
    assert mark_of(sure.costs[0], "win rate", sure.errors[0]) == MARKS[-1]
    assert mark_of(sure.costs[0], "win rate", 0.08) is None  # it may be chance
    assert mark_of(float("nan"), "win rate") is None
    text = (root / "docs" / "values.md").read_text("utf-8")
    for mark in MARKS:
        points, returned = (f"{mark.cost * UNITS[unit]:g}" for unit in ("points", "return"))
        assert f"| {mark.sign} | {mark.noun} | {100 * mark.cost:g}% | {points} | {returned} |" in text
    assert f"within {100 * TRIVIAL:g}% ({TRIVIAL * UNITS['points']:g} points)" in text
    assert f"more than {100 * OBVIOUS:g}% ({OBVIOUS * UNITS['points']:g} points)" in text
    for unit, scale in UNITS.items():
        for mark, below in zip(MARKS, (None, *MARKS), strict=False):
            assert mark_of(mark.cost * scale, unit) == mark
            assert mark_of(mark.cost * scale * 0.999, unit) == below
            assert threshold(mark.level, unit) == mark.cost * scale
    with pytest.raises(UnknownNameError, match="doubtful"):
        threshold("dreadful", "points")
    assert amount(-0.0001, "win rate", True) == "+0.0%"
    assert amount(0.1234, "win rate") == "12.3%"
    assert amount(-5.25, "points", True) == "-5.25 points"


def test_what_does_not_fit_is_refused() -> None:
    game = dicegym.game("hog", goal=30)
    states, actions = played(game)
    with pytest.raises(ParameterError, match="do not fit"):
        analyse(game, states[:-1], actions)
    with pytest.raises(ParameterError, match="names"):
        analyse(game, states, actions, ["one"])
    with pytest.raises(ParameterError, match="cannot be read as a state of Yatzy"):
        analyse(dicegym.game("yatzy"), states, actions, valuer=MadeUp(dicegym.game("yatzy")))
    with pytest.raises(ParameterError, match="actions follow"):
        analyse(game, [*states, states[-1]], [*actions, 3])


# --- grades of many games -----------------------------------------------------------------------------------------


def test_a_grade_is_what_analyses_say() -> None:
    game = dicegym.game("hog", goal=30)
    asked = valuer(game)
    players = [dicegym.agent(game, "bacon"), dicegym.agent(game, "always_roll(5)")]
    totals = []
    for number in range(6):
        seat = number % 2
        referee = Referee(game, game.new_game(5, number), [players[seat], players[1 - seat]])
        states = [referee.states.copy()]
        for _ in referee.moves():
            states.append(referee.states.copy())
        totals.append(analyse(game, states, referee.actions, valuer=asked).totals[seat])
    found = grade(players[0], game, [players[1]], games=6, seed=5)
    assert found.cost.mean == pytest.approx(np.mean([one.cost for one in totals]), abs=1e-12)
    unforced = sum(one.unforced for one in totals)
    assert found.unforced == unforced / 6
    rate = sum(one.error_rate * one.unforced for one in totals) / unforced
    assert found.error_rate.mean == pytest.approx(rate, abs=1e-12)
    assert found.marks == {sign: sum(one.marks[sign] for one in totals) / 6 for sign in ("?!", "?", "??")}


def test_the_best_player_and_answers_that_are_no_actions_have_no_regret() -> None:
    class Mute(RandomPlayer):
        def has_answered(self, game: dicegym.Game, states: np.ndarray) -> np.ndarray:
            return np.zeros(len(states), np.bool_)

    game = dicegym.game("hog", goal=30)
    mute, heard = (grade(player, game, games=4) for player in (Mute(), RandomPlayer()))
    assert (mute.unforced, mute.error_rate.mean) == (0, 0)
    assert heard.unforced > 0
    assert mute.cost == heard.cost
    assert heard.error_rate.mean > 0.02
    asked = valuer(game)
    best = FunctionPlayer(lambda turn: int(np.nanargmax(asked.action_values(turn.record).values)), "best", pure=True)
    found = grade(best, game, [RandomPlayer()], games=20)  # who plays the best gives nothing away
    assert (found.name, found.cost.mean, found.error_rate.mean) == ("best", 0, 0)
    with pytest.raises(ParameterError, match="games"):
        grade(RandomPlayer(), game, games=0)
    with pytest.raises(ParameterError, match="do not fit"):
        grade(RandomPlayer(), game, [RandomPlayer()] * 2)
    named = grade("bacon", "hog", ["swap"], games=4)
    assert named == grade(dicegym.agent("hog", "bacon"), "hog", [dicegym.agent("hog", "swap")], games=4)


@each_game
def test_every_game_can_be_graded(name: str) -> None:
    game = dicegym.game(name)
    baseline = dicegym.agent(game, game.spec.baseline)
    one = grade(RandomPlayer(), game, [baseline] if game.players > 1 else (), 2, valuer=MadeUp(game))
    many = grade(RandomPlayer(), game, [baseline] if game.players > 1 else (), 2, valuer=ManyMadeUp(game))
    assert one == many
    assert one.cost.half > 0
    assert one.unknown == 0


def test_followers_are_told() -> None:
    game = dicegym.game("liarsdice", players=3)
    told: list[int] = []

    class Follower:
        def __call__(self, turn: Any) -> int:
            return int(np.flatnonzero(turn.mask)[-1])

        def follow(self, turn: Any) -> None:
            told.append(turn.seat)

    class Following(Player):
        name = "following"

        def join(self, game: Any, seat: int, seed: int) -> Any:
            return Follower()

    grade(Following(), game, [RandomPlayer()], 2, valuer=MadeUp(game))
    assert told
