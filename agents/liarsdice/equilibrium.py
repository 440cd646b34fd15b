"""Play an equilibrium of the game for two, as far as the last bids alone are remembered, and drawn with its chances.

Beside this file lies what was computed by counterfactual regret minimisation for every hand of two players with one
to five dice each (`training/equilibrium_table.py`): for the own dice and the last two bids, the last three
where few dice are left, what to play how often. Where it does not say, and at a table of three and more, it goes by
the odds of its own dice: it doubts what is likelier false than true, and else makes one of the raises that are
likeliest true.
"""

import json
import random
import zlib
from functools import cache
from itertools import combinations_with_replacement
from math import comb
from mmap import ACCESS_READ, mmap
from pathlib import Path

FIRST_CALL, UNKNOWN, MIXED = 60, 63, 64  # the bytes of a row: see below
NEARLY = 0.08  # by the odds: raises up to so much less likely true are as good

with Path(__file__).with_suffix(".table").open("rb") as file:
    LINE = file.readline()
    DATA = mmap(file.fileno(), 0, access=ACCESS_READ)  # of two megabytes a game reads a few hands
HANDS = json.loads(LINE)
if HANDS["game"] != "liarsdice" or len(DATA) != len(LINE) + HANDS["bytes"]:
    raise ValueError(
        f"{file.name} is broken off, or another game's: copy it from beside the original of this bot again"
    )


@cache
def rolls(dice):
    """Return the number of each roll of DICE dice, written as text."""
    return {"".join(roll): number for number, roll in enumerate(combinations_with_replacement("123456", dice))}


@cache
def hand_of(name):
    """Return the bytes of a hand and the number of its states."""
    begin, states, size = HANDS["places"][name]
    begin += len(LINE)
    return zlib.decompress(DATA[begin : begin + size]), states


@cache
def at_least(dice, need):
    """Return the probability that at least NEED of DICE unknown dice show a face."""
    return sum(comb(dice, n) * 5 ** (dice - n) for n in range(max(need, 0), dice + 1)) / 6**dice


def choices(own, other, bids):
    """Return [(play, weight)]: what the table says with the dice OWN against so many after BIDS, or nothing.

    A hand is: its states, as the last bids, one byte each; 4 bytes for each, where its row is; the rows. A row has a
    byte for each roll: below 63 the bid or call itself, above 64 how many (choice, weight) behind the row are its.
    """
    hand = f"{len(own)}{other}"
    if hand not in HANDS["places"] or not all(0 <= bid < FIRST_CALL for bid in bids):
        return []
    data, states = hand_of(hand)
    recall = HANDS["recall"][hand]
    key = bytes(bids[-recall:]).ljust(recall, b"\xff")
    low, high = 0, states
    while low < high:
        middle = (low + high) // 2
        at = middle * recall
        if data[at : at + recall] < key:
            low = middle + 1
        else:
            high = middle
    at = low * recall
    if low == states or data[at : at + recall] != key:
        return []
    at = states * recall + 4 * low
    row = states * (recall + 4) + int.from_bytes(data[at : at + 4], "little")
    known = rolls(len(own))
    number = known["".join(sorted(own))]
    said = data[row + number]
    if said < UNKNOWN:
        return [(said, 1)]
    if said == UNKNOWN:
        return []
    at = row + len(known) + 2 * sum(byte - MIXED for byte in data[row : row + number] if byte > MIXED)
    return [(data[at + 2 * k], data[at + 2 * k + 1]) for k in range(said - MIXED)]


def by_odds(own, unknown, last):
    """Return plays that the odds of the dice OWN allow, with UNKNOWN ones elsewhere: 0, or the likeliest raises."""
    quantity, face = divmod(last, 10) if last else (0, 6)
    if last and at_least(unknown, quantity - own.count(str(face))) < 0.5:
        return [0]
    raises = {}
    for other in range(1, 7):
        bid = quantity + (other <= face)
        raises[bid * 10 + other] = at_least(unknown, bid - own.count(str(other)))
    best = max(raises.values())
    return [play for play, chance in raises.items() if chance >= best - NEARLY]


def get_play(me, hands, history):
    plays = [int(play.split(":")[1]) for play in history.split(",")] if history else []
    if plays and plays[-1] == 0:
        return 0  # a showdown: nothing is asked
    cups = dict(hand.split(":") for hand in hands.split(","))
    own = cups.pop(me)
    others = [len(dice) for dice in cups.values() if dice]
    found = []
    if len(others) == 1:
        found = choices(own, others[0], [(play // 10 - 1) * 6 + play % 10 - 1 for play in plays])
    if found:
        (chosen,) = random.choices([choice for choice, _ in found], [weight for _, weight in found])
        return 0 if chosen >= FIRST_CALL else (chosen // 6 + 1) * 10 + chosen % 6 + 1
    return random.choice(by_odds(own, sum(others), plays[-1] if plays else 0))
