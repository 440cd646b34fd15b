"""The rules of Lucky & Co as tables worked out by hand: the text's tables, then one table per ruling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import dice as oracle_dice
from oracles.lucky import BASICS, PRICES, stock
from variants import part

import dicegym
from dicegym.engine.game import Game
from dicegym.engine.jit import COMPILED
from dicegym.games.lucky.catalogue import DONE, FACES, INVALID, N_ACTIONS, SUMS, add_dice, order_actions
from dicegym.games.lucky.catalogue import PRICES as KERNEL_PRICES
from dicegym.games.lucky.rules import MALFORMED, SOLD_OUT, TOO_DEAR, UNKNOWN

pytestmark = pytest.mark.nojit

CEILING = 2**53
Dice = Mapping[int, int]
"""How many of each die."""


def at(dice: Sequence[Dice] = ({}, {}), money: int | Sequence[int] = 0, key: int = 0, **parameters: int) -> Any:
    """Return the beginning of a round in which the players own ``dice``."""
    players = len(dice)
    state = dicegym.game("lucky", players, **parameters).new_game()[0]
    state["key"] = key
    for seat, owned in enumerate(dice):
        for die, count in owned.items():
            state["dice"][seat, die] = count
            state["shop"][die] -= count
    state["money"][:players] = state["left"][:players] = money
    return state


def game_for(state: Any) -> Game:
    return dicegym.game("lucky", int(state["players"]), rounds=int(state["rounds"]), lead=int(state["lead"]))


def share(value: float, scale: float) -> float:
    """Return s(value, scale) of the rules page."""
    return value / (value + scale)


def play(state: Any, *orders: Dice | int) -> list[int]:
    """Play a round: each seat's order, or the one action that is its whole order; return each seat's fault."""
    game, faults = game_for(state), []
    for seat in range(game.players):
        order = orders[seat] if seat < len(orders) else {}
        actions = [order] if isinstance(order, int) else [*(add_dice(*item) for item in order.items()), DONE]
        fault = 0
        for action in actions:
            if state["player"] == seat and (fault := game.step(state, action)):
                break
        faults.append(fault)
    return faults


def money(state: Any) -> list[int]:
    return list(state["money"].tolist()[: int(state["players"])])


def points(state: Any) -> list[int]:
    return list(state["points"].tolist()[: int(state["players"])])


def owned(state: Any, seat: int) -> dict[int, int]:
    return {die: count for die, count in enumerate(state["dice"][seat].tolist()) if count}


Draws = dict[tuple[int, int], tuple[int, int]]
"""What draws come to: (seat, number of the draw) -> (n, 0..n-1)."""


def coins(seat: int, *flips: bool | int) -> Draws:
    """The first draws of a seat, in which coins show heads or not."""
    return {(seat, number): (2, int(flip)) for number, flip in enumerate(flips)}


def fair(seat: int, first: int, *faces: int) -> Draws:
    """The draws of fair dice from the one numbered ``first`` on."""
    return {(seat, first + number): (6, face - 1) for number, face in enumerate(faces)}


def key_where(draws: Draws) -> int:
    """Return the first key with these draws in round 0: dice cannot be forced, but keys can be searched."""
    key = 0
    while any(oracle_dice.draw(key, seat, 0, number, n) != wanted for (seat, number), (n, wanted) in draws.items()):
        key += 1
    return key


# --- the text: dice and prices -----------------------------------------------------------------------------


def test_prices_and_stock() -> None:
    state = at()
    assert KERNEL_PRICES.tolist() == list(PRICES.values())
    assert state["shop"].tolist() == list(stock().values()) == [20] * 7 + [10] * 10 + [3] * 5


@pytest.mark.parametrize("die", range(7))
def test_faces_fall_by_their_weights(die: int) -> None:
    """Ruling on weights: relative to their sum, which is 99 for dice 2 and 4 and 102 for die 3."""
    assert SUMS[die] == sum(BASICS[die]) == [100, 100, 99, 102, 99, 100, 100][die]
    fallen = Counter(FACES[die, : SUMS[die]].tolist())
    assert [fallen[face] for face in range(1, 7)] == BASICS[die]


# --- rulings 1, 4, 5 and 6: what a round comes to -----------------------------------------------------------


class Round(NamedTuple):
    """A round in which nobody buys."""

    dice: list[Dice]
    points: list[int]
    draws: Draws = {}  # noqa: RUF012 - nobody writes into it
    had: tuple[int, ...] = ()
    """Money before it, 0 by default; after it everybody has the points more, up to the ceiling."""


SHIELD: list[Dice] = [{12: 1, 14: 1, 16: 2}, {6: 10, 17: 1}]
HUGE = {0: 3, 20: 3, 21: 3}
ALL_HEADS = coins(0, *[True] * 6)
ROUNDS = {
    # the text: basic dice add up, multipliers multiply them
    **{f"{n} of die 0": Round([{0: n}, {}], [n, 0], had=(7, 0)) for n in (1, 2, 20)},
    **{f"{n} of die 6": Round([{6: n}, {}], [6 * n, 0], had=(7, 0)) for n in (1, 2, 20)},
    **{f"7 shows {face}": Round([{6: 1, 7: 1}, {}], [2 * face, 0], fair(0, 1, face)) for face in range(1, 7)},
    **{f"8 shows {face}": Round([{6: 1, 8: 1}, {}], [3 * face, 0], fair(0, 1, face)) for face in (1, 2, 3, 6)},
    **{f"9 shows {face}": Round([{6: 1, 9: 1}, {}], [6 * face, 0], fair(0, 1, face)) for face in (1, 5)},
    **{f"10 shows {face}": Round([{6: 1, 10: 1}, {}], [12 * face, 0], fair(0, 1, face)) for face in (1, 3, 6)},
    **{f"11 shows {face}": Round([{6: 1, 11: 1}, {}], [18 * face, 0], fair(0, 1, face)) for face in (1, 4, 6)},
    # ruling 1: 12 costs every other player one fair die; of the others, what is really taken is what a thief gets
    **{
        f"12 shows {face}": Round(
            [{12: 1}, {6: 1}, {0: 3}, {6: 2}], [0, 6 - face, max(3 - face, 0), 12 - face], fair(0, 0, face)
        )
        for face in range(1, 7)
    },
    **{
        f"{die} takes {taken} of {has}": Round(
            [{die: 1}, {0: has % 6, 6: has // 6}], [min(has, taken) * (die in (14, 16)), max(has - taken, 0)]
        )
        for die, taken in ((13, 10), (14, 10), (15, 25), (16, 25))
        for has in (0, 4, 10, 16, 20, 26)
    },
    # ruling 4: each success rolls all basic dice once more; of 19 the multipliers too, on top of the first
    **{
        f"{coin} with {flips}": Round(
            [{6: 2, 0: 1, coin: len(flips)}, {}], [13 * (1 + flips.count("1")), 0], coins(0, *map(int, flips))
        )
        for coin in (18, 19)
        for flips in ("0", "1", "10", "11", "111")
    },
    "19 fails with a multiplier": Round([{6: 1, 9: 1, 19: 1}, {}], [6 * 4, 0], coins(0, 0) | fair(0, 2, 4, 5)),
    "19 with a multiplier": Round([{6: 1, 9: 1, 19: 1}, {}], [12 * 4 * 5, 0], coins(0, 1) | fair(0, 3, 4, 5)),
    "18 leaves multipliers alone": Round([{6: 1, 9: 1, 18: 1}, {}], [12 * 4, 0], coins(0, 1) | fair(0, 3, 4, 2)),
    **{
        f"squares {squares}, cubes {cubes}": Round(
            [{0: 5, 20: len(squares), 21: len(cubes)}, {}], [5**power, 0], coins(0, *map(int, squares + cubes))
        )
        for squares, cubes, power in (("1", "", 2), ("0", "", 1), ("11", "", 4), ("", "1", 3), ("1", "1", 6))
    },
    "two of each": Round([{0: 5, 20: 2, 21: 2}, {}], [5**18, 0], coins(0, 1, 0, 1, 1)),
    # (5 x 1/2)**2 = 6.25, less 10 in one case; less 1 gives 5.25: attacks come last, and rounding down after them
    "square less 1": Round([{0: 5, 8: 1, 20: 1}, {12: 1}], [5, 0], coins(0, 1) | fair(0, 6, 1) | fair(1, 0, 1)),
    "square less 10": Round([{0: 5, 8: 1, 20: 1}, {14: 1}], [0, 6], coins(0, 1) | fair(0, 6, 1)),
    "5 x 2/3 x 1/2": Round([{0: 5, 7: 1, 8: 1}, {}], [1, 0], fair(0, 5, 2, 1)),
    "5 x 6/3 x 1/2": Round([{0: 5, 7: 1, 8: 1}, {}], [5, 0], fair(0, 5, 6, 1)),
    "attacks by player": Round([{14: 1}, {6: 2, 16: 1}], [0, 12]),  # the second steals back what the first then has
    "attacks by die": Round([{14: 1, 13: 1}, {6: 2}], [2, 0]),  # 13 destroys 10 of 12 first, 14 gets the other 2
    # ruling 5: attacks act on points of the round; one shield protects from all of them, but not from the own
    "money is safe": Round([{12: 10, 13: 5, 15: 5}, {0: 2}], [0, 0], had=(40, 50)),
    "no shield": Round(SHIELD, [57, 0], coins(1, 0) | fair(0, 0, 3)),  # the die of 12 is nobody's
    "a shield": Round(SHIELD, [0, 60], coins(1, 1)),
    "one of three shields": Round([SHIELD[0], {6: 10, 17: 3}], [0, 60], coins(1, 0, 1, 0)),
    "attacks of the shielded": Round([{17: 1, 14: 1}, {6: 2}], [10, 2], coins(0, 1)),
    # fractions: a thief with a half who steals a half has 1; 13 does not steal; a victim of 10 1/2 keeps its half
    "halves": Round([{0: 1, 8: 1, 14: 1}, {0: 1, 8: 1}], [1, 0], fair(0, 1, 1) | fair(1, 1, 1)),
    "thirds": Round([{0: 1, 7: 1, 16: 1}, {0: 1, 7: 1}], [1, 0], fair(0, 1, 1) | fair(1, 1, 2)),
    "thirds destroyed": Round([{0: 1, 7: 1, 13: 1}, {0: 1, 7: 1}], [0, 0], fair(0, 1, 1) | fair(1, 1, 2)),
    "kept half": Round([{0: 1, 8: 1, 14: 1}, {0: 15, 6: 1, 8: 1}], [10, 0], fair(0, 1, 1) | fair(1, 16, 1)),
    # 9 2/3 and a stolen 2/3 can be taken as ten by one who has 2/3, and leaves a third
    "whole again": Round(
        [{0: 5, 6: 4, 7: 1, 14: 1}, {0: 2, 7: 1}, {0: 2, 7: 1, 14: 1}],
        [0, 0, 10],
        fair(0, 9, 1) | fair(1, 2, 1) | fair(2, 2, 1) | {(0, 10): (2, 0), (2, 3): (2, 0)},
    ),
    # ruling 6: points and money saturate; what is stolen is lost above the ceiling
    "huge": Round([HUGE, {}], [CEILING, 0], ALL_HEADS),
    "huge and rich": Round([HUGE, {}], [CEILING, 0], ALL_HEADS, had=(1000, 0)),
    "huge less 25": Round([HUGE, {15: 1}], [CEILING - 25, 0], ALL_HEADS, had=(3, 0)),
    "huge thief": Round([HUGE | {14: 1}, {6: 2}], [CEILING, 2], ALL_HEADS),
    "at the ceiling": Round([{}, {6: 1}, {0: 1}], [0, 6, 1], had=(CEILING, CEILING - 3, CEILING - 300)),
}


@pytest.mark.parametrize("name", ROUNDS)
def test_a_round(name: str) -> None:
    dice, result, draws, had, *_ = ROUNDS[name]
    had = had or (0,) * len(dice)
    state = at(dice, had, key_where(draws))
    assert play(state) == [0] * len(dice)
    assert points(state) == result
    assert money(state) == [min(own + got, CEILING) for own, got in zip(had, result, strict=True)]
    assert state["played"] == 1
    if set(dice[0]) <= {0, 6}:  # faces are kept too
        assert state["rolled"][0].tolist() == [dice[0].get(0, 0), 0, 0, 0, 0, dice[0].get(6, 0)]


# --- ruling 2: money is the score --------------------------------------------------------------------------


def test_everybody_starts_with_five_and_no_dice() -> None:
    for players in range(2, 8):
        state = dicegym.game("lucky", players).new_game()[0]
        assert money(state) == [5] * players
        assert not state["dice"].any()
        assert state["money"][players:].sum() == 0


def test_what_is_spent_is_gone_from_the_score_and_rolled_in_the_round() -> None:
    state = at(money=[50, 30])
    play(state, {4: 2, 0: 1}, {})
    assert owned(state, 0) == {0: 1, 4: 2}
    assert money(state) == [50 - 25 + points(state)[0], 30]
    assert points(state)[0] >= 3
    state = at(money=[21, 0])
    play(state, {6: 1})
    assert (points(state), money(state)) == ([6, 0], [6, 0])


# --- ruling 3: orders --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "orders"),
    [
        (0, [{0: 20}, {0: 5, 1: 5}, {1: 6, 0: 2}, {7: 2}, {}]),
        (TOO_DEAR, [{0: 20, 1: 3}, {1: 6, 0: 3}, {1: 7}, {7: 2, 0: 1}, {12: 1}]),
        (MALFORMED, [INVALID]),
        (UNKNOWN, [-1, 442, 2**63 - 1, -(2**63)]),
    ],
)
def test_an_order_beyond_the_money_or_without_sense_buys_nothing(fault: int, orders: list[Any]) -> None:
    for order in orders:
        state = at(money=[20, 20])
        assert play(state, order, {2: 1}) == [fault, 0]
        assert owned(state, 0) == ({} if fault else dict(sorted(order.items())))
        assert not fault or money(state)[0] == 20
        assert owned(state, 1) == {2: 1}  # nobody else's order suffers
        assert not state["order"].any()
        assert state["left"].tolist()[:2] == money(state)


@pytest.mark.parametrize(("die", "left"), [(0, 0), (0, 1), (3, 4), (20, 2), (21, 0)])
def test_more_than_the_shop_has_voids_the_order(die: int, left: int) -> None:
    for more in (1, 0):
        state = at([{}, {die: stock()[die] - left}], money=[5000, 5000])
        order = {6: 1} | ({die: left + more} if left + more else {})
        assert play(state, order, {}) == [SOLD_OUT * more, 0]
        assert owned(state, 0) == ({} if more else order)


@pytest.mark.parametrize(
    ("sold", "asked"), [(True, [(10, 10, 0), (20, 0, 0), (6, 7, 7)]), (False, [(10, 10, 1), (20, 1, 0), (7, 7, 7)])]
)
def test_if_more_is_asked_for_than_there_is_nobody_gets_that_die(sold: bool, asked: list[tuple[int, ...]]) -> None:
    for counts in asked:
        state = at([{}, {}, {}], money=[1000, 2000, 3000])
        assert play(state, *({die: n for die, n in ((1, count), (6, 1)) if n} for count in counts)) == [0, 0, 0]
        for seat, count in enumerate(counts):
            assert owned(state, seat) == ({1: count} if sold and count else {}) | {6: 1}  # the rest stands
            assert money(state)[seat] == 1000 * (seat + 1) - 21 - 3 * count * sold + points(state)[seat]
        assert state["shop"][1] == 20 - sum(counts) * sold


def test_a_conflict_is_settled_by_what_the_shop_has_left_and_void_orders_do_not_count() -> None:
    state = at(money=[100, 10])
    assert play(state, {0: 15}, {0: 10, 1: 1}) == [0, TOO_DEAR]
    assert owned(state, 0) == {0: 15}
    state = at([{20: 1}, {}], money=[1000, 1000])
    play(state, {20: 1}, {20: 2})
    assert owned(state, 0) == {20: 1}
    assert owned(state, 1) == {}
    play(state, {20: 1}, {20: 1})
    assert owned(state, 0) == {20: 2}
    assert owned(state, 1) == {20: 1}
    assert state["shop"][20] == 0


def test_wide_actions_are_the_same_as_single_ones() -> None:
    codes = {add_dice(die, count) for die in range(22) for count in range(2, 21)}
    assert codes == set(range(N_ACTIONS, INVALID))
    one, many = at(money=100), at(money=100)
    for action in (3, 1, 1, 1, DONE):
        assert game_for(one).step(one, action) == 0
    for action in order_actions([0, 3, 0, 1] + [0] * 18):
        assert game_for(many).step(many, action) == 0
    assert one.tobytes() == many.tobytes()


# --- ruling 7: end and places ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("over", "tables"),
    [
        (True, [(200, 0), (500, 300, 0), (0, 10, 210)]),
        (False, [(199, 0), (500, 301, 0), (900, 900, 0), (0, 11, 210)]),
    ],
)
def test_a_lead_of_200_over_the_second_ends_the_game(over: bool, tables: list[tuple[int, ...]]) -> None:
    """The lead is a parameter, and tested after the points."""
    cases = [at([{}] * len(amounts), money=amounts) for amounts in tables]
    for state in [*cases, at([{6: 1}, {}], lead=6 if over else 7)]:
        play(state)
        assert state["over"] == over


@pytest.mark.parametrize(
    ("amounts", "returns"),
    [
        ((300, 0), (1, -1)),
        ((0, 300), (-1, 1)),
        ((9, 9), (1, 1)),
        ((300, 20, 10), (1, 0, -1)),
        ((20, 300, 20), (0, 1, 0)),
        ((5, 5, 0), (1, 1, -1)),
        ((700, 6, 5, 5, 3, 2, 1), (1, 2 / 3, 1 / 3, 1 / 3, -1 / 3, -2 / 3, -1)),
        ((5, 5, 5, 5, 5, 5, 5), (1,) * 7),
        ((7, 7, 7, 1, 1, 1, 0), (1, 1, 1, 0, 0, 0, -1)),
    ],
)
def test_rewards_by_place_ties_sharing_the_higher(amounts: tuple[int, ...], returns: tuple[float, ...]) -> None:
    state = at([{}] * len(amounts), money=amounts, rounds=1)
    assert game_for(state).returns(state).tolist() == [0] * len(amounts)
    play(state)
    assert state["over"]
    assert game_for(state).returns(state).tolist() == pytest.approx(list(returns))


# --- who knows what, and chance ----------------------------------------------------------------------------


def test_nobody_sees_the_orders_of_others() -> None:
    game = dicegym.game("lucky", 2)
    state = game.new_game()[0]
    fresh = game.observe(state, 1)
    game.step(state, 1)
    assert (game.observe(state, 1) == fresh).all()
    game.step(state, DONE)
    assert (game.observe(state, 1) == fresh).all()
    assert game.view(state, 1).order == (0,) * 22
    assert game.view(state, 0).order[1] == 1
    assert game.view(state, 1).shop[1] == 20


@pytest.mark.boundscheck
@given(st.lists(st.integers(0, 600), min_size=1, max_size=60), st.integers(2, 7), st.integers(0, 2**64 - 1))
@settings(max_examples=60 if COMPILED else 10)
def test_dice_are_neither_made_nor_lost_and_money_is_never_owed(actions: list[int], players: int, seed: int) -> None:
    game = dicegym.game("lucky", players)
    state = game.new_game(seed)[0]
    for action in actions:
        if state["over"]:
            break
        game.step(state, action % 460 - 9)
        assert (state["dice"].sum(axis=0) + state["shop"] == list(stock().values())).all()
        assert (state["shop"] >= 0).all()
        assert (state["money"] >= 0).all()
        assert (state["left"] >= 0).all()
        assert (state["points"] >= 0).all()
        assert (state["left"] == state["money"] - state["order"] @ np.array(list(PRICES.values()))).all()


# --- observation -------------------------------------------------------------------------------------------


INCOME: list[tuple[Dice, float]] = [
    ({6: 2}, 12.0),
    ({6: 2, 9: 1}, 42.0),
    ({6: 2, 9: 1, 18: 1}, 63.0),
    ({6: 2, 9: 1, 19: 1}, (42 + 24 * 3.5**2) / 2),
    ({6: 2, 9: 1, 19: 2}, (42 + 2 * 24 * 3.5**2 + 36 * 3.5**3) / 4),
    ({0: 6, 20: 1}, (6 + 36) / 2),
    ({0: 6, 21: 1}, (6 + 216) / 2),
    ({9: 4}, 0.0),
]


def test_expected_income_is_exact_without_squares() -> None:
    """Two dice 6 and a multiplier r: 12 x 3.5; again with a coin 18, and with a coin 19."""
    for dice, expected in INCOME:
        state = at([dice, {}])
        assert part(game_for(state), state, 0, "income")[1] == pytest.approx(expected / (expected + 100))


@pytest.mark.parametrize(
    ("dice", "gains"),
    [
        ({}, {0: 1, 6: 6, 1: 1.94, 9: 0, 12: 3.5, 13: 10, 14: 20, 16: 50}),
        ({6: 2}, {9: 30, 8: 9, 18: 6, 20: 66, 21: (12**3 - 12) / 2, 17: 0}),
        ({6: 2, 9: 1}, {0: 3.5}),
    ],
)
def test_gain_of_one_die_more(dice: Dice, gains: dict[int, float]) -> None:
    state = at([dice, {}])
    found = part(game_for(state), state, 0, "gain")
    for die, expected in gains.items():
        assert found[die] == pytest.approx(expected / (expected + PRICES[die])), die


def test_the_order_counts_in_what_is_observed() -> None:
    state = at(money=[30, 50])
    game = game_for(state)
    game.step(state, 9)
    seen = {name: part(game, state, 0, name) for name in game.features}
    assert seen["may add"][:4] == pytest.approx([8 / 20, 2 / 20, 1 / 20, 0])
    assert seen["lead"] == pytest.approx([0.45, 0.55, 1.0])
    assert seen["players"] == pytest.approx([2 / 7, 0])
    expected = {("order", 9): 0.1, ("shop", 9): 0.9, ("gain", 0): 3.5 / 4.5}
    for (name, place), value in (expected | {("money left", 1): 8 / 18, ("money", 1): 30 / 40}).items():
        assert seen[name][place] == pytest.approx(value), name


def test_a_shield_gains_half_of_what_the_attacks_of_others_take() -> None:
    """A die 12 takes 3.5; dice 13 and 14 take 10 from one of two. A shield gains at most half of the own income."""
    dice: list[Dice] = [{6: 10}, {12: 1, 13: 2}, {14: 1}]
    assert part(game_for(state := at(dice)), state, 0, "gain")[17] == pytest.approx(share(18.5 / 2, PRICES[17]))
    assert part(game_for(state := at([{6: 3}, *dice[1:]])), state, 0, "gain")[17] == pytest.approx(share(9, PRICES[17]))


def test_the_income_and_attacks_of_others_are_observed() -> None:
    state = at([{}, {6: 2, 12: 1, 13: 2}, {14: 1}])
    others = part(game_for(state), state, 0, "others").reshape(6, 10)
    assert others[0, 5:9] == pytest.approx([share(12, 10), share(12, 100), share(12, 1000), 0.3])
    assert others[1, 5:9] == pytest.approx([0, 0, 0, 0.1])


def test_others_stand_in_the_order_of_the_seats_to_the_left() -> None:
    state = at([{}, {17: 3}, {13: 5}], money=[10, 50, 250])
    others, of_first = (part(game_for(state), state, seat, "others").reshape(6, 10) for seat in (1, 0))
    assert others[:, 0].tolist() == [1, 1, 0, 0, 0, 0]
    assert others[0, [3, 8]] == pytest.approx([0.5, 0.5])
    assert others[1, [2, 4]] == pytest.approx([10 / 60, 0.5 + 40 / 400])
    assert of_first[0, 9] == 1
    assert not others[2:].any()
