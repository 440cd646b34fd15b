"""What states of Yatzy for one are worth: what decisions cost and what luck brought explain the score."""

from __future__ import annotations

import numpy as np
import pytest

import dicegym
from dicegym.analysis.valuers import sources, valuer
from dicegym.games.yatzy.rules import MOST_ERRORS, SERVER_TURN
from dicegym.games.yatzy.solving import points
from dicegym.games.yatzy.values import AloneValuer

GAME = dicegym.game("yatzy", players=1)
ALL = (1 << 15) - 1
OPEN = (0, 2, 6, 10, 13)
"""Boxes, from 0, that are open in the positions below."""


@pytest.fixture(autouse=True)
def few_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solve for a few boxes alone, which takes no time; the others must be filled."""
    values = points.solve(ALL - sum(1 << box for box in OPEN))
    monkeypatch.setattr(points, "solve_once", lambda progress=None: values)


def begun(seed: int) -> np.ndarray:
    states = GAME.new_game(seed)
    for box in set(range(15)).difference(OPEN):
        states["scores"][0, 0, box] = 0
    states["round_number"] = 16 - len(OPEN)
    return states


@pytest.mark.parametrize("seed", range(8))
def test_costs_and_luck_explain_the_score(seed: int) -> None:
    state, judge = begun(seed)[0], valuer(GAME)
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


def test_one_action_is_worth_what_all_actions_say() -> None:
    state, judge = begun(1)[0], valuer(GAME)
    worth, errors = judge.action_values(state)[:2]
    for action in np.flatnonzero(GAME.legal(state)):
        assert judge.action_value(state, int(action)) == pytest.approx(worth[action], abs=1e-9)
    assert np.nanmax(worth) == pytest.approx(judge.value(state, 0), abs=1e-9)
    assert np.array_equal(np.isnan(worth), ~GAME.legal(state))
    assert np.nansum(errors) == 0
    assert judge.policy(state)[np.nanargmax(worth)] == 1


def test_many_records_at_once_are_worth_what_each_is() -> None:
    judge = valuer(GAME)
    assert isinstance(judge, AloneValuer)
    states = GAME.new_states(6)
    for seed in range(6):
        states[seed] = begun(seed)[0]
        for _ in range(seed):
            GAME.step(states[seed], int(judge.policy(states[seed]).argmax()))
    worth = judge.action_values_rows(states)
    for row in range(6):
        assert np.array_equal(worth.values[row], judge.action_values(states[row]).values, equal_nan=True)
    while not states["over"][3]:
        GAME.step(states[3], int(judge.policy(states[3]).argmax()))
    assert judge.values_rows(states)[:, 0].tolist() == [judge.value(states[row], 0) for row in range(6)]


def test_an_illegal_action_costs_nothing_until_the_server_plays() -> None:
    state, judge = begun(2)[0], valuer(GAME)
    assert judge.action_value(state, -1) == judge.value(state, 0)
    state["errors"] = MOST_ERRORS - 1
    assert judge.action_value(state, -1) == pytest.approx(judge.action_value(state, SERVER_TURN), abs=1e-9)
    assert judge.action_value(state, -1) < judge.value(state, 0)


def test_who_has_values() -> None:
    exact = sources(GAME)[0]
    assert (exact.name, exact.kind, exact.ready()) == ("exact", "exact", True)
    judge = exact.load(None)
    assert (judge.kind, judge.unit, judge.sure, judge.sees_all) == ("exact", "points", "exact", False)
