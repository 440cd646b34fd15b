"""Who asks for a seat that is none hears so, in the same words everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from variants import each_game

import dicegym
from dicegym.analysis.valuers import valuer
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.bidding.solving import solution
from dicegym.play.turn import Turn

USES: dict[str, Callable[[Game, Any, Any], object]] = {
    "observe": lambda game, state, seat: game.observe(state, seat),
    "view": lambda game, state, seat: game.view(state, seat),
    "scene": lambda game, state, seat: game.scene(state, seat),
    "turn": Turn,
    "observation": lambda game, state, seat: game.new_state(0).observation(seat),
    "text": lambda game, state, seat: game.new_state(0).text(seat),
}


@pytest.mark.nojit
@each_game
def test_a_seat_that_is_none_is_refused_wherever_one_is_asked_for(name: str) -> None:
    game = dicegym.game(name)
    for seat in (-1, game.players, True, 1.5, "x"):
        for use in USES.values():
            with pytest.raises(ParameterError, match=rf"^seat={seat!r} cannot be used as a seat of dicegym.game"):
                use(game, game.new_game(0)[0], seat)


def test_values_are_of_seats_that_there_are_and_of_states_in_each_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solution, "AT_ONCE", solution.AT_ONCE // 100)  # no value is looked at
    monkeypatch.setattr(solution, "values_at_once", solution.values_at_once.__wrapped__)  # others keep the whole one
    game = dicegym.game("liarsdice", players=2, dice=1)
    asked, state = valuer(game, "equilibrium"), game.new_state(3)
    assert asked.value(state, 0) == asked.value(state.record, 0) == asked.value(game.new_game(3), 0)
    assert (asked.policy(state) == asked.policy(state.record)).all()
    assert asked.action_value(state, 0) == asked.action_value(state.record, 0)
    with pytest.raises(ParameterError, match="seat=7"):
        asked.value(state, 7)


@pytest.mark.nojit
def test_a_number_with_more_digits_than_python_writes_is_refused_in_words() -> None:
    with pytest.raises(ParameterError, match="goal=a huge number cannot be used"):
        dicegym.game("hog", goal=10**5000)
