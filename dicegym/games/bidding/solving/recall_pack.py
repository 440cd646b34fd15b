"""Strategies of players who remember the last bids alone as one small file, which a bot reads with a few lines.

A file of bytes: one line of JSON, then the hands, each compressed by zlib. The line has ``recall``, ``places``,
``values`` for each hand, by own and the other's dice as two digits (``"52"``): how many bids its states have, where it
lies behind the line, with how many states and in how many bytes, and how probable it is to win the game for who opens
it. ``bytes`` and ``crc32`` are those of all that follows the line. A hand is

- the states, sorted: one byte for each bid, by its action, filled up with 255 behind them;
- where the rows of each begin in what follows, 4 bytes, the lowest first;
- the rows: one byte for each own roll, in the order of ``itertools.combinations_with_replacement``. Below 63 it is what
  is played there: a bid by its action, or 60 and the number of a call. 63: it is not known, as it never comes there.
  64 and n: one of n choices, which follow after the row in turn: two bytes for each, what is played and its weight.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dicegym.games.bidding.solving.recall_hand import Side

FIRST_CALL = 60
UNKNOWN = 63
MIXED = 64
NO_BID = 255
LEAST = 0.02
"""What is played more rarely is left out."""
HARDLY = 1e-3
"""States that a player comes to more rarely by its own choices are left out."""


class Packed(NamedTuple):
    """One side of a hand, packed."""

    own: int
    others: int
    recall: int
    states: int
    data: bytes


def pruned(sides: Sequence[Side]) -> list[np.ndarray]:
    """Return, side by side, the mean strategy without what is played more rarely than `LEAST`, flat as cells are.

    Where a player hardly comes by its own choices, all is 0.
    """
    found = [np.zeros_like(side.summed) for side in sides]
    own = [np.zeros((side.state_at[-1], len(side.chances)), np.float32) for side in sides]
    others = [np.zeros((side.state_at[-1], len(side.other_chances)), np.float32) for side in sides]
    for one in (*own, *others):
        one[0] = 1
    for group in range(sides[0].groups):
        for number, side in enumerate(sides):
            here = slice(*side.state_at[group : group + 2])
            strategy = side.of_cells(found[number], group)
            strategy[:] = _without_rare(side.of_cells(side.summed, group))
            mine = own[number][here]
            strategy[(mine < HARDLY).T] = 0
            begin, end = side.tree.first[group : group + 2]
            for choice, lead in enumerate(side.lead_states[begin:end]):
                own[number - 1][lead] = np.maximum(own[number - 1][lead], others[number][here].max(0))
                reach = (mine * strategy[:, :, choice].T).max(0)
                others[number - 1][lead] = np.maximum(others[number - 1][lead], reach)
    return found


def _without_rare(summed: np.ndarray) -> np.ndarray:
    """Return strategies of the weights, which are all 0 where nothing was learned."""
    total = summed.sum(2, keepdims=True)
    found = summed / np.where(total > 0, total, 1)
    found[found < LEAST] = 0
    kept = found.sum(2, keepdims=True)
    strategy: np.ndarray = found / np.where(kept > 0, kept, 1)
    return strategy


def pack(side: Side, strategy: np.ndarray) -> Packed:
    """Return one side of a hand; ``strategy`` is as `pruned` returns it."""
    codes = [int(bid) for bid in side.hand.bids]
    recall = side.tree.recall
    rows: dict[bytes, bytes] = {}
    for state, (group, member) in side.tree.states.items():
        cells = side.of_cells(strategy, group)[:, member, :]
        if not cells.any():
            continue
        begin, end = side.tree.first[group : group + 2]
        meant = [codes[bid] for bid in side.tree.bid[begin:end]]
        meant += [FIRST_CALL + call for call in range(side.calls)]
        key = bytes([codes[bid] for bid in state]).ljust(recall, bytes([NO_BID]))
        rows[key] = _row(cells, meant)
    keys = sorted(rows)
    lengths = [0, *np.cumsum([len(rows[key]) for key in keys])[:-1]]
    data = b"".join(keys) + np.array(lengths, "<u4").tobytes() + b"".join(rows[key] for key in keys)
    return Packed(side.hand.own, side.hand.others, recall, len(keys), data)


def _row(cells: np.ndarray, meant: list[int]) -> bytes:
    """Return the row of a state: ``cells`` is float32[rolls, choices]."""
    head, tail = bytearray(), bytearray()
    for row in cells:
        (played,) = np.nonzero(np.rint(row * 255))
        if len(played) == 0:
            head.append(UNKNOWN)
        elif len(played) == 1:
            head.append(meant[played[0]])
        else:
            head.append(MIXED + len(played))
            for choice in played:
                tail += bytes([meant[choice], round(float(row[choice]) * 255)])
    return bytes(head + tail)


def join(hands: Iterable[Packed], values: Mapping[str, float], **told: Any) -> bytes:
    """Return the file of all hands; ``told`` stands in its first line besides."""
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


def split(raw: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the first line and the hands of a file. Raises ValueError, which goes on from the file's name."""
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
