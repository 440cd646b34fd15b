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

    doc = "numbers, one after the other"
    measure = "what is left"
    goal = 0.01
    stop_at: int | None = None
    needs = "next to nothing"

    def __init__(self, game: Game) -> None:
        self.game = game

    def counted(self, folder: Path) -> int:
        file = folder / "count.npz"
        if not file.exists():
            return 0
        return int(read_arrays(file, self.game, ["count"])["count"])

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

    def __init__(self, kind: type[Counting]) -> None:
        self.kind = kind

    def sources(self, game: Game) -> Sequence[ValueSource]:
        return ()

    def solution(self, game: Game) -> Solution | None:
        return self.kind(game) if game.parameters.get("goal") in (20, 30) else None


def play_with(monkeypatch: pytest.MonkeyPatch, toy: Toy) -> None:
    """Let Hog have this solution, and all other games none."""

    def part(game: Game | str, kind: object) -> Toy | None:
        return toy if (game if isinstance(game, str) else game.name) == "hog" else None

    monkeypatch.setattr("dicegym.analysis.solving.part", part)
