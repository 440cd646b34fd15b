"""Liar's Dice, spot on: sixes are wild and worth double, and a bid may be called exact to gain or to take dice.

Round
    Each player rolls all dice that it has left and sees its own alone. In turn, each player bids a quantity of a
    face on the dice of all players together, or challenges the last bid. Dice showing six are wild: a bid on any
    face counts them as well. A bid's worth is its quantity, doubled for sixes, and it must be worth strictly more
    than the last one. Any first bid is legal. No quantity is too large; those above 10**15 count as 10**15. With
    fewer ``faces`` the highest one takes the place of six.

    ===================  ===================  =================================  ======================
    challenge            it succeeds if       then                               otherwise
    ===================  ===================  =================================  ======================
    Liar                 fewer than were bid  the bidder loses a die             the caller loses a die
    Spot on, lose two    exactly as many      the bidder loses two, or its last  the caller loses a die
    Spot on, gain one    exactly as many      the caller regains one             the caller loses a die
    ===================  ===================  =================================  ======================

    "Gain one" is legal for players with fewer dice than at the beginning.

    Order: a seat drawn from the game's key opens the first round. The next round is opened by the next seat with dice
    after the player that lost dice; after a successful "gain one", by the caller. A player without dice is out.

An illegal play disqualifies the player: it loses all its dice. The round continues with the next seat, bids remain
valid, and the dice already rolled count. The last bidder cannot be out when its bid is challenged: before its own
next turn the game would be over.

    =======  =====================================================================================
    fault    what was played
    =======  =====================================================================================
    fault 1  a challenge before any bid
    fault 2  "gain one" with as many dice as at the start
    fault 3  a bid that is not worth more than the last one
    fault 4  neither a bid (a quantity of at least 1, a face 1 to ``faces``) nor a challenge
    fault 5  no answer: an exception or a timeout
    fault 6  one bid more than the 100 that a round has room for; ordinary ones end at 45
    =======  =====================================================================================

End
    The last player with dice wins.

Parameters
    =======  =======  ======  ================================================================
    name     default  range   meaning
    =======  =======  ======  ================================================================
    dice     5        1-5     dice that each player begins with
    faces    6        2-6     faces of a die; the highest is wild, and bids on it are worth double
    =======  =======  ======  ================================================================
    The original game has six faces. With fewer, actions and observations keep their numbers and places: bids of higher
    faces are never legal, and their observations are 0. Files of the original interface play with six faces only;
    compiled twins of shipped bots play with any number.

Actions: ``Discrete(183)``, for any number of players
    ======  ====================================================================
    action  meaning
    ======  ====================================================================
    0..179  bid quantity 1..30 of face 1..6: (quantity - 1) * 6 + face - 1
    180     Liar
    181     Spot on, lose two
    182     Spot on, gain one
    ======  ====================================================================
    Wide actions: from 183 on, bids of quantities above 30: (quantity - 1) * 6 + face - 1 + 3. -1 is no answer
    (fault 5), every other negative number neither bid nor challenge (fault 4).

Observation: ``Box(0, 1, (318,))``, for any number of players; seats count from the own one to the left
    =============  ======  ===================================================================================
    part           length  meaning
    =============  ======  ===================================================================================
    own dice       30      for each face as many ones, of five, as own dice show it
    seats          6       1 for each seat of this table
    dice left      30      for each seat as many ones, of five, as it has dice left
    all dice       1       dice rolled for this round, over 30; those of disqualified seats included
    bid face       6       one-hot: face of the last bid; all zero before the first
    bid quantity   2       quantity of the last bid: over 30; over all dice, at most 1
    bid chance     1       probability by the own dice that the last bid is true
    support        6       for each face the number of dice expected to count for it, by the own dice, over all dice
    lowest raise   6       for each face the lowest quantity that is worth more than the last bid, over all dice,
                           at most 1
    raise chance   6       for each face the probability by the own dice that this raise is true
    next chance    6       the same for one die more
    highest bids   36      for each seat and face the highest quantity it bid in this round, over all dice, at most 1
    bids           180     which of the bids 0..179 were made in this round
    exact chance   1       probability by the own dice that the last bid is exact
    may gain       1       1 if the own dice are fewer than at the start
    =============  ======  ===================================================================================

Rewards: the change of a seat's share of all dice left, in all +1 for the winner and -1/(n - 1) for each of the other
n - 1. With the share s the sum so far is (n * s - 1) / (n - 1): 0 at first, when all shares are equal.
With ``reward="margin"`` the change of the lead, (own dice - the others' mean) / ``dice``: in all k / ``dice`` for a
winner with k dice left, and -1/(n - 1) of that for each other.

Version history
    v0: first version; since then ``reward`` chooses the rewards, and the default opponents are a mix whose strongest
    is ``even``, the only one before. The parameter ``faces`` was added later; with 6 faces nothing changed.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dicegym.engine.features import Features
from dicegym.engine.jit import kernel
from dicegym.engine.loops import Kernels
from dicegym.engine.spec import GameSpec, record
from dicegym.games.bidding import table
from dicegym.games.bidding.view import Reader

LIAR, LOSE_TWO, GAIN_ONE = table.N_BIDS, table.N_BIDS + 1, table.N_BIDS + 2
N_CHALLENGES = 3
N_ACTIONS = table.N_BIDS + N_CHALLENGES
NO_ANSWER = -1
NO_MOVE = -2
"""One of the wide actions that are neither a bid nor a challenge."""
WILD = True
LARGEST = 10**15
"""The largest quantity: larger ones count as this."""
MOST_BIDS = 100
NO_BID, NO_LOSS, NOT_MORE, NO_MOVE_FAULT, NO_ANSWER_FAULT, ONE_TOO_MANY = 1, 2, 3, 4, 5, 6

STATE = record(table.record_fields(np.int64, MOST_BIDS))
FEATURES = Features(table.PARTS | {"exact chance": 1, "may gain": 1})
AT = FEATURES.offsets


@kernel
def worth(quantity, face, faces):
    """Return the worth of a bid with dice of this many ``faces``."""
    return 2 * quantity if face == faces else quantity


HIGHEST_WORTH = 2 * table.MOST_QUANTITY


def _worth_more(faces: int) -> np.ndarray:
    plain = getattr(worth, "py_func", worth)  # plain Python: nothing is compiled while modules are loaded
    bids = [(bid // table.FACES + 1, bid % table.FACES + 1) for bid in range(table.N_BIDS)]
    worths = np.array([plain(quantity, face, faces) if face <= faces else 0 for quantity, face in bids])
    return np.arange(HIGHEST_WORTH + 1)[:, None] < worths


WORTHS = HIGHEST_WORTH + 1
WORTH_MORE = np.concatenate([_worth_more(faces) for faces in range(table.FACES + 1)])
"""bool[7 * 61, 180]: for each number of faces and each worth, the ordinary bids that are worth more."""


@kernel
def least(quantity, face, raised, faces):
    """Return the lowest quantity of face ``raised`` that is worth more than a bid (quantity 0: no bid)."""
    beat = worth(quantity, face, faces) + 1
    return (beat + 1) // 2 if raised == faces else beat


def least_with(faces: int) -> Callable[[int, int, int], int]:
    """Return `least` for dice of this many faces, for the shared screens."""
    return lambda quantity, face, raised: least(quantity, face, raised, faces)


@kernel
def reset(state):
    """Begin: a drawn seat opens."""
    table.begin(state)
    state.player = table.draw_seat(state)


@kernel
def bid_of(action):
    """Return the (quantity, face) of an ordinary or wide bid; quantity 0 for other actions."""
    if action < 0 or LIAR <= action < N_ACTIONS:
        return np.int64(0), np.int64(0)
    index = np.int64(action) if action < LIAR else np.int64(action) - N_CHALLENGES
    return min(index // table.FACES + 1, LARGEST), index % table.FACES + 1


@kernel
def fault_of(state, action):
    """Return the number of an action's fault, 0 for a legal action."""
    if action < 0:
        return NO_ANSWER_FAULT if action == NO_ANSWER else NO_MOVE_FAULT
    raised, raised_face = bid_of(action)
    if raised == 0:
        if state.n_bids == 0:
            return NO_BID
        return NO_LOSS if action == GAIN_ONE and state.left[state.player] >= state.dice else 0
    if raised_face > state.faces:
        return NO_MOVE_FAULT
    if state.n_bids == MOST_BIDS:
        return ONE_TOO_MANY
    _, quantity, face = table.last_bid(state)
    return 0 if raised >= least(quantity, face, raised_face, np.int64(state.faces)) else NOT_MORE


@kernel
def step(state, action):
    """Play one bid or challenge; see `dicegym.engine.spec.GameSpec`."""
    fault = fault_of(state, action)
    me = np.int64(state.player)
    if fault != 0:
        state.left[me] = 0
        state.player = table.seat_from(state, me)
        table.check_end(state)
        return fault
    raised, raised_face = bid_of(action)
    if raised > 0:
        table.add_bid(state, table.bid_index(raised, raised_face))
        return fault

    bidder, quantity, face = table.last_bid(state)
    found = table.matching(state, face, WILD)
    if action == LIAR and found < quantity:
        table.end_hand(state, action, bidder, -1, bidder + 1)
    elif action == LOSE_TWO and found == quantity:
        table.end_hand(state, action, bidder, -1 if state.left[bidder] == 1 else -2, bidder + 1)
    elif action == GAIN_ONE and found == quantity:
        table.end_hand(state, action, me, 1, me)
    else:
        table.end_hand(state, action, me, -1, me + 1)
    return fault


@kernel
def legal(state, mask):
    """Write which actions are legal: bids worth more, challenges after a bid, "gain one" for seats with fewer dice."""
    _, quantity, face = table.last_bid(state)
    faces = np.int64(state.faces)
    beat = min(worth(quantity, face, faces), HIGHEST_WORTH) if state.n_bids < MOST_BIDS else HIGHEST_WORTH
    row = np.uint64(faces * WORTHS + beat)
    for bid in range(table.N_BIDS):
        mask[bid] = WORTH_MORE[row, bid]
    mask[LIAR] = mask[LOSE_TWO] = state.n_bids > 0
    mask[GAIN_ONE] = state.n_bids > 0 and state.left[state.player] < state.dice


@kernel
def observe(state, seat, out):
    """Write the observation of the table above."""
    others = table.dice_of_others(state, seat)
    _, quantity, face = table.last_bid(state)
    table.observe_shared(state, seat, others, quantity, face, WILD, out)
    faces = np.int64(state.faces)
    if faces == table.FACES:  # compiled code knows this number, and unrolls the loop
        for raised in range(1, table.FACES + 1):
            lowest = least(quantity, face, raised, table.FACES)
            table.observe_raise(state, seat, others, raised, table.FACES, lowest, WILD, out)
    else:
        for raised in range(1, faces + 1):
            table.observe_raise(state, seat, others, raised, faces, least(quantity, face, raised, faces), WILD, out)
    if quantity > 0:
        need = quantity - table.own_matching(state, seat, face, WILD)
        row = table.odds_row(faces, table.counting(faces, face, WILD))
        out[AT.exact_chance] = table.chance(others, need, row) - table.chance(others, need + 1, row)
    out[AT.may_gain] = state.left[seat] < state.dice


@kernel
def returns(state, out):
    """Write each seat's return, from its share of all dice left: +1 for the winner, -1/(n - 1) for each other."""
    table.share_out(state, out)


@kernel
def margin(state, out):
    """Write each seat's dice less the mean of the others', divided by the dice of each at the beginning."""
    table.lead_out(state, out)


SPEC = GameSpec(
    name="liarsdice_spot_on",
    title="Liar's Dice, spot on",
    state=STATE,
    kernels=Kernels(reset, step, legal, observe, returns, margin),
    players=(2, table.MOST_PLAYERS),
    n_actions=N_ACTIONS,
    features=FEATURES,
    view=Reader(STATE),
    faults=(
        "",
        "a challenge before any bid (disqualified)",
        "gain one with no die lost (disqualified)",
        "a bid that is not worth more than the last one (disqualified)",
        "neither a bid nor a challenge (disqualified)",
        "no answer (disqualified)",
        "one bid more than a round has room for (disqualified)",
    ),
    games_per_match=50,
    default_opponent={"trusting": 1, "haphazard": 1, "even": 1},
    baseline="even",
    parameters=table.PARAMETERS,
    private=frozenset({"hands"}),
    forfeit=NO_ANSWER,
    public_event="finished",
    zero_sum=True,
    stage="finished",
)
