"""Keep the number that is shown most often, roll the others, then score what is worth most.

Five of a kind is the dream; whatever comes of it goes into the box that pays most at the moment, so sixes end
in the pair and the ones are left for last. Of equally many it keeps the higher number.
"""

PURE = True


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


def command(standing):
    mover = standing["currentPlayer"]
    scores = next(row["score"] for row in standing["standing"] if row["playerName"] == mover["playerName"])
    dice = mover["dice"]
    most = max(set(dice), key=lambda face: (dice.count(face), face))
    others = [place for place in range(5) if dice[place] != most]
    if mover["rollsLeft"] and others:
        return {"type": "ROLL_DICE", "dice": others}
    found = parts(dice)
    best = max((box for box, score in enumerate(scores.split(","), 1) if score == "-"), key=lambda box: found[box][0])
    return {"type": "SCORE_BOX", "box": best, "dice": found[best][1]}
