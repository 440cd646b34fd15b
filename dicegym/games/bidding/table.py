"""The shared rules of games of hidden dice and rising bids: hands, bids, the showdown, and observations.

A game is played in hands. Each player rolls all dice that it has left and sees its own alone. In turn, players bid how
many dice of one face all hands hold together, until a player challenges the last bid. Each game's ``rules.py`` says
which bids are higher, what a challenge costs and who opens the next hand.

A bid has an index, (quantity - 1) * 6 + face - 1, and is stored as index * 8 + seat of the bidder. Dice show the faces
1 to ``faces``. With fewer than six, actions and observations keep their places, and those of higher faces are unused.
In a game with wild dice the highest face is wild.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dicegym.engine.dice import die, draw, turn_stream
from dicegym.engine.features import Features
from dicegym.engine.jit import kernel
from dicegym.engine.spec import Parameter

FACES = 6
"""The most faces of a die, and the default."""
FEWEST_FACES = 2
MOST_PLAYERS = 6
MOST_DICE = 5
MOST_QUANTITY = MOST_PLAYERS * MOST_DICE
"""The largest quantity of an ordinary bid: the most dice on a table."""
N_BIDS = MOST_QUANTITY * FACES
"""The number of ordinary bids: the actions 0 to N_BIDS - 1, by their index."""
SEAT_BITS = 3
SEATS = 1 << SEAT_BITS
"""The factor of a bid's index in a stored bid, which makes room for the seat."""
TABLE_SEAT = 253
"""The seat of the table's own dice, which draw the opener of the first hand."""
NOBODY = -1

PARTS: dict[str, int] = {
    "own dice": FACES * MOST_DICE,
    "seats": MOST_PLAYERS,
    "dice left": MOST_PLAYERS * MOST_DICE,
    "all dice": 1,
    "bid face": FACES,
    "bid quantity": 2,
    "bid chance": 1,
    "support": FACES,
    "lowest raise": FACES,
    "raise chance": FACES,
    "next chance": FACES,
    "highest bids": MOST_PLAYERS * FACES,
    "bids": N_BIDS,
}
"""The parts of the observation that all these games share, in order, with their lengths; a game's own parts follow."""

SHARED = Features(PARTS).offsets


PARAMETERS = {
    "dice": Parameter(MOST_DICE, 1, MOST_DICE, "the dice that each player begins with"),
    "faces": Parameter(FACES, FEWEST_FACES, FACES, "the faces of a die", added=True),
}
"""The parameters of all these games."""


def _tail(n: int, k: int, counting: int, faces: int) -> float:
    ways = sum(math.comb(n, i) * counting**i * (faces - counting) ** (n - i) for i in range(k, n + 1))
    return float(ways / faces**n)


ODDS = np.array(
    [
        [[_tail(n, k, counting, faces) for k in range(MOST_QUANTITY + 2)] for n in range(MOST_QUANTITY + 1)]
        for faces in range(FACES, FEWEST_FACES - 1, -1)
        for counting in (1, 2)
    ]
)
"""float64[10, 31, 32]: the probability that at least k of n dice show one of 1 or 2 given faces.

The first index is `odds_row`."""
AT_LEAST = ODDS.astype(np.float32)
"""The same for observations."""


AS_ONES = np.tri(MOST_DICE + 1, MOST_DICE, -1, np.float32)
"""float32[6, 5]: a number of dice as that many ones. Copying a row is faster than a loop of variable length."""


def record_fields(bid: type, most_bids: int) -> list[tuple[Any, ...]]:
    """Return the record's fields: bids have the type ``bid``, and a hand has at most ``most_bids``."""
    by_seat = (MOST_PLAYERS,)
    return [
        ("dice", np.int8),  # (): parameter
        ("left", np.int8, by_seat),  # per seat: dice left; 0 is out
        ("rolled", np.int8, by_seat),  # per seat: dice rolled for this hand
        ("hands", np.int8, (MOST_PLAYERS, FACES)),  # per seat: how many of its dice show each face
        ("finished", np.int32),  # (): finished hands; names the dice of this one
        ("n_bids", np.int16),  # (): bids made in this hand
        ("faces", np.int8),  # (): parameter
        ("bids", bid, (most_bids,)),  # index * 8 + seat of each; before the first bid, those of the last hand
        ("shown", np.int8, (MOST_PLAYERS, FACES)),  # the dice of all seats at the end of the last hand
        ("shown_bids", np.int16),  # (): the number of its bids
        ("shown_bid", bid),  # (): its last bid, or -1
        ("caller", np.int8),  # (): the seat that ended it, or -1 in the first hand
        ("call", np.int16),  # (): the action that ended it
        ("changed", np.int8),  # (): the seat whose number of dice changed
        ("change", np.int8),  # (): the change
    ]


# --- bids ----------------------------------------------------------------------------------------------------


@kernel
def bid_index(quantity, face):
    """Return the index of a bid."""
    return (quantity - 1) * FACES + face - 1


@kernel
def bid_at(state, number):
    """Return (seat, quantity, face) of bid ``number`` (0, 1, ...) of this hand."""
    kept = np.int64(state.bids[number])
    index = kept >> SEAT_BITS
    quantity = index // FACES + 1
    return kept & (SEATS - 1), quantity, index - bid_index(quantity, 1) + 1


@kernel
def last_bid(state):
    """Return (seat, quantity, face) of the last bid of this hand; quantity and face are 0 if there is none."""
    if state.n_bids == 0:
        return np.int64(NOBODY), np.int64(0), np.int64(0)
    return bid_at(state, state.n_bids - 1)


@kernel
def add_bid(state, index):
    """Add a bid of the player to move; the next player with dice is to move then."""
    state.bids[state.n_bids] = np.int64(index) * SEATS + state.player
    state.n_bids += 1
    state.player = seat_from(state, state.player + 1)


@kernel
def matching(state, face, wild):
    """Return how many dice of all hands count for ``face``; with ``wild``, the highest face counts for any."""
    found = np.int64(0)
    faces = np.int64(state.faces)
    for seat in range(state.players):
        found += state.hands[seat, face - 1]
        if wild and face != faces:
            found += state.hands[seat, faces - 1]
    return found


# --- cups ----------------------------------------------------------------------------------------------------


@kernel
def seat_from(state, seat):
    """Return the first seat with dice among ``seat``, ``seat`` + 1, ..."""
    players = np.int64(state.players)
    seat = np.int64(seat) % players
    while state.left[seat] == 0:
        seat = (seat + 1) % players
    return seat


@kernel
def begin(state):
    """Give every seat its dice and roll the first hand; the caller sets its opener."""
    state.caller = NOBODY
    state.changed = NOBODY
    state.shown_bid = -1
    for seat in range(state.players):
        state.left[seat] = state.dice
    roll_hands(state)


@kernel
def draw_seat(state):
    """Return a uniformly drawn seat, the same throughout the game."""
    return draw(turn_stream(state.key, TABLE_SEAT, 0), 0, state.players)


@kernel
def roll_hands(state):
    """Roll all dice that the seats have left: die d of a seat's hand h is die d of its turn h."""
    for seat in range(state.players):
        state.hands[seat] = 0
        state.rolled[seat] = state.left[seat]
        if state.left[seat] > 0:
            stream = turn_stream(state.key, seat, state.finished)
            for number in range(state.left[seat]):
                state.hands[seat, die(stream, number, state.faces) - 1] += 1


@kernel
def end_hand(state, call, changed, change, opener):
    """End the hand by the ``call`` of the player to move, show all dice, and change a seat's number of dice.

    The next hand is opened by ``opener`` or the first seat with dice after it. The last seat with dice has won.
    """
    state.shown[:, :] = state.hands
    state.shown_bids = state.n_bids
    state.shown_bid = state.bids[state.n_bids - 1] if state.n_bids > 0 else -1
    state.caller = state.player
    state.call = call
    state.changed = changed
    state.change = change
    state.left[changed] += change
    state.n_bids = 0
    state.finished += 1
    roll_hands(state)
    state.player = seat_from(state, opener)
    check_end(state)


@kernel
def check_end(state):
    """End the game if only one seat has dice."""
    alive = 0
    for seat in range(state.players):
        alive += state.left[seat] > 0
    state.over = alive == 1


@kernel
def share_out(state, out):
    """Write (n * s - 1) / (n - 1) for each seat, s being its share of all dice left: 0 at first, +1 for the winner."""
    total = np.int64(0)
    for seat in range(state.players):
        total += state.left[seat]
    n = np.int64(state.players)
    for seat in range(n):
        out[seat] = (n * state.left[seat] - total) / (total * (n - 1))


@kernel
def lead_out(state, out):
    """Write each seat's dice less the mean of the others', divided by the dice of each at the beginning."""
    total = np.int64(0)
    for seat in range(state.players):
        total += state.left[seat]
    n = np.int64(state.players)
    for seat in range(n):
        out[seat] = (n * state.left[seat] - total) / (state.dice * (n - 1))


# --- observations --------------------------------------------------------------------------------------------


@kernel
def dice_of_others(state, seat):
    """Return how many dice all seats but ``seat`` rolled for this hand."""
    others = -np.int64(state.rolled[seat])
    for other in range(state.players):
        others += state.rolled[other]
    return others


@kernel
def own_matching(state, seat, face, wild):
    """Return how many of the dice of ``seat`` count for ``face``."""
    return own_counting(state, seat, face, np.int64(state.faces), wild)


@kernel
def own_counting(state, seat, face, faces, wild):
    """Return the same for dice of this many ``faces``."""
    own = np.int64(state.hands[seat, face - 1])
    return own + state.hands[seat, faces - 1] if wild and face != faces else own


@kernel
def chance(others, need, row):
    """Return the probability that at least ``need`` of ``others`` unknown dice match; ``row`` is their `odds_row`."""
    return AT_LEAST[np.uint64(row), np.uint64(others), np.uint64(max(0, min(need, MOST_QUANTITY + 1)))]


@kernel
def counting(faces, face, wild):
    """Return how many of a die's ``faces`` count for ``face``."""
    return 2 if wild and face != faces else 1


@kernel
def odds_row(faces, counting):
    """Return the first index of `ODDS` for dice that match by ``counting`` of their ``faces``."""
    return 2 * (FACES - faces) + counting - 1


@kernel
def observe_shared(state, seat, others, quantity, face, wild, out):
    """Write the shared parts of the observation except those on raises.

    ``others`` is `dice_of_others`, ``quantity`` and ``face`` are those of `last_bid`.
    """
    players = np.int64(state.players)
    out[:] = 0
    for own in range(FACES):
        dice = np.uint64(state.hands[seat, own])
        for number in range(MOST_DICE):
            out[SHARED.own_dice + own * MOST_DICE + number] = AS_ONES[dice, number]
    other = np.int64(seat)
    for relative in range(players):
        out[SHARED.seats + relative] = 1
        dice = np.uint64(state.left[other])
        for number in range(MOST_DICE):
            out[SHARED.dice_left + relative * MOST_DICE + number] = AS_ONES[dice, number]
        other = other + 1 if other + 1 < players else np.int64(0)
    all_dice = np.float32(others + state.rolled[seat])
    share = np.float32(1) / all_dice
    out[SHARED.all_dice] = all_dice * (np.float32(1) / np.float32(MOST_QUANTITY))
    if quantity > 0:
        out[SHARED.bid_face + face - 1] = 1
        out[SHARED.bid_quantity] = min(quantity * (np.float32(1) / np.float32(MOST_QUANTITY)), np.float32(1))
        out[SHARED.bid_quantity + 1] = min(quantity * share, np.float32(1))
        need = quantity - own_matching(state, seat, face, wild)
        faces = np.int64(state.faces)
        out[SHARED.bid_chance] = chance(others, need, odds_row(faces, counting(faces, face, wild)))
    for number in range(state.n_bids):
        bidder, bid, bid_face = bid_at(state, number)
        relative = bidder - seat if bidder >= seat else bidder - seat + players
        out[SHARED.highest_bids + relative * FACES + bid_face - 1] = min(bid * share, np.float32(1))
        if bid <= MOST_QUANTITY:
            out[SHARED.bids + bid_index(bid, bid_face)] = 1


@kernel
def observe_raise(state, seat, others, face, faces, least, wild, out):
    """Write the parts on ``face``: its expected dice, and the chances of ``least``, the lowest raise on it."""
    share = np.float32(1) / np.float32(others + state.rolled[seat])
    own, ways = own_counting(state, seat, face, faces, wild), counting(faces, face, wild)
    row = odds_row(faces, ways)
    out[SHARED.support + face - 1] = (own + np.float32(others) * np.float32(ways) / np.float32(faces)) * share
    out[SHARED.lowest_raise + face - 1] = min(least * share, np.float32(1))
    out[SHARED.raise_chance + face - 1] = chance(others, least - own, row)
    out[SHARED.next_chance + face - 1] = chance(others, least + 1 - own, row)
