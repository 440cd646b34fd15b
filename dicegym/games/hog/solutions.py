"""What of Hog can be solved and kept: an equilibrium between players who know both scores alone."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.hog.rules import N_ACTIONS
from dicegym.games.hog.solving.strategies import Search, best_response, best_table_against, new_mix
from dicegym.games.parts import plays_with
from dicegym.games.solved import damaged, read_arrays, write_arrays
from dicegym.games.worth import Progress

SETTINGS: tuple[Mapping[str, int], ...] = ({"memory": 0},)
"""Players who remember their turns choose by more than both scores."""
FILE = "equilibrium.npz"
STEPS = 40
"""From one measurement to the next: what has been learnt so far is measured as it is, and on average."""
MOST_STEPS = 600
"""Further ones have brought nothing."""
STARTS = 2
"""Tables drawn from a strategy that the search for a reply begins with, besides two others."""


class Reached(NamedTuple):
    """What a file holds: the best strategy so far, how good it is, and what is needed for going on."""

    best: np.ndarray
    """float64[goal * goal, 1, 1, N_ACTIONS]: probabilities by pair of scores, own score first."""
    table: float
    """What the best table found wins against it."""
    full: float
    """What one wins against it who sees everything: nobody wins more."""
    search: Search
    total: np.ndarray
    """Of the same shape: the strategies of all steps, each weighted by its number."""


class Equilibrium:
    """A strategy for those who know both scores alone, which others of that kind hardly beat."""

    name = "equilibrium"
    doc = "how to play if both know the scores alone, and each guards against whatever the other finds out"
    measure = "exploitability by tables, as far as found, in win rate"
    goal = 0.03

    def __init__(self, game: Game) -> None:
        self.game = game
        self._to = game.parameters["goal"]

    def memory(self) -> int:
        """Return the bytes of memory that solving takes at most."""
        return 100_000_000 + 3000 * self._to**2

    def disk(self) -> int:
        """Return the bytes of the file."""
        return 10_000 + 4 * 8 * N_ACTIONS * self._to**2

    def minutes(self) -> float:
        """Return about how long it takes; a step of the sweep grows with the pairs of scores."""
        return max(0.05, 3 * (self._to / 100) ** 2)

    def quality(self, folder: Path) -> float | None:
        """Return by how much the best table found wins more than half against the strategy that is kept."""
        reached = self.read(folder)
        return None if reached is None else reached.table - 0.5

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        """Let two players learn against each other, measure every `STEPS` steps, and keep the best; one thread."""
        end = None if seconds is None else time.monotonic() + seconds
        reached = self.read(folder) or self._begun()
        try:
            while reached.table - 0.5 > goal and reached.search.steps < MOST_STEPS:
                if end is not None and time.monotonic() >= end:
                    break
                reached = self._further(reached, progress)
        finally:
            self._write(folder, reached)
        return reached.table - 0.5

    def _begun(self) -> Reached:
        uniform = new_mix(self._to)
        return Reached(uniform, 1.0, 1.0, Search(uniform.copy()), np.zeros_like(uniform))

    def _further(self, reached: Reached, progress: Progress) -> Reached:
        """Return what has been reached after `STEPS` more steps; what there was stays as it is until then."""
        before, total = reached.search, reached.total.copy()
        search = Search(before.mix.copy(), before.regrets.copy(), before.steps)
        for _ in range(STEPS):
            search.step()
            total += search.steps * search.mix
            said = "" if reached.table == 1 else f"{reached.table - 0.5:.4f}"
            progress(search.steps, MOST_STEPS, said)
        mean = total / total.sum(axis=-1, keepdims=True)
        best = reached
        for mix in (search.mix, mean):
            won = best_table_against(mix, STARTS)[0]
            if won < best.table:
                best = best._replace(best=mix.copy(), table=won, full=best_response(mix)[0])
        return best._replace(search=search, total=total)

    def read(self, folder: Path) -> Reached | None:
        """Return what lies in a folder; None if nothing does. Raises DamagedFileError."""
        file = folder / FILE
        if not file.exists():
            return None
        shape = (self._to**2, N_ACTIONS)
        like = dict.fromkeys(("best", "regrets", "mix", "total"), (shape, np.float64))
        figures = {"won": ((2,), np.float64), "steps": ((), np.int64)}
        found = read_arrays(file, self.game, self.name, like | figures)
        for name in ("best", "mix"):
            if not (np.abs(found[name].sum(axis=1) - 1) < 1e-6).all() or (found[name] < 0).any():
                raise damaged(file, f"holds {name} that are no probabilities", self.game, self.name)
        best, regrets, mix, total = (found[name].reshape(-1, 1, 1, N_ACTIONS) for name in like)
        search = Search(mix, regrets, int(found["steps"]))
        return Reached(best, float(found["won"][0]), float(found["won"][1]), search, total)

    def _write(self, folder: Path, reached: Reached) -> None:
        search = reached.search
        if search.steps:
            arrays = {"best": reached.best, "regrets": search.regrets, "mix": search.mix, "total": reached.total}
            write_arrays(
                folder / FILE,
                **{name: array.reshape(-1, N_ACTIONS) for name, array in arrays.items()},
                won=np.array([reached.table, reached.full]),
                steps=np.array(search.steps, np.int64),
            )


def solutions(game: Game) -> Sequence[Equilibrium]:
    """Return what can be solved of ``game``; nothing with ``memory``."""
    return (Equilibrium(game),) if any(plays_with(game, settings) for settings in SETTINGS) else ()
