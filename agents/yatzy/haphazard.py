"""Do anything legal at random: roll some dice again, or fill some open box with some dice, often for nothing.

The least that an opponent can be. It draws anew each time it is asked.
"""

import random


def command(standing):
    mover = standing["currentPlayer"]
    scores = next(row["score"] for row in standing["standing"] if row["playerName"] == mover["playerName"])
    dice = random.sample(range(5), random.randint(1, 5))
    if mover["rollsLeft"] and random.random() < 0.5:
        return {"type": "ROLL_DICE", "dice": dice}
    boxes = [box for box, score in enumerate(scores.split(","), 1) if score == "-"]
    return {"type": "SCORE_BOX", "box": random.choice(boxes), "dice": dice}
