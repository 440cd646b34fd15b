"""Fill the upper boxes with three or more of a kind for the bonus, and spend cheap boxes on bad luck.

It keeps what most of the open boxes want: three or more equal dice, two pairs while the full house is open, four
of a straight, else the commonest number whose upper box is open, high numbers first. A score is weighed against
what its box usually brings; in the upper boxes three of a kind is par, and each die above it counts for the
bonus of 50 points.
"""

PURE = True

USUAL = {7: 10.5, 8: 17.0, 9: 14.5, 10: 11.0, 11: 6.0, 12: 9.0, 13: 14.0, 14: 23.0, 15: 14.0}


def parts(dice):
    """Return (points, places) by box: the most that the dice score there, and with which of them."""
    where = {face: [place for place in range(5) if dice[place] == face] for face in range(1, 7)}
    found = {box: (0, [0, 1, 2, 3, 4]) for box in range(1, 16)}

    def offer(box, places, points=None):
        points = sum(dice[place] for place in places) if points is None else points
        if points > found[box][0]:
            found[box] = (points, places)

    pairs = [face for face in range(6, 0, -1) if len(where[face]) >= 2]
    for face in range(1, 7):
        offer(face, where[face])
        for box, n in ((7, 2), (9, 3), (10, 4)):
            if len(where[face]) >= n:
                offer(box, where[face][:n])
    if len(pairs) >= 2:
        offer(8, where[pairs[0]][:2] + where[pairs[1]][:2])
        if max(len(where[face]) for face in pairs) == 3:
            offer(13, [0, 1, 2, 3, 4])
    if sorted(dice) == [1, 2, 3, 4, 5]:
        offer(11, [0, 1, 2, 3, 4])
    if sorted(dice) == [2, 3, 4, 5, 6]:
        offer(12, [0, 1, 2, 3, 4])
    offer(14, [0, 1, 2, 3, 4])
    if len(set(dice)) == 1:
        offer(15, [0, 1, 2, 3, 4], 50)
    return found


def weight(box, points):
    """Return how good a score is for its box."""
    if box <= 6:
        return 1.6 * (points - 3 * box) + (0.5 if points >= 3 * box else 0)
    return points - USUAL[box]


def keeping(faces, dice):
    """Return the places to roll if these faces are kept."""
    places, left = [], list(faces)
    for place in range(5):
        if dice[place] in left:
            left.remove(dice[place])
        else:
            places.append(place)
    return places


def wanted(boxes, dice):
    """Return the faces worth keeping."""
    count = {face: dice.count(face) for face in range(1, 7)}
    pairs = [face for face in range(6, 0, -1) if count[face] >= 2]
    high = {7, 8, 9, 10, 13, 15} & boxes

    def merit(face):
        return count[face] * 10 + (8 if face in boxes else 0) + (face if face in boxes or high else 0)

    most = max(count, key=merit)
    if count[most] >= 3 and (most in boxes or {10, 15} & boxes):
        return [most] * count[most]
    if len(pairs) == 2 and {13, 8} & boxes and not (pairs[0] in boxes and count[pairs[0]] >= 3):
        return [face for face in pairs for _ in range(min(3, count[face]))]
    for box, run in ((12, {2, 3, 4, 5, 6}), (11, {1, 2, 3, 4, 5})):
        if box in boxes and len(run & set(dice)) >= 4:
            return sorted(run & set(dice))
    if boxes <= {11, 12}:
        return sorted(set(dice) & ({2, 3, 4, 5, 6} if 12 in boxes else {1, 2, 3, 4, 5}))
    if boxes == {14}:
        return [face for face in dice if face >= 4]
    return [most] * count[most]


def command(standing):
    mover = standing["currentPlayer"]
    scores = next(row["score"] for row in standing["standing"] if row["playerName"] == mover["playerName"])
    dice = mover["dice"]
    boxes = {box for box, score in enumerate(scores.split(","), 1) if score == "-"}
    found = parts(dice)
    best = max(sorted(boxes), key=lambda box: weight(box, found[box][0]))
    rolls = keeping(wanted(boxes, dice), dice)
    made = best in (11, 12, 13, 15) and found[best][0] > 0
    if mover["rollsLeft"] and rolls and not made:
        return {"type": "ROLL_DICE", "dice": rolls}
    return {"type": "SCORE_BOX", "box": best, "dice": found[best][1]}
