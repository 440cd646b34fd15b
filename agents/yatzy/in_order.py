"""Fill the boxes from top to bottom, each with the dice of the first roll.

It never rolls again, and knows no more of the rules than which dice go where: what a program does that has just
learned to talk to the server.
"""

PURE = True


def dice_for(box, dice):
    """Return the places of the dice that suit the box best, all of them if none do."""
    count = {face: dice.count(face) for face in range(6, 0, -1)}
    wanted = []  # (face, how many)
    if box <= 6:
        wanted = [(box, count[box])]
    elif box in (7, 9, 10):
        n = {7: 2, 9: 3, 10: 4}[box]
        wanted = [(face, n) for face in count if count[face] >= n][:1]
    elif box == 8:
        pairs = [(face, 2) for face in count if count[face] >= 2]
        wanted = pairs[:2] if len(pairs) >= 2 else []
    places = []
    for face, n in wanted:
        places += [place for place in range(5) if dice[place] == face][:n]
    return places or [0, 1, 2, 3, 4]


def command(standing):
    mover = standing["currentPlayer"]
    scores = next(row["score"] for row in standing["standing"] if row["playerName"] == mover["playerName"])
    box = scores.split(",").index("-") + 1
    return {"type": "SCORE_BOX", "box": box, "dice": dice_for(box, mover["dice"])}
