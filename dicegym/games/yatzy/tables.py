"""What five dice can show, where they lie, and what each box makes of them: constant tables, and how to read them.

A *set* is some faces whatever their order: 462 sets of 0 to 5 dice, numbered by size and then by faces. The sets of
fewer than five dice can be kept (0..209), those of five are the *hands*; hand h is set ``KEEPS + h``. Values go by set:
float64[462]. Places are bit masks, the sum of 2**place. Boxes count from 0 here, and from 1 in messages.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations_with_replacement

import numpy as np

from dicegym.engine.jit import kernel

SEATS = 6
"""Players that a record has room for."""
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
"""The first boxes, one for each face; their sum earns the bonus."""
PAIR, TWO_PAIRS, THREE, FOUR, SMALL, LARGE, FULL_HOUSE, CHANCE, YATZY = range(UPPER, BOXES)
YATZY_POINTS = 50


def points_of(box: int, faces: tuple[int, ...]) -> int:
    """Return what ``faces``, in rising order, score if exactly these dice are put into ``box``."""
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
"""int16[7**5]: the set of five places, each a face or 0 for none, read as digits of a number of base 7."""
COUNTS: np.ndarray = np.array([[faces.count(face) for face in range(1, FACES + 1)] for faces in SETS], np.int8)
"""int8[462, 6]: how often each face is in each set."""
CODES: np.ndarray = (COUNTS.astype(np.int64) << 4 * np.arange(FACES)).sum(axis=1)
"""int64[462]: the same counts, four bits each, face 1 lowest."""
KEEPABLE: np.ndarray = np.all(COUNTS[None, :KEEPS] <= COUNTS[KEEPS:, None], axis=2)
"""bool[252, 210]: which sets can be kept of each hand."""
WITH: np.ndarray = np.array(
    [[_NUMBERS[tuple(sorted((*faces, face)))] for face in range(1, FACES + 1)] for faces in SETS[:KEEPS]], np.int16
)
"""int16[210, 6]: the set that is left of the first one with one more die."""
POINTS: np.ndarray = np.array([[points_of(box, faces) for box in range(BOXES)] for faces in SETS], np.int8)
"""int8[462, 15]: `points_of` each box and set."""


def after_rolling(values: np.ndarray) -> np.ndarray:
    """Return the mean of ``values`` (float[252, ...]) of the hands that each set is filled up to: float64[462, ...]."""
    means = np.empty((len(SETS), *values.shape[1:]))
    means[KEEPS:] = values
    for number in range(KEEPS - 1, -1, -1):  # one more die makes a set of a higher number
        means[number] = means[WITH[number]].mean(axis=0)
    return means


def best_part(values: np.ndarray) -> np.ndarray:
    """Return the highest of ``values`` (numbers[462, ...]) over all sets that are part of each hand: [252, ...]."""
    best = values.copy()
    for number in range(KEEPS):
        for larger in WITH[number]:
            best[larger] = np.maximum(best[larger], best[number])
    return best[KEEPS:]


BEST: np.ndarray = best_part(POINTS)
"""int8[252, 15]: what each hand scores in each box with its best dice."""
MOST: np.ndarray = BEST.max(axis=0)
"""int8[15]: the highest score of each box."""


def _expected() -> np.ndarray:
    levels = [BEST.astype(np.float64)]
    for _ in range(ROLLS):
        levels.append(best_part(after_rolling(levels[-1])))
    return np.array(levels)


NOW = (BEST / MOST).astype(np.float32)
"""float32[252, 15]: `BEST` over the most of each box."""
IN_SIGHT = (_expected() / MOST).astype(np.float32)
"""float32[3, 252, 15]: by rolls left and hand, the mean score of playing for each box alone, over its most."""
HANDFULS = 1 << DICE
"""Choices of places."""


@kernel
def set_of(dice, places):
    """Return the set of those dice whose places are in the bit mask ``places``."""
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
    """Return the bit mask of the first places whose dice are those of the set ``kept``."""
    wanted, places = CODES[kept], np.int64(0)
    for place in range(DICE):
        shift = 4 * (np.int64(dice[place]) - 1)
        if wanted >> shift & 15:
            wanted -= np.int64(1) << shift
            places |= np.int64(1) << place
    return places


@kernel
def roll_sets(means):
    """Fill ``means`` (float64[462], hands given) with the mean value of each set when its missing dice are rolled."""
    for kept in range(KEEPS - 1, -1, -1):  # one more die makes a set of a higher number
        total = 0.0
        for face in range(FACES):
            total += means[WITH[kept, face]]
        means[kept] = total / FACES


@kernel
def keep_best(means):
    """Raise each hand's value to that of the best set that can be kept of it; spoils the sets."""
    for kept in range(KEEPS):
        for face in range(FACES):
            larger = WITH[kept, face]
            means[larger] = max(means[larger], means[kept])
