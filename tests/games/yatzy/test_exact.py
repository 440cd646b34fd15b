"""Exact values of Yatzy for one: small positions against all throws written out, decisions and luck, the anchor."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from oracles.yatzy import BOXES, UPPER, position
from oracles.yatzy_alone import mean_of_best_play

import dicegym
from dicegym.analysis.valuers import sources, valuer
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.parts import VALUES, Progress, list_solved_settings, need, solver
from dicegym.games.yatzy import values as yatzy
from dicegym.games.yatzy.rules import BEST, COUNTS, KEEPS, MOST_ERRORS, SERVER_TURN, TWO_PAIRS, record_of
from dicegym.games.yatzy.solving import points as solving
from dicegym.play.player import FunctionPlayer, Player, RandomPlayer
from dicegym.play.turn import Act, Turn

GAME = dicegym.game("yatzy", players=1)
ALL = (1 << 15) - 1


def bits(boxes: Iterable[str | int]) -> int:
    """Return the bit mask of all boxes but these, by name or number from 0."""
    return ALL - sum(1 << (BOXES.index(box) if isinstance(box, str) else box) for box in boxes)


@lru_cache(maxsize=1)
def solved(still_open: tuple[str, ...]) -> np.ndarray:
    """Solve the game in which all other boxes are filled; nobody writes into what is returned."""
    return solving.solve(bits(still_open))


@pytest.mark.parametrize("box", BOXES)
def test_one_open_box(box: str) -> None:
    values = solved((box,))
    for upper in ((40, 63) if BOXES.index(box) > 2 else (58,)) if box in UPPER else (0,):
        assert values[bits((box,)), upper] == pytest.approx(position(frozenset({box}), upper))


@pytest.mark.parametrize(
    ("boxes", "uppers"),
    [
        (("Chance", "Yatzy"), (0,)),
        pytest.param(("Sixes", "One Pair"), (45,), marks=pytest.mark.slow),
        pytest.param(("Full House", "Two Pairs", "Small Straight"), (12,), marks=pytest.mark.slow),
    ],
)
def test_a_few_open_boxes(boxes: tuple[str, ...], uppers: tuple[int, ...]) -> None:
    values = solved(boxes)
    for upper in uppers:
        assert values[bits(boxes), upper] == pytest.approx(position(frozenset(boxes), upper))


def test_first_rolls() -> None:
    assert solving.FIRST_ROLL.sum() == pytest.approx(1)
    assert solving.FIRST_ROLL[0] == pytest.approx(6**-5)


def test_threads_change_nothing() -> None:
    closed = bits((0, 3, 5, 8, 9, 11))
    assert np.array_equal(solving.solve(closed, threads=1), solving.solve(closed, threads=3))


def test_sums_side_by_side_are_those_one_by_one() -> None:
    """Sums from which the bonus is out of reach, or had, are worth the same; between them more is better."""
    filled = bits((0, 1, 14))
    values = solving.solve(filled)
    assert np.unique(values[filled, : 63 - 15]).tolist() == [values[filled, 63]]
    near = values[filled, 63 - 16 : 63]
    assert near[0] == values[filled, 63]
    assert (np.diff(near) > 0).all()


@pytest.mark.parametrize("boxes", [(7,), (3, 4, 5), pytest.param((0, 6, 7, 12, 13), marks=pytest.mark.slow)])
def test_any_scoring_is_solved_and_the_rules_give_the_same(boxes: tuple[int, ...]) -> None:
    closed, singles = bits(boxes), yatzy.score_single_pairs()
    assert mean_of_best_play(BEST, closed) == pytest.approx(solving.solve(closed)[closed, 0], rel=1e-12)
    assert mean_of_best_play(singles, closed) == pytest.approx(
        solving.solve(closed, scores=singles)[closed, 0], rel=1e-12
    )


def test_one_pair_alone_scores_in_two_pairs_where_it_is_said() -> None:
    points = yatzy.score_single_pairs()[:, TWO_PAIRS]
    found = {tuple(counts): score for counts, score in zip(COUNTS[KEEPS:].tolist(), points.tolist(), strict=True)}
    wanted = {(1, 2, 0, 1, 1, 0): 4, (0, 0, 0, 0, 0, 5): 12, (0, 2, 0, 0, 3, 0): 14, (1, 1, 1, 1, 1, 0): 0}
    assert {counts: found[counts] for counts in wanted} == wanted


class OptimalPlayer(Player):
    """Scores the most on average; at a table with others it takes no notice of them."""

    name = "optimal"
    pure = True

    def join(self, game: Game, seat: int, seed: int) -> Act:
        def act(asked: Turn) -> int:
            state = np.atleast_1d(record_of(game, asked.view))
            return int(self.act_rows(game, state, np.zeros(1, np.int64), np.array([seat]))[0])

        return act

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.nanargmax(solving.action_values(solving.solve_once(), states[rows], seats), axis=1)
        return found


@pytest.fixture
def few_boxes(monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Solve for four boxes alone, which takes no time; the others must be filled."""
    boxes = ("Threes", "One Pair", "Small Straight", "Chance")
    values = solved(boxes)
    monkeypatch.setattr(solving, "solve_once", lambda progress=None: values)
    return boxes


def filled_but(boxes: tuple[str, ...], seed: int) -> np.ndarray:
    states = GAME.new_game(seed)
    for box in range(15):
        if BOXES[box] not in boxes:
            states["scores"][0, 0, box] = 0
    states["round_number"] = 16 - len(boxes)
    return states


def played(player: Player, boxes: tuple[str, ...], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Play ``n`` games with ``boxes`` open from their beginning; return the points and what was luck of them."""
    states = GAME.new_states(n)
    for i in range(n):
        states[i] = filled_but(boxes, i)[0]
    rows = np.arange(n)
    meter = need(GAME, VALUES).meter(GAME, [player], np.zeros((n, 1), np.int64))
    assert meter is not None
    meter.begin(states, rows)
    while len(rows):
        actions, before = player.act_rows(GAME, states, rows, np.zeros(len(rows), np.int64)), states.copy()
        loops.step_rows(states, rows, actions, np.zeros(len(rows), np.int64))
        meter.add(before, rows, actions, states)
        rows = rows[~states["over"][rows]]
    return states["totals"][:, 0], meter.luck[:, 0]


def test_of_the_optimal_player_nothing_is_left_but_its_value(few_boxes: tuple[str, ...]) -> None:
    points, luck = played(OptimalPlayer(), few_boxes, 200)
    assert points - luck == pytest.approx(solving.solve_once()[bits(few_boxes), 0], abs=1e-9)


def test_points_less_luck_are_the_best_mean_less_regret(few_boxes: tuple[str, ...]) -> None:
    """Of players of all kinds, wide and illegal actions included."""
    wide = np.random.default_rng(0)

    def anything(turn: dicegym.play.turn.Turn) -> int:
        ranges = ((0, 225), (256, 288), (512, 992), (1000, 1001), (-5, 0))
        low, high = ranges[wide.choice(5, p=[0.5, 0.2, 0.2, 0.02, 0.08])]
        return int(wide.integers(low, high))

    players: list[Player] = [
        RandomPlayer(),
        FunctionPlayer(lambda turn: 210 + turn.view.scores[0].index(-1), pure=True),
    ]
    for player in [*players, FunctionPlayer(anything)]:
        points, luck = played(player, few_boxes, 200)
        assert abs(luck.mean()) < 4 * luck.std() / len(luck) ** 0.5
        assert (points - luck).max() < solving.solve_once()[bits(few_boxes), 0] + 1e-9 or player not in players


def test_action_values_are_those_of_the_mask(few_boxes: tuple[str, ...]) -> None:
    """What each action is worth, the points so far aside."""

    def action_values(state: Any) -> np.ndarray:
        found: np.ndarray = solving.action_values(solving.solve_once(), np.atleast_1d(state), np.zeros(1, np.int64))[0]
        return found

    state = filled_but(few_boxes, 1)[0]
    found = action_values(state)
    assert ((found >= 0) == GAME.legal(state)).all()
    assert found[OptimalPlayer().join(GAME, 0, 0)(Turn(GAME, state, 0))] == np.nanmax(found)
    state["rolls_left"] = 0
    state["dice"] = (3, 3, 3, 6, 6)
    found, later = action_values(state), solving.solve_once()
    assert found[210 + 2] == pytest.approx(9 + later[bits(few_boxes) | 4, 9])
    assert found[210 + 6] == pytest.approx(12 + later[bits(few_boxes) | 64, 0])


@pytest.mark.parametrize("seed", range(4))
def test_costs_and_luck_explain_the_score(few_boxes: tuple[str, ...], seed: int) -> None:
    state, judge = filled_but(few_boxes, seed)[0], valuer(GAME)
    rng = np.random.default_rng(seed)
    start, costs, luck = judge.value(state, 0), 0.0, 0.0
    while not state["over"]:
        actions = [*np.flatnonzero(GAME.legal(state)), SERVER_TURN, -1, 261, 600]
        action = int(rng.choice(actions))
        before, chosen = judge.value(state, 0), judge.action_value(state, action)
        assert chosen <= before + 1e-9
        costs += before - chosen
        GAME.step(state, action)
        luck += judge.value(state, 0) - chosen
    assert start - costs + luck == pytest.approx(state["totals"][0], abs=1e-9)


def test_one_action_is_worth_what_all_actions_say(few_boxes: tuple[str, ...]) -> None:
    state, judge = filled_but(few_boxes, 1)[0], valuer(GAME)
    worth, errors = judge.action_values(state)[:2]
    for action in np.flatnonzero(GAME.legal(state)):
        assert judge.action_value(state, int(action)) == pytest.approx(worth[action], abs=1e-9)
    assert np.nanmax(worth) == pytest.approx(judge.value(state, 0), abs=1e-9)
    assert np.array_equal(np.isnan(worth), ~GAME.legal(state))
    assert np.nansum(errors) == 0
    assert judge.policy(state)[np.nanargmax(worth)] == 1


def test_many_records_at_once_are_worth_what_each_is(few_boxes: tuple[str, ...]) -> None:
    judge = valuer(GAME)
    assert isinstance(judge, yatzy.AloneValuer)
    states = GAME.new_states(5)
    for seed in range(5):
        states[seed] = filled_but(few_boxes, seed)[0]
        for _ in range(seed):
            GAME.step(states[seed], int(judge.policy(states[seed]).argmax()))
    worth = judge.action_values_rows(states)
    for row in range(5):
        assert np.array_equal(worth.values[row], judge.action_values(states[row]).values, equal_nan=True)
    while not states["over"][3]:
        GAME.step(states[3], int(judge.policy(states[3]).argmax()))
    assert judge.values_rows(states)[:, 0].tolist() == [judge.value(states[row], 0) for row in range(5)]


def test_an_illegal_action_costs_nothing_until_the_server_plays(few_boxes: tuple[str, ...]) -> None:
    state, judge = filled_but(few_boxes, 2)[0], valuer(GAME)
    assert judge.action_value(state, -1) == judge.value(state, 0)
    state["errors"] = MOST_ERRORS - 1
    assert judge.action_value(state, -1) == pytest.approx(judge.action_value(state, SERVER_TURN), abs=1e-9)
    assert judge.action_value(state, -1) < judge.value(state, 0)


def test_who_is_solved() -> None:
    two = dicegym.game("yatzy")
    assert list_solved_settings("yatzy") == {"players": 1}
    assert yatzy.solves(GAME)
    assert not yatzy.solves(two)
    assert [solver(one) for one in (GAME, two)] == [None] * 2
    assert list_solved_settings("lucky") is None
    with pytest.raises(ParameterError, match="players=1"):
        yatzy.optimum(two)
    exact = sources(GAME)[0]
    assert (exact.name, exact.kind, exact.ready()) == ("exact", "exact", True)


def test_what_values_say_of_themselves(few_boxes: tuple[str, ...]) -> None:
    judge = sources(GAME)[0].load(None)
    assert (judge.kind, judge.unit, judge.sure, judge.sees_all) == ("exact", "points", "exact", False)


def test_the_sweep_says_how_far_it_has_come_and_can_be_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is interrupted, or fails, is not kept."""
    told: list[tuple[int, int, str]] = []
    steps = [(1 << 14, ALL, "sets of boxes solved"), (ALL, ALL, "sets of boxes solved")]

    def interrupt(*what: int | str) -> None:
        raise KeyboardInterrupt

    def solve(*, progress: Progress | None) -> np.ndarray:
        for step in steps:
            (progress or fail)(*step)
        return np.ones((1 << 15, 64))

    def fail(*what: object) -> None:
        raise MemoryError

    monkeypatch.setattr(solving, "solve", solve)
    monkeypatch.setattr(solving, "_solved", [])  # nothing is known yet
    for progress, error in ((interrupt, KeyboardInterrupt), (None, MemoryError), (fail, MemoryError)):
        with pytest.raises(error):
            yatzy.optimum(GAME, progress=progress)
    assert yatzy.optimum(GAME, progress=lambda *what: told.append(what)) == 1
    assert told == steps
    assert yatzy.optimum(GAME, progress=interrupt) == 1  # it is known by now


@pytest.mark.slow
def test_the_anchor_of_two_independent_solvers() -> None:
    assert yatzy.optimum(GAME) == pytest.approx(248.44, abs=0.005)
