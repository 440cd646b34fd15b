"""Yatzy: fifteen rounds, in each of which every player rolls up to three times and fills one box.

Turn
    It begins with five dice rolled and two rolls left. The player rolls some of the dice again while rolls are left,
    or scores an open box, which ends the turn. Dice that are not rolled keep their places.

Boxes
    ===  ===============  ======================================  ====================
    box  name             asks for                                scores
    ===  ===============  ======================================  ====================
    1    Ones             one or more 1s                          their sum
    2    Twos             one or more 2s                          their sum
    3    Threes           one or more 3s                          their sum
    4    Fours            one or more 4s                          their sum
    5    Fives            one or more 5s                          their sum
    6    Sixes            one or more 6s                          their sum
    7    One Pair         two equal dice                          their sum
    8    Two Pairs        two pairs of different numbers          the sum of the four
    9    Three of a Kind  three equal dice                        their sum
    10   Four of a Kind   four equal dice                         their sum
    11   Small Straight   1-2-3-4-5                               15
    12   Large Straight   2-3-4-5-6                               20
    13   Full House       three equal dice, two of another kind   the sum of all
    14   Chance           any five dice                           the sum of all
    15   Yatzy            five equal dice                         50
    ===  ===============  ======================================  ====================

    A box can be scored once. It takes exactly the dice that it asks for: any others score 0. The environments' actions
    choose the best dice for the box. A sum of 63 or more in boxes 1 to 6 earns 50 points more.

Errors
    An illegal action changes nothing and is a fault. After the tenth in a turn the server plays the turn: it scores the
    open box with the most points for the dice shown, the first of equal ones. When it plays for a player the second
    time, it also plays all later turns of that player, each with its first roll. Players are not told of each other's
    errors, or for whom the server plays.

    =======  ====================================================================
    fault    meaning
    =======  ====================================================================
    fault 1  a whole number that is no action, or a command that cannot be read
    fault 2  a roll when none is left
    fault 3  a box that is filled
    fault 4  dice to keep that are not shown
    fault 5  a roll of no dice
    fault 6  the server plays the turn, as it does for players that do not answer
    =======  ====================================================================

Messages
    Bots play by messages of a server. After every change it sends a STANDING to all bots of a table, with a separate
    one for each turn that it plays for a player that has given up. An original client, which logs in with
    {"key": "LOGIN", "secret": ...} alone, gets only a STANDING each time it is to move: in a separate write, with
    scores as an array (-1: an open box).

End: after the fifteenth round.

Parameters: none.

Actions: ``Discrete(225)``
    ========  ========================================================================================
    action    meaning
    ========  ========================================================================================
    0         roll all five dice again
    1..209    keep this set of dice and roll the others: 1..6 one die (1, 2, ...), 7..27 two (1-1, 1-2, ...),
              28..83 three, 84..209 four, in lexicographic order; of equal dice the first places are kept
    210..224  score box 1..15 with the best dice for it
    ========  ========================================================================================
    Wide actions, which name dice by places 0..4 as messages do; ``places`` is the sum of 2**place:
    ``256 + places`` rolls these dice again; ``512 + 32 * (box - 1) + places`` scores a box with exactly these
    dice; ``1000`` lets the server play the turn (fault 6).

Observation: ``Box(0, 1, (236,))``, the same for 1 to 6 players
    ==============  =========  ====================================================================
    part            length     meaning
    ==============  =========  ====================================================================
    counts          30         for each face, whether the dice show at least 1, 2, .. 5 of it
    sorted dice     30         one-hot: the faces in rising order
    own turn        1          1 if the seat is to move; the dice shown are those of the player to move
    rolls left      3          one-hot: 0, 1, 2
    rounds left     1          own open boxes over 15
    open            15         own open boxes
    now             15         what the dice shown score in each open box, over its most
    in sight        15         mean score of playing for this box alone, over its most, if it is open
    upper           4          own sum of boxes 1 to 6 over 63, and the points missing to 63 over 63, both at most
                               1; 1 if the bonus is reached; 1 if it can still be reached
    par             21         one-hot: own points in filled upper boxes, less three of each number,
                               -10 and below .. 10 and above
    total           1          own points and bonus so far over 374, the most there can be
    presence        5          for the seats to the left, in order: 1 if somebody sits there
    totals          5          theirs: points and bonus so far over 374
    leads           10         twice: own total less theirs, from -374..374 to 0..1; from -50..50 to 0..1
    uppers          5          their sums of boxes 1 to 6 over 63, at most 1
    their open      5 * 15     their open boxes
    ==============  =========  ====================================================================

Rewards: alone, the points of each box when it is scored, and the bonus when it is reached. With others, nothing
before the end; then the mean over the other seats of +1 for a higher total, -1 for a lower and 0 for an equal one.
With ``reward="margin"``, which needs other players, each action pays the change of the lead (own points - the others'
mean) / 100, so the sum is the final lead.

Version history
    v0: first version.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.dice import die, turn_stream
from dicegym.engine.features import Features
from dicegym.engine.game import Game
from dicegym.engine.jit import kernel
from dicegym.engine.loops import Kernels
from dicegym.engine.spec import GameSpec, record

# --- dice and boxes --------------------------------------------------------------------------------------------------
# A *set* is some faces in any order: 462 sets of 0 to 5 dice, numbered by size and then by faces. Sets of fewer than
# five dice can be kept (0..209), those of five are the *hands*; hand h is set ``KEEPS + h``. Values of sets are
# float64[462]. Places are bit masks, the sum of 2**place. Boxes count from 0 here, and from 1 in messages.

SEATS = 6
"""The most players, and so the size of fields by seat."""
FACES = 6
DICE = 5
ROLLS = 2
"""How often dice can be rolled again in a turn."""
BOX_NAMES = (
    "Ones",
    "Twos",
    "Threes",
    "Fours",
    "Fives",
    "Sixes",
    "One Pair",
    "Two Pairs",
    "Three of a Kind",
    "Four of a Kind",
    "Small Straight",
    "Large Straight",
    "Full House",
    "Chance",
    "Yatzy",
)
BOXES = len(BOX_NAMES)
UPPER = FACES
"""Number of the upper boxes, the first ones, one for each face; their sum earns the bonus."""
PAIR, TWO_PAIRS, THREE, FOUR, SMALL, LARGE, FULL_HOUSE, CHANCE, YATZY = range(UPPER, BOXES)
YATZY_POINTS = 50


def points_of(box: int, faces: tuple[int, ...]) -> int:
    """Return the score of exactly these dice in ``box``; ``faces`` are in rising order."""
    pattern = sorted(Counter(faces).values())
    if box < UPPER:
        fits = set(faces) == {box + 1}
    elif box == YATZY:
        return YATZY_POINTS if pattern == [DICE] else 0
    else:
        fits = {
            PAIR: pattern == [2],
            TWO_PAIRS: pattern == [2, 2],
            THREE: pattern == [3],
            FOUR: pattern == [4],
            SMALL: faces == (1, 2, 3, 4, 5),
            LARGE: faces == (2, 3, 4, 5, 6),
            FULL_HOUSE: pattern == [2, 3],
            CHANCE: len(faces) == DICE,
        }[box]
    return sum(faces) if fits else 0


SETS: tuple[tuple[int, ...], ...] = tuple(
    chain.from_iterable(combinations_with_replacement(range(1, FACES + 1), n) for n in range(DICE + 1))
)
"""The faces of each set, in rising order."""
KEEPS = sum(len(faces) < DICE for faces in SETS)
HANDS = len(SETS) - KEEPS
PLACE_VALUES = (FACES + 1) ** np.arange(DICE)

_NUMBERS = {faces: number for number, faces in enumerate(SETS)}


def _set_of() -> np.ndarray:
    places = np.indices((FACES + 1,) * DICE).reshape(DICE, -1)[::-1]  # column i: the digits of i, lowest first
    rising = np.sort(places, axis=0)
    codes = np.zeros((FACES + 1) ** DICE, np.int16)
    for number, faces in enumerate(SETS):
        codes[PLACE_VALUES[DICE - len(faces) :] @ np.array(faces, np.int64)] = number
    found: np.ndarray = codes[PLACE_VALUES @ rising]
    return found


SET_OF: np.ndarray = _set_of()
"""int16[7**5]: the set of the dice in five places; the index has a base-7 digit for each place, its face or 0."""
COUNTS: np.ndarray = np.array([[faces.count(face) for face in range(1, FACES + 1)] for faces in SETS], np.int8)
"""int8[462, 6]: how often each face is in each set."""
CODES: np.ndarray = (COUNTS.astype(np.int64) << 4 * np.arange(FACES)).sum(axis=1)
"""int64[462]: `COUNTS`, four bits each, face 1 lowest."""
KEEPABLE: np.ndarray = np.all(COUNTS[None, :KEEPS] <= COUNTS[KEEPS:, None], axis=2)
"""bool[252, 210]: the sets that can be kept of each hand."""
WITH: np.ndarray = np.array(
    [[_NUMBERS[tuple(sorted((*faces, face)))] for face in range(1, FACES + 1)] for faces in SETS[:KEEPS]], np.int16
)
"""int16[210, 6]: the set with one more die of each face."""
POINTS: np.ndarray = np.array([[points_of(box, faces) for box in range(BOXES)] for faces in SETS], np.int8)
"""int8[462, 15]: `points_of` each box and set."""


def after_rolling(values: np.ndarray) -> np.ndarray:
    """Return the mean of ``values`` (float[252, ...], of hands) after filling each set by a roll: float64[462, ...]."""
    means = np.empty((len(SETS), *values.shape[1:]))
    means[KEEPS:] = values
    for number in range(KEEPS - 1, -1, -1):  # one more die makes a set of a higher number
        means[number] = means[WITH[number]].mean(axis=0)
    return means


def best_part(values: np.ndarray) -> np.ndarray:
    """Return the highest of ``values`` of sets (numbers[462, ...]) among all parts of each hand: [252, ...]."""
    best = values.copy()
    for number in range(KEEPS):
        for larger in WITH[number]:
            best[larger] = np.maximum(best[larger], best[number])
    return best[KEEPS:]


BEST: np.ndarray = best_part(POINTS)
"""int8[252, 15]: score of each hand in each box with its best dice."""
MOST: np.ndarray = BEST.max(axis=0)
"""int8[15]: the highest score of each box."""


NOW = (BEST / MOST).astype(np.float32)
"""float32[252, 15]: `BEST` over `MOST`."""
_LEVELS = [BEST.astype(np.float64)]
for _ in range(ROLLS):
    _LEVELS.append(best_part(after_rolling(_LEVELS[-1])))
IN_SIGHT = (np.array(_LEVELS) / MOST).astype(np.float32)
"""float32[3, 252, 15]: by rolls left and hand, the mean score of playing for each box alone, over `MOST`."""
HANDFULS = 1 << DICE
"""Number of choices of places."""


@kernel
def set_of(dice, places):
    """Return the set of the dice in the bit mask ``places``."""
    index = np.int64(0)
    for place in range(DICE - 1, -1, -1):
        index *= FACES + 1
        if places >> place & 1:
            index += dice[place]
    return np.int64(SET_OF[index])


@kernel
def hand_of(dice):
    """Return the hand that five dice show."""
    return set_of(dice, HANDFULS - 1) - KEEPS


@kernel
def places_kept(dice, kept):
    """Return the bit mask of the first places that show the set ``kept``."""
    wanted, places = CODES[kept], np.int64(0)
    for place in range(DICE):
        shift = 4 * (np.int64(dice[place]) - 1)
        if wanted >> shift & 15:
            wanted -= np.int64(1) << shift
            places |= np.int64(1) << place
    return places


@kernel
def roll_sets(means):
    """Write the mean value of each set, when its missing dice are rolled, to ``means`` (float64[462], hands given)."""
    for kept in range(KEEPS - 1, -1, -1):  # one more die makes a set of a higher number
        total = 0.0
        for face in range(FACES):
            total += means[WITH[kept, face]]
        means[kept] = total / FACES


@kernel
def keep_best(means):
    """Raise each hand's value to that of its best part; values of the sets are overwritten."""
    for kept in range(KEEPS):
        for face in range(FACES):
            larger = WITH[kept, face]
            means[larger] = max(means[larger], means[kept])


# --- the game --------------------------------------------------------------------------------------------------------

BONUS_FROM, BONUS = 63, 50
MOST_TOTAL = int(MOST.sum()) + BONUS
MARGIN = 100
"""Points of a lead that count as 1."""
MOST_ERRORS = 10
"""After this many errors in a turn the server plays it."""
MOST_HELP = 2
"""After playing this many turns of a player, the server plays all others too."""
N_ACTIONS = KEEPS + BOXES
FIRST_BOX = KEEPS
"""The action that scores box 1 with its best dice."""
ROLL_PLACES = 256
SCORE_PLACES = 512
SERVER_TURN = 1000
BAD_COMMAND, NO_ROLLS_LEFT, USED_BOX, NOT_SHOWN, NO_DICE, SERVER_PLAYS = range(1, 7)
PAR = 3
"""With this many dice of each number, the upper boxes just earn the bonus."""
PAR_STEPS, NEAR = 10, 50
"""Limits in the observation of points above or below par, and of leads in finer steps."""

STATE = record(
    [
        ("round_number", np.int8),  # (): 1..15
        ("dice", np.int8, (DICE,)),  # per place: face shown
        ("rolls_left", np.int8),  # (): 0..2
        ("scores", np.int8, (SEATS, BOXES)),  # per seat and box: points, -1 while it is open
        ("totals", np.int16, (SEATS,)),  # per seat: sum of all boxes
        ("upper", np.int16, (SEATS,)),  # per seat: sum of the boxes 1 to 6
        ("errors", np.int8),  # (): illegal actions in this turn
        ("helped", np.int8, (SEATS,)),  # per seat: turns that the server played for it, at most MOST_HELP
    ]
)

OTHERS = SEATS - 1
FEATURES = Features(
    {
        "counts": FACES * DICE,
        "sorted dice": DICE * FACES,
        "own turn": 1,
        "rolls left": ROLLS + 1,
        "rounds left": 1,
        "open": BOXES,
        "now": BOXES,
        "in sight": BOXES,
        "upper": 4,
        "par": 2 * PAR_STEPS + 1,
        "total": 1,
        "presence": OTHERS,
        "totals": OTHERS,
        "leads": 2 * OTHERS,
        "uppers": OTHERS,
        "their open": OTHERS * BOXES,
    }
)
AT = FEATURES.offsets

HAND_ENDS = AT.sorted_dice + DICE * FACES
HAND = np.zeros((HANDS, HAND_ENDS), np.float32)
"""float32[252, 60]: the first parts of an observation, to the end of "sorted dice", by hand."""
HAND[:, AT.counts :][:, : FACES * DICE] = (COUNTS[KEEPS:, :, None] > np.arange(DICE)).reshape(HANDS, -1)
HAND[:, AT.sorted_dice :] = (np.array(SETS[KEEPS:])[:, :, None] == np.arange(1, FACES + 1)).reshape(HANDS, -1)


@kernel
def bonus(upper):
    """Return the bonus for a sum of the upper boxes."""
    return BONUS if upper >= BONUS_FROM else 0


@kernel
def total(state, seat):
    """Return a seat's points so far, the bonus included."""
    return int(state.totals[seat]) + bonus(state.upper[seat])


@kernel
def roll(state, places):
    """Roll the dice in the bit mask ``places``; each roll of a turn has a different draw for each place."""
    stream = turn_stream(state.key, state.player, state.round_number)
    first = (ROLLS - state.rolls_left) * DICE
    for place in range(DICE):
        if places >> place & 1:
            state.dice[place] = die(stream, first + place, FACES)


@kernel
def score(state, box, points):
    """Fill a box of the player to move."""
    me = state.player
    state.scores[me, box] = points
    state.totals[me] += points
    if box < UPPER:
        state.upper[me] += points


@kernel
def best_box(state):
    """Return the open box with the most points for the dice shown, the first of equal ones."""
    scores, hand = state.scores[state.player], hand_of(state.dice)
    best = -1
    for box in range(BOXES):
        if scores[box] < 0 and (best < 0 or BEST[hand, box] > BEST[hand, best]):
            best = box
    return best


@kernel
def score_best(state):
    """Fill the `best_box`."""
    box = best_box(state)
    score(state, box, BEST[hand_of(state.dice), box])


@kernel
def begin_turn(state):
    """Begin a turn of the player to move: roll five dice."""
    state.errors = 0
    state.rolls_left = ROLLS
    roll(state, HANDFULS - 1)


@kernel
def end_turn(state):
    """Continue with the next player that plays for itself, or end the game."""
    while True:
        state.player += 1
        if state.player == state.players:
            state.player = 0
            state.round_number += 1
            if state.round_number > BOXES:
                state.round_number = BOXES
                state.over = True
                return
        begin_turn(state)
        if state.helped[state.player] < MOST_HELP:
            return
        score_best(state)


@kernel
def help_out(state):
    """Let the server play the turn."""
    state.helped[state.player] += 1
    score_best(state)
    end_turn(state)


@kernel
def reset(state):
    """Open all boxes and roll for player 0."""
    state.scores[:] = -1
    state.round_number = 1
    begin_turn(state)


@kernel
def play(state, action):
    """Play a legal action and return 0, or return the fault of an illegal one."""
    rolled = np.int64(-1)  # places
    box = np.int64(-1)
    put = np.int64(0)  # set of dice
    if 0 <= action < KEEPS:
        if state.rolls_left > 0 and not KEEPABLE[hand_of(state.dice), action]:
            return NOT_SHOWN
        rolled = HANDFULS - 1 - places_kept(state.dice, action)
    elif FIRST_BOX <= action < N_ACTIONS:
        box = action - FIRST_BOX
    elif ROLL_PLACES <= action < ROLL_PLACES + HANDFULS:
        rolled = action - ROLL_PLACES
    elif SCORE_PLACES <= action < SCORE_PLACES + BOXES * HANDFULS:
        box = (action - SCORE_PLACES) // HANDFULS
        put = set_of(state.dice, (action - SCORE_PLACES) % HANDFULS)
    else:
        return BAD_COMMAND
    if box < 0:
        if state.rolls_left == 0:
            return NO_ROLLS_LEFT
        if rolled == 0:
            return NO_DICE
        state.rolls_left -= 1
        roll(state, rolled)
        return 0
    if state.scores[state.player, box] >= 0:
        return USED_BOX
    score(state, box, BEST[hand_of(state.dice), box] if action < N_ACTIONS else POINTS[put, box])
    end_turn(state)
    return 0


@kernel
def step(state, action):
    """Play one decision; see `dicegym.engine.spec.GameSpec`."""
    if action == SERVER_TURN:
        help_out(state)
        return SERVER_PLAYS
    fault = play(state, action)
    if fault:
        state.errors += 1
        if state.errors == MOST_ERRORS:
            help_out(state)
    return fault


@kernel
def legal(state, mask):
    """Allow keeping parts of the hand while rolls are left, and scoring open boxes."""
    hand, more = hand_of(state.dice), state.rolls_left > 0
    for kept in range(KEEPS):  # five times as fast as assigning a slice
        mask[kept] = more & KEEPABLE[hand, kept]
    scores = state.scores[state.player]
    for box in range(BOXES):
        mask[FIRST_BOX + box] = scores[box] < 0


@kernel
def observe(state, seat, out):
    """Write the observation of the table above."""
    out[:] = 0
    hand, left = hand_of(state.dice), state.rolls_left
    for i in range(HAND_ENDS):  # faster than assigning slices, or a loop for each part
        out[i] = HAND[hand, i]
    out[AT.own_turn] = seat == state.player
    out[AT.rolls_left + left] = 1
    n_open, upper, par = 0, int(state.upper[seat]), 0
    reachable = upper
    scores = state.scores[seat]
    for box in range(BOXES):
        if scores[box] < 0:
            n_open += 1
            out[AT.open + box] = 1
            out[AT.now + box] = NOW[hand, box]
            out[AT.in_sight + box] = IN_SIGHT[left, hand, box]
    for box in range(UPPER):
        if scores[box] < 0:
            reachable += DICE * (box + 1)
        else:
            par += int(scores[box]) - PAR * (box + 1)
    out[AT.rounds_left] = n_open / BOXES
    out[AT.upper] = min(upper / BONUS_FROM, 1.0)
    out[AT.upper + 1] = max(BONUS_FROM - upper, 0) / BONUS_FROM
    out[AT.upper + 2] = upper >= BONUS_FROM
    out[AT.upper + 3] = reachable >= BONUS_FROM
    out[AT.par + PAR_STEPS + max(-PAR_STEPS, min(par, PAR_STEPS))] = 1
    points = total(state, seat)
    out[AT.total] = min(points / MOST_TOTAL, 1.0)
    other = seat
    for i in range(state.players - 1):
        other += 1
        if other == state.players:
            other = 0
        theirs = total(state, other)
        lead = points - theirs
        out[AT.presence + i] = 1
        out[AT.totals + i] = min(theirs / MOST_TOTAL, 1.0)
        out[AT.leads + 2 * i] = max(0.0, min(0.5 + 0.5 * lead / MOST_TOTAL, 1.0))
        out[AT.leads + 2 * i + 1] = max(0.0, min(0.5 + 0.5 * lead / NEAR, 1.0))
        out[AT.uppers + i] = min(int(state.upper[other]) / BONUS_FROM, 1.0)
        scores = state.scores[other]
        for box in range(BOXES):
            out[AT.their_open + BOXES * i + box] = scores[box] < 0


@kernel
def returns(state, out):
    """Write the points so far for a player alone; with others, the mean result against each, 0 before the end."""
    players = state.players
    if players == 1:
        out[0] = total(state, 0)
        return
    out[:] = 0
    if state.over:
        for seat in range(players):
            points = total(state, seat)
            better = 0
            for other in range(players):
                theirs = total(state, other)
                better += (points > theirs) - (points < theirs)
            out[seat] = better / (players - 1)


@kernel
def margin(state, out):
    """Write the own points so far less the others' mean, over `MARGIN`; 0 alone."""
    players = np.int64(state.players)
    points = np.int64(0)
    for seat in range(players):
        points += total(state, seat)
    for seat in range(players):
        lead = players * np.int64(total(state, seat)) - points
        out[seat] = lead / (MARGIN * max(np.int64(1), players - 1))


class View(NamedTuple):
    """What a player may know: everything on the table."""

    seat: int
    player: int
    """The seat to move."""
    round_number: int
    rolls_left: int
    dice: tuple[int, ...]
    """The face in each of five places."""
    scores: tuple[tuple[int, ...], ...]
    """By seat and box (from 0): points, -1 while the box is open."""


def view(state: Any, seat: int) -> View:
    """Return the `View` of ``seat``."""
    player, round_number, rolls_left = (int(state[name]) for name in ("player", "round_number", "rolls_left"))
    scores = tuple(map(tuple, state["scores"][: state["players"]].tolist()))
    return View(seat, player, round_number, rolls_left, tuple(state["dice"].tolist()), scores)


def read_fields(shown: View) -> dict[str, Any]:
    """Return {field: value} of the record from a `View`; exported bots use it to read a standing."""
    players, scores = len(shown.scores), np.full((SEATS, BOXES), -1, np.int64)
    scores[:players] = shown.scores
    points = np.maximum(scores, 0)
    return {
        "players": players,
        "player": shown.player,
        "round_number": shown.round_number,
        "dice": shown.dice,
        "rolls_left": shown.rolls_left,
        "scores": scores,
        "totals": points.sum(axis=1),
        "upper": points[:, :UPPER].sum(axis=1),
        "over": bool((scores[:players] >= 0).all()),
    }


def record_of(game: Game, shown: View) -> Any:
    """Return a record of ``game`` that matches a `View`; secret fields are as in a new game."""
    state = game.new_states(1)[0]
    for name, value in read_fields(shown).items():
        state[name] = value
    return state


SPEC = GameSpec(
    name="yatzy",
    title="Yatzy",
    state=STATE,
    kernels=Kernels(reset, step, legal, observe, returns, margin),
    players=(1, SEATS),
    n_actions=N_ACTIONS,
    features=FEATURES,
    view=view,
    faults=(
        "",
        "a command that means nothing",
        "a roll when none is left",
        "a box that is filled",
        "dice to keep that are not shown",
        "a roll of no dice",
        "the server played the turn",
    ),
    games_per_match=20,
    default_opponent={"in_order": 1, "at_once": 1, "gather": 1},
    baseline="thrifty",
    default_players=2,
    secret=frozenset({"errors", "helped"}),
    forfeit=SERVER_TURN,
    zero_sum=True,
    stage="finished",
)
