"""Rules that both Liar's Dice games have: dice of each hand, what is seen of any table, and how hands end."""

from __future__ import annotations

import itertools

import pytest
from bidding_tables import bid, left
from hypothesis import given
from hypothesis import strategies as st
from oracles import dice as oracle_dice
from variants import play

import dicegym

pytestmark = pytest.mark.nojit
CHANGES = {"liarsdice": {0, -1}, "liarsdice_spot_on": {0, -1, -2, 1}}
"""By how many dice one decision may change the number of all."""
each_name = pytest.mark.parametrize("name", CHANGES)
LIAR = 180


@pytest.mark.boundscheck
@each_name
@pytest.mark.parametrize(("players", "dice"), [(2, 1), (2, 5), (3, 3), (6, 5)])
def test_everybody_begins_with_its_dice_and_each_hand_is_rolled_from_its_own_turns(
    name: str, players: int, dice: int
) -> None:
    game = dicegym.game(name, players=players, dice=dice)
    state = game.new_game(3)[0]
    assert left(state) == [dice] * players
    for hand in range(4):
        assert state["finished"] == hand
        for seat in range(6):
            own = left(state)[seat] if seat < players else 0
            rolled = [oracle_dice.die(int(state["key"]), seat, hand, n, 6) for n in range(own)]
            assert state["hands"][seat].tolist() == [rolled.count(face) for face in range(1, 7)]
        game.step(state, bid(players * dice, 6))
        game.step(state, LIAR)
        if state["over"]:
            break


@each_name
def test_the_shape_is_the_same_for_any_number_of_players_and_dice(name: str) -> None:
    games = [dicegym.game(name, players=players, dice=dice) for players in range(2, 7) for dice in range(1, 6)]
    assert len({(game.observation_size, game.n_actions) for game in games}) == 1


@each_name
@given(seed=st.integers(0, 2**32), players=st.integers(2, 6), dice=st.integers(1, 5))
def test_dice_stay_within_bounds_and_whoever_is_to_move_has_some(name: str, seed: int, players: int, dice: int) -> None:
    """Of classic games a hand takes one die, so there are as many hands as dice are lost."""
    seen: list[list[int]] = []

    def visit(state: object) -> None:
        seen.append(left(state))
        assert left(state)[int(state["player"])] > 0

    state = play(dicegym.game(name, players=players, dice=dice), seed, 10_000, visit)
    assert all(0 <= number <= dice for numbers in seen for number in numbers)
    assert {sum(after) - sum(before) for before, after in itertools.pairwise(seen)} <= CHANGES[name]
    assert state["over"]
    assert sum(number > 0 for number in left(state)) == 1
    assert name != "liarsdice" or state["finished"] == players * dice - sum(left(state))
