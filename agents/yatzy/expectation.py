"""Look ahead over all dice of the turn: keep what leads to the best box on average.

For each set of dice that can be kept it works out the mean of what the turn will be worth, over every way the other
dice can fall, up to the last roll. A score is worth its points less what its box usually brings, so that good
boxes are saved for good dice; in the upper boxes every point above or below three of a kind counts for the bonus
too.
"""

from itertools import combinations_with_replacement
from math import factorial

import numpy as np

PURE = True

USUAL = np.array([2.1, 5.3, 8.6, 12.2, 15.7, 19.2, 10.0, 17.0, 14.4, 11.0, 7.5, 10.5, 15.0, 23.0, 14.0])
BONUS_A_POINT = 0.55  # what a point above par in the upper boxes adds to the mean bonus, found by trying
PAR = np.array([3, 6, 9, 12, 15, 18])

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

WORTH = POINTS - USUAL
WORTH[:, :6] += BONUS_A_POINT * (POINTS[:, :6] - PAR)


def worth_of_boxes(scores):
    """Return what each hand is worth in each box, -1000 where the box is filled."""
    used = np.array([score != "-" for score in scores.split(",")])
    return np.where(used, -1000.0, WORTH)


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
