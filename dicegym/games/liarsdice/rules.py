"""Liar's Dice, classic: rising bids on all hidden dice; a false bid, or a wrong doubt, costs a die.

Hand
    Each player rolls all dice that it has left and sees its own alone. In turn, each player bids a quantity of a
    face, "two threes", on the dice of all hands together, or calls "liar". A bid must be higher than the last
    one: a higher quantity of any face, or the same quantity of a higher face. The largest quantity is ``dice`` times
    the number of players who started, however many dice are left. Dice show, and bids name, the faces 1 to ``faces``.

    Liar: all dice are shown. If at least as many show the face as were bid, the caller loses a die, otherwise the
    last bidder does. No die is wild. A player without dice is out.

    Order: seat 0 opens the first hand (matches draw the seats anew for each game). After a hand the next seat with
    dice after the caller opens, whichever player lost the die.

An illegal play counts as calling liar, and ends the hand. Liar as the first play of a hand costs that player a die.
A bot of the original interface may call liar by a play that is not higher than the last one: for the bot that is no
fault, while such an action in an environment is one.

    =======  ==================================================================================
    fault    what was played
    =======  ==================================================================================
    fault 1  an invalid play: a face outside 1 to ``faces``, or a quantity outside 1 to 30
    fault 2  a quantity above ``dice`` times the players who started
    fault 3  a bid that is not higher than the last one
    fault 4  liar before any bid
    fault 5  no answer: an exception, a timeout, or a value that is not a number
    =======  ==================================================================================

End
    The last player with dice wins.

Parameters
    =======  =======  ======  ===================================
    name     default  range   meaning
    =======  =======  ======  ===================================
    dice     5        1-5     dice that each player begins with
    faces    6        2-6     faces of a die
    =======  =======  ======  ===================================
    The original game has six faces. With fewer, actions and observations keep their numbers and places: bids of higher
    faces are never legal, and their observations are 0. Files of the original interface play with six faces only;
    compiled twins of shipped bots play with any number.

Actions: ``Discrete(181)``, for any number of players
    ======  ====================================================================
    action  meaning
    ======  ====================================================================
    0..179  bid quantity 1..30 of face 1..6: (quantity - 1) * 6 + face - 1
    180     liar
    ======  ====================================================================
    Wide actions: -1 is no answer (fault 5), every other whole number an invalid play (fault 1).

Observation: ``Box(0, 1, (316,))``, for any number of players; seats count from the own one to the left
    =============  ======  ===================================================================================
    part           length  meaning
    =============  ======  ===================================================================================
    own dice       30      for each face as many ones, of five, as own dice show it
    seats          6       1 for each seat of this table
    dice left      30      for each seat as many ones, of five, as it has dice left
    all dice       1       dice rolled for this hand, over 30
    bid face       6       one-hot: face of the last bid; all zero before the first
    bid quantity   2       quantity of the last bid: over 30; over all dice, at most 1
    bid chance     1       probability by the own dice that the last bid is true
    support        6       for each face the number of dice expected to show it, by the own dice, over all dice
    lowest raise   6       for each face the lowest quantity that is higher than the last bid, over all dice,
                           at most 1
    raise chance   6       for each face the probability by the own dice that this raise is true
    next chance    6       the same for one die more
    highest bids   36      for each seat and face the highest quantity it bid in this hand, over all dice, at most 1
    bids           180     which of the bids 0..179 were made in this hand
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

import numpy as np

from dicegym.engine.features import Features
from dicegym.engine.jit import kernel
from dicegym.engine.loops import Kernels
from dicegym.engine.spec import GameSpec, record
from dicegym.games.bidding import table
from dicegym.games.bidding.view import Reader

LIAR = table.N_BIDS
N_ACTIONS = LIAR + 1
NO_ANSWER = -1
NO_PLAY = N_ACTIONS
"""One of the wide actions that are invalid plays."""
WILD = False
NO_PLAY_FAULT, TOO_MANY, NOT_HIGHER, LIAR_FIRST, NO_ANSWER_FAULT = 1, 2, 3, 4, 5

STATE = record(table.record_fields(np.int16, table.N_BIDS))
FEATURES = Features(table.PARTS)


@kernel
def most(state):
    """Return the largest quantity that may be bid."""
    return np.int64(state.dice) * state.players


@kernel
def least(quantity, face, raised):
    """Return the lowest quantity of face ``raised`` that is higher than a bid (quantity 0: no bid)."""
    if quantity == 0:
        return np.int64(1)
    return quantity if raised > face else quantity + 1


@kernel
def reset(state):
    """Begin: seat 0 opens."""
    table.begin(state)


@kernel
def fault_of(state, action):
    """Return the number of an action's fault, 0 for a legal action."""
    if action == NO_ANSWER:
        return NO_ANSWER_FAULT
    if action < 0 or action > LIAR:
        return NO_PLAY_FAULT
    if action == LIAR:
        return 0 if state.n_bids > 0 else LIAR_FIRST
    if action % table.FACES >= state.faces:
        return NO_PLAY_FAULT
    _, quantity, face = table.last_bid(state)
    if action // table.FACES + 1 > most(state):
        return TOO_MANY
    return 0 if action // table.FACES + 1 >= least(quantity, face, action % table.FACES + 1) else NOT_HIGHER


@kernel
def step(state, action):
    """Play one bid or call; see `dicegym.engine.spec.GameSpec`."""
    fault = fault_of(state, action)
    if fault == 0 and action != LIAR:
        table.add_bid(state, action)
        return fault

    bidder, quantity, face = table.last_bid(state)
    caller = np.int64(state.player)
    loser = caller if quantity == 0 or table.matching(state, face, WILD) >= quantity else bidder
    table.end_hand(state, LIAR, loser, -1, caller + 1)
    return fault


@kernel
def legal(state, mask):
    """Write which actions are legal: every higher bid up to the limit, and liar after a bid."""
    first = np.int64(state.bids[state.n_bids - 1]) // table.SEATS + 1 if state.n_bids > 0 else 0
    end = most(state) * table.FACES
    mask[:] = False
    mask[first:end] = True
    if state.faces < table.FACES:
        for bid in range(first, end):
            mask[bid] = bid % table.FACES < state.faces
    mask[LIAR] = state.n_bids > 0


@kernel
def observe(state, seat, out):
    """Write the observation of the table above."""
    others = table.dice_of_others(state, seat)
    _, quantity, face = table.last_bid(state)
    table.observe_shared(state, seat, others, quantity, face, WILD, out)
    if state.faces == table.FACES:  # compiled code knows this number, and unrolls the loop
        for raised in range(1, table.FACES + 1):
            lowest = least(quantity, face, raised)
            table.observe_raise(state, seat, others, raised, table.FACES, lowest, WILD, out)
    else:
        for raised in range(1, np.int64(state.faces) + 1):
            lowest = least(quantity, face, raised)
            table.observe_raise(state, seat, others, raised, np.int64(state.faces), lowest, WILD, out)


@kernel
def returns(state, out):
    """Write each seat's return, from its share of all dice left: +1 for the winner, -1/(n - 1) for each other."""
    table.share_out(state, out)


@kernel
def margin(state, out):
    """Write each seat's dice less the mean of the others', divided by the dice of each at the beginning."""
    table.lead_out(state, out)


SPEC = GameSpec(
    name="liarsdice",
    title="Liar's Dice",
    state=STATE,
    kernels=Kernels(reset, step, legal, observe, returns, margin),
    players=(2, table.MOST_PLAYERS),
    n_actions=N_ACTIONS,
    features=FEATURES,
    view=Reader(STATE),
    faults=(
        "",
        "no play at all (taken as liar)",
        "a quantity above the dice of all who started (taken as liar)",
        "a bid that is not higher than the last one (taken as liar)",
        "liar before any bid",
        "no answer (taken as liar)",
    ),
    games_per_match=50,
    default_opponent={"reckless": 1, "haphazard": 1, "even": 1},
    baseline="even",
    parameters=table.PARAMETERS,
    private=frozenset({"hands"}),
    forfeit=NO_ANSWER,
    public_event="finished",
    zero_sum=True,
    stage="finished",
)
