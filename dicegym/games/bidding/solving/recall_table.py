"""Strategies of players that remember the last bids alone as one small file, which a bot reads with a few lines.

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
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding import table
from dicegym.games.bidding.solving.recall_solver import Side
from dicegym.games.solved import report_damage

FIRST_CALL = 60
UNKNOWN = 63
MIXED = 64
NO_BID = 255
LEAST = 0.02
"""What is played more rarely is left out."""
HARDLY = 1e-3
"""States that a player reaches more rarely by its own choices are left out."""
NEARLY = 0.08
"""Raises are as good as the best, by the odds, if they are less likely true by at most this."""


def encode(actions: np.ndarray) -> np.ndarray:
    """Return the bytes that stand for actions, as int64."""
    return np.where(actions < table.N_BIDS, actions, FIRST_CALL + actions - table.N_BIDS)


# --- writing -------------------------------------------------------------------------------------------------


class Packed(NamedTuple):
    """One side of a hand, packed."""

    own: int
    others: int
    recall: int
    states: int
    data: bytes


def prune(sides: Sequence[Side]) -> list[list[np.ndarray]]:
    """Return the mean strategy without what is played more rarely than `LEAST`, by side and group as `Side.summed`.

    Where a player hardly comes by its own choices, all is 0.
    """
    found = [[_without_rare(summed) for summed in side.summed] for side in sides]
    own, others = ([side.room(of) for side in sides] for of in ("mr", "mo"))
    for place in range(len(sides)):
        own[place][0][:], others[place][0][:] = 1, 1
    for number in range(len(sides[0].tree.groups)):
        for place, side in enumerate(sides):
            strategy, mine = found[place][number], own[place][number]
            strategy[(mine < HARDLY).T] = 0
            for choice, (to, member) in enumerate(side.tree.groups[number].leads):
                own[place - 1][to][member] = others[place][number].max(axis=0)
                others[place - 1][to][member] = (mine * strategy[:, :, choice].T).max(axis=0)
    return found


def _without_rare(summed: np.ndarray) -> np.ndarray:
    """Return strategies of the weights, which are all 0 where nothing was learned."""
    total = summed.sum(2, keepdims=True)
    found = summed / np.where(total > 0, total, 1)
    found[found < LEAST] = 0
    kept = found.sum(2, keepdims=True)
    strategy: np.ndarray = found / np.where(kept > 0, kept, 1)
    return strategy


def pack(side: Side, strategy: Sequence[np.ndarray]) -> Packed:
    """Return one side of a hand; ``strategy`` is as `prune` returns it for a side."""
    recall = side.tree.recall
    rows: dict[bytes, bytes] = {}
    for state, (number, member) in side.tree.states.items():
        cells = strategy[number][:, member]
        if cells.any():
            key = bytes(side.hand.bids[list(state)].tolist()).ljust(recall, bytes([NO_BID]))
            rows[key] = _row(cells, encode(side.actions[number]).tolist())
    keys = sorted(rows)
    lengths = [0, *np.cumsum([len(rows[key]) for key in keys])[:-1]]
    data = b"".join(keys) + np.array(lengths, "<u4").tobytes() + b"".join(rows[key] for key in keys)
    return Packed(side.hand.own, side.hand.others, recall, len(keys), data)


def _row(cells: np.ndarray, codes: list[int]) -> bytes:
    """Return the row of a state: ``cells`` is float32[rolls, choices]."""
    head, tail = bytearray(), bytearray()
    for row in cells:
        (played,) = np.nonzero(np.rint(row * 255))
        if len(played) == 0:
            head.append(UNKNOWN)
        elif len(played) == 1:
            head.append(codes[played[0]])
        else:
            head.append(MIXED + len(played))
            for choice in played:
                tail += bytes([codes[choice], round(float(row[choice]) * 255)])
    return bytes(head + tail)


def join(hands: Iterable[Packed], values: Mapping[str, float], **told: Any) -> bytes:
    """Return the file of all hands; ``told`` is added to its first line."""
    places: dict[str, tuple[int, int, int]] = {}
    recall = {}
    data = b""
    for one in hands:
        key = f"{one.own}{one.others}"
        packed = zlib.compress(one.data, 9)
        places[key] = len(data), one.states, len(packed)
        recall[key] = one.recall
        data += packed
    whole = {"bytes": len(data), "crc32": zlib.crc32(data)}
    line = {**told, **whole, "recall": recall, "places": places, "values": dict(values)}
    return json.dumps(line).encode() + b"\n" + data


# --- reading -------------------------------------------------------------------------------------------------


def split(raw: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the first line and the hands of a file. Raises ValueError, whose text continues the file's name."""
    line, _, data = raw.partition(b"\n")
    try:
        told = json.loads(line)
        size, checksum = int(told["bytes"]), int(told["crc32"])
        is_packed = all(len(place) == 3 for place in told["places"].values())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ValueError("does not begin as a table of hands") from None
    if not is_packed:
        raise ValueError("is of an earlier form, whose hands are not compressed")
    if len(data) < size:
        raise ValueError(f"is broken off: {size - len(data):,} bytes are missing")
    if len(data) != size or zlib.crc32(data) != checksum:
        raise ValueError("is not what was written")
    return told, data


class PlayedSide(NamedTuple):
    """One side of a hand, and how it is played."""

    side: Side
    cells: list[np.ndarray]
    """By group float64[choices, members, rolls]: the probability of each choice."""

    def choices(self, path: tuple[int, ...]) -> np.ndarray:
        """Return the probability of each choice after these bids, by their places: float64[choices, rolls]."""
        number, member = self.side.tree.find(path)
        found: np.ndarray = self.cells[number][:, member]
        return found


class RecallTable:
    """The strategies of one file for one game. Hands are read when they are first asked for.

    Args:
        game: for two; its dice must be among the file's.
        file: as `join` made it.
        name: what the solution is called, for errors.

    Raises:
        DamagedFileError: the file is not such a table.
    """

    def __init__(self, game: Game, file: Path, name: str) -> None:
        self.game = game
        self.told: dict[str, Any]
        try:
            self.told, self._data = split(file.read_bytes())
        except ValueError as error:
            raise report_damage(file, str(error), game, name) from None
        try:
            dice = int(self.told["dice"])
            self.values = np.zeros((dice + 1, dice + 1))
            for key, value in self.told["values"].items():
                self.values[int(key[0]), int(key[1])] = value
        except (ValueError, KeyError, TypeError, IndexError):
            raise report_damage(file, "does not begin as a table of hands", game, name) from None
        self.values[1:, 0] = 1
        self.hand = lru_cache(maxsize=None)(self._read)

    def opens(self, own: int, others: int) -> float:
        """Return the probability that the opener of a hand with these numbers of dice wins the game."""
        return float(self.values[own, others])

    def after_calls(self, own: int, others: int) -> np.ndarray:
        """Return what calls are worth to a player with ``own`` dice; see `Hand.after_calls` of `recall_tree`."""
        return self.hand(own, others).side.hand.after_calls(self.values)

    def sweep(self, own: int, others: int, roll: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return what states are worth with an own roll: by group float64[members, other rolls], moving and waiting.

        In sums the choices come one after the other, so that values are the same to the last digit everywhere.
        """
        mine, theirs = self.hand(own, others), self.hand(others, own)
        groups, n_rolls = mine.side.tree.groups, len(mine.side.theirs.chances)
        calls, their_calls = self.after_calls(own, others), self.after_calls(others, own)
        moving, waiting = ([np.zeros((len(group.members), n_rolls)) for group in groups] for _ in range(2))
        for number in range(len(groups) - 1, -1, -1):
            group, played, answered = groups[number], mine.cells[number][:, :, roll, None], theirs.cells[number]
            for choice, (to, member) in enumerate(group.leads):
                moving[number] += played[choice] * waiting[to][member]
                waiting[number] += answered[choice] * moving[to][member]
            if number:
                counts, other_counts = mine.side.hand.counting[:, group.last]
                found = counts[roll] + other_counts[:n_rolls]
                for share, worth in zip(played[len(group.bids) :], calls[:, group.last], strict=True):
                    moving[number] += share * worth[found]
                for part, worth in zip(answered[len(group.bids) :], their_calls[:, group.last], strict=True):
                    waiting[number] += part * (1 - worth[found])
        return moving, waiting

    def evaluate_play(self, own: int, others: int) -> float:
        """Return the probability that the opener of a hand wins the game, from what the next hands are worth."""
        side = self.hand(own, others).side
        each = [self.sweep(own, others, roll)[0][0][0] @ side.theirs.chances for roll in range(len(side.mine.chances))]
        return float(side.mine.chances @ np.array(each))

    def _read(self, own: int, others: int) -> PlayedSide:
        """Return the side with ``own`` dice of a hand."""
        key = f"{own}{others}"
        recall = int(self.told["recall"][key])
        side = Side(self.game, own, others, recall)
        cells = [cell.astype(np.float64) for cell in side.room("cmr")]
        begin, size, packed = self.told["places"][key]
        data = zlib.decompress(self._data[begin : begin + packed])
        keys = np.frombuffer(data, np.uint8, size * recall).reshape(size, recall)
        places = np.frombuffer(data, "<u4", size, size * recall)
        for state, place in zip(keys, places, strict=True):
            path = side.hand.places_of(state[state != NO_BID])
            if path is not None:
                number, member = side.tree.states[path]
                _read_row(data, size * (recall + 4) + int(place), side.actions[number], cells[number][:, member])
        true = _chances(side)
        for number, weights in enumerate(cells):
            lacking = weights.sum(axis=0) == 0
            weights[:, lacking] = np.broadcast_to(_by_odds(side, number, true)[:, None], weights.shape)[:, lacking]
            np.divide(weights, weights.sum(axis=0), out=weights)
        return PlayedSide(side, cells)


def _read_row(data: bytes, row: int, actions: np.ndarray, out: np.ndarray) -> None:
    """Write the weights of a state's choices, float64[choices, rolls], whose row begins there in a hand's data."""
    column = np.zeros(256, np.int64)
    column[encode(actions)] = np.arange(len(actions))
    head = np.frombuffer(data, np.uint8, out.shape[1], row)
    (sure,) = np.nonzero(head < UNKNOWN)
    out[column[head[sure]], sure] = 1
    (mixed,) = np.nonzero(head > UNKNOWN)
    counts = head[mixed].astype(np.int64) - MIXED
    pairs = np.frombuffer(data, np.uint8, 2 * int(counts.sum()), row + out.shape[1]).reshape(-1, 2)
    out[column[pairs[:, 0]], np.repeat(mixed, counts)] = pairs[:, 1]


def _by_odds(side: Side, number: int, true: np.ndarray) -> np.ndarray:
    """Return what is played by the odds in a group: float64[choices, rolls], not 0 where it may be; see `_chances`."""
    group = side.tree.groups[number]
    out = np.zeros((len(side.actions[number]), true.shape[1]))
    if len(group.bids):
        raises = true[group.bids]
        out[: len(group.bids)] = raises >= raises.max(axis=0) - NEARLY
    if number:
        doubted = (true[group.last] < 0.5) | (len(group.bids) == 0)
        out[:, doubted] = 0
        out[len(group.bids), doubted] = 1  # the first call there is: liar
    return out


def _chances(side: Side) -> np.ndarray:
    """Return float64[bids, rolls]: how probable each bid is by the own dice."""
    dice = side.hand.others
    found = np.zeros((len(side.hand.bids), len(side.mine.chances)))
    average = side.hand.counting[1, :, : len(side.theirs.chances)] @ side.theirs.chances
    for place, bid in enumerate(side.hand.bids.tolist()):
        sixths = round(float(average[place]) * table.FACES / dice)
        need = np.maximum(bid // table.FACES + 1 - side.hand.counting[0, place, : found.shape[1]], 0)
        found[place] = table.ODDS[sixths - 1, dice, need]
    return found
