"""Solves what of a game can be solved in minutes, and stores the tables; the games' ``values.py`` do the work.

One process at a time works on the tables of one game. Needs the extra ``arena``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from dicegym.engine.game import Game
from dicegym.engine.threads import cores
from dicegym.engine.validate import finite_number, whole_number
from dicegym.errors import DamagedFileError, ParameterError
from dicegym.files import locked_folder
from dicegym.games import game as make_game
from dicegym.games.parts import VALUES, Progress, part
from dicegym.games.solved import Solution, how_to_solve, tables_folder
from dicegym.registry import GAMES
from dicegym.signals import going_on

LOCK_FILE = ".lock"
"""In the folder of a solution: locked by the process that works there."""


class SolutionStatus(NamedTuple):
    """A solution and the state of its tables."""

    game: Game
    doc: str
    """What it is, in a line."""
    measure: str
    """What its quality measures, in words."""
    goal: float
    """The default quality to solve it to."""
    needs: str
    """The memory, disk space and time that solving takes, in words."""
    quality: float | None
    """The quality of the tables on this machine, lower is better; None without tables."""
    folder: Path
    """The folder of its tables, which need not exist."""
    damage: str = ""
    """Why the tables cannot be used, and what to do."""

    @property
    def done(self) -> bool:
        """Whether its tables reach the goal."""
        return self.reaches(None)

    def reaches(self, goal: float | None) -> bool:
        """Return whether its tables reach a goal; None: the solution's own."""
        return self.quality is not None and self.quality <= (self.goal if goal is None else goal)

    @property
    def state(self) -> str:
        """The state of its tables in words."""
        if self.quality is None:
            return self.damage or "not solved yet"
        return f"{self.measure} {self.quality:.3g}"

    def as_json(self) -> dict[str, Any]:
        """Return the same as plain values."""
        game = {"game": self.game.name, "parameters": {"players": self.game.players, **self.game.parameters}}
        return {**self._asdict(), **game, "done": self.done, "folder": str(self.folder)}


def solvable_games() -> list[Game]:
    """Return the registered games, with the parameters with which something can be solved."""
    parts = [(name, part(name, VALUES)) for name in GAMES]
    return [make_game(name, **settings) for name, values in parts if values for settings in values.SETTINGS]


def solution(game: Game) -> Solution:
    """Return what can be solved of ``game`` with its parameters. Raises ParameterError if there is nothing."""
    values = part(game, VALUES)
    found = None if values is None else values.solution(game)
    if found is None:
        raise ParameterError(_nothing(game))
    return found


def _nothing(game: Game) -> str:
    """Return why nothing of a game can or must be solved, and what can."""
    values = part(game, VALUES)
    why, give = f"nothing of {game!r} can be solved in minutes", ""
    if values is not None and (ready := [one.name for one in values.sources(game) if one.ready()]):
        why = f"nothing of {game!r} has to be solved and stored"
        give = f"its values of source {ready[0]!r} are available at once; for stored tables "
    if values is None or not values.SETTINGS:
        known = sorted({other.name for other in solvable_games()})
        return f"{why}: {give}ask for {' or '.join(known) or 'another game'}"
    calls = [" and ".join(f"{key}={value}" for key, value in settings.items()) for settings in values.SETTINGS]
    return f"{why}: {give}give it {', or '.join(calls)}"


def status(game: Game) -> SolutionStatus:
    """Return the solution of ``game`` and the state of its tables. Raises what `solution` raises."""
    one, folder = solution(game), tables_folder(game)
    quality, damage = None, ""
    try:
        quality = one.quality(folder) if folder.is_dir() else None
    except DamagedFileError as error:
        damage = str(error)
    return SolutionStatus(game, one.doc, one.measure, one.goal, one.needs, quality, folder, damage)


def solve(
    game: Game,
    *,
    goal: float | None = None,
    minutes: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SolutionStatus:
    """Solve ``game``, and store the best tables (`dicegym.games.solved.tables_folder`).

    Args:
        game: the game, with its parameters.
        goal: the quality to reach, lower is better; default: the solution's own.
        minutes: the time limit; default: none.
        threads: the number of threads; default: the cores that this process may use.
        progress: told of (steps done, of how many, the quality so far).

    Returns:
        The solution's status. Nothing is computed if its tables already have that quality.

    Raises:
        ParameterError: there is nothing to solve, a value is invalid, or another process solves the same.
        DamagedFileError: the tables there cannot be used.
        KeyboardInterrupt: its text says how to solve again.
    """
    one = solution(game)
    goal = _positive("goal", one.goal if goal is None else goal)
    seconds = None if minutes is None else 60 * _positive("minutes", minutes)
    count = whole_number("threads", cores() if threads is None else threads, 1, 1024, "a number of threads")
    before = status(game)
    if before.damage:
        one.quality(before.folder)  # raises what is wrong
    if before.reaches(goal):
        return before
    how = how_to_solve(game)
    busy = f"another process is at work in {before.folder}: wait until it ends, and then solve again by `{how}`"
    alone = before.folder, LOCK_FILE, ("arena", "keeping tables"), lambda: busy, "set DICEGYM_TABLES to another folder"
    with locked_folder(*alone), going_on(f"the best tables so far are kept: solve again by `{how}`"):
        one.solve(
            before.folder, goal=goal, seconds=seconds, threads=count, progress=progress or (lambda done, of, text: None)
        )
    return status(game)


def _positive(what: str, value: Any) -> float:
    """Return a finite number that is at least 0. Raises ParameterError."""
    if (found := finite_number(what, value, "what is reached")) < 0:
        raise ParameterError(f"invalid {what}={value!r}: give a number of at least 0")
    return found
