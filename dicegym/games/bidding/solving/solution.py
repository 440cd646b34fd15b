"""Equilibria of Liar's Dice for two: solved and stored, or for one die each solved whenever they are needed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding.solving.cfr import Strategy
from dicegym.games.bidding.solving.equilibrium import Solver, exploitability, groups_of, worths
from dicegym.games.bidding.solving.hand import Dice, Worth, tabulate
from dicegym.games.bidding.solving.hand_values import EquilibriumValues
from dicegym.games.solved import read_arrays, report_unsolved, tables_folder, write_arrays
from dicegym.games.worth import Progress

NAME = "equilibrium"
AT_ONCE = 2000
"""Steps to solve a game with one die each; they take about a second."""
GOAL = 1e-3
FILE = "equilibrium/tables.npz"
FIRST_LOOK, LOOKS = 20, 1.3
"""The exploitability is computed after this many steps, and again whenever they have grown by this factor: it takes as
long as a dozen steps."""
LOOK_BELOW = 100
"""The number of steps between computations for later hands of the game."""


@lru_cache(maxsize=4)
def values_at_once(game: Game) -> EquilibriumValues:
    """Solve a game with one die each in memory; return its values."""
    solver = Solver(game)
    while solver.steps < AT_ONCE:
        solver.step()
    strategies = solver.current()
    found = worths(solver.groups, strategies, best=False)
    return EquilibriumValues(game, strategies, exploitability(solver.groups, strategies), found)


def is_kept(game: Game) -> bool:
    """Return whether a game has stored tables."""
    return (tables_folder(game) / FILE).exists()


def load_values(game: Game) -> EquilibriumValues:
    """Return the values by a game's stored tables. Raises ParameterError and DamagedFileError."""
    if not is_kept(game):
        raise report_unsolved(game)
    file = tables_folder(game) / FILE
    return _read_values(game, file, file.stat().st_mtime_ns)


def recompute_exploitability(game: Game, goal: float) -> float | None:
    """Recompute the exploitability of a game's tables; return None without tables that reach ``goal``."""
    if not is_kept(game):
        return None
    values = load_values(game)
    return exploitability(groups_of(game), values.strategies) if values.exploitability <= goal else None


@lru_cache(maxsize=4)
def _read_values(game: Game, file: Path, written: int) -> EquilibriumValues:
    hands = [dice for group in groups_of(game) for dice in group]
    names = ["exploitability", "opens", "follows"]
    names += [_name_of(dice, kind) for dice in hands for kind in ("bids", "calls")]
    found = read_arrays(file, game, names)
    strategies = {
        dice: Strategy(tabulate(game, *dice), found[_name_of(dice, "bids")], found[_name_of(dice, "calls")])
        for dice in hands
    }
    opens, follows = (dict(zip(hands, found[key].tolist(), strict=True)) for key in ("opens", "follows"))
    return EquilibriumValues(game, strategies, float(found["exploitability"]), Worth(opens, follows))


def _name_of(dice: Dice, kind: str) -> str:
    """Return the name of a hand's table in the file: ``2-1-bids``."""
    return f"{dice[0]}-{dice[1]}-{kind}"


class EquilibriumSolution:
    """The equilibrium of a game for two, all bids of a hand remembered; see `dicegym.games.solved.Solution`.

    Args:
        game: the game.
        steps: the steps to reach `GOAL`, as measured.
        needs: see `Solution.needs`.
    """

    doc = "how two players play an equilibrium, and what every position is worth between them"
    measure = "exploitability, in win rate"
    goal = GOAL

    def __init__(self, game: Game, steps: int, needs: str) -> None:
        self.game, self._steps, self.needs = game, steps, needs

    def quality(self, folder: Path) -> float | None:
        """Return the exploitability of the tables in a folder; see `Solution.quality`."""
        if not (folder / FILE).exists():
            return None
        return float(read_arrays(folder / FILE, self.game, ["exploitability"])["exploitability"])

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        """Learn until the tables reach ``goal``; see `Solution.solve`.

        Better tables are written whenever the exploitability is computed. Later steps are lost at the end.
        """
        best = self.quality(folder)
        if best is not None and best <= goal:
            return best
        began = told = time.monotonic()
        solver, look, words = Solver(self.game, threads), FIRST_LOOK, ""
        while seconds is None or time.monotonic() - began < seconds:
            solver.step()
            if not solver.last:
                words = f"hands of {', '.join(f'{one} and {other} dice' for one, other in solver.learners)}"
                if solver.steps % LOOK_BELOW == 0:
                    solver.finish_group()
            elif solver.steps == look:
                look = round(look * LOOKS)
                strategies = solver.current()
                found = exploitability(solver.groups, strategies)
                words = f"a best response gains {found:.5f} after {solver.steps} steps on the first hand"
                if best is None or found < best:
                    best = found
                    self._write(folder, solver, strategies, found)
                if found <= goal:
                    break
            if time.monotonic() - told > 0.5:
                told = time.monotonic()
                progress(solver.steps, max(self._steps, solver.steps + 1), words)
        progress(solver.steps, solver.steps, words)
        return 0.5 if best is None else best

    def _write(self, folder: Path, solver: Solver, strategies: Mapping[Dice, Strategy], found: float) -> None:
        worth = worths(solver.groups, strategies, best=False)
        hands = [dice for group in solver.groups for dice in group]
        told = {key: np.array([values[dice] for dice in hands]) for key, values in worth._asdict().items()}
        tables = {_name_of(dice, "bids"): strategies[dice].bid_rows for dice in hands}
        tables |= {_name_of(dice, "calls"): strategies[dice].call_rows for dice in hands}
        write_arrays(folder / FILE, exploitability=np.array(found), **told, **tables)
