"""What positions of Yatzy for one are worth, learned in games and kept by ``dicegym solve``: a solution like any other.

The exact table (`alone`) has no part in it.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.solved import read_arrays, tables_folder, unsolved, write_arrays
from dicegym.games.worth import Progress
from dicegym.games.yatzy.rules import SPEC
from dicegym.games.yatzy.solving import learned_kernels as kernels
from dicegym.games.yatzy.solving.positions import ALL_FILLED, SUMS

NAME = "learned"
GAMES = 1_000_000
"""In all."""
AT_ONCE = 2_000
"""Games of one step."""
SEED = 1
RATE, RATE_END = 0.5, 0.002
"""How far a worth moves towards what its turn promised, first and last: it falls by the same factor each step. From 1
on it would run away."""
TRACE = 0.5
"""TD's lambda."""
SAVE_EVERY = 60.0
"""Seconds."""
FILE = "learned.npz"
ALONE = Game(SPEC, 1)


class Learned:
    """What positions are worth by the games of a learner that plays alone; see `dicegym.games.solved.Solution`."""

    name = NAME
    doc = f"what positions are worth, learned in {GAMES:,} games by temporal differences, the exact table unseen"
    measure = "share of its games that are still to be played"
    goal = 1e-6  # that is, none of them: a share below it is none of its games

    def memory(self) -> int:
        """Return the bytes that it takes."""
        return 100_000_000

    def disk(self) -> int:
        """Return the bytes of the file."""
        return 10_000 + 8 * kernels.SIZE

    def minutes(self) -> float:
        """Return how long it took on one core."""
        return 3.7

    def quality(self, folder: Path) -> float | None:
        """Return the share of games that are left; None if none were played."""
        found = _read(folder)
        return None if found is None else 1 - found[1] / GAMES

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        """Play and learn on one thread; see `Solution.solve`."""
        weights, played = _read(folder) or (np.zeros(kernels.SIZE), 0)
        begun = saved = time.monotonic()
        said = "games of Yatzy"
        try:
            while 1 - played / GAMES > goal and (seconds is None or time.monotonic() - begun < seconds):
                progress(played, GAMES, said)
                rate = RATE * (RATE_END / RATE) ** (played / GAMES)
                mean = kernels.learn(weights, np.uint64(SEED), played, AT_ONCE, rate, TRACE)
                played += AT_ONCE
                said = f"games of Yatzy, {mean:.1f} points each"
                if time.monotonic() - saved > SAVE_EVERY:
                    saved = time.monotonic()
                    _write(folder, weights, played)
        finally:
            _write(folder, weights, played)
        return 1 - played / GAMES


def values() -> np.ndarray:
    """Return the mean of what is still to come in every position, as it was learned; see `alone.values`.

    Raises:
        ParameterError: nothing has been learned on this machine yet.
        DamagedFileError: what was cannot be used.
    """
    found = _read(tables_folder(ALONE, NAME))
    if found is None:
        raise unsolved(ALONE, NAME)
    out = np.zeros((ALL_FILLED + 1, SUMS))
    kernels.write_values(found[0], out)
    out.setflags(write=False)
    return out


def ready() -> bool:
    """Return whether something has been learned on this machine."""
    return (tables_folder(ALONE, NAME) / FILE).is_file()


def _read(folder: Path) -> tuple[np.ndarray, int] | None:
    """Return the numbers of all tables and how many games made them; None if there are none."""
    if not (folder / FILE).is_file():
        return None
    like = {"weights": ((kernels.SIZE,), np.float64), "played": ((), np.int64)}
    found = read_arrays(folder / FILE, ALONE, NAME, like)
    return found["weights"], int(found["played"])


def _write(folder: Path, weights: np.ndarray, played: int) -> None:
    write_arrays(folder / FILE, weights=weights, played=np.array(played))
