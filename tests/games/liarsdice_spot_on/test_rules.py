"""The rules of Liar's Dice with "spot on" as tables worked out by hand: the text's, then its rulings by number."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from bidding_tables import bid, left, legal, table
from hypothesis import given
from hypothesis import strategies as st
from oracles import dice as oracle_dice
from variants import part

import dicegym
from dicegym.games.bidding.table import TABLE_SEAT
from dicegym.games.liarsdice_spot_on.rules import (
    GAIN_ONE,
    LARGEST,
    LIAR,
    LOSE_TWO,
    MOST_BIDS,
    N_ACTIONS,
    NO_ANSWER,
    NO_MOVE,
)

pytestmark = pytest.mark.nojit
NAME = "liarsdice_spot_on"
CHALLENGES = [LIAR, LOSE_TWO, GAIN_ONE]


def wide(quantity: int, face: int) -> int:
    """The action that bids more than 30 dice."""
    return N_ACTIONS + (quantity - 31) * 6 + face - 1


# --- the text ------------------------------------------------------------------------------------------------


@pytest.mark.boundscheck
@pytest.mark.parametrize("players", [2, 4, 6])
def test_a_drawn_seat_opens_the_first_round(players: int) -> None:
    game = dicegym.game(NAME, players=players)
    openers = Counter()
    for seed in range(300):
        state = game.new_game(seed)[0]
        openers[int(state["player"])] += 1
        assert state["player"] == oracle_dice.draw(int(state["key"]), TABLE_SEAT, 0, 0, players)
        assert left(state) == [5] * players
    assert set(openers) == set(range(players))
    assert min(openers.values()) > 300 / players / 2


MORE = {
    (3, 5): [(2, 6), (3, 6), (4, 2)],  # two sixes are worth four: the text's example
    (2, 6): [(5, 1), (3, 6)],  # and the other one
    (1, 1): [(1, 6)],
    (1, 6): [(3, 5)],
    (29, 1): [(15, 6)],
    (30, 5): [(30, 6)],
}
NOT_MORE = {(2, 6): [(4, 1), (2, 6)], (4, 5): [(2, 6)], (3, 2): [(3, 5)], (2, 1): [(1, 6)], (1, 6): [(2, 5)]}
NOT_MORE |= {(30, 1): [(15, 6)]}


@pytest.mark.parametrize("more", [True, False])
def test_1_a_bid_must_be_worth_strictly_more(more: bool) -> None:
    for last, bids in (MORE if more else NOT_MORE).items():
        for raised in bids:
            game, state = table(NAME, [[1] * 5, [2] * 5])
            assert game.step(state, bid(*last)) == 0
            assert game.legal(state)[bid(*raised)] == more, (last, raised)
            assert game.step(state, bid(*raised)) == (0 if more else 3)
            assert state["over"] == (not more)


# --- ruling 1: bids ------------------------------------------------------------------------------------------


def test_1_the_first_bid_may_be_any() -> None:
    game, state = table(NAME, [[1], [2]], dice=1)
    assert legal(game, state) == list(range(180))


@pytest.mark.parametrize("quantity", [31, 32, 1000, 10**9, 2**40, LARGEST])
def test_1_no_quantity_is_too_large(quantity: int) -> None:
    for face in range(1, 7):
        game, state = table(NAME, [[1] * 5, [2] * 5])
        game.step(state, bid(30, 5))
        assert game.step(state, wide(quantity, face)) == 0
        assert tuple(game.view(state, 0).bids[-1]) == (0 + 1, quantity, face)
        assert game.action_name(wide(quantity, face)).startswith(f"{quantity} ")
        assert all(action >= LIAR or action % 6 == 5 for action in legal(game, state))  # of ordinary bids, sixes
        assert game.step(state.copy(), wide(quantity, 1)) == 3
        assert game.step(state, LIAR) == 0
        assert left(state) == [5, 4]


def test_1_beyond_the_largest_quantity_all_count_as_it() -> None:
    game, state = table(NAME, [[1] * 5, [2] * 5])
    assert game.step(state, 2**63 - 1) == 0
    assert game.view(state, 0).bids[0].quantity == LARGEST
    assert game.step(state, wide(LARGEST + 5, 3)) == 3


def test_1_ordinary_bids_end_at_45_and_a_round_has_room_for_100() -> None:
    game, state = table(NAME, [[1] * 5, [2] * 5])
    made = 0
    while bids := [action for action in legal(game, state) if action < LIAR]:
        assert game.step(state, min(bids, key=lambda action: (action // 6 + 1) * (1 + (action % 6 == 5)))) == 0
        made += 1
    assert made == 45
    quantity = 61
    while state["n_bids"] < MOST_BIDS:
        assert game.step(state, wide(quantity, 1)) == 0
        quantity += 1
    assert state["n_bids"] == 100
    assert game.step(state.copy(), wide(quantity, 1)) == 6
    assert set(legal(game, state)) == {LIAR, LOSE_TWO}
    assert len(game.view(state, 0).bids) == 100
    state["bids"][:MOST_BIDS] = 0  # a hundred small ones
    state["bids"][MOST_BIDS - 1] = 8 * bid(2, 3)
    assert set(legal(game, state)) == {LIAR, LOSE_TWO}


# --- rulings 2 to 5: counting, liar, spot on, and who starts the next round -----------------------------------

Bids = list[tuple[int, int]]
TEXT = [[3, 3, 6, 1, 2], [3, 3, 6, 6, 5]]
"""Of the text's example: four threes and three sixes are seven threes."""
SIX, MORE_SIXES, ALL = [[3, 3, 1], [3, 6, 2]], [[6, 6, 1], [3, 6, 2]], [[6, 6, 6], [6, 6, 6]]
FOURS = [[4, 4, 1], [6, 2, 2], [1, 1, 3]]
"""Three fours."""
PAIRS = [[4, 4], [2, 2], [1, 1]]
ENDINGS: dict[str, list[tuple[list[list[int]], Bids, int, list[int], int]]] = {
    # hands, bids (seat 0 opens; whoever follows the last bidder calls), call, dice left, who starts the next round
    "the text": [
        (TEXT, [(5, 3)], LIAR, [5, 4], 0),
        (TEXT, [(7, 3)], LIAR, [5, 4], 0),
        (TEXT, [(8, 3)], LIAR, [4, 5], 1),
        (TEXT, [(7, 3)], LOSE_TWO, [3, 5], 1),
    ],
    "2 and 3": [
        (SIX, [(4, 3)], LIAR, [3, 2], 0),  # the six counts
        (SIX, [(5, 3)], LIAR, [2, 3], 1),
        ([[3, 3, 1], [3, 5, 2]], [(3, 3)], LIAR, [3, 2], 0),
        (MORE_SIXES, [(3, 6)], LIAR, [3, 2], 0),  # sixes count once, and nothing else counts for them
        (MORE_SIXES, [(4, 6)], LIAR, [2, 3], 1),
        (ALL, [(6, 1)], LIAR, [3, 2], 0),
        ([[1, 1, 1], [1, 1, 1]], [(1, 6)], LIAR, [2, 3], 1),
    ],
    "4": [
        *((FOURS, [(quantity, 4)], LIAR, [3, 2, 3], 2) for quantity in (2, 3)),
        (FOURS, [(4, 4)], LIAR, [2, 3, 3], 1),
        *((FOURS, [(quantity, 4)], LOSE_TWO, [3, 2, 3], 2) for quantity in (2, 4)),
        (FOURS, [(3, 4)], LOSE_TWO, [1, 3, 3], 1),
        *((FOURS, [(quantity, 4)], GAIN_ONE, [3, 2, 3], 2) for quantity in (2, 4)),
        (FOURS, [(3, 4)], GAIN_ONE, [3, 4, 3], 1),
        ([[4], [2, 2], [1, 1]], [(1, 4)], LOSE_TWO, [0, 2, 2], 1),  # lose two takes the last die of who has one
    ],
    "5": [
        (PAIRS, [(2, 4)], LIAR, [2, 1, 2], 2),  # seat 1 loses: left of it is seat 2
        (PAIRS, [(3, 4)], LIAR, [1, 2, 2], 1),  # seat 0 loses
        (PAIRS, [(2, 4)], LOSE_TWO, [0, 2, 2], 1),
        (PAIRS, [(2, 4)], GAIN_ONE, [2, 3, 2], 1),  # the caller itself
        (PAIRS, [(3, 4)], GAIN_ONE, [2, 1, 2], 2),
        ([[4, 4], [2], [1, 1]], [(2, 4)], LIAR, [2, 0, 2], 2),  # the loser is out
        ([[4, 4], [2, 2], [1]], [(1, 4), (2, 4)], LIAR, [2, 2, 0], 0),
        ([[4, 4], [2, 2], []], [(2, 4)], LIAR, [2, 1, 0], 0),  # seat 2 was out before
        (PAIRS, [(1, 1), (3, 1)], LIAR, [2, 1, 2], 2),  # seat 2 is right, seat 1 loses
        ([[4, 4], [2], [1, 1]], [(1, 1), (3, 1)], LIAR, [2, 0, 2], 2),
    ],
}


@pytest.mark.boundscheck
@pytest.mark.parametrize("ruling", ENDINGS)
def test_2_to_5_how_rounds_end(ruling: str) -> None:
    for hands, bids, call, after, opener in ENDINGS[ruling]:
        game, state = table(NAME, hands)
        for one in bids:
            assert game.step(state, bid(*one)) == 0
        before = left(state)
        assert game.step(state, call) == 0
        assert left(state) == after, (hands, bids, call)
        assert int(state["change"]) == sum(after) - sum(before)
        assert int(state["player"]) == opener, (hands, bids, call)


def test_4_gain_one_is_for_those_who_have_lost_a_die() -> None:
    for own, dice in itertools.combinations_with_replacement(range(1, 6), 2):
        game, state = table(NAME, [[1] * dice, [2] * own], dice=dice)
        game.step(state, bid(dice, 1))
        assert game.legal(state)[GAIN_ONE] == (own < dice)
        assert game.step(state, GAIN_ONE) == (0 if own < dice else 2)
        assert left(state) == [dice, own + 1 if own < dice else 0]


# --- ruling 6: disqualified ----------------------------------------------------------------------------------


FORBIDDEN: dict[int, list[tuple[list[tuple[int, int]], int]]] = {
    1: [([], LIAR), ([], LOSE_TWO), ([], GAIN_ONE)],
    2: [([(1, 1)], GAIN_ONE)],
    3: [([(2, 3)], bid(2, 4)), ([(2, 3)], bid(1, 6))],
    4: [([], NO_MOVE), ([(1, 1)], NO_MOVE), ([(1, 1)], -(2**63))],
    5: [([], NO_ANSWER), ([(1, 1)], NO_ANSWER)],
}
"""By the fault: what was bid, and what is played then."""


@pytest.mark.boundscheck
@pytest.mark.parametrize("fault", FORBIDDEN)
def test_6_what_is_not_allowed_costs_all_dice(fault: int) -> None:
    for bids, action in FORBIDDEN[fault]:
        game, state = table(NAME, [[1] * 5, [2] * 5, [3] * 5])
        for one in bids:
            game.step(state, bid(*one))
        before, guilty = state["hands"].copy(), len(bids)
        assert game.step(state, action) == fault
        assert left(state) == [0 if seat == guilty else 5 for seat in range(3)]
        assert not state["over"]
        assert state["player"] == guilty + 1
        assert state["n_bids"] == len(bids)
        assert (state["hands"] == before).all()
        assert state["finished"] == 0


def test_6_bids_stand_and_the_dice_already_rolled_count() -> None:
    """Seat 1 is disqualified with two threes in its cup; seat 2 doubts the three threes that seat 0 bid."""
    game, state = table(NAME, [[3, 1], [3, 3], [2, 2]])
    game.step(state, bid(3, 3))
    game.step(state, NO_MOVE)
    view = game.view(state, 2)
    assert view.left == (2, 0, 2)
    assert view.rolled == (2, 2, 2)
    assert "out, its 2 dice still count" in game.scene(state, 2).text()
    assert game.step(state, LIAR) == 0
    assert left(state) == [2, 0, 1]
    assert state["rolled"][:3].tolist() == [2, 0, 1]  # in the next round they are gone
    assert state["hands"][1].tolist() == [0] * 6
    assert state["player"] == 0


def test_6_the_bidding_of_the_disqualified_stands() -> None:
    """Seat 1 bids, seat 2 goes on, then seat 1 is disqualified; its own bid is still to be seen."""
    game, state = table(NAME, [[1, 1], [2, 2], [3, 3]])
    for one in ((1, 1), (2, 2), (3, 3), (4, 1)):
        game.step(state, bid(*one))
    assert state["player"] == 1
    game.step(state, bid(1, 1))
    assert left(state) == [2, 0, 2]
    assert state["player"] == 2
    assert [one.seat for one in game.view(state, 0).bids] == [0, 1, 2, 0]


@pytest.mark.parametrize("players", [2, 3, 6])
def test_6_the_game_ends_when_all_but_one_are_disqualified(players: int) -> None:
    game, state = table(NAME, [[1] * 5] * players)
    for _ in range(players - 1):
        assert not state["over"]
        assert game.step(state, LIAR) == 1
    assert state["over"]
    assert left(state) == [0] * (players - 1) + [5]
    assert game.returns(state) == pytest.approx([-1 / (players - 1)] * (players - 1) + [1])


@given(seed=st.integers(0, 2**32), players=st.integers(2, 6))
def test_6_the_last_bidder_always_has_dice(seed: int, players: int) -> None:
    """Also among players who are often disqualified: nobody ever has to find out who pays for a dead bidder."""
    game = dicegym.game(NAME, players=players)
    state = game.new_game(seed)[0]
    rng = np.random.default_rng(seed)
    while not state["over"]:
        assert left(state)[int(state["player"])] > 0
        if state["n_bids"]:
            bidder = game.view(state, 0).bids[-1].seat
            assert left(state)[bidder] > 0
            assert bidder != state["player"]
        low = [action for action in legal(game, state) if action < LIAR][:3] + CHALLENGES[: 2 * (state["n_bids"] > 0)]
        game.step(state, -2 if rng.random() < 0.2 else int(rng.choice(low)))


# --- what is seen --------------------------------------------------------------------------------------------


def test_the_observation_of_a_table_worked_out_by_hand() -> None:
    """Seat 1 holds a six and a two, four other dice are unknown; two fives were bid."""
    game, state = table(NAME, [[4], [6, 2], [2, 2, 5]], dice=3)
    game.step(state, bid(2, 5))
    assert part(game, state, 1, "support") == pytest.approx(np.array([7, 10, 7, 7, 7, 5]) / 3 / 6)
    fail = (2 / 3) ** 4
    assert part(game, state, 1, "bid chance") == pytest.approx([1 - fail])
    assert part(game, state, 1, "exact chance") == pytest.approx([4 / 3 * (2 / 3) ** 3])
    assert part(game, state, 1, "may gain").tolist() == [1]
    assert part(game, state, 2, "may gain").tolist() == [0]
    assert part(game, state, 1, "lowest raise") == pytest.approx(np.array([3, 3, 3, 3, 3, 2]) / 6)
    two = 1 - fail - 4 / 3 * (2 / 3) ** 3
    one_six = 1 - (5 / 6) ** 4
    assert part(game, state, 1, "raise chance") == pytest.approx([two, 1 - fail, two, two, two, one_six])
    assert part(game, state, 1, "next chance")[1] == pytest.approx(two)
    game.step(state, wide(500, 6))
    assert part(game, state, 2, "bid quantity").tolist() == [1, 1]
    assert part(game, state, 2, "bid face").tolist() == [0, 0, 0, 0, 0, 1]
    assert part(game, state, 2, "highest bids").reshape(6, 6)[2, 5] == 1
    assert np.flatnonzero(part(game, state, 2, "bids")).tolist() == [bid(2, 5)]
    assert part(game, state, 2, "lowest raise").tolist() == [1] * 6
    assert part(game, state, 2, "bid chance").tolist() == [0]


def test_dice_of_the_disqualified_are_observed_as_dice_on_the_table() -> None:
    game, state = table(NAME, [[3, 1], [3, 3], [2, 2]])
    game.step(state, NO_MOVE)
    assert part(game, state, 1, "all dice") == pytest.approx([6 / 30])
    assert part(game, state, 1, "dice left").reshape(6, 5).sum(axis=1).tolist() == [2, 2, 0, 0, 0, 0]
    assert part(game, state, 1, "seats").tolist() == [1, 1, 1, 0, 0, 0]
