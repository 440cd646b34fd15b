"""Read the bids, weigh every answer by what the next player will make of it, and take the best.

Bids tell of dice: whoever bids on a face probably holds some, so each bid of a player tilts the chances of its dice
towards that face (TILT), and the others will read this player's bids the same way. Calling is worth what the tilted
chances say. A raise is worth what happens next: for each number of matching dice that the next player may hold, how
likely it is to call, and whether the bid is then true. If it does not call, it must raise itself, and that is worth
more if the bid is then false (FALSE) than if it is still true with a die more (STILL): high bids that are true leave
the others nothing true to bid, and it is one of them who is caught. Losing a die counts 1, the loss of another 1 over
their number. Among answers of nearly the same worth it draws, so that it is hard to read itself.
"""

import random
from functools import cache
from math import comb, exp

TILT = 0.7  # how strongly a bid speaks for its face
TRUSTED = 0.68  # the others call when a bid looks less likely than this to them
SHARPNESS = 2.2  # how sharply they decide
STILL = 0.3  # what it is worth when a raise is not called, by the loss of another: if one die more is there
FALSE = 0.97  # and if it is not
NOISE = 0.02  # worth up to which answers are the same


@cache
def binomial(dice, chance):
    """Return the probabilities of 0..DICE matching dice."""
    return tuple(comb(dice, n) * chance**n * (1 - chance) ** (dice - n) for n in range(dice + 1))


@cache
def together(groups):
    """Return the probabilities of the number of matching dice in GROUPS of (dice, chance of each)."""
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
    """Return the probability that at least NEED dice of GROUPS match."""
    return 1.0 if need <= 0 else sum(together(groups)[need:])


@cache
def tilted(bids, tilt):
    """Return the chance of each face 1..6 (index 0 unused) on a die of whoever made BIDS, a tuple of faces."""
    weights = [0.0] + [exp(tilt * min(bids.count(face), 2)) for face in range(1, 7)]
    return [round(weight / sum(weights), 4) for weight in weights]


def choose(own, cups, faces_bid, me, after, last):
    """Return the best play.

    OWN counts own faces; CUPS and FACES_BID are each player's number of dice and faces bid, AFTER who is next.
    """
    others = [name for name in cups if name != me and cups[name]]
    dice = sum(cups.values())
    gain = 1 / len(others)
    chances = {name: tilted(tuple(faces_bid[name]), TILT) for name in others}
    groups = {face: tuple((cups[name], chances[name][face]) for name in others) for face in range(1, 7)}
    quantity, face = divmod(last, 10) if last else (0, 6)
    worths = {}
    if last:
        true = at_least(groups[face], quantity - own[face])
        worths[0] = (1 - true) * gain - true
    third = tuple(name for name in others if name != after)
    for other in range(1, 7):
        least = quantity + (other <= face)
        seen = tilted((*faces_bid[me], other), TILT)[other]  # how the next one reads this hand after the bid
        theirs = ((cups[me], seen), *((cups[name], chances[name][other]) for name in third))
        rest = tuple((cups[name], chances[name][other]) for name in third)
        held = binomial(cups[after], chances[after][other])
        for bid in range(max(least, 1), min(least + 3, dice + 1)):
            worth = 0.0
            for count, chance in enumerate(held):
                looks = at_least(theirs, bid - count)
                calls = 1 / (1 + exp(SHARPNESS * (looks - TRUSTED)))
                true = at_least(rest, bid - count - own[other])
                more = at_least(rest, bid + 1 - count - own[other])
                goes_on = (more * STILL + (1 - more) * FALSE) * gain
                worth += chance * (calls * (true * gain - (1 - true)) + (1 - calls) * goes_on)
            worths[bid * 10 + other] = worth
    best = max(worths.values())
    return random.choice([play for play, worth in worths.items() if worth >= best - NOISE])


def get_play(me, hands, history):
    plays = [play.split(":") for play in history.split(",")] if history else []
    if plays and plays[-1][1] == "0":
        return 0  # a showdown: nothing is asked
    hidden = dict(hand.split(":") for hand in hands.split(","))
    order = list(hidden)
    cups = {name: len(hand) for name, hand in hidden.items()}
    own = [hidden[me].count(str(face)) for face in range(7)]
    faces_bid = {name: [int(bid) % 10 for who, bid in plays if who == name] for name in order}
    place = order.index(me)
    after = next(name for name in order[place + 1 :] + order[:place] if cups[name])
    return choose(own, cups, faces_bid, me, after, int(plays[-1][1]) if plays else 0)
