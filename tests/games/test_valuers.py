"""Values of states: what is asked about may be given in each form, and what is no strategy is refused."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

import dicegym
from dicegym.errors import ParameterError
from dicegym.games.hog.solving.strategies import full_sight
from dicegym.games.hog.values import FullSight
from dicegym.games.liarsdice import exact
from dicegym.games.worth import Valuer
from dicegym.games.yatzy import values as yatzy
from dicegym.games.yatzy.solving import points

NO_ACTION = 10**6
"""A wide action that every game takes for a fault."""


@pytest.mark.parametrize("name", ["hog", "yatzy"])
def test_a_state_is_worth_the_same_in_each_form(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "solve_once", lambda progress=None: np.zeros((1 << 15, points.SUMS)))
    valuer: Valuer = (
        FullSight(dicegym.game(name, goal=20)) if name == "hog" else yatzy.AloneValuer(dicegym.game(name, 1))
    )
    state = valuer.game.new_state(seed=1)
    for ask in (
        lambda given: valuer.value(given, 0),
        lambda given: valuer.action_value(given, NO_ACTION),
        lambda given: valuer.action_value(given, state.legal_actions()[0]),
        lambda given: valuer.policy(given).tolist(),
        lambda given: np.nan_to_num(valuer.action_values(given).values).tolist(),
    ):
        assert ask(state) == ask(state.record) == ask(valuer.game.new_game(seed=1))
        with pytest.raises(ParameterError):
            ask(dicegym.game("liarsdice").new_state())


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -0.1, 0.2])
def test_a_table_that_holds_no_probabilities_is_no_strategy(wrong: float) -> None:
    game = dicegym.game("liarsdice", players=2, dice=1)
    with pytest.raises(ParameterError, match="no strategy"):
        exact.win_rate(np.full(exact.SHAPE, wrong), np.zeros(exact.SHAPE), game)


def test_values_of_hog_are_kept_of_few_goals_whoever_keeps_valuers() -> None:
    valuers = [FullSight(dicegym.game("hog", goal=goal)) for goal in range(10, 16)]
    states = [valuer.game.new_game(seed=1) for valuer in valuers]
    worth = [valuer.value(state, 0) for valuer, state in zip(valuers, states, strict=True)]
    tables = [weakref.ref(full_sight(valuer.game.parameters["goal"])) for valuer in valuers]
    assert sum(table() is not None for table in tables) <= 2
    assert [valuer.value(state, 0) for valuer, state in zip(valuers, states, strict=True)] == worth
