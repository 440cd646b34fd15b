"""The rules of classic Liar's Dice as tables worked out by hand: the text's rules, then its rulings by number."""

from __future__ import annotations

import numpy as np
import pytest
from bidding_tables import bid, left, legal, table
from hypothesis import given
from hypothesis import strategies as st
from variants import part

import dicegym
from dicegym import arena
from dicegym.games.bidding.table import AT_LEAST, MOST_QUANTITY
from dicegym.games.liarsdice.rules import LIAR, NO_ANSWER, NO_PLAY

pytestmark = pytest.mark.nojit
NAME = "liarsdice"


HIGHER = {(2, 3): [(2, 4), (2, 6), (3, 1), (9, 1)], (2, 6): [(3, 1)], (1, 1): [(1, 2)], (10, 5): [(10, 6)]}
NOT_HIGHER = {(2, 3): [(2, 3), (2, 2), (1, 6)], (2, 6): [(2, 6)], (10, 6): [(10, 5)]}


@pytest.mark.parametrize(
    ("last", "next_bid", "higher"),
    [
        (last, one, higher)
        for higher, rows in ((True, HIGHER), (False, NOT_HIGHER))
        for last, bids in rows.items()
        for one in bids
    ],
)
def test_each_call_must_be_higher(last: tuple[int, int], next_bid: tuple[int, int], higher: bool) -> None:
    """A higher quantity, or a higher face with the same quantity."""
    game, state = table(NAME, [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]])
    assert game.step(state, bid(*last)) == 0
    assert game.legal(state)[bid(*next_bid)] == higher
    assert game.step(state, bid(*next_bid)) == (0 if higher else 3)
    assert state["n_bids"] == (2 if higher else 0)


CALLED = [  # seat 0 bids, seat 1 calls: hands, the bid, who loses a die
    ([[3, 3, 1], [3, 6, 2]], (3, 3), 1),  # exactly as many: the caller loses
    ([[3, 3, 1], [3, 3, 2]], (3, 3), 1),  # more
    ([[3, 3, 1], [6, 6, 2]], (3, 3), 0),  # fewer: sixes are not wild
    ([[1, 1, 1], [1, 1, 2]], (6, 1), 0),  # nor are ones
    ([[6, 2, 1], [6, 4, 2]], (2, 6), 1),
    ([[6, 2, 1], [5, 4, 2]], (2, 6), 0),
    ([[2, 2, 1], [5, 4, 4]], (1, 3), 0),
    ([[1, 2, 1], [3, 4, 3], [5, 5, 1]], (2, 5), 1),  # also those of third players, who lose nothing
]


@pytest.mark.boundscheck
def test_liar_counts_the_dice_of_all_hands() -> None:
    for hands, called, loser in CALLED:
        game, state = table(NAME, hands)
        game.step(state, bid(*called))
        assert game.step(state, LIAR) == 0
        assert left(state) == [3 - (loser == seat) for seat in range(len(hands))]
        assert [int(state[name]) for name in ("caller", "changed", "change")] == [1, loser, -1]


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_the_last_one_with_dice_wins(players: int) -> None:
    hands: list[list[int]] = [[] for _ in range(players)]
    hands[0], hands[players - 1] = [2], [4]
    game, state = table(NAME, hands)
    half = (players / 2 - 1) / (players - 1)
    assert game.returns(state) == pytest.approx([half, *[-1 / (players - 1)] * (players - 2), half])
    game.step(state, bid(1, 3))
    game.step(state, LIAR)
    assert state["over"]
    assert left(state) == [0] * (players - 1) + [1]
    assert not game.legal(state).any()
    assert game.returns(state) == pytest.approx([-1 / (players - 1)] * (players - 1) + [1])


def test_who_is_out_is_passed_over() -> None:
    game, state = table(NAME, [[2], [], [4], [], [5], []])
    for seat, one in ((0, bid(1, 1)), (2, bid(1, 2)), (4, bid(1, 3)), (0, bid(1, 4)), (2, bid(1, 5))):
        assert state["player"] == seat
        game.step(state, one)


@pytest.mark.parametrize(
    ("hands", "bids", "opener"),
    [  # seat 0 opens; whoever follows the last bidder calls
        ([[1, 1], [2, 2], [3, 3]], [(1, 1)], 2),  # seat 1 calls and loses
        ([[1, 1], [2, 2], [3, 3]], [(1, 4)], 2),  # seat 1 calls, seat 0 loses
        ([[1, 1], [2, 2], [3, 3]], [(1, 4), (1, 5)], 0),  # seat 2 calls
        ([[1, 1], [2], [3, 3]], [(1, 1)], 2),  # seat 1 calls and is out
        ([[1, 1], [2, 2], [3]], [(1, 4), (2, 2)], 0),  # seat 2 calls and is out
        ([[1], [2, 2], []], [(1, 2), (1, 5)], 1),  # seat 0 calls, rightly
        ([[1], [2, 2], [3, 3]], [(1, 4)], 2),  # seat 0 is out, by seat 1
        ([[1, 1], [2, 2], []], [(2, 6)], 0),  # seat 2 has no dice: passed over
        ([[1], [2, 2], [3, 3]], [(1, 1), (1, 2), (1, 4)], 1),  # seat 0 calls, seat 2 loses
    ],
)
def test_1_the_next_seat_with_dice_after_the_caller_opens(
    hands: list[list[int]], bids: list[tuple[int, int]], opener: int
) -> None:
    game, state = table(NAME, hands)
    for one in bids:
        assert game.step(state, bid(*one)) == 0
    game.step(state, LIAR)
    assert state["player"] == opener


def test_1_matches_shuffle_the_seats() -> None:
    game = dicegym.game(NAME, players=3, dice=1)
    bots = [dicegym.agent(game, "timid") for _ in range(3)]
    seats = arena.play_match(game, bots, 1, 30).seats
    assert len(set(seats)) == 6


FORBIDDEN = {
    1: [NO_PLAY, -2, 182, 10**9, 2**63 - 1, -(2**63)],
    2: [bid(11, 1), bid(30, 6)],
    3: [bid(2, 3), bid(2, 2), bid(1, 6)],
    5: [NO_ANSWER],
}
"""Actions by their faults, where two threes are bid."""


@pytest.mark.boundscheck
@pytest.mark.parametrize(("others", "loser"), [([3, 3, 4, 4, 4], 1), ([4, 4, 4, 4, 4], 0)])
@pytest.mark.parametrize("fault", FORBIDDEN)
def test_2_what_is_not_allowed_is_taken_as_liar(fault: int, others: list[int], loser: int) -> None:
    """Seat 0 bids two threes and holds none."""
    for action in FORBIDDEN[fault]:
        game, state = table(NAME, [[1, 1, 1, 1, 1], others])
        game.step(state, bid(2, 3))
        assert game.step(state, action) == fault
        assert left(state) == [5 - (loser == 0), 5 - (loser == 1)]
        assert [int(state["caller"]), int(state["call"]), int(state["player"])] == [1, LIAR, 0]


@pytest.mark.parametrize(("action", "fault"), [(LIAR, 4), (NO_PLAY, 1), (NO_ANSWER, 5), (bid(16, 1), 2)])
@pytest.mark.parametrize("opener", [0, 1, 2])
def test_2_liar_as_the_first_play_costs_that_player_a_die(action: int, fault: int, opener: int) -> None:
    game, state = table(NAME, [[1] * 5, [2] * 5, [3] * 5], player=opener)
    assert not game.legal(state)[LIAR]
    assert game.step(state, action) == fault
    assert left(state) == [5 - (seat == opener) for seat in range(3)]
    assert state["player"] == (opener + 1) % 3
    view = game.view(state, 0)
    assert view.showdown.bids == ()


@pytest.mark.parametrize(("players", "dice"), [(2, 5), (2, 1), (3, 2), (6, 5), (6, 1)])
def test_2_quantities_end_at_the_dice_of_those_who_started(players: int, dice: int) -> None:
    """Also when few of them are left."""
    hands = [[1], [2], *([[]] * (players - 2))]
    game, state = table(NAME, hands, dice=dice)
    most = players * dice
    assert legal(game, state) == list(range(most * 6))
    assert game.step(state.copy(), bid(most, 6)) == 0
    if most < MOST_QUANTITY:
        assert game.step(state.copy(), bid(most + 1, 1)) == 2


def test_2_all_180_bids_fit_into_a_hand_and_then_only_liar_is_left() -> None:
    game, state = table(NAME, [[1] * 5] * 6)
    for action in range(180):
        assert game.step(state, action) == 0
    assert legal(game, state) == [LIAR]
    view = game.view(state, 0)
    assert [(one.seat, bid(one.quantity, one.face)) for one in view.bids] == [(n % 6, n) for n in range(180)]
    game.step(state, LIAR)
    assert len(game.view(state, 0).showdown.bids) == 180


def test_the_observation_of_a_table_worked_out_by_hand() -> None:
    """Three players of whom seat 1 looks: it has two dice, the next one three, and seat 0 one."""
    game, state = table(NAME, [[4], [6, 2], [2, 2, 5]])
    game.step(state, bid(1, 2))
    own = part(game, state, 1, "own dice").reshape(6, 5)
    assert own[:, 0].tolist() == [0, 1, 0, 0, 0, 1]  # a two and a six
    assert not own[:, 1:].any()
    left_of = part(game, state, 1, "dice left").reshape(6, 5)
    assert left_of.sum(axis=1).tolist() == [2, 3, 1, 0, 0, 0]
    assert left_of[1].tolist() == [1, 1, 1, 0, 0]
    assert part(game, state, 0, "bid chance") == pytest.approx([1 - (5 / 6) ** 5])
    one, two = 1 - (5 / 6) ** 4, 1 - (5 / 6) ** 4 - 4 * 5**3 / 6**4
    for name, expected in {
        "seats": [1, 1, 1, 0, 0, 0],
        "all dice": [6 / 30],
        "bid face": [0, 1, 0, 0, 0, 0],
        "bid quantity": [1 / 30, 1 / 6],
        "bid chance": [1],  # it holds a two itself
        "support": np.array([4, 10, 4, 4, 4, 10]) / 6 / 6,
        "lowest raise": np.array([2, 2, 1, 1, 1, 1]) / 6,
        "raise chance": [two, one, one, one, one, 1],
    }.items():
        assert part(game, state, 1, name) == pytest.approx(expected), name
    game.step(state, bid(3, 5))
    game.step(state, bid(4, 2))
    highest = part(game, state, 0, "highest bids").reshape(6, 6)
    assert np.argwhere(highest[:3]).tolist() == [[0, 1], [1, 4], [2, 1]]
    assert highest[highest > 0] == pytest.approx([1 / 6, 3 / 6, 4 / 6])
    assert np.flatnonzero(part(game, state, 0, "bids")).tolist() == [bid(1, 2), bid(3, 5), bid(4, 2)]


def test_before_the_first_bid_nothing_is_said_of_it() -> None:
    game, state = table(NAME, [[4, 4], [6, 2]])
    for name in ("bid face", "bid quantity", "bid chance", "highest bids", "bids"):
        assert not part(game, state, 0, name).any()
    assert part(game, state, 0, "lowest raise") == pytest.approx([1 / 4] * 6)


@given(n=st.integers(0, 30), k=st.integers(0, 31))
def test_the_table_of_chances(n: int, k: int) -> None:
    """Against another way: add one die at a time."""
    for row, p in enumerate((1 / 6, 1 / 3)):
        exactly = np.eye(1, n + 2).ravel()
        for _ in range(n):
            exactly = exactly * (1 - p) + np.roll(exactly, 1) * p
        assert AT_LEAST[row, n, k] == pytest.approx(exactly[k:].sum(), abs=1e-6)


def test_the_view_shows_the_showdown_until_the_next_bid() -> None:
    game, state = table(NAME, [[4, 1], [6, 2]])
    assert game.view(state, 0).showdown is None
    game.step(state, bid(1, 2))
    game.step(state, bid(1, 3))
    game.step(state, LIAR)
    for seat in (0, 1):
        showdown = game.view(state, seat).showdown
        assert showdown.hands == ((4, 1), (6, 2))
        assert [tuple(one) for one in showdown.bids] == [(0, 1, 2), (1, 1, 3)]
        assert tuple(showdown)[2:] == (0, LIAR, 1, -1)
    game.step(state, bid(1, 1))
    assert game.view(state, 0).showdown is None


def test_rewards_follow_the_share_of_all_dice() -> None:
    """Two of six dice are a third, worth as little as at first; one of five is less, two of five are more."""
    game, state = table(NAME, [[2, 2], [3, 3], [4, 4]])
    assert game.returns(state).tolist() == [0, 0, 0]
    game.step(state, bid(3, 2))
    game.step(state, LIAR)
    assert left(state) == [1, 2, 2]
    assert game.returns(state) == pytest.approx([(3 / 5 - 1) / 2, (6 / 5 - 1) / 2, (6 / 5 - 1) / 2])
