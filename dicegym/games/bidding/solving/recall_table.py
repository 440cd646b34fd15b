"""Strategies that remember the last bids alone, in one small file that a bot reads with a few lines.

They are an equilibrium of an abstraction: counterfactual regret minimisation where a player remembers the last two
bids of a hand, or three with few dice (Neller and Hnath, "Approximating optimal Dudo play with fixed-strategy iteration
counterfactual regret minimization", ACG 2011). ``training/equilibrium_table.py`` writes the files that ship.

A file is one line of JSON, then the hands, each compressed by zlib. The line has ``recall``, ``places`` and ``values``
for each hand, by own and the other's dice as two digits (``"52"``): how many bids its states have; its offset after the
line, its number of states and its compressed size; and the probability that its opener wins the game. ``bytes`` and
``crc32`` are those of all data after the line. A hand is

- the states, sorted: one byte for each bid, by its action, padded with 255;
- the offset of each state's row in the rows, 4 bytes, the lowest first;
- the rows: one byte for each own roll, in the order of ``itertools.combinations_with_replacement``. Below 63 it is the
  choice: a bid by its action, or 60 and the number of a call. 63: unknown, as it never occurs. 64 and n: one of n
  choices, which follow the row in turn, two bytes for each: the choice and its weight.

Where the file says nothing, players go by the odds of their own dice: they call the last bid a lie if it is likelier
false than true, and otherwise make the likeliest raises.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import DamagedFileError
from dicegym.games import game as make_game
from dicegym.games.bidding.solving.hand import BidPath, Dice, Worth, ending_values, tabulate
from dicegym.games.bidding.solving.hand_values import HandValues
from dicegym.games.bidding.table import FACES, N_BIDS

RAREST = 5e-4
"""Bids with a smaller probability before the roll are left out: nearly half of all with five dice each."""
FIRST_CALL = 60
UNKNOWN = 63
MIXED = 64
NO_BID = 255
MOST_ROLLS = 64
"""The number of cached sweeps, one for each own roll, of a megabyte at most."""
NEARLY = 0.08
"""By the odds, a raise is as good as the likeliest if its probability is less by at most this."""


class StateGroup(NamedTuple):
    """Public states that differ in the oldest remembered bid alone, so the same bids lead to the same states."""

    last: int
    """The number of the last bid; -1 before any bid."""
    members: list[BidPath]
    """The states: the remembered bids."""
    bids: np.ndarray
    """int64[bids]: the bids that may follow."""
    leads: list[tuple[int, int]]
    """The state after each of them: the numbers of its group and of the member there."""


class Side:
    """The states of a hand in which the player with ``own`` dice is to move, as place 0 of ``hand``.

    Args:
        game: a game for two.
        own: the player's dice.
        others: the other's dice.
        recall: how many bids are remembered, at least 2.

    Attributes:
        hand: the hand.
        groups: all groups; bids lead to later groups, and the first group is the beginning.
        states: the numbers of the group and of the member of each state.
        actions: by group int64[choices]: the legal actions, bids before calls.
        cells: by group float64[choices, members, rolls]: the probabilities of a table; empty without one.
    """

    def __init__(self, game: Game, own: int, others: int, recall: int) -> None:
        self.hand, self.recall = tabulate(game, own, others, RAREST), recall
        self.mine, self.theirs = self.hand.rolls
        first, n_bids = self.hand.first, len(self.hand.bids)
        by_last: list[set[BidPath]] = [{(bid,)} for bid in range(n_bids)]
        for bid, known in enumerate(by_last):  # all states that end with a bid are complete before it is raised
            for raised in range(int(first[bid + 1]), n_bids):
                by_last[raised] |= {(*state, raised)[-recall:] for state in known}
        members: dict[BidPath, list[BidPath]] = {(): [()]}
        for known in by_last:
            for state in sorted(known):
                members.setdefault(state[1 - recall :], []).append(state)
        order = sorted(members, key=lambda key: (key[-1:], key))
        self.states = {state: (number, at) for number, key in enumerate(order) for at, state in enumerate(members[key])}
        self.groups: list[StateGroup] = []
        for key in order:
            last = key[-1] if key else -1
            bids = np.arange(first[last + 1], n_bids)
            leads = [self.states[(*members[key][0], bid)[-recall:]] for bid in bids.tolist()]
            self.groups.append(StateGroup(last, members[key], bids, leads))
        self.actions = [
            np.concatenate([self.hand.bids[group.bids], self.hand.calls[0] if number else ()]).astype(np.int64)
            for number, group in enumerate(self.groups)
        ]
        self.cells: list[np.ndarray] = []

    def find(self, path: BidPath) -> tuple[int, int]:
        """Return the numbers of the group and of the member after these bids, which may be all of a hand."""
        return self.states[path[-self.recall :]]

    def after_calls(self, worth: Worth) -> np.ndarray:
        """Return the mover's win probability after its calls: float64[bids, calls, matching dice]."""
        found: np.ndarray = self.hand.wins(ending_values(self.hand, worth, 0), 0)[0]
        return found[:, : len(self.hand.calls[0])]


def worth_of(opens: Mapping[Dice, float]) -> Worth:
    """Return the worths of hands from the opener's win probabilities."""
    return Worth(dict(opens), {dice: 1 - chance for dice, chance in opens.items()})


def encode(actions: np.ndarray) -> np.ndarray:
    """Return the bytes that encode actions in a file, as int64."""
    return np.where(actions < N_BIDS, actions, FIRST_CALL + actions - N_BIDS)


class RecallTable:
    """The strategies of one file for one game. Hands are read on first use.

    Args:
        game: a game for two; the file must have hands of its dice.
        file: the file.

    Attributes:
        told: the first line of the file.

    Raises:
        DamagedFileError: the file is not a table, or it was changed.
    """

    def __init__(self, game: Game, file: Path) -> None:
        self.game = game
        line, _, self._data = file.read_bytes().partition(b"\n")
        try:
            self.told = json.loads(line)
            whole = zlib.crc32(self._data) == self.told["crc32"] and "dice" in self.told
        except (ValueError, KeyError, TypeError, RecursionError):
            whole = False
        if not whole:
            raise DamagedFileError(file, "is damaged", "install dicegym again: the table ships with it")
        opens = {(int(key[0]), int(key[1])): float(value) for key, value in self.told["values"].items()}
        self.worth = worth_of(opens)
        self.hand = lru_cache(maxsize=None)(self._read)
        self.known_sweep = lru_cache(maxsize=MOST_ROLLS)(self.sweep)

    def fits(self) -> bool:
        """Return whether its hands are those of the game: it has as many dice, or dice are never regained."""
        dice = int(self.told["dice"])
        after_one = tabulate(make_game(self.game.name, players=2, dice=dice), 1, 1, RAREST).endings
        return dice == self.game.parameters["dice"] or all(sum(end[:2]) < 2 for end in after_one)

    def sweep(self, own: int, others: int, roll: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return values with an own roll: by group float64[members, other rolls], when moving and when waiting.

        Choices are summed one after the other, so values are the same to the last digit on all machines.
        """
        mine, theirs = self.hand(own, others), self.hand(others, own)
        groups, n_rolls = mine.groups, len(mine.theirs.chances)
        calls, their_calls = mine.after_calls(self.worth), theirs.after_calls(self.worth)
        moving, waiting = ([np.zeros((len(group.members), n_rolls)) for group in groups] for _ in range(2))
        for number in range(len(groups) - 1, -1, -1):
            group, played, answered = groups[number], mine.cells[number][:, :, roll, None], theirs.cells[number]
            for choice, (to, member) in enumerate(group.leads):
                moving[number] += played[choice] * waiting[to][member]
                waiting[number] += answered[choice] * moving[to][member]
            if number:
                counts, other_counts = mine.hand.counting[:, group.last]
                found = counts[roll] + other_counts[:n_rolls]
                for share, worth in zip(played[len(group.bids) :], calls[group.last], strict=True):
                    moving[number] += share * worth[found]
                for part, worth in zip(answered[len(group.bids) :], their_calls[group.last], strict=True):
                    waiting[number] += part * (1 - worth[found])
        return moving, waiting

    def _read(self, own: int, others: int) -> Side:
        """Return the side with ``own`` dice of a hand."""
        key = f"{own}{others}"
        recall = int(self.told["recall"][key])
        side = Side(self.game, own, others, recall)
        side.cells = [
            np.zeros((len(actions), len(group.members), len(side.mine.chances)))
            for group, actions in zip(side.groups, side.actions, strict=True)
        ]
        begin, size, packed = self.told["places"][key]
        data = zlib.decompress(self._data[begin : begin + packed])
        keys = np.frombuffer(data, np.uint8, size * recall).reshape(size, recall)
        places = np.frombuffer(data, "<u4", size, size * recall)
        for state, place in zip(keys, places, strict=True):
            path = side.hand.numbers_of(state[state != NO_BID])
            if path is not None:
                number, member = side.states[path]
                _read_row(data, size * (recall + 4) + int(place), side.actions[number], side.cells[number][:, member])
        true = _chances(side)
        for number, weights in enumerate(side.cells):
            lacking = weights.sum(axis=0) == 0
            weights[:, lacking] = np.broadcast_to(_by_odds(side, number, true)[:, None], weights.shape)[:, lacking]
            np.divide(weights, weights.sum(axis=0), out=weights)
        return side


class RecallStrategy:
    """The strategy of a table for a hand; see `dicegym.games.bidding.solving.hand_values.HandStrategy`."""

    def __init__(self, table: RecallTable, dice: Dice) -> None:
        self._table, self._sides = table, (table.hand(*dice), table.hand(*dice[::-1]))
        self.hand = self._sides[0].hand

    def choices(self, path: BidPath) -> np.ndarray:
        """Return the probability of each choice; see `HandStrategy.choices`."""
        side = self._sides[len(path) % 2]
        number, member = side.find(path)
        cells = side.cells[number][:, member]
        return np.pad(cells, ((len(self.hand.bids) - len(side.groups[number].bids), 0), (0, 0)))

    def judge_roll(self, worth: Worth, path: BidPath, roll: int, other: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the win probability of a roll, and of each choice; ``worth`` is that of the table."""
        side = self._sides[len(path) % 2]
        number, member = side.find(path)
        group = side.groups[number]
        moving, waiting = self._table.known_sweep(*side.hand.dice, roll)
        gains = np.full(len(self.hand.actions_of(path)), np.nan)
        after_bids = np.array([waiting[to][at] for to, at in group.leads]).reshape(-1, len(other))
        n_bids = len(self.hand.bids)
        gains[n_bids - len(group.bids) : n_bids] = after_bids @ other
        if number:
            counts, other_counts = side.hand.counting[:, group.last]
            found = counts[roll] + other_counts[: len(other)]
            gains[n_bids:] = side.after_calls(worth)[group.last][:, found] @ other
        return float(moving[number][member] @ other), gains


def recall_values(game: Game, table: RecallTable, name: str) -> HandValues:
    """Return the values of a game for two between two players of a table."""
    sure = "those of an approximate equilibrium, which remembers the last two or three bids of a hand"
    if not table.fits():
        sure += f"; hands are worth what they are where both begin with {table.told['dice']} dice"
    find = lru_cache(maxsize=None)(lambda dice: RecallStrategy(table, dice))
    return HandValues(game, find, table.worth, name, sure, recalls_all=False)


def _read_row(data: bytes, row: int, actions: np.ndarray, out: np.ndarray) -> None:
    """Write the weights of a state's choices, float64[choices, rolls], from its row at an offset of a hand's data.

    Illegal choices are left out, as the bot does: a game with fewer dice may not allow to gain one.
    """
    column = np.full(256, -1)
    column[encode(actions)] = np.arange(len(actions))
    head = np.frombuffer(data, np.uint8, out.shape[1], row)
    (sure,), (mixed,) = np.nonzero(head < UNKNOWN), np.nonzero(head > UNKNOWN)
    counts = head[mixed].astype(np.int64) - MIXED
    pairs = np.frombuffer(data, np.uint8, 2 * int(counts.sum()), row + out.shape[1]).reshape(-1, 2)
    choices = column[np.concatenate([head[sure], pairs[:, 0]])]
    rolls, weights = np.concatenate([sure, np.repeat(mixed, counts)]), np.append(np.ones(len(sure)), pairs[:, 1])
    known = choices >= 0
    out[choices[known], rolls[known]] = weights[known]


def _by_odds(side: Side, number: int, true: np.ndarray) -> np.ndarray:
    """Return the choices by the odds in a group, float64[choices, rolls], 1 for each; ``true`` is as of `_chances`.

    The bot considers the lowest raise of each face.
    """
    group = side.groups[number]
    out = np.zeros((len(side.actions[number]), true.shape[1]))
    if len(group.bids):
        _, lowest = np.unique(side.hand.bids[group.bids] % FACES, return_index=True)
        raises = true[group.bids[lowest]]
        out[lowest] = raises >= raises.max(axis=0) - NEARLY
    if number:
        doubted = (true[group.last] < 0.5) | (len(group.bids) == 0)
        out[:, doubted] = 0
        out[len(group.bids), doubted] = 1  # the first call there is: liar
    return out


def _chances(side: Side) -> np.ndarray:
    """Return float64[bids, rolls]: the probability of each bid by the own dice."""
    found = np.zeros((len(side.hand.bids), len(side.mine.chances)))
    for number, bid in enumerate(side.hand.bids.tolist()):
        mine, theirs = side.hand.counting[:, number]
        held = np.bincount(theirs[: len(side.theirs.chances)], side.theirs.chances, len(side.hand.bids))
        at_least = held[::-1].cumsum()[::-1]
        found[number] = at_least[np.maximum(bid // FACES + 1 - mine[: found.shape[1]], 0)]
    return found
