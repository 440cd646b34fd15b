"""Equilibria of Liar's Dice for two as what can be solved and kept, and small ones solved when they are asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache
from pathlib import Path

from dicegym.engine.game import Game
from dicegym.games.bidding.solving import keeping
from dicegym.games.bidding.solving.equilibrium import (
    Solver,
    Worth,
    exploitability,
    groups_of,
    name_of,
    pack,
    unpack,
    worths,
)
from dicegym.games.bidding.solving.hand import tabulate
from dicegym.games.bidding.solving.hand_learner import Strategy
from dicegym.games.bidding.solving.hand_rules import Dice
from dicegym.games.bidding.solving.table_values import EquilibriumValues
from dicegym.games.solved import report_damage, report_unsolved, tables_folder
from dicegym.games.worth import Progress

NAME = "equilibrium"
AT_ONCE = 2000
"""Steps that a game with one die each is learned for whenever it is asked about; they take about a second."""
GOAL = 1e-3
TABLES, WORK = "tables", "work"
"""What is kept: the strategies as they are played, and, until the goal is reached, what is needed for going on."""
FIRST_LOOK, LOOKS = 20, 1.3
"""The exploitability is computed after this many steps, and then whenever they have grown by this factor: that
takes as long as a dozen steps."""
LOOK_BELOW = 100
"""The same, in steps, for hands that come about later in the game."""
SHARE_OF_SAVING = 0.05
"""Of all time at most, that is spent on writing what is needed for going on."""
OTHERWISE = 300 << 20
"""Bytes that Python and compiled code take."""


def at_once(game: Game) -> bool:
    """Return whether a game is so small that it is solved in memory when it is asked about."""
    return game.players == 2 and game.parameters["dice"] == 1


@lru_cache(maxsize=4)
def solve_at_once(game: Game) -> tuple[dict[Dice, Strategy], float]:
    """Return how the hands of a small game are played, and the exploitability of that."""
    solver = Solver(game)
    while solver.steps < AT_ONCE:
        solver.step()
    strategies = solver.current()
    return strategies, exploitability(solver.groups, strategies)


@lru_cache(maxsize=4)
def values_at_once(game: Game) -> EquilibriumValues:
    """Return what states of a small game are worth."""
    return EquilibriumValues(game, *solve_at_once(game))


def is_kept(game: Game) -> bool:
    """Return whether there are tables of a game."""
    return (tables_folder(game, NAME) / f"{TABLES}.json").exists()


def load_values(game: Game) -> EquilibriumValues:
    """Return what states are worth by the tables of a game. Raises ParameterError and DamagedFileError."""
    folder = tables_folder(game, NAME)
    if not is_kept(game):
        raise report_unsolved(game, NAME)
    return _read_values(game, folder, (folder / f"{TABLES}.json").stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _read_values(game: Game, folder: Path, written: int) -> EquilibriumValues:
    arrays, facts = keeping.read(folder, TABLES, game, NAME, mapped=True)
    try:
        strategies = unpack(game, arrays)
        if set(strategies) != {dice for group in groups_of(game) for dice in group.hands}:
            raise ValueError("hands are missing")
        opens, follows = (
            {dice: float(facts[key][name_of(dice)]) for dice in strategies} for key in ("opens", "follows")
        )
        return EquilibriumValues(game, strategies, float(facts["exploitability"]), Worth(opens, follows))
    except (KeyError, TypeError, ValueError) as error:
        raise report_damage(folder / f"{TABLES}.json", f"does not fit the game ({error})", game, NAME) from None


def publish(
    game: Game, folder: Path, strategies: Mapping[Dice, Strategy], curve: Sequence[tuple[int, float]], tag: int
) -> None:
    """Write tables as they are played.

    Args:
        game: whose they are.
        folder: where.
        strategies: of all hands.
        curve: steps, and the exploitability after them; the last one is that of ``strategies``.
        tag: a number that tells them from those written before.
    """
    worth = worths(groups_of(game), strategies, best=False)
    told = {"exploitability": curve[-1][1], "steps": curve[-1][0], "curve": list(curve)}
    told |= {"opens": _by_name(worth.opens), "follows": _by_name(worth.follows)}
    keeping.write(folder, TABLES, tag, pack(strategies), told)


def _by_name(values: Mapping[Dice, float]) -> dict[str, float]:
    return {name_of(dice): value for dice, value in values.items()}


class EquilibriumSolution:
    """The equilibrium of a game for two; see `dicegym.games.solved.Solution`.

    Args:
        game: what is solved.
        steps: how many steps took it to `GOAL`, when that was measured.
        minutes: how long they took.
    """

    name = NAME
    doc = "how two players play an equilibrium, and what every position is worth between them"
    measure = "exploitability, in win rate"
    goal = GOAL

    def __init__(self, game: Game, steps: int, minutes: float) -> None:
        self.game = game
        self._steps = steps
        self._minutes = minutes

    @cached_property
    def _entries(self) -> tuple[int, int]:
        """The entries of the tables of all hands, and of the largest group of hands; counting them takes a second."""
        sizes = []
        for group in groups_of(self.game):
            hands = [tabulate(self.game, *dice) for dice in group.hands]
            sizes.append(sum((hand.nodes + hand.call_rows * hand.outcome.shape[2]) * hand.width for hand in hands))
        return sum(sizes), max(sizes)

    def memory(self) -> int:
        """Return the bytes that solving takes: regrets and totals of four bytes, strategies of two."""
        every, largest = self._entries
        return 2 * 4 * largest + 2 * every + OTHERWISE

    def disk(self) -> int:
        """Return the bytes of the tables, and of what is needed for going on, of which the old is kept for the new."""
        every, largest = self._entries
        return 2 * every + 2 * (2 * 4 * largest + 2 * (every - largest))

    def minutes(self) -> float:
        """Return how long it took."""
        return self._minutes

    def quality(self, folder: Path) -> float | None:
        """Return the exploitability of the tables in a folder; see `Solution.quality`."""
        facts = keeping.facts(folder, TABLES, self.game, NAME)
        if facts is None:
            return None
        try:
            return float(facts["exploitability"])
        except (KeyError, TypeError, ValueError):
            raise report_damage(folder / f"{TABLES}.json", "says no exploitability", self.game, NAME) from None

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        """Learn until the tables are as good as ``goal``; see `Solution.solve`.

        What is needed for going on is removed once the goal is reached, as it takes a multiple of the tables: a
        better one begins anew.
        """
        began = saved = told = time.monotonic()
        solver, quality = Solver(self.game, threads), self.quality(folder)
        if quality is not None and quality <= goal:
            return quality
        curve = self._restore(solver, folder)
        spent = 0.0
        with ThreadPoolExecutor(1) as worker:

            def undisturbed(work: Callable[[], object]) -> None:
                """Let nothing end a step in its middle: what was half done could not be gone on with."""
                future = worker.submit(work)
                try:
                    future.result()
                except KeyboardInterrupt:
                    future.result()
                    raise

            try:
                while True:
                    undisturbed(lambda: self._advance(solver, folder, curve))
                    now = time.monotonic()
                    if curve and curve[-1][1] <= goal:
                        break
                    if seconds is not None and now - began > seconds:
                        self._save(solver, folder, curve)
                        break
                    if now - told > 0.5:
                        told = now
                        progress(solver.total, max(self._steps, solver.total + 1), _words(solver, curve))
                    if now - saved > 60 and spent < SHARE_OF_SAVING * (now - began):
                        self._save(solver, folder, curve)
                        saved = time.monotonic()
                        spent += saved - now
            except KeyboardInterrupt:
                self._save(solver, folder, curve)
                raise
        if curve and curve[-1][1] <= goal:
            keeping.remove(folder, WORK)
            progress(solver.total, solver.total, _words(solver, curve))
        return self.quality(folder) or (curve[-1][1] if curve else 0.5)

    def _advance(self, solver: Solver, folder: Path, curve: list[tuple[int, float]]) -> None:
        """Do one step, and find out how good the strategy is by now where that is due."""
        solver.step()
        if not solver.last:
            if solver.steps % LOOK_BELOW == 0:
                solver.finish_group()
            return
        if solver.steps == _next_look(curve):
            strategies = solver.current()
            curve.append((solver.steps, exploitability(solver.groups, strategies)))
            publish(self.game, folder, strategies, curve, solver.total)

    def _save(self, solver: Solver, folder: Path, curve: Sequence[tuple[int, float]]) -> None:
        arrays, facts = solver.state()
        keeping.write(folder, WORK, solver.total, arrays, {**facts, "curve": curve})

    def _restore(self, solver: Solver, folder: Path) -> list[tuple[int, float]]:
        """Let ``solver`` go on from what is kept, if anything; return how good it has been after how many steps."""
        if keeping.facts(folder, WORK, self.game, NAME) is None:
            return []
        arrays, facts = keeping.read(folder, WORK, self.game, NAME, mapped=False)
        try:
            solver.restore(arrays, facts)
            return [(int(steps), float(found)) for steps, found in facts["curve"]]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise report_damage(folder / f"{WORK}.json", f"does not fit the game ({error})", self.game, NAME) from None


def _next_look(curve: Sequence[tuple[int, float]]) -> int:
    return max(FIRST_LOOK, round(curve[-1][0] * LOOKS)) if curve else FIRST_LOOK


def _words(solver: Solver, curve: Sequence[tuple[int, float]]) -> str:
    if not solver.last:
        return f"hands of {', '.join(f'{a} and {b} dice' for a, b in solver.learners)}"
    found = f"a best response gains {curve[-1][1]:.5f} after {curve[-1][0]}, " if curve else ""
    return f"{found}{solver.steps} steps on the first hand"
