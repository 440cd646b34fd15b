"""The equilibrium of a game for two players that remember the last bids alone, solved hand by hand.

What a hand is worth follows from the hands that it leads to, so those of few dice come first. Where a call may bring
dice back, hands lead upwards too: then all are gone through with little effort first, so that each finds about what
every other one is worth. Solved hands are kept, and packed for a bot.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from dicegym.engine.game import Game
from dicegym.files import writing
from dicegym.games.bidding.solving import recall_table
from dicegym.games.bidding.solving.recall_solver import HandSolver
from dicegym.games.bidding.solving.recall_table import RecallTable
from dicegym.games.bidding.solving.recall_tree import tabulate
from dicegym.games.parts import plays_with
from dicegym.games.solved import Solution, read_arrays, report_damage, write_arrays
from dicegym.games.worth import Progress

SETTINGS: Sequence[Mapping[str, int]] = tuple({"players": 2, "dice": dice} for dice in (5, 4, 3))
"""Games that are solved so; with fewer dice all bids can be remembered."""
FILE = "equilibrium.table"
UNFINISHED = "unfinished.table"
"""A table before what its hands are worth is known."""
KEPT = "hands.npz"
TIMES = 100
"""How often each hand is gone through for the strategy; twice as often where few dice are left."""
FIRST_TIMES = 16
"""How often all hands are gone through, where they lead upwards, for what they are worth."""
ROUNDS = 6
"""How often, where hands lead upwards, it is computed at the end what they are worth."""
FEW = 5
"""Hands with up to this many dice on the table remember the last three bids, others the last two; the former are gone
through twice as often."""


class RecallSolution:
    """The equilibrium of a game for two with its number of dice; a `dicegym.games.solved.Solution`."""

    name = "equilibrium"
    doc = "an approximate equilibrium for two: the last two bids of a hand remembered, three where few dice are left"
    measure = ""
    goal = 0.0

    def __init__(self, game: Game) -> None:
        self.game = game
        self.dice = int(game.parameters["dice"])
        sizes = [(own, others) for own in range(1, self.dice + 1) for others in range(1, own + 1)]
        self._sizes = sorted(sizes, key=_fewest_first)
        self._times = (FIRST_TIMES, TIMES) if leads_upwards(game) else (TIMES,)
        self._start = more_dice_are_better(self.dice)
        self._mark = np.array(zlib.crc32(json.dumps([{}, self._times]).encode()))

    def memory(self) -> int:
        """Return the bytes that solving takes at most: most of it for all pairs of rolls in all states."""
        return int(1.2e9) if self.dice > 4 else int(0.6e9)

    def minutes(self) -> float:
        """Return about how many minutes it takes: one core does all of it."""
        return 3.0 * len(self._times) if self.dice > 4 else 1.5

    def disk(self) -> int:
        """Return the bytes of the table and of what is kept for going on."""
        return int(16e6)

    def quality(self, folder: Path) -> float | None:
        """Return 0 if the table is there, else None. Raises DamagedFileError if it cannot be read."""
        file = folder / FILE
        if not file.is_file():
            return None
        try:
            recall_table.split(file.read_bytes())
        except ValueError as error:
            raise report_damage(file, str(error), self.game, self.name) from None
        return 0.0

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        """Go through all hands; those in ``folder`` are done. See `dicegym.games.solved.Solution`."""
        folder.mkdir(parents=True, exist_ok=True)
        begun = time.monotonic()
        values, packed, done = self._kept(folder)
        steps = [(number, size) for number in range(len(self._times)) for size in self._sizes]
        work = np.cumsum([0] + [times_of(*size, self._times[number]) * _work(*size) for number, size in steps])
        for place, (number, (own, others)) in enumerate(steps):
            if place < done:
                continue
            solver = HandSolver(self.game, own, others, recall_of(own, others))
            solver.begin(values)
            times = times_of(own, others, self._times[number])
            for at in range(times):
                if seconds is not None and time.monotonic() - begun > seconds:
                    return float("inf")
                share = work[place] + (work[place + 1] - work[place]) * at / times
                progress(round(1000 * share / work[-1]), 1000, f"hand of {own} against {others} dice")
                solver.iterate()
            found = solver.evaluate()
            values[own, others], values[others, own] = found[0], found[-1]
            solver.end()
            if number == len(self._times) - 1:
                strategies = recall_table.prune(solver.sides)
                for side, strategy in zip(solver.sides, strategies, strict=True):
                    packed[f"{side.hand.own}{side.hand.others}"] = recall_table.pack(side, strategy)
            self._keep(folder, values, packed, place + 1)
        progress(1000, 1000, "what the hands are worth")
        self._write(folder / UNFINISHED, values, packed)
        self._write(folder / FILE, self._worths(folder / UNFINISHED), packed)
        (folder / UNFINISHED).unlink()
        return 0.0

    def _kept(self, folder: Path) -> tuple[np.ndarray, dict[str, recall_table.Packed], int]:
        """Return what hands are worth, those that are packed, and how many steps are done."""
        file = folder / KEPT
        if not file.is_file():
            return self._start.copy(), {}, 0
        arrays = {"values": (self._start.shape, np.float64), "done": ((), np.int64), "mark": ((), np.int64)}
        like = arrays | {"heads": ((None, 5), np.int64), "data": ((None,), np.uint8)}
        found = read_arrays(file, self.game, self.name, like)
        if found["mark"] != self._mark:
            return self._start.copy(), {}, 0
        packed, at = {}, 0
        for own, others, recall, states, size in found["heads"].tolist():
            data = found["data"][at : at + size].tobytes()
            packed[f"{own}{others}"] = recall_table.Packed(own, others, recall, states, data)
            at += size
        return found["values"], packed, int(found["done"])

    def _keep(self, folder: Path, values: np.ndarray, packed: dict[str, recall_table.Packed], done: int) -> None:
        heads = [(one.own, one.others, one.recall, one.states, len(one.data)) for one in packed.values()]
        data = np.frombuffer(b"".join(one.data for one in packed.values()), np.uint8)
        steps = {"done": np.array(done), "mark": self._mark}
        write_arrays(folder / KEPT, values=values, heads=np.array(heads, np.int64).reshape(-1, 5), data=data, **steps)

    def _worths(self, file: Path) -> np.ndarray:
        """Return what the hands of a table are worth as they are played, rare choices left out; see `_start`."""
        table = RecallTable(self.game, file, self.name)
        for _ in range(1 if len(self._times) == 1 else ROUNDS):
            for own, others in sorted({*self._sizes, *(size[::-1] for size in self._sizes)}, key=_fewest_first):
                table.values[own, others] = table.evaluate_play(own, others)
        return table.values

    def _write(self, file: Path, values: np.ndarray, packed: dict[str, recall_table.Packed]) -> None:
        each = range(1, self.dice + 1)
        worth = {f"{own}{others}": float(values[own, others]) for own in each for others in each}
        told = {"game": self.game.name, "dice": self.dice, "fingerprint": self.game.fingerprint}
        whole = recall_table.join(packed.values(), worth, **told)
        with writing(file) as unfinished:
            unfinished.write_bytes(whole)


def recall_of(own: int, others: int) -> int:
    """Return how many bids are remembered in a hand: three where there are few dice, else two."""
    return 3 if own + others <= FEW else 2


def times_of(own: int, others: int, times: int) -> int:
    """Return how often a hand is gone through, if one of many dice is so often."""
    return 2 * times if own + others <= FEW else times


def leads_upwards(game: Game) -> bool:
    """Return whether a call may bring dice back."""
    if int(game.parameters["dice"]) == 1:
        return False
    return bool((tabulate(game, 1, 1).outcome[..., 0] > 1).any())


def more_dice_are_better(dice: int) -> np.ndarray:
    """Return what hands may be worth, to begin with: float64[dice + 1, dice + 1], own dice by the other's."""
    own = np.arange(dice + 1.0)[:, None] ** 1.7
    values: np.ndarray = own / np.maximum(own + own.T, 1e-9)
    return values


def settings_but(exact: Sequence[Mapping[str, int]]) -> Sequence[Mapping[str, int]]:
    """Return those of `SETTINGS` that are not solved better."""
    return tuple(settings for settings in SETTINGS if settings not in exact)


def solutions(game: Game) -> Sequence[Solution]:
    """Return what can be solved so of ``game``: tables know dice of six faces."""
    is_solved_so = not game.added_parameters and any(plays_with(game, settings) for settings in SETTINGS)
    return (RecallSolution(game),) if is_solved_so else ()


def _work(own: int, others: int) -> float:
    """Return what a hand costs, by its pairs of rolls and bids."""
    return (own + 1.5) ** 4 * (others + 1.5) ** 4 * (own + others) ** 2 * (2 if own != others else 1)


def _fewest_first(size: tuple[int, int]) -> tuple[int, int]:
    return sum(size), size[0]
