"""A solution that takes as long as one likes: it counts, and its quality is one over what it has counted."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from dicegym.engine.game import Game
from dicegym.games.solved import Solution, read_arrays, write_arrays
from dicegym.games.worth import Progress, ValueSource

STEPS = 1000


class Counting:
    """Counts to `STEPS`; ``stop_at`` is a step at which somebody presses Ctrl-C."""

    name = "counting"
    doc = "numbers, one after the other"
    measure = "what is left"
    goal = 0.01
    stop_at: int | None = None
    needed = 1000

    def __init__(self, game: Game) -> None:
        self.game = game

    def memory(self) -> int:
        return self.needed

    def disk(self) -> int:
        return 200

    def minutes(self) -> float:
        return 0.01

    def counted(self, folder: Path) -> int:
        file = folder / "count.npz"
        if not file.exists():
            return 0
        found = read_arrays(file, self.game, self.name, {"count": ((), np.int64)})
        return int(found["count"])

    def quality(self, folder: Path) -> float | None:
        counted = self.counted(folder)
        return 1 / counted if counted else None

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        count, end = self.counted(folder), None if seconds is None else time.monotonic() + seconds
        try:
            while (not count or 1 / count > goal) and (end is None or time.monotonic() < end):
                count += 1
                progress(count, STEPS, f"{1 / count:.3g}")
                if count == self.stop_at:
                    raise KeyboardInterrupt
        finally:
            write_arrays(folder / "count.npz", count=np.array(count))
        return 1 / max(count, 1)


class Toy:
    """A game's ``values.py``."""

    SETTINGS: Sequence[Mapping[str, int]] = ({"goal": 20}, {"goal": 30})

    def __init__(self, *kinds: type[Counting]) -> None:
        self.kinds = kinds

    def sources(self, game: Game) -> Sequence[ValueSource]:
        return ()

    def solutions(self, game: Game) -> Sequence[Solution]:
        return [kind(game) for kind in self.kinds] if game.parameters.get("goal") in (20, 30) else []


def play_with(monkeypatch: pytest.MonkeyPatch, toy: Toy) -> None:
    """Let Hog have these solutions, and all other games none."""

    def part(game: Game | str, kind: object) -> Toy | None:
        return toy if (game if isinstance(game, str) else game.name) == "hog" else None

    monkeypatch.setattr("dicegym.analysis.solving.part", part)
