"""Values of analyses and evaluations at their limits: switches that are none, one game alone, endless times."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import dicegym
from dicegym.analysis.decisions import analyse
from dicegym.analysis.rollouts import RolloutValuer
from dicegym.analysis.solving import solve
from dicegym.analysis.valuers import sure
from dicegym.errors import ParameterError
from dicegym.learning.blocks import Results
from dicegym.learning.evaluate import evaluate, score_of


@pytest.mark.parametrize("switch", ["exact", "less_luck"])
@pytest.mark.parametrize("given", ["no", 0, None])
def test_what_is_no_switch_is_refused(switch: str, given: object) -> None:
    with pytest.raises(ParameterError, match=f"{switch}={given!r}.* are switches"):
        evaluate("hog", "bacon", "swap", **{switch: given})


def test_one_game_less_luck_does_not_say_how_games_differ() -> None:
    game, half = dicegym.game("hog"), np.array([0.5])
    score = score_of(game, Results(half, half - 0.2), "bacon")
    assert (score.value, score.low, score.high) == (pytest.approx(0.2), 0, 1)
    twice = score_of(game, Results(np.array([0.0, 1.0]), np.array([-0.1, 0.1])), "bacon")
    assert 0 <= twice.low < twice.value < twice.high <= 1
    alone = dicegym.game("yatzy", players=1)
    plain, adjusted = (score_of(alone, Results(np.array([1.0, 3.0]), luck), "nobody") for luck in (None, np.zeros(2)))
    assert plain[2:6] == adjusted[2:6] == pytest.approx((2, 2 - 1.96, 2 + 1.96, 2), abs=1e-4)


@pytest.mark.parametrize("limit", ["goal", "minutes"])
@pytest.mark.parametrize("given", [-1, 10**400, float("inf"), float("nan"), True, "1"])
def test_no_solution_is_looked_for_to_limits_that_are_none(limit: str, given: object) -> None:
    with pytest.raises(ParameterError, match=limit):
        solve(dicegym.game("liarsdice", players=2, dice=2), **{limit: given})


def test_an_analysis_does_not_hold_the_tables_that_it_was_made_by() -> None:
    game = dicegym.game("hog", goal=10)
    state, states, actions = game.new_state(seed=1), [], []
    while not state.over:
        states.append(state.record.copy())
        actions.append(3)
        state.step(3)
    valuer = RolloutValuer(game, games=2)
    found, held = analyse(game, [*states, state.record], actions, valuer=valuer), weakref.ref(valuer)
    said = sure(valuer)
    del valuer
    gc.collect()
    assert held() is None
    assert sure(found.valuer) == said
    assert found.to_json()["values"]["name"] == "rollouts"


@pytest.mark.parametrize("games", [1, 0, 2.0, True])
def test_one_game_of_each_choice_has_no_error_that_could_be_told(games: object) -> None:
    with pytest.raises(ParameterError, match="games="):
        RolloutValuer("hog", games=games)  # type: ignore[arg-type]  # what is refused
