"""What bots wait for: exact values, contests, and a move in a match."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import dicegym
from dicegym import arena
from dicegym.bench.decisions import Counting
from dicegym.bench.figures import Figure, Measure
from dicegym.games.parts import solver
from dicegym.players.roster import agents_folder

ENTRIES = 17
"""As many as the Hog contest whose results are published had."""
REPEATS = 3
"""Contests are long."""


def entries(name: str, folder: Path) -> list[str]:
    """Return as many entries as `ENTRIES`: the scripted agents of the game, and copies of them in ``folder``.

    None if it has no scripted agents.
    """
    files = sorted(agents_folder(name).glob("*.py"))
    if not files:
        return []
    folder.mkdir()
    found = []
    for number in range(ENTRIES):
        source = files[number % len(files)]
        copy = folder / (f"{source.stem}.py" if number < len(files) else f"{source.stem}_{number}.py")
        copy.write_text(source.read_text())
        found.append(str(copy))
    return found


def contest_seconds(game: dicegym.Game, names: list[str]) -> float:
    """Hold a contest; return the seconds from the last check of an entry to the end."""
    began = time.perf_counter()

    def note(done: int, total: int, what: str) -> None:
        nonlocal began
        if what.startswith("checked"):
            began = time.perf_counter()

    arena.contest(game, names, seed=0, progress=note)  # the same games in every version
    return time.perf_counter() - began


def move_microseconds(game: dicegym.Game, name: str, games: int) -> float:
    """Play a match between copies of an agent here; return the microseconds of a move, the bots' own included."""
    players = [Counting(dicegym.agent(game, name, keep=True)) for _ in range(game.players)]
    began = time.perf_counter()
    arena.play_match(game, players, 0, games)
    return 1e6 * (time.perf_counter() - began) / sum(player.moves for player in players)


def quickest(game: dicegym.Game) -> str:
    """Return the scripted agent that takes the least time to move, so that what is left is mostly ours."""
    names = [path.stem for path in agents_folder(game).glob("*.py")]
    return min(sorted(names), key=lambda name: move_microseconds(game, name, 2))


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measures(game: dicegym.Game, names: list[str]) -> Iterator[Measure]:
    """Yield the measures of what the entries ``names`` allow: exact values if the game has any, a contest."""

    def measure(what: str, unit: str, run: Callable[[], float]) -> Measure:
        return Measure((Figure("contest", game.name, what, unit),), lambda: [run()], run, REPEATS)

    values = solver(game)
    if names and values is not None:
        tables = [values.tabulate(dicegym.agent(game, entry), game) for entry in names]
        pairs = f"exact win rates of all {len(tables) * (len(tables) - 1) // 2} pairs"
        one = partial(values.win_rate, tables[0], tables[1], game)
        yield measure("one exact win rate", "s", partial(_seconds, one))
        yield measure(pairs, "s", partial(_seconds, partial(values.win_rate_matrix, tables, game)))
    if names and game.players > 1:
        yield measure(f"matches of a contest of {len(names)} entries", "s", partial(contest_seconds, game, names))
        name = quickest(game)
        what = f"a move in a match of {name}, its own time included"
        yield measure(what, "us", partial(move_microseconds, game, name, 50))
