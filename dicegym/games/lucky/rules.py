"""Lucky & Co: everybody buys dice at once and in secret, then all dice roll, and money is the score.

Round
    Each player orders dice from the shop. When all have ordered, the orders are settled, everybody's dice are
    rolled, the points are paid out in money, and the end is tested. Everybody starts with 5 money and no dice.

    ======  =====  =====  =====================================================================================
    die     price  stock  what it does
    ======  =====  =====  =====================================================================================
    0       1      20     basic: always rolls 1
    1       3      20     basic, weights of the faces 1 to 6: 50 25 13 7 3 2
    2       6      20     basic: 22 22 22 11 11 11
    3       9      20     basic: 17 17 17 17 17 17
    4       12     20     basic: 11 11 11 22 22 22
    5       16     20     basic: 2 3 7 13 25 50
    6       21     20     basic: always rolls 6
    7       10     10     multiplier: times r/3, with r a fair die
    8       13     10     multiplier: times r/2
    9       22     10     multiplier: times r
    10      34     10     multiplier: times 2r
    11      50     10     multiplier: times 3r
    12      35     10     attack: a fair die; every other player gets that much less
    13      45     10     attack: a random other player gets 10 less
    14      60     10     attack: a random other player gets 10 less, and you get those points
    15      60     10     attack: a random other player gets 25 less
    16      90     10     attack: a random other player gets 25 less, and you get those points
    17      65     3      coin: protects from all attacks
    18      90     3      coin: all basic dice roll once more
    19      110    3      coin: all basic dice and all multipliers roll once more
    20      120    3      coin: the points are squared
    21      170    3      coin: the points are cubed
    ======  =====  =====  =====================================================================================

    Weights count relative to their sum: those of dice 2 and 4 sum to 99, those of die 3 to 102.

Orders: an order buys nothing at all if it is malformed, names an unknown die, asks for more of a die than the shop has
or costs more than the player has. Then, die by die: if all orders together ask for more than the shop has, nobody gets
that die and nobody pays for it; the rest of each order remains valid. The players order seat by seat, each die by die,
and nobody sees the orders of others before all are complete.

Dice, for all players at each step: coins are flipped, each succeeding half the time -> basic dice roll and are summed,
with one more roll of them all for every success of 18 and 19 -> multipliers, which multiply each other, with one more
roll of them all for every success of 19 -> squares -> cubes -> attacks, by seat and then by number of the die, with a
separate target for each copy -> points are rounded down to a whole number and added to money.

Attacks take from this round's points, which never fall below 0, and never from money. Thieves (14 and 16) get
the points that were really taken. One success of 17 protects for the whole round. Fractions of a point are exact until
they are rounded down. Points and money saturate at 2**53, which can only tie players that are both above it.

Chance: all dice of a seat in a round are draws 0, 1, 2, ... of the seat's stream, in the order coins, basic dice (all,
then all again), multipliers likewise, attacks; within each by number of the die and copy by copy. So nobody's dice
depend on what others do.

End
    After a round in which the richest player is at least ``lead`` ahead of the second, or after ``rounds`` rounds.

Parameters
    =======  =======  =========  ====================================================
    name     default  range      meaning
    =======  =======  =========  ====================================================
    rounds   500      1-10000    rounds after which the game ends
    lead     200      1-1000000  lead over the second that ends the game
    =======  =======  =========  ====================================================

Actions: ``Discrete(23)``
    ======  ==========================================================================================
    action  meaning
    ======  ==========================================================================================
    0..21   add one die of this number to the own order
    22      the order is complete
    ======  ==========================================================================================
    Wide actions: ``23 + 22 * (count - 2) + die`` adds 2 to 20 copies at once; 441 is a malformed order (fault 4).
    Adding more than the shop has (fault 1) or than the player's money pays for (fault 2), a malformed order and
    every other whole number (fault 3) make the whole order void: it buys nothing, and is complete.

Observation: ``Box(0, 1, (192,))``, in which s(x, c) is x / (x + c)
    ==============  ======  ====================================================================================
    part            length  meaning
    ==============  ======  ====================================================================================
    money           5       own money m: log2(1 + m) / 20, at most 1, and s(m, c) for c = 10, 50, 250, 1250
    money left      5       the same for money not yet spent on the order
    dice            22      own dice of each number over the stock
    order           22      dice of each number in the own order over the stock
    shop            22      dice of each number left in the shop after the own order, over the stock
    may add         22      how many more of each number could be added to the order, over the stock
    gain            22      points a round g gained by one more of this die (see `more_points`), as s(g, price)
    income          3       expected points a round i (`expect_points`), order included: s(i, c) for c = 10, 100, 1000
    parts           2       mean sum of basic dice b as s(b, 20), mean product of multipliers p as s(p, 4)
    lead            3       own lead over the best other player, and of the richest over the second, from -lead..lead
                            to 0..1; share of the others who are strictly richer
    time            2       rounds played n: n / rounds and s(n, 10)
    others          60      10 for each of 6 seats to the left, 0 for those not in the game: 1; its money as
                            log2(1 + m) / 20, s(m, 50), s(m, 250); own money minus its, from -lead..lead to 0..1;
                            its income as s(i, 10), s(i, 100), s(i, 1000); its attack dice over 10, its coins 17
                            over 3, both at most 1
    players         2       players over 7; 1 if the own order is empty
    ==============  ======  ====================================================================================

Rewards: at the end 1 - 2 * (place - 1) / (players - 1), with place = 1 + number of players strictly ahead; 0 before.
With ``reward="margin"`` each action pays the change of the lead, so the sum is the final lead: the mean over the others
of (own money - theirs) / ``lead``, each clipped to -1..1.

Version history
    v0: first version.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.features import Features
from dicegym.engine.jit import kernel
from dicegym.engine.loops import Kernels
from dicegym.engine.spec import GameSpec, JointAction, Parameter, reader, record
from dicegym.games.lucky.catalogue import (
    AGAIN,
    ALL_AGAIN,
    CUBE,
    DONE,
    EVERYBODY,
    FIRST_ATTACK,
    FIRST_COIN,
    INVALID,
    MOST_PLAYERS,
    N_ACTIONS,
    N_DICE,
    ONE_OF_STOCK,
    PRICES,
    SHIELD,
    SQUARE,
    STOCK,
    TAKEN,
    TEN,
    all_order_limits,
    is_open,
    order_actions,
    withdraw,
)
from dicegym.games.lucky.prospects import (
    TENTHS,
    THIRDS,
    centre,
    expect_points,
    means_of,
    more_of_plain_dice,
    more_points,
    observe_income,
    observe_money,
    observe_rivals_money,
    share,
)
from dicegym.games.lucky.scoring import MOST, score

START = 5
SOLD_OUT, TOO_DEAR, UNKNOWN, MALFORMED = 1, 2, 3, 4

STATE = record(
    [
        ("rounds", np.int16),  # (): parameter
        ("lead", np.int32),  # (): parameter
        ("played", np.int16),  # (): rounds played; determines this round's dice
        ("money", np.int64, (MOST_PLAYERS,)),  # per seat
        ("points", np.int64, (MOST_PLAYERS,)),  # per seat: points of the last round
        ("dice", np.int8, (MOST_PLAYERS, N_DICE)),  # per seat: number of each die that it owns
        ("shop", np.int8, (N_DICE,)),  # per die: number in the shop, before the orders of this round
        ("order", np.int8, (MOST_PLAYERS, N_DICE)),  # per seat: number of each die that it has ordered in this round
        ("refused", np.int8, (MOST_PLAYERS,)),  # per seat: whether the shop ever refused it a die it had ordered
        ("left", np.int64, (MOST_PLAYERS,)),  # per seat: money minus the price of its order
        ("rolled", np.int16, (MOST_PLAYERS, 6)),  # per seat and face: basic dice and multipliers of the last round
    ]
)

RIVAL = Features({"presence": 1, "money": 3, "lead": 1, "income": 3, "attacks": 1, "shields": 1})
OF_RIVAL = RIVAL.offsets
"""Offsets within the entry for one player in the part "others"."""
RIVAL_SIZE = RIVAL.size

FEATURES = Features(
    {
        "money": 5,
        "money left": 5,
        "dice": N_DICE,
        "order": N_DICE,
        "shop": N_DICE,
        "may add": N_DICE,
        "gain": N_DICE,
        "income": 3,
        "parts": 2,
        "lead": 3,
        "time": 2,
        "others": (MOST_PLAYERS - 1) * RIVAL_SIZE,
        "players": 2,
    }
)
AT = FEATURES.offsets


@kernel
def deliver(state):
    """Settle all orders: hand out the dice and take the money."""
    for kind in range(N_DICE):
        asked = 0
        for seat in range(state.players):
            asked += state.order[seat, kind]
        if 0 < asked <= state.shop[kind]:
            for seat in range(state.players):
                count = state.order[seat, kind]
                state.dice[seat, kind] += count
                state.money[seat] -= count * PRICES[kind]
            state.shop[kind] -= asked
        elif asked:
            for seat in range(state.players):
                state.refused[seat] |= state.order[seat, kind] > 0


@kernel
def two_richest(state):
    """Return (largest money, second largest money)."""
    first, second = np.int64(-1), np.int64(-1)
    for seat in range(state.players):
        money = state.money[seat]
        if money > first:
            first, second = money, first
        elif money > second:
            second = money
    return first, second


@kernel
def reset(state):
    """Begin a game: everybody has a little money, and the shop is full."""
    state.shop[:] = STOCK
    state.money[: state.players] = START
    state.left[: state.players] = START


@kernel
def step(state, action):
    """Add to the order of the player to move, or complete it; see `dicegym.engine.spec.GameSpec`."""
    seat = state.player
    fault = 0
    if action != DONE:
        kind, count = action, 1
        if action >= N_ACTIONS:
            kind, count = (action - N_ACTIONS) % N_DICE, 2 + (action - N_ACTIONS) // N_DICE
        if action == INVALID:
            fault = MALFORMED
        elif action < 0 or action > INVALID:
            fault = UNKNOWN
        elif state.order[seat, kind] + count > state.shop[kind]:
            fault = SOLD_OUT
        elif count * PRICES[kind] > state.left[seat]:
            fault = TOO_DEAR
        else:
            state.order[seat, kind] += count
            state.left[seat] -= count * PRICES[kind]
            return 0
        state.order[seat, :] = 0
        state.left[seat] = state.money[seat]
    if seat + 1 < state.players:
        state.player = seat + 1
        return fault

    deliver(state)
    score(state)
    for other in range(state.players):
        state.money[other] = min(state.money[other] + state.points[other], MOST)
        state.left[other] = state.money[other]
        state.order[other, :] = 0
    state.played += 1
    state.player = 0
    first, second = two_richest(state)
    state.over = first - second >= state.lead or state.played >= state.rounds
    return fault


@kernel
def legal(state, mask):
    """Allow adding a die that the shop has and the money left pays for, and completing the order."""
    seat = state.player
    for kind in range(N_DICE):
        mask[kind] = state.order[seat, kind] < state.shop[kind] and state.left[seat] >= PRICES[kind]
    mask[DONE] = True


@kernel
def returns(state, out):
    """Write returns by place, from +1 (first) to -1 (last); ties share the higher place. 0 before the end."""
    out[:] = 0
    if state.over:
        for seat in range(state.players):
            ahead = 0
            for other in range(state.players):
                ahead += state.money[other] > state.money[seat]
            out[seat] = 1 - 2 * ahead / (state.players - 1)


@kernel
def margin(state, out):
    """Write the mean over the others of (own money - theirs) / ``lead``, each clipped to -1..1."""
    players, most = np.int64(state.players), np.float64(state.lead)
    for seat in range(players):
        ahead = 0.0
        for other in range(players):
            ahead += max(-1.0, min((state.money[seat] - state.money[other]) / most, 1.0))
        out[seat] = ahead / (players - 1)


# --- what a seat may know ----------------------------------------------------------------------------------


@kernel
def observe_rival(state, money, other, at, out):
    """Write what a player with this ``money`` may know about ``other``.

    Returns the expected points taken by its attacks: (from everybody else, from one of them).
    """
    rival, dice = state.money[other], state.dice[other]
    attacks, taken = np.int64(0), 0.0
    for kind in range(TEN, FIRST_COIN):
        attacks += dice[kind]
        taken += dice[kind] * TAKEN[kind - TEN]
    everybody, shields = np.int64(dice[EVERYBODY]), np.int64(dice[SHIELD])
    basic, product = means_of(state, other, 0)
    points = expect_points(basic, product, dice[AGAIN], dice[ALL_AGAIN], dice[SQUARE], dice[CUBE])
    out[at + OF_RIVAL.presence] = 1
    observe_rivals_money(rival, at + OF_RIVAL.money, out)
    out[at + OF_RIVAL.lead] = centre(money - rival, state.lead)
    observe_income(points, at + OF_RIVAL.income, out)
    out[at + OF_RIVAL.attacks] = TENTHS[np.uint64(attacks + everybody)]
    out[at + OF_RIVAL.shields] = THIRDS[np.uint64(shields)]
    return 3.5 * everybody, taken


@kernel
def observe_shop(state, seat, out):
    """Write the dice that a seat owns, has ordered and may add; return how many it has ordered."""
    left, ordered = state.left[seat], np.int64(0)
    own, order, shop = state.dice[seat], state.order[seat], state.shop
    for kind in range(N_DICE):
        of_stock = ONE_OF_STOCK[kind]
        free = max(np.int64(shop[kind]) - order[kind], 0)
        affordable = min(free, np.int64(left / PRICES[kind]))  # exact up to the stock
        ordered += order[kind]
        out[AT.dice + kind] = own[kind] * of_stock
        out[AT.order + kind] = order[kind] * of_stock
        out[AT.shop + kind] = free * of_stock
        out[AT.may_add + kind] = affordable * of_stock
    return ordered


@kernel
def observe(state, seat, out):
    """Write the observation of the table above."""
    money, players = state.money[seat], np.int64(state.players)
    own, order = state.dice[seat], state.order[seat]
    out[:] = 0
    observe_money(money, AT.money, out)
    observe_money(state.left[seat], AT.money_left, out)

    rivals = players - 1
    best, ahead, threat = np.int64(-1), 0, 0.0
    other = np.int64(seat)
    for i in range(rivals):
        other = other + 1 if other + 1 < players else np.int64(0)
        best = max(best, state.money[other])
        ahead += state.money[other] > money
        from_all, from_one = observe_rival(state, money, other, AT.others + RIVAL_SIZE * i, out)
        threat += from_all + from_one / rivals

    basic, product = means_of(state, seat, 1)
    again, all_again = own[AGAIN] + order[AGAIN], own[ALL_AGAIN] + order[ALL_AGAIN]
    squares, cubes = own[SQUARE] + order[SQUARE], own[CUBE] + order[CUBE]
    points = expect_points(basic, product, again, all_again, squares, cubes)
    counted = 0  # kinds that are done by the loop without branches
    if all_again + squares + cubes == 0:
        counted = FIRST_ATTACK
        for kind in range(FIRST_ATTACK):
            out[AT.gain + kind] = share(more_of_plain_dice(kind, basic, product, again, points), PRICES[kind])
    for kind in range(counted, N_DICE):
        more = more_points(kind, basic, product, again, all_again, squares, cubes, points, threat, rivals)
        out[AT.gain + kind] = share(more, PRICES[kind])
    ordered = observe_shop(state, seat, out)
    observe_income(points, AT.income, out)
    out[AT.parts] = share(basic, 20)
    out[AT.parts + 1] = share(product, 4)
    first, second = two_richest(state)
    out[AT.lead] = centre(money - best, state.lead)
    out[AT.lead + 1] = centre(first - second, state.lead)
    out[AT.lead + 2] = ahead / rivals
    out[AT.time] = state.played / state.rounds
    out[AT.time + 1] = share(state.played, 10)
    out[AT.players] = players / MOST_PLAYERS
    out[AT.players + 1] = ordered == 0


class View(NamedTuple):
    """What a player may know; players are listed by seat."""

    money: tuple[int, ...]
    dice: tuple[tuple[int, ...], ...]
    """For each player the sorted numbers of its dice, with repeats."""
    seat: int
    """The own seat."""
    shop: tuple[int, ...]
    """The number of each die in the shop."""
    played: int
    """Rounds played."""
    order: tuple[int, ...]
    """The number of each die in the own order so far."""
    rounds: int
    lead: int


@lru_cache(maxsize=1024)  # dice change once a round, but each seat asks for several views
def _numbers(counts: bytes, players: int) -> tuple[tuple[int, ...], ...]:
    """Return the dice of each player, given the bytes of the field."""
    rows = [counts[seat * N_DICE : (seat + 1) * N_DICE] for seat in range(players)]
    return tuple(tuple(kind for kind, count in enumerate(row) for _ in range(count)) for row in rows)


_read = reader(STATE, ("players", "rounds", "lead", "played", "money", "dice", "shop", "order"))


def view(state: Any, seat: int) -> View:
    """Return the `View` of ``seat``, from the record's bytes: several times faster than field by field."""
    players, rounds, lead, played, money, dice, shop, order = _read(state.tobytes())
    return View(
        tuple(memoryview(money).cast("q")[:players]),
        _numbers(dice[: players * N_DICE], players),
        seat,
        tuple(shop),
        played,
        tuple(order[seat * N_DICE : (seat + 1) * N_DICE]),
        rounds,
        lead,
    )


SPEC = GameSpec(
    name="lucky",
    title="Lucky & Co",
    state=STATE,
    kernels=Kernels(reset, step, legal, observe, returns, margin),
    players=(2, MOST_PLAYERS),
    default_players=MOST_PLAYERS,
    n_actions=N_ACTIONS,
    features=FEATURES,
    view=view,
    faults=(
        "",
        "more of a die than the shop has",
        "dice for more than the player's money",
        "an unknown action",
        "a malformed order",
    ),
    default_opponent={"cheapest": 2, "thrifty": 2, "compound": 1},
    baseline="investor",
    parameters={
        "rounds": Parameter(500, 1, 10_000, "the number of rounds after which a game of Lucky & Co ends"),
        "lead": Parameter(200, 1, 1_000_000, "the lead over the second that ends a game of Lucky & Co"),
    },
    private=frozenset({"order", "left", "refused", "rolled"}),
    forfeit=INVALID,
    joint_action=JointAction(tuple(STOCK.tolist()), order_actions, all_order_limits, is_open, withdraw),
    contest="groups",
    stage="finished",
)
