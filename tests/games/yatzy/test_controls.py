"""Yatzy's forms: the dice that are picked are those that stay, also where others show the same."""

from __future__ import annotations

import pytest

import dicegym
from dicegym.games.keyboard import Place
from dicegym.games.yatzy.controls import read_form
from dicegym.games.yatzy.rules import ROLL_PLACES

DICE = [3, 1, 3, 3, 6]


@pytest.mark.parametrize(
    ("picked", "rolled"), [([], 31), ([0], 30), ([2], 27), ([3, 4], 7), ([1, 2, 3], 17), ([0, 2, 3, 4], 2)]
)
def test_those_dice_stay_that_were_picked(picked: list[int], rolled: int) -> None:
    game = dicegym.game("yatzy", players=1)
    state = game.new_game(5)[0]
    state["dice"] = DICE
    place = Place(game, 0, ("you",))
    (action,) = read_form(place, state, "roll", {"keep": [str(at) for at in picked]})
    by_places = state.copy()
    game.step(state, action)
    game.step(by_places, ROLL_PLACES + rolled)
    assert state.tobytes() == by_places.tobytes()
    assert all(state["dice"][at] == DICE[at] for at in picked)
