"""Read the bids, weigh every answer by what the next player will make of it, and take the best.

Bids tell of dice: whoever bids on a value probably holds some, so each bid of a player tilts the chances of its dice
towards that value and towards the wild six (TILT), and the others will read this player's bids the same way. A
challenge is worth what the tilted chances say. A bid is worth what happens next: for each number of counting dice
that the next player may hold, how likely it is to call a liar, and whether the bid is then true; if it does not, the
round goes on (STILL, FALSE). Among more than two, that is worth less if there is still room for true bids than if the
next one is false and somebody else's: so it bids high at once there (RAISES). Losing a die counts 1, a die that
somebody else loses 1 over the number of others, a regained one GAINED. Among answers of nearly the same worth it
draws, so that it is hard to read itself.
"""

import random
from functools import cache
from math import comb, exp

from player import Player

TILT = 0.9  # how strongly a bid speaks for its value
WILD = 0.4  # the share of it that speaks for sixes
ALONG = 0.1  # how much of it a bid speaks that only raises the last one's quantity
SHARPNESS = 6  # how sharply they decide
GAINED = 1.2  # what a regained die is worth
NOISE = 0.02  # worth up to which answers are the same
# For two players, and for more:
RAISES = 3, 6  # how many quantities of each value are weighed
TRUSTED = 0.55, 0.6  # the others call when a bid looks less likely than this to them
STILL = 0.2, -0.23  # what it is worth when a bid is not challenged: if it is true with one die more
FALSE = 0.2, 0.0  # and if it is not


@cache
def binomial(dice, chance):
    """Return the probabilities of 0..DICE counting dice."""
    return tuple(comb(dice, n) * chance**n * (1 - chance) ** (dice - n) for n in range(dice + 1))


@cache
def together(groups):
    """Return the probabilities of the number of counting dice in GROUPS of (dice, chance of each)."""
    found = (1.0,)
    for dice, chance in groups:
        part = binomial(dice, chance)
        longer = [0.0] * (len(found) + dice)
        for i, p in enumerate(found):
            for j, q in enumerate(part):
                longer[i + j] += p * q
        found = tuple(longer)
    return found


@cache
def at_least(groups, need):
    """Return the probability that at least NEED dice of GROUPS count."""
    return 1.0 if need <= 0 else sum(together(groups)[need:])


@cache
def tilted(bids, tilt, wild):
    """Return the chance that a die of whoever made BIDS counts for each value 1..6 (index 0 unused).

    BIDS is a tuple of (value, how much the bid tells).
    """
    told = [0.0] * 7
    for value, much in bids:
        told[value] += much
    weights = [0.0] + [exp(tilt * min(told[value], 2)) for value in range(1, 7)]
    weights[6] *= exp(tilt * wild * min(sum(told[:6]), 2))
    chances = [weight / sum(weights) for weight in weights]
    return [round(chance + (chances[6] if value < 6 else 0), 4) for value, chance in enumerate(chances)]


def worth_of(quantity, value):
    return 2 * quantity if value == 6 else quantity


class Bayes(Player):
    most = 0

    def move(self, bids, player_dice, n_dice):
        me, players = self.index, len(n_dice)
        self.most = max(self.most, n_dice[me])
        order = [(me + step) % players for step in range(1, players)]
        others = [other for other in order if n_dice[other]]
        own = [player_dice.count(value) + (player_dice.count(6) if value < 6 else 0) for value in range(7)]
        said = self.by_player(bids, n_dice)
        chances = {other: tilted(tuple(said[other]), TILT, WILD) for other in others}
        gain, many = 1 / len(others), len(others) > 1
        worths = {}
        if bids:
            quantity, value = bids[-1]
            groups = tuple((n_dice[other], chances[other][value]) for other in others)
            true = at_least(groups, quantity - own[value])
            exact = true - at_least(groups, quantity - own[value] + 1)
            worths["Liar"] = (1 - true) * gain - true
            bidder = next(other for other in reversed(order) if n_dice[other])
            worths["Spot on, lose two"] = exact * min(2, n_dice[bidder]) * gain - (1 - exact)
            if n_dice[me] < self.most:
                worths["Spot on, gain one"] = exact * GAINED - (1 - exact)
        last = worth_of(*bids[-1]) if bids else 0
        after, rest = others[0], others[1:]
        for value in range(1, 7):
            least = last // 2 + 1 if value == 6 else last + 1
            seen = tilted((*said[me], (value, 1.0)), TILT, WILD)[
                value
            ]  # how the next one reads this hand after the bid
            third = tuple((n_dice[other], chances[other][value]) for other in rest)
            theirs = ((n_dice[me], seen), *third)
            held = binomial(n_dice[after], chances[after][value])
            for quantity in range(least, min(least + RAISES[many], sum(n_dice) + 1)):
                worth = 0.0
                for count, chance in enumerate(held):
                    looks = at_least(theirs, quantity - count)
                    calls = 1 / (1 + exp(SHARPNESS * (looks - TRUSTED[many])))
                    true = at_least(third, quantity - count - own[value])
                    more = at_least(third, quantity + 1 - count - own[value])
                    goes_on = more * STILL[many] + (1 - more) * FALSE[many]
                    worth += chance * (calls * (true * gain - (1 - true)) + (1 - calls) * goes_on)
                worths[quantity, value] = worth
        best = max(worths.values())
        return random.choice([answer for answer, worth in worths.items() if worth >= best - NOISE])

    def by_player(self, bids, n_dice):
        """Return for each player its bids as (value, how much it tells): the last bid was the player's before us.

        Who only goes along with the value bid before tells less (ALONG).
        """
        said = [[] for _ in n_dice]
        player = self.index
        for number in range(len(bids) - 1, -1, -1):
            player = next(other for step in range(1, len(n_dice) + 1) if n_dice[other := (player - step) % len(n_dice)])
            value = bids[number][1]
            along = number > 0 and bids[number - 1][1] == value
            said[player].append((value, ALONG if along else 1.0))
        return said
