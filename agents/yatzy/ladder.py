"""Go for a straight as long as one is open, else for the commonest number that is still of use.

It knows which boxes are open, and that a box is filled best by what it was made for: it measures a score against
what the box usually brings, and crosses out the ones first when nothing fits.
"""

PURE = True

USUAL = {1: 2, 2: 5, 3: 8, 4: 12, 5: 15, 6: 19, 7: 10, 8: 17, 9: 13, 10: 8, 11: 7, 12: 9, 13: 12, 14: 22, 15: 9}


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


def rest_after(keep, dice):
    """Return the places of the dice that are left over when one die of each face in keep is kept."""
    places = list(range(5))
    for face in keep:
        for place in places:
            if dice[place] == face:
                places.remove(place)
                break
    return places


def command(standing):
    mover = standing["currentPlayer"]
    scores = next(row["score"] for row in standing["standing"] if row["playerName"] == mover["playerName"])
    dice = mover["dice"]
    boxes = [box for box, score in enumerate(scores.split(","), 1) if score == "-"]
    found = parts(dice)
    best = max(boxes, key=lambda box: found[box][0] - USUAL[box])
    if not mover["rollsLeft"] or (best in (11, 12, 13, 15) and found[best][0]):
        return {"type": "SCORE_BOX", "box": best, "dice": found[best][1]}

    runs = [set(dice) & faces for box, faces in ((12, {2, 3, 4, 5, 6}), (11, {1, 2, 3, 4, 5})) if box in boxes]
    run = max(runs, key=len, default=set())
    useful = [face for face in set(dice) if face in boxes or {9, 10, 15} & set(boxes)] or list(set(dice))
    most = max(useful, key=lambda face: (dice.count(face), face))
    if len(run) >= 4 or (len(run) == 3 and dice.count(most) == 1):
        return {"type": "ROLL_DICE", "dice": rest_after(run, dice)}
    return {"type": "ROLL_DICE", "dice": [place for place in range(5) if dice[place] != most] or [0]}
