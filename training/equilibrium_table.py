"""Solve Liar's Dice for two players that remember only the last bids, and write the table of the agent `equilibrium`.

    python training/equilibrium_table.py liarsdice equilibrium.table
    python training/equilibrium_table.py liarsdice_spot_on equilibrium.table

With five dice each it takes three minutes of a core and 1.2 GB for the classic game, and twice the time for the other.
`dicegym.games.bidding.solving.recall_table` describes the file.

The value of a hand follows from the hands after it, so hands with few dice come first. Where a call may return dice,
hands also lead to hands with more dice: then all are first solved roughly, to have approximate values for each other.

A hand is solved by counterfactual regret minimisation. Like fixed-strategy iteration (Neller and Hnath, "Approximating
optimal Dudo play with fixed-strategy iteration counterfactual regret minimization", ACG 2011), each iteration passes
once forwards over the public states with their probabilities, and once backwards with their values; here for all pairs
of rolls at once, as matrix products, and with regrets that never fall below 0 (CFR+: Tammelin, "Solving large imperfect
information games using CFR+", 2014). Several histories lead to one state. So its probability with a pair of rolls is a
matrix, not a product of both players' contributions as with perfect recall
(`dicegym.games.bidding.solving.regret_sweeps`).
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
"""Hands with up to this number of dice on the table remember the last three bids and have twice the iterations; others
remember the last two."""
TIMES = 100
"""Iterations of each hand for the strategy."""
FIRST_TIMES = 16
"""Iterations of the first, rough solution where hands lead upwards."""
ROUNDS = 6
"""Final evaluations of all hands where hands lead upwards."""
TREMBLE = 1e-3
"""The share of uniform choices during learning, so that there are answers to absurd bids."""
LEAST = 0.02
"""Choices with a smaller probability are left out."""
HARDLY = 1e-3
"""States that a player's own choices reach with a smaller probability are left out."""
FLOAT = np.float32
SMALL = FLOAT(1e-12)


class LearningSide(Side):
    """The mutable state of one side of a hand during learning.

    Every list has an array for each group of states; choices are bids, then calls.

    Attributes:
        before: the bid that leads to each member of a group: (number of its group, number of the bid there).
        regrets: float32[rolls, members, choices].
        summed: shaped like regrets: the weighted sum of all strategies.
        strategy: shaped like regrets: the current strategy.
        reach: float32[members, rolls]: probability of the mover's own choices that lead to a state.
        other_reach: float32[members, other rolls]: probability of the other player's choices.
        joint: float32[rolls, members, other rolls]: probability of a state with each pair of rolls.
        worth: float32[rolls, choices, other rolls]: the mover's probability to win with a choice, minus one half.
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
        """Return zeros for each group; ``of`` names the axes: r(olls), m(embers), c(hoices), o(ther rolls)."""
        size = {"r": len(self.mine.chances), "o": len(self.theirs.chances)}
        return [
            np.zeros([(size | {"m": len(group.members), "c": len(actions)})[axis] for axis in of], FLOAT)
            for group, actions in zip(self.groups, self.actions, strict=True)
        ]


def match(weights: np.ndarray, tremble: float) -> np.ndarray:
    """Return the strategy proportional to ``weights``, both float32[rolls, members, choices].

    Regret matching (Hart and Mas-Colell, "A simple adaptive procedure leading to correlated equilibrium", 2000),
    uniform without any weight, and always uniform in a share ``tremble``.
    """
    even = FLOAT(1 / weights.shape[2])
    total = weights.sum(axis=2, keepdims=True)
    is_known = total > SMALL
    strategy: np.ndarray = weights * np.divide(1 - FLOAT(tremble), total, where=is_known, out=np.zeros_like(total))
    strategy += np.where(is_known, FLOAT(tremble) * even, even)
    return strategy


def carry_on(side: LearningSide, other: LearningSide, number: int) -> None:
    """Pass forwards from a group: write the probabilities of the states after its bids, in which ``other`` moves.

    A reach is a mean over histories, weighted by the other side's probabilities: those of the present mover for the
    next mover's reach, and vice versa.
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
    """Pass backwards from a group: write the values of its states for ``other``, whose bids led to them."""
    worth = np.matmul(side.strategy[number], side.worth[number])
    for member, (before, choice) in enumerate(side.before[number]):
        other.worth[before][:, choice] = -worth[:, member].T


def learn(side: LearningSide, number: int, times: int) -> None:
    """Update the regrets of a group, and add its strategy to the sum.

    Values are counterfactual, weighted by the other player's probability to reach a state; ``joint`` contains both
    players', so the mover's is divided out. Later iterations weigh more in the mean: CFR+ weighs linearly, this by
    squares.
    """
    strategy, own = side.strategy[number], side.reach[number].T[:, :, None]
    values = np.matmul(side.joint[number], side.worth[number].transpose(0, 2, 1))
    values -= (strategy * values).sum(axis=2, keepdims=True)
    values /= np.maximum(own, SMALL)
    values += side.regrets[number]
    np.maximum(values, 0, out=side.regrets[number])
    side.summed[number] += FLOAT(times**2) * own * strategy


def solve_hand(game: Game, own: int, others: int, opens: dict[Dice, float], times: int) -> list[LearningSide]:
    """Solve a hand; return its sides, only one if both players have the same number of dice.

    ``opens`` has the probability that the opener of a hand wins the game; this hand's is written there.
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
    """Return the mean strategy by side and group, without choices below `LEAST`.

    It is 0 in states that a player reaches by its own choices with a probability below `HARDLY`.
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
    """Return the strategies of summed weights without rare choices; 0 without any weight."""
    total = summed.sum(2, keepdims=True)
    found = summed / np.where(total > 0, total, 1)
    found[found < LEAST] = 0
    kept = found.sum(2, keepdims=True)
    strategy: np.ndarray = found / np.where(kept > 0, kept, 1)
    return strategy


def pack(side: LearningSide, strategy: Sequence[np.ndarray]) -> tuple[int, bytes]:
    """Return the number of kept states of a side, and their bytes; ``strategy`` is a side's from `prune`."""
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
    """Return the bytes of a state; ``cells`` is float32[rolls, choices]."""
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
    """Return the file's content; ``hands`` has (remembered bids, states, bytes) by dice."""
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
    # initial values, which matter where hands lead upwards: more dice are better
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
    with writing(file) as unfinished:  # otherwise a kill could leave a table with wrong values
        unfinished.write_bytes(join(game, hands, opens))
        table = RecallTable(game, unfinished)
        for _ in range(ROUNDS if leads_upwards else 1):  # by the strategies without rare choices
            for dice_pair in sizes:
                opens[dice_pair] = evaluate_play(table, dice_pair)
                table.worth = worth_of(opens)
        unfinished.write_bytes(join(game, hands, opens))


def evaluate_play(table: RecallTable, dice: Dice) -> float:
    """Return the probability that the opener of a hand wins the game, from the values of the next hands."""
    side = table.hand(*dice)
    each = [table.sweep(*dice, roll)[0][0][0] @ side.theirs.chances for roll in range(len(side.mine.chances))]
    return float(side.mine.chances @ np.array(each))


if __name__ == "__main__":
    name, target = sys.argv[1:]
    solve(dicegym.game(name, players=2, dice=DICE), Path(target))
