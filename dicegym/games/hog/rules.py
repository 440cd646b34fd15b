"""Hog: two players take turns to roll as many dice as they dare, to 100.

Turn
    The player to move names a number of dice, -1 to 10, knowing both scores.

    ======  ========================================================================================
    number  what happens
    ======  ========================================================================================
    1..10   Roll that many dice. A die that shows 1 is a Pig out: the turn scores 1. Otherwise the sum.
    0       Free bacon: 1 + the largest digit of the opponent's score.
    -1      Ham Hijinks: 1 point, and the dice are exchanged from the next turn on.
    ======  ========================================================================================

    Hog wild: the dice have four sides if the sum of both scores is a multiple of seven, else six; the other
    way round if the dice were exchanged an odd number of times, by either player.
    Pig Fest: a Pig out scores exactly 1 and adds one to the player's run. A turn without one (a roll, 0 or -1)
    is multiplied by max(1, min(run, 3)) and ends the run. Runs are each player's own.
    Swine Swap: after the points are added, the scores are exchanged if the last two digits of one are those
    of the other reversed, a missing digit counting as 0: (2, 20), (107, 70) and (81, 118) swap.

Order: number chosen -> four- or six-sided dice, from the scores before the turn -> roll -> Pig out -> Pig Fest
-> points added -> Swine Swap -> end test -> the other player moves.

End
    After a turn that leaves either score at ``goal`` or more, the higher score wins. A number outside -1..10
    disqualifies: the other player wins at once. Ties cannot occur: before a turn both scores are below the
    goal, and a turn or a swap lifts only one of them over it.

Parameters
    =======  =======  ======  ====================================================================
    name     default  range   meaning
    =======  =======  ======  ====================================================================
    goal     100      10-999  the score that ends the game
    memory   0        0-1     also observe what the player itself can remember
    =======  =======  ======  ====================================================================

Actions: ``Discrete(12)``
    ======  ===========================================
    action  meaning
    ======  ===========================================
    0       -1: exchange the dice
    1       0: Free bacon
    2..11   roll 1..10 dice
    ======  ===========================================
    Wide actions: every other whole number is a number of dice out of range (fault 1).

Observation: ``Box(0, 1, (62,))``, or ``(68,)`` with ``memory``; exactly what a contest strategy may know
    ================  ======  ==================================================================
    part              length  meaning
    ================  ======  ==================================================================
    scores            2       own and opponent's score over goal, at most 1
    lead              1       (own - opponent's) / goal, from -1..1 to 0..1
    leading           1       1 if the own score is the higher one
    own tens          10      one-hot: tens digit of the own score
    own units         10      one-hot: units digit of the own score
    opponent tens     10      one-hot: tens digit of the opponent's score
    opponent units    10      one-hot: units digit of the opponent's score
    sum modulo 7      7       one-hot: sum of both scores modulo 7; 0 is Hog wild
    to swap           2       points to the next Swine Swap, 1..100: over 100; over 20, at most 1
    bacon             1       what Free bacon scores before Pig Fest, over 10
    bacon swaps       3       would Free bacon swap, times 1, 2 and 3 by Pig Fest
    bacon wild        1       would the sum be a multiple of 7 after Free bacon, times 1
    exchange swaps    3       would -1 swap, times 1, 2 and 3 by Pig Fest
    exchange wild     1       would the sum be a multiple of 7 after -1, times 1
    run               4       with memory, one-hot: own run of Pig outs, 3 and more as 3
    exchanges         2       with memory, one-hot: own exchanges, even or odd
    ================  ======  ==================================================================

Contest: an entry is disqualified, with the reason, if it raises an error, returns anything but a whole number from -1
to 10, or takes more than ten seconds for all pairs of scores. The contest continues. Printing, to either
stream, costs nothing: it is kept for the bot's author. Time is the bot's own processor time; a wall clock ten times as
generous catches programs that hang.

Rewards: +1 to the winner and -1 to the loser at the end, 0 before. With ``reward="margin"`` each turn pays the change
of the lead (own - opponent's points) / goal, so the sum is the final lead; a disqualified player's is -1.

Version history
    v0: first version.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.dice import die, turn_stream
from dicegym.engine.features import Features, With
from dicegym.engine.jit import kernel
from dicegym.engine.loops import Kernels
from dicegym.engine.spec import GameSpec, Parameter, record

MOST_DICE = 10
N_ACTIONS = MOST_DICE + 2
FIRST_NUMBER = -1
"""The number of dice of action 0: number = action + FIRST_NUMBER."""
LONGEST_RUN = 3
"""Longer runs of Pig outs count as this one."""
PIG_OUT = 1
"""Score of a turn with a Pig out."""
EXCHANGE = 1
"""Score of exchanging the dice."""
WILD = 7
OUT_OF_RANGE = 1

STATE = record(
    [
        ("goal", np.int16),  # (): parameter
        ("memory", np.bool_),  # (): parameter
        ("scores", np.int16, (2,)),  # per seat: points
        ("runs", np.int8, (2,)),  # per seat: Pig outs in a row, at most LONGEST_RUN
        ("exchanges", np.int16, (2,)),  # per seat: how often it exchanged the dice
        ("turns", np.int32, (2,)),  # per seat: turns played; determines the next turn's dice
        ("chosen", np.int8, (2,)),  # per seat: number of dice chosen in its last turn
        ("rolled", np.int8, (2, MOST_DICE)),  # per seat: faces of its last turn, 0 where no die was rolled
        ("winner", np.int8),  # (): seat, valid when over
    ]
)

FEATURES = Features(
    {
        "scores": 2,
        "lead": 1,
        "leading": 1,
        "own tens": 10,
        "own units": 10,
        "opponent tens": 10,
        "opponent units": 10,
        "sum modulo 7": WILD,
        "to swap": 2,
        "bacon": 1,
        "bacon swaps": LONGEST_RUN,
        "bacon wild": 1,
        "exchange swaps": LONGEST_RUN,
        "exchange wild": 1,
        "run": With("memory", LONGEST_RUN + 1),
        "exchanges": With("memory", 2),
    }
)
AT = FEATURES.offsets


@kernel
def score_of(state, seat):
    """Return a player's score. With ``max`` the compiler knows that it is not negative, which halves its divisions."""
    return max(np.int64(0), np.int64(state.scores[seat]))


@kernel
def free_bacon(opponent_score):
    """Return one plus the largest digit of the opponent's score."""
    largest = 0
    while opponent_score > 0:
        largest = max(largest, opponent_score % 10)
        opponent_score //= 10
    return largest + 1


@kernel
def swaps(score, other_score):
    """Return whether the last two digits of one score are those of the other reversed."""
    return score % 10 == other_score // 10 % 10 and score // 10 % 10 == other_score % 10


@kernel
def points_to_swap(score, other_score):
    """Return the fewest points, 1 to 100, that make ``score`` swap with ``other_score``."""
    reversed_digits = other_score % 10 * 10 + other_score // 10 % 10
    return (reversed_digits - score - 1) % 100 + 1


@kernel
def sides(score, other_score, exchanges):
    """Return the sides of the dice, 4 or 6, from the scores before the turn and all exchanges so far."""
    wild = (score + other_score) % WILD == 0
    return 4 if wild != (exchanges % 2 == 1) else 6


@kernel
def multiplier(run):
    """Return the factor for a turn without a Pig out after ``run`` Pig outs in a row."""
    return max(1, min(run, LONGEST_RUN))


@kernel
def longer(run):
    """Return the run of Pig outs after one more."""
    return min(run + 1, LONGEST_RUN)


@kernel
def settle(score, other_score, points):
    """Add ``points`` to ``score``, swap if the rule says so, and return (score, other_score)."""
    score += points
    if swaps(score, other_score):
        return other_score, score
    return score, other_score


@kernel
def reset(state):
    """Begin a game: a zeroed record, but without a winner."""
    state.winner = -1


@kernel
def step(state, action):
    """Play one turn; see `dicegym.engine.spec.GameSpec`."""
    me = state.player
    other = 1 - me
    if action < 0 or action >= N_ACTIONS:
        state.winner = other
        state.over = True
        return OUT_OF_RANGE

    number = action + FIRST_NUMBER
    score, other_score = score_of(state, me), score_of(state, other)
    n_sides = sides(score, other_score, state.exchanges[0] + state.exchanges[1])
    rolled = state.rolled[me]
    rolled[:] = 0
    points, ones = np.int64(0), np.int64(0)
    stream = turn_stream(state.key, me, state.turns[me])
    for number_of_die in range(number):
        face = die(stream, number_of_die, n_sides)
        rolled[number_of_die] = face
        points += face
        ones += face == 1
    if number == 0:
        points = np.int64(free_bacon(other_score))
    elif number < 0:
        points = np.int64(EXCHANGE)
        state.exchanges[me] += 1

    run = state.runs[me]
    pig_out = ones > 0
    points = np.int64(PIG_OUT) if pig_out else points * multiplier(run)
    state.runs[me] = longer(run) if pig_out else 0
    state.scores[me], state.scores[other] = settle(score, other_score, points)
    state.chosen[me] = number
    state.turns[me] += 1
    state.player = other
    if max(state.scores[0], state.scores[1]) >= state.goal:
        state.winner = 0 if state.scores[0] > state.scores[1] else 1
        state.over = True
    return 0


@kernel
def legal(state, mask):
    """Allow every number from -1 to 10."""
    for action in range(N_ACTIONS):
        mask[action] = True


@kernel
def observe(state, seat, out):
    """Write the observation of the table above."""
    own, opponent = score_of(state, seat), score_of(state, 1 - seat)
    goal = np.float32(state.goal)
    out[:] = 0
    out[AT.scores] = min(own / goal, 1.0)
    out[AT.scores + 1] = min(opponent / goal, 1.0)
    out[AT.lead] = max(0.0, min(0.5 + 0.5 * (own - opponent) / goal, 1.0))
    out[AT.leading] = own > opponent
    out[AT.own_tens + own // 10 % 10] = 1
    out[AT.own_units + own % 10] = 1
    out[AT.opponent_tens + opponent // 10 % 10] = 1
    out[AT.opponent_units + opponent % 10] = 1
    out[AT.sum_modulo_7 + (own + opponent) % WILD] = 1
    to_swap = points_to_swap(own, opponent)
    out[AT.to_swap] = to_swap / np.float32(100)
    out[AT.to_swap + 1] = min(to_swap / np.float32(20), np.float32(1))
    bacon = free_bacon(opponent)
    out[AT.bacon] = bacon / np.float32(10)
    for run in range(LONGEST_RUN):
        out[AT.bacon_swaps + run] = bacon * multiplier(run + 1) == to_swap
        out[AT.exchange_swaps + run] = EXCHANGE * multiplier(run + 1) == to_swap
    out[AT.bacon_wild] = (own + bacon + opponent) % WILD == 0
    out[AT.exchange_wild] = (own + EXCHANGE + opponent) % WILD == 0
    if state.memory:
        out[AT.run + state.runs[seat]] = 1
        out[AT.exchanges + state.exchanges[seat] % 2] = 1


@kernel
def returns(state, out):
    """Write +1 for the winner and -1 for the loser; 0 before the end."""
    out[:] = 0
    if state.over:
        out[state.winner] = 1
        out[1 - state.winner] = -1


@kernel
def margin(state, out):
    """Write the lead over the goal, own points less the opponent's; a disqualified player is 1 behind."""
    lead = (np.int64(state.scores[0]) - state.scores[1]) / np.int64(state.goal)
    if state.over and max(state.scores[0], state.scores[1]) < state.goal:
        lead = 1.0 if state.winner == 0 else -1.0
    out[0] = lead
    out[1] = -lead


class View(NamedTuple):
    """What a player may know: both scores and, with ``memory``, what it remembers of its own turns."""

    score: int
    opponent_score: int
    goal: int
    run: int
    """Own Pig outs in a row, at most 3; 0 without ``memory``."""
    exchanges: int
    """How often the player exchanged the dice; 0 without ``memory``."""


def view(state: Any, seat: int) -> View:
    """Return the `View` of ``seat``."""
    scores, memory = state["scores"].tolist(), int(state["memory"])
    return View(
        scores[seat],
        scores[1 - seat],
        int(state["goal"]),
        memory * int(state["runs"][seat]),
        memory * int(state["exchanges"][seat]),
    )


SPEC = GameSpec(
    name="hog",
    title="Hog",
    state=STATE,
    kernels=Kernels(reset, step, legal, observe, returns, margin),
    players=(2, 2),
    n_actions=N_ACTIONS,
    features=FEATURES,
    view=view,
    faults=("", "a number of dice outside -1..10"),
    default_opponent="always_roll(5)",
    baseline="always_roll(5)",
    parameters={
        "goal": Parameter(100, 10, 999, "the score that ends a game of Hog"),
        "memory": Parameter(0, 0, 1, "whether Hog players observe what they can remember"),
    },
    games_per_match=9,
    private=frozenset({"runs", "exchanges", "turns", "chosen", "rolled"}),
    sighted={"memory": 1},
    zero_sum=True,
    stage="finished",
)
