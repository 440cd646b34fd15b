"""Solve Liar's Dice for two players that remember the last bids alone, and write the table of the agent `equilibrium`.

    python training/equilibrium_table.py liarsdice equilibrium.table
    python training/equilibrium_table.py liarsdice_spot_on equilibrium.table

With five dice each it takes three minutes of a core and 1.2 GB for the classic game, twice the time for the other. The
file's form is told in `dicegym.games.bidding.solving.recall_table`.

What a hand is worth follows from the hands that it leads to, so those of few dice come first. Where a call may bring
dice back, hands lead upwards too: then all are gone through with little effort first, so that each finds about what
every other one is worth.

A hand is solved by counterfactual regret minimisation. As fixed-strategy iteration (Neller and Hnath, "Approximating
optimal Dudo play with fixed-strategy iteration counterfactual regret minimization", ACG 2011) each time goes once
forwards over the public states, with how probable they are, and once backwards, with what they are worth; here for all
pairs of rolls at once, as products of matrices, and with regrets that never fall below 0 (CFR+: Tammelin, "Solving
large imperfect information games using CFR+", 2014). Several histories lead to one state, so how probable it is with a
pair of rolls is no product of one player's part and the other's, as it is where all bids are remembered
(`dicegym.games.bidding.solving.regret_sweeps`): it is a matrix.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import dicegym
from dicegym.engine.game import Game
from dicegym.files import writing
from dicegym.games.bidding.solving.hand import Dice, tabulate
from dicegym.games.bidding.solving.recall_table import (
    MIXED,
    NO_BID,
    RAREST,
    UNKNOWN,
    RecallTable,
    Side,
    encode,
    worth_of,
)

DICE = 5
FEW = 5
"""Hands with up to this many dice on the table remember the last three bids, others the last two; the former are gone
through twice as often."""
TIMES = 100
"""How often each hand is gone through for the strategy."""
FIRST_TIMES = 16
"""How often all hands are gone through, where they lead upwards, for what they are worth."""
ROUNDS = 6
"""How often, where hands lead upwards, it is computed at the end what they are worth."""
TREMBLE = 1e-3
"""The share of all choices made evenly while it is learned: so there is an answer to what nobody would play."""
LEAST = 0.02
"""What is played more rarely is left out."""
HARDLY = 1e-3
"""States that a player reaches more rarely by its own choices are left out."""
FLOAT = np.float32
SMALL = FLOAT(1e-12)


class LearningSide(Side):
    """One of the two sides of a hand, as it is learned.

    Every list has an array for each group of states; choices are bids first, then calls.

    Attributes:
        before: the bid that leads to each member of a group: number of its group, and of the bid there.
        regrets: float32[rolls, members, choices].
        summed: what was played, all times together, as regrets; the mean strategy in other words.
        strategy: how likely each choice is played now, as regrets.
        reach: float32[members, rolls]: how probable the mover's own choices are on the way to a state.
        other_reach: float32[members, other rolls]: how probable the other's are.
        joint: float32[rolls, members, other rolls]: how probable a state is with each pair of rolls.
        worth: float32[rolls, choices, other rolls]: how likely the mover wins by a choice, less one half.
    """

    def __init__(self, game: Game, own: int, others: int, opens: Mapping[Dice, float]) -> None:
        super().__init__(game, own, others, 3 if own + others <= FEW else 2)
        groups = self.groups
        led = {to: (number, choice) for number, group in enumerate(groups) for choice, to in enumerate(group.leads)}
        self.before = [
            [led[number, at] for at in range(len(group.members))] if number else []
            for number, group in enumerate(groups)
        ]
        self.regrets, self.summed, self.strategy = (self.room("rmc") for _ in range(3))
        self.reach, self.other_reach, self.joint, self.worth = (self.room(of) for of in ("mr", "mo", "rmo", "rco"))
        self.reach[0][:], self.other_reach[0][:] = 1, 1
        self.joint[0][:, 0] = self.mine.chances.astype(FLOAT)[:, None] * self.theirs.chances.astype(FLOAT)
        after = (self.after_calls(worth_of(opens)) - 0.5).astype(FLOAT)
        for group, worth in zip(groups[1:], self.worth[1:], strict=True):
            mine, theirs = self.hand.counting[:, group.last]
            found = mine[: worth.shape[0], None] + theirs[: worth.shape[2]]
            worth[:, len(group.bids) :] = np.moveaxis(after[group.last][:, found], 0, 1)

    def room(self, of: str) -> list[np.ndarray]:
        """Return zeros for each group; ``of`` names the axes: r(olls), m(embers), c(hoices), o(ther's rolls)."""
        size = {"r": len(self.mine.chances), "o": len(self.theirs.chances)}
        return [
            np.zeros([(size | {"m": len(group.members), "c": len(actions)})[axis] for axis in of], FLOAT)
            for group, actions in zip(self.groups, self.actions, strict=True)
        ]


def match(weights: np.ndarray, tremble: float) -> np.ndarray:
    """Return the strategy that plays each choice by its weight, ``weights`` like, float32[rolls, members, choices].

    Regret matching (Hart and Mas-Colell, "A simple adaptive procedure leading to correlated equilibrium", 2000): what
    has no weight at all is played evenly. A share of ``tremble`` always is.
    """
    even = FLOAT(1 / weights.shape[2])
    total = weights.sum(axis=2, keepdims=True)
    is_known = total > SMALL
    strategy: np.ndarray = weights * np.divide(1 - FLOAT(tremble), total, where=is_known, out=np.zeros_like(total))
    strategy += np.where(is_known, FLOAT(tremble) * even, even)
    return strategy


def carry_on(side: LearningSide, other: LearningSide, number: int) -> None:
    """Go forwards from a group: write how probable the states are that its bids lead to, in which ``other`` moves.

    A reach is a mean over the histories that the other side really plays: each member counts for the next mover's by
    how probable the present mover's choices are, and the other way round.
    """
    group = side.groups[number]
    played = side.strategy[number][:, :, : len(group.bids)]
    joint = np.matmul(played.transpose(0, 2, 1), side.joint[number])
    done = played * side.reach[number].T[:, :, None]
    here = np.tensordot(side.mine.chances.astype(FLOAT), done, 1)
    there = side.other_reach[number] @ side.theirs.chances.astype(FLOAT)
    mean = (here / np.maximum(here.sum(axis=0), SMALL)).T @ side.other_reach[number]
    other_mean = np.tensordot(there / np.maximum(there.sum(), SMALL), done, (0, 1))
    for choice, (to, member) in enumerate(group.leads):
        other.joint[to][:, member] = joint[:, choice].T
        other.reach[to][member], other.other_reach[to][member] = mean[choice], other_mean[:, choice]


def bring_back(side: LearningSide, other: LearningSide, number: int) -> None:
    """Go backwards from a group: write what its states are worth to ``other``, whose bids led to them."""
    worth = np.matmul(side.strategy[number], side.worth[number])
    for member, (before, choice) in enumerate(side.before[number]):
        other.worth[before][:, choice] = -worth[:, member].T


def learn(side: LearningSide, number: int, times: int) -> None:
    """Add to regrets what each choice of a group would have brought, and to the mean strategy what was played.

    The values are counterfactual, by the probability that the other reaches a state: ``joint`` holds both parts, so
    the mover's own is divided out. Later times weigh more in the mean (linear averaging of CFR+, here of squares).
    """
    strategy, own = side.strategy[number], side.reach[number].T[:, :, None]
    values = np.matmul(side.joint[number], side.worth[number].transpose(0, 2, 1))
    values -= (strategy * values).sum(axis=2, keepdims=True)
    values /= np.maximum(own, SMALL)
    values += side.regrets[number]
    np.maximum(values, 0, out=side.regrets[number])
    side.summed[number] += FLOAT(times**2) * own * strategy


def solve_hand(game: Game, own: int, others: int, opens: dict[Dice, float], times: int) -> list[LearningSide]:
    """Return the sides of a hand, one where both have as many dice, solved where hands are worth ``opens``.

    ``opens`` says how likely the opener of a hand wins the game. What the hand itself is worth is written there.
    """
    sides = [LearningSide(game, *dice, opens) for dice in dict.fromkeys([(own, others), (others, own)])]
    numbers = range(len(sides[0].groups))
    for time in range(1, (2 * times if own + others <= FEW else times) + 1):
        for number in numbers:
            for place, side in enumerate(sides):
                side.strategy[number] = match(side.regrets[number], TREMBLE)
                carry_on(side, sides[place - 1], number)
        for number in reversed(numbers):
            for place, side in enumerate(sides):
                bring_back(side, sides[place - 1], number)
                learn(side, number, time)
    for side in sides:
        side.strategy = [match(weights, 0.0) for weights in side.summed]
    for number in reversed(numbers):
        for place, side in enumerate(sides):
            bring_back(side, sides[place - 1], number)
    for side in sides:
        worth = np.matmul(side.strategy[0], side.worth[0])[:, 0].astype(np.float64)
        opens[side.hand.dice] = 0.5 + float(side.mine.chances @ worth @ side.theirs.chances)
    return sides


def prune(sides: Sequence[LearningSide]) -> list[list[np.ndarray]]:
    """Return the mean strategy without what is played more rarely than `LEAST`, by side and group as ``summed``.

    Where a player hardly comes by its own choices, all is 0.
    """
    found = [[_without_rare(summed) for summed in side.summed] for side in sides]
    own, others = ([side.room(of) for side in sides] for of in ("mr", "mo"))
    for place in range(len(sides)):
        own[place][0][:], others[place][0][:] = 1, 1
    for number in range(len(sides[0].groups)):
        for place, side in enumerate(sides):
            strategy, mine = found[place][number], own[place][number]
            strategy[(mine < HARDLY).T] = 0
            for choice, (to, member) in enumerate(side.groups[number].leads):
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


def pack(side: LearningSide, strategy: Sequence[np.ndarray]) -> tuple[int, bytes]:
    """Return how many states of a side are kept, and their bytes; ``strategy`` is as `prune` returns it for a side."""
    recall, rows = side.recall, dict[bytes, bytes]()
    for state, (number, member) in side.states.items():
        cells = strategy[number][:, member]
        if cells.any():
            key = bytes(side.hand.bids[list(state)].tolist()).ljust(recall, bytes([NO_BID]))
            rows[key] = _row(cells, encode(side.actions[number]).tolist())
    keys = sorted(rows)
    lengths = [0, *np.cumsum([len(rows[key]) for key in keys])[:-1]]
    return len(keys), b"".join(keys) + np.array(lengths, "<u4").tobytes() + b"".join(rows[key] for key in keys)


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


def join(game: Game, hands: dict[str, tuple[int, int, bytes]], opens: Mapping[Dice, float]) -> bytes:
    """Return the file of all hands: (bids remembered, states, bytes) by their dice."""
    places, data = dict[str, tuple[int, int, int]](), b""
    for key, (_, states, raw) in hands.items():
        packed = zlib.compress(raw, 9)
        places[key] = len(data), states, len(packed)
        data += packed
    line = {"game": game.name, "dice": int(game.parameters["dice"]), "fingerprint": game.fingerprint}
    line |= {"bytes": len(data), "crc32": zlib.crc32(data), "recall": {key: one[0] for key, one in hands.items()}}
    line |= {"places": places, "values": {key: opens[int(key[0]), int(key[1])] for key in hands}}
    return json.dumps(line).encode() + b"\n" + data


def solve(game: Game, file: Path, times: int = TIMES, first_times: int = FIRST_TIMES) -> None:
    """Solve all hands of a game for two, and write the table."""
    dice = int(game.parameters["dice"])
    one = tabulate(game, 1, 1, RAREST)
    leads_upwards = any(max(end[:2]) > 1 for end in one.endings)
    sizes = [(own, total - own) for total in range(2, 2 * dice + 1) for own in range(1, total)]
    sizes = [(own, others) for own, others in sizes if max(own, others) <= dice]
    # more dice are better: where hands lead upwards, to begin with
    opens = {(own, others): own**1.7 / (own**1.7 + others**1.7) for own, others in sizes}
    hands: dict[str, tuple[int, int, bytes]] = {}
    for effort in (first_times, times) if leads_upwards else (times,):
        for own, others in sizes:
            if own < others:
                continue
            print(f"hand of {own} against {others} dice", file=sys.stderr)
            sides = solve_hand(game, own, others, opens, effort)
            for side, strategy in zip(sides, prune(sides), strict=True) if effort == times else ():
                hands[f"{side.hand.dice[0]}{side.hand.dice[1]}"] = (side.recall, *pack(side, strategy))
    with writing(file) as unfinished:  # else a kill would leave a table that says what hands are not worth
        unfinished.write_bytes(join(game, hands, opens))
        table = RecallTable(game, unfinished)
        for _ in range(ROUNDS if leads_upwards else 1):  # as they are played, rare choices left out
            for dice_pair in sizes:
                opens[dice_pair] = evaluate_play(table, dice_pair)
                table.worth = worth_of(opens)
        unfinished.write_bytes(join(game, hands, opens))


def evaluate_play(table: RecallTable, dice: Dice) -> float:
    """Return how likely the opener of a hand wins the game, from what the next hands are worth."""
    side = table.hand(*dice)
    each = [table.sweep(*dice, roll)[0][0][0] @ side.theirs.chances for roll in range(len(side.mine.chances))]
    return float(side.mine.chances @ np.array(each))


if __name__ == "__main__":
    name, target = sys.argv[1:]
    solve(dicegym.game(name, players=2, dice=DICE), Path(target))
