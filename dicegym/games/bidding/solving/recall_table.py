"""Strategies of players that remember the last bids alone as one small file, which a bot reads with a few lines.

They are an equilibrium of an abstraction: counterfactual regret minimisation where a player remembers the last two
bids of a hand, or three with few dice (Neller and Hnath, "Approximating optimal Dudo play with fixed-strategy iteration
counterfactual regret minimization", ACG 2011). ``training/equilibrium_table.py`` makes the files that ship.

A file of bytes: one line of JSON, then the hands, each compressed by zlib. The line has ``recall``, ``places``,
``values`` for each hand, by own and the other's dice as two digits (``"52"``): how many bids its states have, where it
lies behind the line, with how many states and in how many bytes, and the probability that its opener
wins the game. ``bytes`` and ``crc32`` are those of all that follows the line. A hand is

- the states, sorted: one byte for each bid, by its action, filled up with 255 behind them;
- where the rows of each begin in what follows, 4 bytes, the lowest first;
- the rows: one byte for each own roll, in the order of ``itertools.combinations_with_replacement``. Below 63 it is what
  is played there: a bid by its action, or 60 and the number of a call. 63: it is not known, as it never comes there.
  64 and n: one of n choices, which follow after the row in turn: two bytes for each, what is played and its weight.

Where the file does not say what to play, players go by the odds of their own dice: they call the last bid a lie if it
is likelier false than true, and else make the raises that are likeliest true.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import DamagedFileError
from dicegym.games import game as make_game
from dicegym.games.bidding.solving.hand import BidPath, Dice, Worth, ending_values, tabulate
from dicegym.games.bidding.solving.hand_values import HandValues
from dicegym.games.bidding.table import FACES, N_BIDS

RAREST = 5e-4
"""Bids are left out that are true less often before anybody looks: nearly half of all with five dice each."""
FIRST_CALL = 60
UNKNOWN = 63
MIXED = 64
NO_BID = 255
MOST_ROLLS = 64
"""Sweeps that are kept: one for each own roll that is asked about, of a megabyte at most."""
NEARLY = 0.08
"""Raises are as good as the best, by the odds, if they are less likely true by at most this."""


class StateGroup(NamedTuple):
    """Public states that agree in all bids that they remember but the oldest, so that the same may follow."""

    last: int
    """Number of the last bid; -1 at the beginning, where nobody has bid."""
    members: list[BidPath]
    """The states: the last bids, all of them where a hand has had fewer than are remembered."""
    bids: np.ndarray
    """int64[bids]: those that may follow."""
    leads: list[tuple[int, int]]
    """The state that each of them leads to, from whichever member: number of its group, and of the member there."""


class Side:
    """The states of a hand in which the player with ``own`` dice is to move, who is place 0 of ``hand``.

    Args:
        game: for two.
        own: its dice.
        others: those of the other.
        recall: how many bids are remembered, at least 2.

    Attributes:
        hand: its rules.
        groups: in an order in which bids lead to later ones alone; the first one is the beginning.
        states: numbers of the group and of the member of each state.
        actions: by group int64[choices]: what may be played, bids first, then calls.
        cells: by group float64[choices, members, rolls]: the probability of each choice, where it is played by a table.
    """

    def __init__(self, game: Game, own: int, others: int, recall: int) -> None:
        self.hand, self.recall = tabulate(game, own, others, RAREST), recall
        self.mine, self.theirs = self.hand.rolls
        first, n_bids = self.hand.first, len(self.hand.bids)
        by_last: list[set[BidPath]] = [{(bid,)} for bid in range(n_bids)]
        for bid, known in enumerate(by_last):  # all states that end with a bid are known before it is raised
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
        """Return the numbers of the group and of the member where a hand stands after all these bids."""
        return self.states[path[-self.recall :]]

    def after_calls(self, worth: Worth) -> np.ndarray:
        """Return how likely the mover wins the game after calls: float64[bids, calls, matching dice]."""
        found: np.ndarray = self.hand.wins(ending_values(self.hand, worth, 0), 0)[0]
        return found[:, : len(self.hand.calls[0])]


def worth_of(opens: Mapping[Dice, float]) -> Worth:
    """Return what hands are worth where the opener of each wins so often."""
    return Worth(dict(opens), {dice: 1 - chance for dice, chance in opens.items()})


def encode(actions: np.ndarray) -> np.ndarray:
    """Return the bytes that stand for actions, as int64."""
    return np.where(actions < N_BIDS, actions, FIRST_CALL + actions - N_BIDS)


def split(raw: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the first line and the hands of a file. Raises ValueError, whose text continues the file's name."""
    line, _, data = raw.partition(b"\n")
    try:
        told = json.loads(line)
        size, checksum, _ = (int(told[key]) for key in ("bytes", "crc32", "dice"))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("does not begin as a table of hands") from None
    if len(data) < size:
        raise ValueError(f"is broken off: {size - len(data):,} bytes are missing")
    if len(data) != size or zlib.crc32(data) != checksum:
        raise ValueError("is not what was written")
    return told, data


class RecallTable:
    """The strategies of one file for one game. Hands are read when they are first asked for.

    Args:
        game: for two; its dice must be among the file's.
        file: such a file.

    Raises:
        DamagedFileError: the file is not such a table.
    """

    def __init__(self, game: Game, file: Path) -> None:
        self.game = game
        try:
            self.told, self._data = split(file.read_bytes())
        except ValueError as error:
            raise DamagedFileError(file, str(error), "install dicegym again: the table ships with it") from None
        opens = {(int(key[0]), int(key[1])): float(value) for key, value in self.told["values"].items()}
        self.worth = worth_of(opens)
        self.hand = lru_cache(maxsize=None)(self._read)
        self.known_sweep = lru_cache(maxsize=MOST_ROLLS)(self.sweep)

    def fits(self) -> bool:
        """Return whether it was solved for as many dice, or for hands that are the same: no die ever comes back."""
        dice = int(self.told["dice"])
        after_one = tabulate(make_game(self.game.name, players=2, dice=dice), 1, 1, RAREST).endings
        return dice == self.game.parameters["dice"] or all(sum(end[:2]) < 2 for end in after_one)

    def sweep(self, own: int, others: int, roll: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return what states are worth with an own roll: by group float64[members, other rolls], moving and waiting.

        In sums the choices come one after the other, so that values are the same to the last digit everywhere.
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
    """How both places play a hand by a table; see `dicegym.games.bidding.solving.hand_values.HandStrategy`.

    Args:
        table: it.
        dice: of the opener, and of the other.
    """

    def __init__(self, table: RecallTable, dice: Dice) -> None:
        self._table, self._sides = table, (table.hand(*dice), table.hand(*dice[::-1]))
        self.hand = self._sides[0].hand

    def choices(self, path: BidPath) -> np.ndarray:
        """Return the probability of each choice, bids before calls, for each roll: float64[choices, rolls]."""
        side = self._sides[len(path) % 2]
        number, member = side.find(path)
        cells = side.cells[number][:, member]
        return np.pad(cells, ((len(self.hand.bids) - len(side.groups[number].bids), 0), (0, 0)))

    def judge_roll(self, worth: Worth, path: BidPath, roll: int, other: np.ndarray) -> tuple[float, np.ndarray]:
        """Return what a roll is worth in all and by each choice; ``worth`` is that of the table."""
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
    """Return what states of a game for two are worth between two players of a table."""
    sure = "those of an approximate equilibrium, which remembers the last two or three bids of a hand"
    if not table.fits():  # as dice come back, and no more than a game began with
        sure += f"; hands are worth what they are where both begin with {table.told['dice']} dice"
    find = lru_cache(maxsize=None)(lambda dice: RecallStrategy(table, dice))
    return HandValues(game, find, table.worth, name, sure, recalls_all=False)


def _read_row(data: bytes, row: int, actions: np.ndarray, out: np.ndarray) -> None:
    """Write the weights of a state's choices, float64[choices, rolls], whose row begins there in a hand's data.

    What the game does not allow is left out, as the bot does: with fewer dice at the start, to gain one.
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
    """Return what is played by the odds in a group: float64[choices, rolls], not 0 where it may be; see `_chances`.

    Of the raises, the bot looks at the lowest one of each face.
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
    """Return float64[bids, rolls]: how probable each bid is by the own dice."""
    found = np.zeros((len(side.hand.bids), len(side.mine.chances)))
    for number, bid in enumerate(side.hand.bids.tolist()):
        mine, theirs = side.hand.counting[:, number]
        held = np.bincount(theirs[: len(side.theirs.chances)], side.theirs.chances, len(side.hand.bids))
        at_least = held[::-1].cumsum()[::-1]
        found[number] = at_least[np.maximum(bid // FACES + 1 - mine[: found.shape[1]], 0)]
    return found
