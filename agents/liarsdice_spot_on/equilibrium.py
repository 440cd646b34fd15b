"""Play an equilibrium of the game for two, as far as the last bids alone are remembered, and drawn with its chances.

Beside this file lies what was computed by counterfactual regret minimisation for every hand of two players with one
to five dice each (`training/equilibrium_table.py`): for the own dice and the last two bids, the
last three where few dice are left, what to play how often. Where it does not say, and at a table of three and more, it
goes by the odds of its own dice: it doubts what is likelier false than true, and else makes one of the raises that
are likeliest true.
"""

import json
import random
import zlib
from functools import cache
from itertools import combinations_with_replacement
from math import comb
from mmap import ACCESS_READ, mmap
from pathlib import Path

from player import Player

FIRST_CALL, UNKNOWN, MIXED = 60, 63, 64  # the bytes of a row: see below
CALLS = "Liar", "Spot on, lose two", "Spot on, gain one"
NEARLY = 0.08  # by the odds: raises up to so much less likely true are as good

with Path(__file__).with_suffix(".table").open("rb") as file:
    LINE = file.readline()
    DATA = mmap(file.fileno(), 0, access=ACCESS_READ)  # of two megabytes a game reads a few hands
HANDS = json.loads(LINE)
if HANDS["game"] != "liarsdice_spot_on" or len(DATA) != len(LINE) + HANDS["bytes"]:
    raise ValueError(
        f"{file.name} is broken off, or another game's: copy it from beside the original of this bot again"
    )


@cache
def rolls(dice):
    """Return the number of each roll of DICE dice."""
    return {roll: number for number, roll in enumerate(combinations_with_replacement(range(1, 7), dice))}


@cache
def hand_of(name):
    """Return the bytes of a hand and the number of its states."""
    begin, states, size = HANDS["places"][name]
    begin += len(LINE)
    return zlib.decompress(DATA[begin : begin + size]), states


@cache
def at_least(dice, need, value):
    """Return the probability that at least NEED of DICE unknown dice count for VALUE."""
    hits = 1 if value == 6 else 2
    return sum(comb(dice, n) * hits**n * (6 - hits) ** (dice - n) for n in range(max(need, 0), dice + 1)) / 6**dice


def choices(own, other, bids):
    """Return [(choice, weight)]: what the table says with the dice OWN against so many after BIDS, or nothing.

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
    number = known[tuple(sorted(own))]
    said = data[row + number]
    if said < UNKNOWN:
        return [(said, 1)]
    if said == UNKNOWN:
        return []
    at = row + len(known) + 2 * sum(byte - MIXED for byte in data[row : row + number] if byte > MIXED)
    return [(data[at + 2 * k], data[at + 2 * k + 1]) for k in range(said - MIXED)]


def by_odds(own, unknown, bids):
    """Return answers that the odds of the dice OWN allow, with UNKNOWN ones elsewhere."""
    counting = [own.count(value) + (own.count(6) if value < 6 else 0) for value in range(7)]
    worth = 0
    if bids:
        quantity, value = bids[-1]
        worth = 2 * quantity if value == 6 else quantity
        if at_least(unknown, quantity - counting[value], value) < 0.5:
            return [CALLS[0]]
    raises = {}
    for value in range(1, 7):
        bid = worth // 2 + 1 if value == 6 else worth + 1
        raises[bid, value] = at_least(unknown, bid - counting[value], value)
    best = max(raises.values())
    return [bid for bid, chance in raises.items() if chance >= best - NEARLY]


class Equilibrium(Player):
    most = 0  # dice that this player has had: "gain one" is for who has fewer

    def move(self, bids, player_dice, n_dice):
        self.most = max(self.most, len(player_dice))
        others = [dice for player, dice in enumerate(n_dice) if dice and player != self.index]
        found = []
        if len(others) == 1:
            found = choices(player_dice, others[0], [(quantity - 1) * 6 + value - 1 for quantity, value in bids])
            if len(player_dice) >= self.most:
                found = [one for one in found if one[0] != FIRST_CALL + CALLS.index("Spot on, gain one")]
        if found:
            (chosen,) = random.choices([choice for choice, _ in found], [weight for _, weight in found])
            return CALLS[chosen - FIRST_CALL] if chosen >= FIRST_CALL else (chosen // 6 + 1, chosen % 6 + 1)
        return random.choice(by_odds(player_dice, sum(others), bids))
