"""A whole game of two, hand by hand, for players who remember the last bids alone: solved, kept, and packed for a bot.

What a hand is worth follows from the hands that it leads to, so those of few dice come first. Where a call may bring
dice back, hands lead upwards too: then all are gone through with little effort first, so that each finds about what
every other one is worth.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from dicegym.engine.game import Game
from dicegym.files import writing
from dicegym.games.bidding.solving import recall_pack
from dicegym.games.bidding.solving.recall_hand import Side
from dicegym.games.bidding.solving.recall_rules import hand
from dicegym.games.bidding.solving.recall_table import RecallTable
from dicegym.games.solved import damaged, read_arrays, write_arrays
from dicegym.games.worth import Progress

UNFINISHED = "unfinished.table"
"""A table before what its hands are worth is known."""
KEPT = "hands.npz"
FIRST_TIMES = 16
"""How often all hands are gone through, where they lead upwards, for what they are worth."""
ROUNDS = 6
"""How often, where hands lead upwards, it is computed at the end what they are worth."""
FEW = 5
"""Up to so many dice on the table the last three bids are remembered, else the last two; they are gone through twice
as often."""


def recall_of(own: int, others: int, few: int = FEW) -> int:
    """Return how many bids are remembered in a hand: three where there are no more than ``few`` dice, else two."""
    return 3 if own + others <= few else 2


def times_of(own: int, others: int, times: int) -> int:
    """Return how often a hand is gone through, if one of many dice is so often."""
    return 2 * times if own + others <= FEW else times


class Solver(Protocol):
    """Solves one size of hand; such as `dicegym.games.bidding.solving.recall_hand.HandSolver`."""

    sides: list[Side]

    def begin(self, values: np.ndarray) -> None:
        """Make ready to iterate, where the hands that follow are worth ``values``."""

    def iterate(self) -> None:
        """Learn."""

    def evaluate(self) -> Any:
        """Return what the hand is worth as it is played by now."""

    def end(self) -> None:
        """Keep what was learned alone."""


class HandByHand:
    """Solves a game for two hand by hand; a base of `dicegym.games.solved.Solution`.

    Args:
        game: for two.
        sizes: (own, others) of all hands that are solved, in their order.
        times: how often a hand of many dice is gone through.
        start: float64[..., dice + 1, dice + 1]: what hands are taken to be worth before they are solved.
        about: what else the table is made by; tables and hands that were made otherwise are none.
    """

    name = ""
    doc = ""
    measure = ""
    goal = 0.0
    file = ""
    """What the table is called."""

    def __init__(
        self, game: Game, sizes: Sequence[tuple[int, int]], times: int, start: np.ndarray, **about: str | float
    ) -> None:
        self.game = game
        self.dice = int(game.parameters["dice"])
        self._sizes = sorted(sizes, key=_fewest_first)
        self._times = (FIRST_TIMES, times) if leads_upwards(game) else (times,)
        self._start = start
        self._about = about
        self._mark = np.array(zlib.crc32(json.dumps([about, self._times]).encode()))

    def disk(self) -> int:
        """Return the bytes of the table and of what is kept for going on."""
        return int(16e6)

    def quality(self, folder: Path) -> float | None:
        """Return 0 if the table is there, else None. Raises DamagedFileError if it cannot be read."""
        file = folder / self.file
        if not file.is_file():
            return None
        try:
            told, _ = recall_pack.split(file.read_bytes())
        except ValueError as error:
            raise damaged(file, str(error), self.game, self.name) from None
        return 0.0 if self._is_so_made(told) else None

    def is_there(self, folder: Path) -> bool:
        """Return whether a table lies in a folder that says it was made so; the rest of it is not read."""
        try:
            with (folder / self.file).open("rb") as file:
                return self._is_so_made(json.loads(file.readline()))
        except FileNotFoundError:
            return False
        except (ValueError, AttributeError):
            return True  # who reads it whole is told what is wrong

    def _is_so_made(self, told: Mapping[str, Any]) -> bool:
        return all(told.get(key) == value for key, value in self._about.items())

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        """Go through all hands; those that lie in ``folder`` are done. See `dicegym.games.solved.Solution`."""
        folder.mkdir(parents=True, exist_ok=True)
        begun = time.monotonic()
        values, packed, done = self._kept(folder)
        steps = [(number, size) for number in range(len(self._times)) for size in self._sizes]
        work = np.cumsum([0] + [times_of(*size, self._times[number]) * self._work(size) for number, size in steps])
        for place, (number, (own, others)) in enumerate(steps):
            if place < done:
                continue
            last = number == len(self._times) - 1
            solver = self._solver(own, others, last)
            solver.begin(values)
            times = times_of(own, others, self._times[number])
            for at in range(times):
                if seconds is not None and time.monotonic() - begun > seconds:
                    return float("inf")
                share = work[place] + (work[place + 1] - work[place]) * at / times
                progress(round(1000 * share / work[-1]), 1000, f"hand of {own} against {others} dice")
                solver.iterate()
            self._take(solver.evaluate(), values, own, others)
            solver.end()
            if last:
                strategies = recall_pack.pruned(solver.sides)
                for side_number, (side, strategy) in enumerate(zip(solver.sides, strategies, strict=True)):
                    if self._is_played(side_number):
                        packed[f"{side.hand.own}{side.hand.others}"] = recall_pack.pack(side, strategy)
            self._keep(folder, values, packed, place + 1)
        progress(1000, 1000, "what the hands are worth")
        self._write(folder / UNFINISHED, self._opens(values), packed)
        self._write(folder / self.file, self._worths(folder / UNFINISHED), packed)
        (folder / UNFINISHED).unlink()
        return 0.0

    def _solver(self, own: int, others: int, last: bool) -> Solver:
        """Return what solves a hand, for its strategy (``last``) or at first for what it is worth."""
        raise NotImplementedError(f"{type(self).__name__} must define _solver(own, others, last)")

    def _take(self, found: Any, values: np.ndarray, own: int, others: int) -> None:
        """Write what `Solver.evaluate` found a hand to be worth into ``values``."""
        raise NotImplementedError(f"{type(self).__name__} must define _take(found, values, own, others)")

    def _is_played(self, number: int) -> bool:
        """Return whether a solver's side of this number comes into the table."""
        return True

    def _opens(self, values: np.ndarray) -> np.ndarray:
        """Return float64[dice + 1, dice + 1]: how likely who opens a hand wins, between two who play the table."""
        return values

    def _work(self, size: tuple[int, int]) -> float:
        """Return what a hand costs, by its pairs of rolls and bids."""
        own, others = size
        return (own + 1.5) ** 4 * (others + 1.5) ** 4 * (own + others) ** 2 * (2 if own != others else 1)

    def _kept(self, folder: Path) -> tuple[np.ndarray, dict[str, recall_pack.Packed], int]:
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
            packed[f"{own}{others}"] = recall_pack.Packed(own, others, recall, states, data)
            at += size
        return found["values"], packed, int(found["done"])

    def _keep(self, folder: Path, values: np.ndarray, packed: dict[str, recall_pack.Packed], done: int) -> None:
        heads = [(one.own, one.others, one.recall, one.states, len(one.data)) for one in packed.values()]
        data = np.frombuffer(b"".join(one.data for one in packed.values()), np.uint8)
        steps = {"done": np.array(done), "mark": self._mark}
        write_arrays(folder / KEPT, values=values, heads=np.array(heads, np.int64).reshape(-1, 5), data=data, **steps)

    def _worths(self, file: Path) -> np.ndarray:
        """Return what the hands of a table are worth as they are played, rare choices left out; see `_start`."""
        table = RecallTable(self.game, file, self.name)
        for _ in range(1 if len(self._times) == 1 else ROUNDS):
            for own, others in sorted({*self._sizes, *(size[::-1] for size in self._sizes)}, key=_fewest_first):
                table.values[own, others] = table.played_worth(own, others)
        return table.values

    def _write(self, file: Path, values: np.ndarray, packed: dict[str, recall_pack.Packed]) -> None:
        each = range(1, self.dice + 1)
        worth = {f"{own}{others}": float(values[own, others]) for own in each for others in each}
        told = {"game": self.game.name, "dice": self.dice, "fingerprint": self.game.fingerprint}
        whole = recall_pack.join(packed.values(), worth, **told, **self._about)
        with writing(file) as unfinished:
            unfinished.write_bytes(whole)


def leads_upwards(game: Game) -> bool:
    """Return whether a call may bring dice back."""
    if int(game.parameters["dice"]) == 1:
        return False
    found = hand(game, 1, 1)
    return bool((found.outcome[found.may_call][..., 0] > 1).any())


def more_dice_are_better(dice: int) -> np.ndarray:
    """Return what hands may be worth, to begin with: float64[dice + 1, dice + 1], own dice by the other's."""
    own = np.arange(dice + 1.0)[:, None] ** 1.7
    values: np.ndarray = own / np.maximum(own + own.T, 1e-9)
    return values


def _fewest_first(size: tuple[int, int]) -> tuple[int, int]:
    return sum(size), size[0]
