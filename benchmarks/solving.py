"""What it takes to solve what can be solved in minutes: time, memory, disk, and how good it comes out.

Each in a process of its own, with an empty folder for tables.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial

from benchmarks.figures import Figure, Measure
from dicegym.analysis import solving
from dicegym.engine.game import Game
from dicegym.games.solved import FOLDER_VARIABLE
from dicegym.games.worth import settings_of

_SOLVED = """
import json, dicegym
from benchmarks.memory import peak_memory
from dicegym.analysis import solving
from time import perf_counter
game = dicegym.game({game!r}, **{settings})
began = perf_counter()
found = solving.solve(game)
took = perf_counter() - began
size = sum(path.stat().st_size for path in found.folder.rglob("*") if path.is_file())
print(json.dumps([took, peak_memory() or 0, size / 1e6, found.quality]))
"""


def measures(games: Sequence[str]) -> Iterator[Measure]:
    """Return a measure of each game with one of these names, with the settings in which something can be solved.

    Raises DependencyError if solving needs a package that is not installed.
    """
    return (measure(game) for game in solving.solvable_games() if game.name in games)


def measure(game: Game) -> Measure:
    """Return the measure of one game's solution."""
    settings = settings_of(game)
    subject = " ".join([game.name, *(f"{key}={value}" for key, value in settings.items())])
    parts = [("time to its goal", "s"), ("peak memory of the process", "MiB"), ("disk", "MB")]
    parts.append((solving.solution(game).measure, ""))
    figures = tuple(Figure("solve", subject, what, unit) for what, unit in parts)
    code = _SOLVED.format(game=game.name, settings=settings)
    return Measure(figures, partial(_solved, code, len(parts)), repeats=1)


def _solved(code: str, n: int) -> list[float]:
    """Return the first ``n`` figures that a process prints which finds no tables."""
    with tempfile.TemporaryDirectory() as folder:
        environ = os.environ | {FOLDER_VARIABLE: folder}
        done = subprocess.run([sys.executable, "-c", code], env=environ, stdout=subprocess.PIPE, text=True, check=True)
    return [float(value) for value in json.loads(done.stdout)[:n]]
