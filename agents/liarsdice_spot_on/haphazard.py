"""Bid a little more, or challenge, at random: the least that an opponent can be.

It never looks at its dice. Every fourth move is a challenge of any kind that is allowed.
"""

import random

from player import Player


class Haphazard(Player):
    most = 0

    def move(self, bids, player_dice, n_dice):
        self.most = max(self.most, n_dice[self.index])
        if not bids:
            return 1, random.randint(1, 6)
        quantity, value = bids[-1]
        worth = quantity * (2 if value == 6 else 1)
        if random.random() < 0.25 or worth >= sum(n_dice):
            calls = ["Liar", "Spot on, lose two"]
            return random.choice(calls + ["Spot on, gain one"] * (n_dice[self.index] < self.most))
        value = random.randint(1, 6)
        return (worth // 2 + 1, 6) if value == 6 else (worth + 1, value)
