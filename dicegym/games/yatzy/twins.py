"""Yatzy's twins: agents of ``agents/yatzy`` as kernels, each the same strategy.

They answer as files do, with the wide actions that name dice by places, and of equal dice take those in the first.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.dice import bot_stream, draw
from dicegym.engine.jit import kernel
from dicegym.engine.twins import twin
from dicegym.games.yatzy import twins_planner
from dicegym.games.yatzy.hands import HANDFULS, first_places, hand_of, places_kept
from dicegym.games.yatzy.rules import PAR, ROLL_PLACES, SCORE_PLACES
from dicegym.games.yatzy.tables import (
    BEST,
    BOXES,
    CHANCE,
    COUNTS,
    DICE,
    FACES,
    FOUR,
    FULL_HOUSE,
    HANDS,
    KEEPABLE,
    KEEPS,
    LARGE,
    PAIR,
    POINTS,
    ROLLS,
    SMALL,
    THREE,
    TWO_PAIRS,
    UPPER,
    YATZY,
)

_PART_THAT_SCORES = (KEEPABLE[:, :, None] * POINTS[:KEEPS]).argmax(axis=1)
PUT = np.where(POINTS[KEEPS:] == BEST, KEEPS + np.arange(HANDS)[:, None], _PART_THAT_SCORES)
"""int64[252, 15]: the set of dice of each hand that scores most in each box; all dice if nothing scores."""
COMMONEST = (COUNTS[KEEPS:] * (FACES + 1) + np.arange(1, FACES + 1)).argmax(axis=1)
"""int64[252]: the face (from 0) that each hand shows most often, of equally many the highest."""
ALL_PLACES = HANDFULS - 1
LOW_RUN, HIGH_RUN = 0b011111, 0b111110
"""The faces of the straights, one bit each, face 1 lowest."""
MADE = np.isin(np.arange(BOXES), (SMALL, LARGE, FULL_HOUSE, YATZY))
"""The boxes that are scored at once when they are the best and score at all."""

_LADDER_USUAL = np.array([2, 5, 8, 12, 15, 19, 10, 17, 13, 8, 7, 9, 12, 22, 9])
LADDER_WEIGHT = (BEST - _LADDER_USUAL).astype(np.float64)
THRIFTY_WEIGHT = BEST - np.array([0.0] * UPPER + [10.5, 17.0, 14.5, 11.0, 6.0, 9.0, 14.0, 23.0, 14.0])
"""float64[252, 15]: how good the points of each hand are for each box."""
_OVER = BEST[:, :UPPER] - PAR * np.arange(1, UPPER + 1)
THRIFTY_WEIGHT[:, :UPPER] = 1.6 * _OVER + np.where(_OVER >= 0, 0.5, 0.0)
POINTS_ALONE = BEST.astype(np.float64)
_FACE_BITS = 4  # of a face in the codes of sets


@kernel
def scored(state, box):
    """Return the action that scores a box with its best dice, with all if none score."""
    return SCORE_PLACES + HANDFULS * box + places_kept(state.dice, PUT[hand_of(state.dice), box])


@kernel
def rolled(places):
    """Return the action that rolls all dice but those in these places."""
    return ROLL_PLACES + ALL_PLACES - places


@kernel
def best_box(state, weights):
    """Return the open box with the highest weight for the hand shown, of equal ones the first."""
    scores, hand = state.scores[state.player], hand_of(state.dice)
    best = -1
    for box in range(BOXES):
        if scores[box] < 0 and (best < 0 or weights[hand, box] > weights[hand, best]):
            best = box
    return best


@kernel
def is_made(state, box):
    """Return whether a box scores all five dice as they are."""
    return MADE[box] and BEST[hand_of(state.dice), box] > 0


@kernel
def open_boxes(state):
    """Return the open boxes of the player to move, one bit each, box 0 lowest."""
    boxes = 0
    for box in range(BOXES):
        boxes |= (state.scores[state.player, box] < 0) << box
    return boxes


@kernel
def some_of(faces, hand, most):
    """Return as many of each of these faces (bits) as a hand shows, ``most`` at most, coded as `first_places` reads."""
    wanted = np.int64(0)
    for face in range(FACES):
        if faces >> face & 1:
            wanted |= np.int64(min(COUNTS[KEEPS + hand, face], most)) << _FACE_BITS * face
    return wanted


@kernel
def faces_shown(hand, least):
    """Return the faces of which a hand shows so many at least (bits), and how many faces those are."""
    faces, n = 0, 0
    for face in range(FACES):
        if COUNTS[KEEPS + hand, face] >= least:
            faces |= 1 << face
            n += 1
    return faces, n


@kernel
def size(faces):
    """Return the number of bits."""
    n = 0
    while faces:
        n += faces & 1
        faces >>= 1
    return n


@twin("gather", file="9d2e1d259e363a30")
@kernel
def gather(state):
    """Keep the commonest number; then take what pays most."""
    if state.rolls_left > 0:
        most = COMMONEST[hand_of(state.dice)] + 1
        places = 0
        for place in range(DICE):
            places |= (state.dice[place] == most) << place
        if places != ALL_PLACES:
            return rolled(places)
    return scored(state, best_box(state, POINTS_ALONE))


@kernel
def thrifty_faces(boxes, hand):
    """Return what `thrifty` keeps of a hand, coded as `first_places` reads."""
    pays_high = (1 << PAIR | 1 << TWO_PAIRS | 1 << THREE | 1 << FOUR | 1 << FULL_HOUSE | 1 << YATZY) & boxes
    counts = COUNTS[KEEPS + hand]
    most, merit = 0, -1
    for face in range(FACES):
        wanted = boxes >> face & 1
        value = counts[face] * 10 + 8 * wanted + (face + 1 if wanted or pays_high else 0)
        if value > merit:
            most, merit = face, value
    if counts[most] >= 3 and (boxes >> most & 1 or (1 << FOUR | 1 << YATZY) & boxes):
        return some_of(1 << most, hand, DICE)
    pairs, n = faces_shown(hand, 2)
    higher = FACES - 1
    while higher > 0 and not pairs >> higher & 1:
        higher -= 1
    if n == 2 and (1 << FULL_HOUSE | 1 << TWO_PAIRS) & boxes and not (boxes >> higher & 1 and counts[higher] >= 3):
        return some_of(pairs, hand, 3)
    shown, _ = faces_shown(hand, 1)
    if boxes >> LARGE & 1 and size(HIGH_RUN & shown) >= 4:
        return some_of(HIGH_RUN, hand, 1)
    if boxes >> SMALL & 1 and size(LOW_RUN & shown) >= 4:
        return some_of(LOW_RUN, hand, 1)
    if boxes & ~(1 << SMALL | 1 << LARGE) == 0:
        return some_of(HIGH_RUN if boxes >> LARGE & 1 else LOW_RUN, hand, 1)
    if boxes == 1 << CHANCE:
        return some_of(0b111000, hand, DICE)
    return some_of(1 << most, hand, DICE)


@twin("thrifty", file="b93a0f81c77a958b")
@kernel
def thrifty(state):
    """Keep what most open boxes want; take what is most above what its box usually brings."""
    best = best_box(state, THRIFTY_WEIGHT)
    if state.rolls_left > 0 and not is_made(state, best):
        places = first_places(state.dice, thrifty_faces(open_boxes(state), hand_of(state.dice)))
        if places != ALL_PLACES:
            return rolled(places)
    return scored(state, best)


@twin("ladder", file="0b1ee91492086c7f")
@kernel
def ladder(state):
    """Keep most of a straight, else the commonest number that is of use."""
    best = best_box(state, LADDER_WEIGHT)
    if state.rolls_left == 0 or is_made(state, best):
        return scored(state, best)
    boxes, hand = open_boxes(state), hand_of(state.dice)
    counts = COUNTS[KEEPS + hand]
    shown, _ = faces_shown(hand, 1)
    run = shown & HIGH_RUN if boxes >> LARGE & 1 else 0
    if boxes >> SMALL & 1 and size(shown & LOW_RUN) > size(run):
        run = shown & LOW_RUN
    useful = shown & boxes
    if (1 << THREE | 1 << FOUR | 1 << YATZY) & boxes or useful == 0:
        useful = shown
    most = -1
    for face in range(FACES):
        if useful >> face & 1 and (most < 0 or counts[face] >= counts[most]):
            most = face
    length = size(run)
    if length >= 4 or (length == 3 and counts[most] == 1):
        return rolled(first_places(state.dice, some_of(run, hand, 1)))
    places = first_places(state.dice, some_of(1 << most, hand, DICE))
    return ROLL_PLACES + 1 if places == ALL_PLACES else rolled(places)


@twin("in_order", file="c94327f7004ca43a")
@kernel
def in_order(state):
    """Score the first open box."""
    box = 0
    while state.scores[state.player, box] >= 0:
        box += 1
    return scored(state, box)


@twin("haphazard", file="01b8b639bb3f66cb")
@kernel
def haphazard(state):
    """Name one to five dice at random; roll them, half the time, or put them into any open box."""
    me = state.player
    stream = bot_stream(state.key, me, np.int64(state.round_number) * (ROLLS + 1) + state.rolls_left)
    left = draw(stream, 0, DICE) + 1
    places = 0
    for place in range(DICE):  # each of the subsets of this size is as likely
        if draw(stream, 1 + place, DICE - place) < left:
            places |= 1 << place
            left -= 1
    if state.rolls_left > 0 and draw(stream, DICE + 1, 2) == 0:
        return ROLL_PLACES + places
    boxes = open_boxes(state)
    nth = draw(stream, DICE + 2, size(boxes))
    box = 0
    while nth > 0 or not boxes >> box & 1:
        nth -= boxes >> box & 1
        box += 1
    return SCORE_PLACES + HANDFULS * box + places


@kernel
def looked_ahead(state, kept, box):
    """Return the action for what is kept, and the box to score if that is all dice."""
    return rolled(places_kept(state.dice, kept)) if kept < KEEPS else scored(state, box)


@twin("planner", file="d7690e1967069582")
@kernel
def planner(state):
    """Look ahead to the end of the turn; see `twins_planner.planner`."""
    kept, box = twins_planner.planner(state)
    return looked_ahead(state, kept, box)


@twin("expectation", file="3fbeae04825e3ee1")
@kernel
def expectation(state):
    """Look one roll ahead; see `twins_planner.expectation`."""
    kept, box = twins_planner.expectation(state)
    return looked_ahead(state, kept, box)


@twin("at_once", file="195da2671a7e627d")
@kernel
def at_once(state):
    """Score the first hand where it pays most."""
    return scored(state, best_box(state, POINTS_ALONE))
