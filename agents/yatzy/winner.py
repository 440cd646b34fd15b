"""Play for the first place, against up to five others: points count as far as they help to be ahead at the end.

What everybody's points to come are like is known from the filled boxes and the sum of the upper ones: for one who plays
for the highest mean, all 1,430,528 positions have been solved. Beside this file a table holds four numbers of each as
products of a few columns: mean and variance of the points without the bonus, the chance of the bonus, and how far the
two go together. With three boxes open or fewer, distributions are computed exactly. From the others' follows how often
each final total wins; from its own, how often each end of the turn does.
"""

import json
import zlib
from functools import lru_cache
from itertools import combinations_with_replacement
from math import erf, factorial, sqrt
from pathlib import Path

import numpy as np

PURE = True

SETS = [faces for n in range(6) for faces in combinations_with_replacement(range(1, 7), n)]
NUMBER = {faces: number for number, faces in enumerate(SETS)}
KEEPS = NUMBER[1, 1, 1, 1, 1]  # the sets before this one have fewer than five dice
HANDS = SETS[KEEPS:]

BOXES = 15
ALL = (1 << BOXES) - 1
BONUS_FROM, BONUS = 63, 50
TOTALS = 375
EXACT = 3
"""Open boxes up to which distributions are computed."""

ROUNDING = 1e-9  # sums of products differ by less from machine to machine; a choice must not


def chances(kept):
    """Return the probability of each hand when the missing dice of a kept set are rolled."""
    row = np.zeros(len(HANDS))
    n = 5 - len(kept)
    for rolled in combinations_with_replacement(range(1, 7), n):
        ways = factorial(n)
        for face in set(rolled):
            ways //= factorial(rolled.count(face))
        row[NUMBER[tuple(sorted(kept + rolled))] - KEEPS] += ways / 6**n
    return row


def parts_of(hand):
    """Return the numbers of all sets that are part of a hand, itself included; padded to 32 by repeating."""
    found = {NUMBER[tuple(hand[i] for i in range(5) if mask >> i & 1)] for mask in range(32)}
    return (sorted(found) * 32)[:32]


CHANCES = np.array([chances(kept) for kept in SETS[:KEEPS]])
PARTS = np.array([parts_of(hand) for hand in HANDS])


def best_dice(box, hand):
    """Return the faces that score most in a box, and the points; no faces if nothing scores."""
    count = {face: hand.count(face) for face in range(6, 0, -1)}
    pairs = [face for face in count if count[face] >= 2]
    faces = ()
    if box <= 6:
        faces = (box,) * count[box]
    elif box in (7, 9, 10):
        n = {7: 2, 9: 3, 10: 4}[box]
        faces = next(((face,) * n for face in count if count[face] >= n), ())
    elif box == 8 and len(pairs) == 2:
        faces = tuple(face for face in pairs for _ in range(2))
    elif (
        box == 14
        or (box == 11 and hand == (1, 2, 3, 4, 5))
        or (box == 12 and hand == (2, 3, 4, 5, 6))
        or (box == 13 and len(pairs) == 2 and 3 in count.values())
        or (box == 15 and len(set(hand)) == 1)
    ):
        faces = hand
    return faces, (50 if box == 15 and faces else sum(faces))


DICE_FOR = [[best_dice(box, hand)[0] for box in range(1, 16)] for hand in HANDS]
POINTS = np.array([[best_dice(box, hand)[1] for box in range(1, 16)] for hand in HANDS])


def places():
    """Return the number of each set of upper boxes and their sum, up to 63; -1 if it cannot be."""
    possible = np.zeros((64, BONUS_FROM + 1), bool)
    possible[0, 0] = True
    for boxes in range(1, 64):
        box = boxes.bit_length() - 1
        for points in range(0, 6 * (box + 1), box + 1):
            sums = np.minimum(np.flatnonzero(possible[boxes ^ 1 << box]) + points, BONUS_FROM)
            possible[boxes, sums] = True
    return np.where(possible, possible.cumsum().reshape(possible.shape) - 1, -1)


PLACES = places()
N_PLACES = int(PLACES.max()) + 1


def columns():
    """Return the four numbers, each as (by place, by lower boxes): float64[rank, places] and float64[rank, 512]."""
    with Path(__file__).with_suffix(".table").open("rb") as file:
        told = json.loads(file.readline())  # how many columns each number has, and in which steps they are written
        low, high = np.frombuffer(zlib.decompress(file.read()), np.uint8).reshape(2, -1).astype(np.int64)
    steps, found, at = iter(told["steps"]), [], 0
    numbers = low + 256 * high - 32768
    for rank in told["ranks"]:
        pair = []
        for length in (N_PLACES, 512):
            block = numbers[at : at + rank * length].reshape(rank, length)
            pair.append(block * np.array([next(steps) for _ in range(rank)])[:, None])
            at += rank * length
        found.append(pair)
    return found


COLUMNS = columns()
NORMAL_AT = np.arange(-6000, 6001) / 1000
NORMAL = np.array([0.5 * (1 + erf(x / sqrt(2))) for x in NORMAL_AT])
EDGES = np.array([-1e9, *(np.arange(1, TOTALS) - 0.5), 1e9])


def summary(filled, upper):
    """Return mean and variance without the bonus, the chance of the bonus, and their covariance."""
    place, lower = PLACES[filled & 63, upper], filled >> 6
    return [float(by_place[:, place] @ by_lower[:, lower]) for by_place, by_lower in COLUMNS]


@lru_cache(maxsize=4096)
def nearly(filled, upper):
    """Return the distribution of the points to come as two normal ones, with the bonus and without."""
    mean, variance, bonus, together = summary(filled, upper)
    bonus = min(max(bonus, 0.0), 1.0) if upper < BONUS_FROM else 0.0
    spread = bonus * (1 - bonus)
    apart = together / spread if spread > 0.001 else 0.0
    deviation = sqrt(max(variance - apart * together, 0.25))
    row = np.zeros(TOTALS)
    for likely, middle in ((1 - bonus, mean - bonus * apart), (bonus, mean + (1 - bonus) * apart + BONUS)):
        if likely > 0:
            row += likely * np.diff(np.interp((EDGES - middle) / deviation, NORMAL_AT, NORMAL))
    return row


def after(filled, upper, box, points):
    """Return what scoring earns, and the position after it."""
    later = min(upper + points, BONUS_FROM) if box < 6 else upper
    return points + (BONUS if upper < BONUS_FROM <= later else 0), filled | 1 << box, later


def to_come(filled, upper):
    """Return the distribution of the points to come, for one who plays for their mean."""
    open_boxes = [box for box in range(BOXES) if not filled >> box & 1]
    if len(open_boxes) > EXACT:
        return nearly(filled, upper)
    if upper + sum(5 * (box + 1) for box in open_boxes if box < 6) < BONUS_FROM:
        upper = 0  # whatever it is: there will be no bonus
    return exactly(filled, upper)


@lru_cache(maxsize=4096)
def exactly(filled, upper):
    """Return the same by going through all that can be rolled."""
    row = np.zeros(TOTALS)
    if filled == ALL:
        row[0] = 1
        return row
    later, worth = {}, np.full(POINTS.shape, -1000.0)
    for box in range(BOXES):
        if not filled >> box & 1:
            for points in np.unique(POINTS[:, box]).tolist():
                earned, boxes, total = after(filled, upper, box, points)
                rows = to_come(boxes, total)
                later[box, points] = earned, rows
                worth[POINTS[:, box] == points, box] = earned + rows @ np.arange(TOTALS)
    scored, best, choices = worth.max(axis=1), worth.max(axis=1), []
    for _ in range(2):
        choice, best = keep(np.concatenate([CHANCES @ best, scored]))
        choices.append(choice)
    final, rolled = np.zeros(len(HANDS)), CHANCES[0]
    for choice in reversed(choices):
        likely = np.bincount(choice, rolled, len(SETS))
        final, rolled = final + likely[KEEPS:], likely[:KEEPS] @ CHANCES
    final += rolled
    boxes = first_bests(worth)
    for (box, points), (earned, rows) in later.items():
        likely = final[(boxes == box) & (POINTS[:, box] == points)].sum()
        if likely > 0:
            row[earned:] += likely * rows[: TOTALS - earned]
    return row


def keep(worths):
    """Return the best set to keep of each hand, and what it is worth."""
    choice = PARTS[np.arange(len(HANDS)), first_bests(worths[PARTS])]
    return choice, worths[choice]


def first_bests(values):
    """Return the place of the first value in each row that none exceeds by more than rounding."""
    return (values > values.max(axis=1, keepdims=True) - ROUNDING).argmax(axis=1)


def standing_of(scores):
    """Return the filled boxes (bits), the sum of the upper ones, at most 63, and the points so far, from a message."""
    fields = scores.split(",")
    filled = sum(1 << box for box in range(BOXES) if fields[box] != "-")
    upper = sum(int(score) for score in fields[:6] if score != "-")
    points = sum(int(score) for score in fields if score != "-")
    return filled, min(upper, BONUS_FROM), points + (BONUS if upper >= BONUS_FROM else 0)


def prizes(others):
    """Return the share of the first place that each final total gets: against each of the others' distributions."""
    ties = [np.ones(TOTALS)]  # how likely nobody is above, and so many are equal
    for equal in others:
        below = np.concatenate([[0.0], equal.cumsum()[:-1]])
        more = [*(row * below for row in ties), np.zeros(TOTALS)]
        for n, row in enumerate(ties):
            more[n + 1] = more[n + 1] + row * equal
        ties = more
    return sum(row / (n + 1) for n, row in enumerate(ties))


def shifted(row, points):
    """Return a distribution of points to come as one of totals."""
    moved = np.zeros(TOTALS)
    moved[points:] = row[: TOTALS - points]
    moved[-1] += row[TOTALS - points :].sum()
    return moved


def worth_of_boxes(mine, others):
    """Return what each hand is worth in each box: the share of the first place; alone, points."""
    filled, upper, points_so_far = standing_of(mine)
    prize = prizes([shifted(to_come(boxes, total), points) for boxes, total, points in map(standing_of, others)])
    if not others:
        prize = np.arange(TOTALS) * 1.0
    worth = np.full(POINTS.shape, -1000.0)
    for box in range(BOXES):
        if not filled >> box & 1:
            for points in np.unique(POINTS[:, box]).tolist():
                earned, boxes, total = after(filled, upper, box, points)
                share = shifted(to_come(boxes, total), points_so_far + earned) @ prize
                worth[POINTS[:, box] == points, box] = share
    return worth


def places_of(faces, dice):
    """Return the places of dice that show these faces."""
    places = list(range(5))
    found = []
    for face in faces:
        place = next(place for place in places if dice[place] == face)
        places.remove(place)
        found.append(place)
    return found


def command(standing):
    mover = standing["currentPlayer"]
    mine = [row["score"] for row in standing["standing"] if row["playerName"] == mover["playerName"]]
    others = [row["score"] for row in standing["standing"] if row["playerName"] != mover["playerName"]]
    dice = mover["dice"]
    hand = NUMBER[tuple(sorted(dice))] - KEEPS
    worth = worth_of_boxes(mine[0], others)  # by hand and box
    if mover["rollsLeft"]:
        scored = best = worth.max(axis=1)
        for _ in range(mover["rollsLeft"] - 1):
            best = keep(np.concatenate([CHANCES @ best, scored]))[1]
        kept = keep(np.concatenate([CHANCES @ best, scored]))[0][hand]
        if kept < KEEPS:
            held = places_of(SETS[kept], dice)
            return {"type": "ROLL_DICE", "dice": [place for place in range(5) if place not in held]}
    box = int(first_bests(worth[hand : hand + 1])[0])
    return {"type": "SCORE_BOX", "box": box + 1, "dice": places_of(DICE_FOR[hand][box], dice) or [0, 1, 2, 3, 4]}
