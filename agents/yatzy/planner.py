"""Look ahead over all dice of the turn, and value what is left of the game after it almost exactly.

The best play is known: a table over the filled boxes and the sum of the upper ones, too large for a bot. Its
values are fitted here by least squares with 133 numbers, to about 3 points: what each open box is worth (OPEN, on
the left edge), how much more or less each two of them are worth together, and a chance of the bonus as if the points
to come in the open upper boxes were normally distributed. Choosing by them loses 2 points a game.
"""

from itertools import combinations_with_replacement
from math import erf, factorial, sqrt

import numpy as np

PURE = True

OPEN = """
2.96 -0.54 -0.29 0.16 0.62 0.79 -0.07 0.23 0.43 0.85 0.30 0.66 0.76 0.14 1.21
4.31 -0.16 -0.05 0.18 0.20 0.50 0.35 0.51 0.71 0.64 0.99 0.84 0.40 1.49
5.63 -0.13 -0.06 -0.04 0.61 0.60 0.60 1.00 1.00 1.15 0.70 0.71 1.62
7.53 -0.17 -0.15 0.97 0.79 0.57 0.94 1.04 1.26 0.53 0.92 1.69
8.32 -0.07 1.11 1.12 0.35 1.05 1.42 1.34 0.30 1.10 1.71
8.21 1.76 1.41 0.06 1.15 1.59 1.68 0.42 1.54 1.92
16.05 -0.14 0.04 0.95 -0.73 -0.08 0.88 -0.93 0.07
18.30 0.61 1.13 -0.02 0.21 1.07 -0.09 0.53
12.71 2.32 0.42 1.32 0.86 -0.04 2.01
4.95 0.88 1.36 1.69 1.11 2.83
6.51 0.02 0.75 -0.50 -0.09
4.76 1.14 0.29 1.10
10.66 1.08 1.50
26.27 0.73
2.80
"""
"""Row i: open box i alone, then with each of the boxes i + 1 .. 15 that is open too."""
MEAN = np.array([3.57, 3.20, 3.18, 3.20, 3.23, 3.28]) * range(1, 7)
SPREAD = np.array([0.91, 0.97, 0.94, 0.88, 0.75, 0.67]) * range(1, 7)
SHIFT = -0.33
"""Points to come in each open upper box: mean and standard deviation; and what to add to their sum."""

SETS = [faces for n in range(6) for faces in combinations_with_replacement(range(1, 7), n)]
NUMBER = {faces: number for number, faces in enumerate(SETS)}
KEEPS = NUMBER[1, 1, 1, 1, 1]  # the sets before this one have fewer than five dice
HANDS = SETS[KEEPS:]

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

TOGETHER = np.zeros((15, 15))
TOGETHER[np.triu_indices(15)] = [float(number) for number in OPEN.split()]


def bonus_chance(boxes, upper):
    """Return the chance of the bonus, given the open upper boxes (from 0) and their sum so far."""
    if upper >= 63:
        return 1.0
    if not boxes:
        return 0.0
    over = MEAN[boxes].sum() + SHIFT - (63 - upper)
    return 0.5 * (1 + erf(over / sqrt(2 * (SPREAD[boxes] ** 2).sum())))


def worth_of_boxes(scores):
    """Return what each hand is worth in each box: points, bonus and all that follows; -1000 if the box is filled."""
    fields = scores.split(",")
    boxes = [box for box in range(15) if fields[box] == "-"]
    upper = sum(int(score) for score in fields[:6] if score != "-")
    upper_open = [box for box in boxes if box < 6]
    chance = bonus_chance(upper_open, upper)
    worth = np.full(POINTS.shape, -1000.0)
    open_now = np.zeros(15)
    open_now[boxes] = 1
    for box in boxes:
        open_now[box] = 0
        later = open_now @ TOGETHER @ open_now
        open_now[box] = 1
        if box < 6:
            rest = [other for other in upper_open if other != box]
            by_dice = np.array([bonus_chance(rest, upper + n * (box + 1)) for n in range(6)])
            worth[:, box] = POINTS[:, box] + later + 50 * by_dice[POINTS[:, box] // (box + 1)]
        else:
            worth[:, box] = POINTS[:, box] + later + 50 * chance
    return worth


def first_best(values):
    """Return the place of the first value that none exceeds by more than rounding."""
    return int((values > values.max() - ROUNDING).argmax())


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
    scores = next(row["score"] for row in standing["standing"] if row["playerName"] == mover["playerName"])
    dice = mover["dice"]
    hand = NUMBER[tuple(sorted(dice))] - KEEPS
    worth = worth_of_boxes(scores)  # by hand and box
    if mover["rollsLeft"]:
        values = worth.max(axis=1)
        for _ in range(mover["rollsLeft"] - 1):
            values = np.concatenate([CHANCES @ values, values])[PARTS].max(axis=1)
        sets = np.concatenate([CHANCES @ values, worth.max(axis=1)])
        kept = PARTS[hand][first_best(sets[PARTS[hand]])]
        if kept < KEEPS:
            keep = places_of(SETS[kept], dice)
            return {"type": "ROLL_DICE", "dice": [place for place in range(5) if place not in keep]}
    box = first_best(worth[hand])
    return {"type": "SCORE_BOX", "box": box + 1, "dice": places_of(DICE_FOR[hand][box], dice) or [0, 1, 2, 3, 4]}
