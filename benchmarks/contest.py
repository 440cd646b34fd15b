"""What bots wait for: exact values, contests, and a move in a match."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import dicegym
from benchmarks import isolation
from benchmarks.decisions import Counting
from benchmarks.figures import Figure, Measure, Skipped
from dicegym import arena
from dicegym.bots.bot_files import gather
from dicegym.bots.export import TABLE_SUFFIX
from dicegym.bots.source import Source
from dicegym.games.parts import solver
from dicegym.players.roster import agent_names, agents_folder, resolve
from dicegym.sandbox.jail import Isolation

ENTRIES = 17
"""As many as the Hog contest whose results are published had."""
REPEATS = 3
"""Contests are long."""


def scripted(name: str) -> list[Path]:
    """Return the files of a game's scripted agents, those that are a folder left out, by name."""
    game = dicegym.game(name)
    origins = [resolve(game, agent) for agent in agent_names(game)]
    files = [origin.file for origin in origins if isinstance(origin, Source)]
    return sorted(file for file in files if file.parent == agents_folder(game))


def entries(name: str, folder: Path) -> list[str]:
    """Return as many entries as `ENTRIES`: copies of the scripted agents of the game, in ``folder``.

    None if it has no scripted agents.
    """
    files = scripted(name)
    if not files:
        return []
    folder.mkdir()
    found = []
    for number in range(ENTRIES):
        source = files[number % len(files)]
        copy = folder / (f"{source.stem}.py" if number < len(files) else f"{source.stem}_{number}.py")
        for file in gather(source):
            shutil.copyfile(file, copy if file == source else folder / file.relative_to(source.parent))
        table = source.with_suffix(TABLE_SUFFIX)  # what the agent reads beside it, called as it is
        if table.is_file():
            shutil.copyfile(table, copy.with_suffix(TABLE_SUFFIX))
        found.append(str(copy))
    return found


def trusted(name: str, copies: list[str]) -> dict[str, str]:
    """Return the same entries as `entries` did, by the names of the agents that they are copies of."""
    agents = [file.stem for file in scripted(name)]
    return {Path(copy).stem: agents[number % len(agents)] for number, copy in enumerate(copies)}


def contest_seconds(
    game: dicegym.Game, names: list[str] | Mapping[str, str], level: str = Isolation.AUTO
) -> tuple[float, float]:
    """Hold a contest; return its seconds, and those from the last check of an entry to the end."""
    began = checked = time.perf_counter()

    def note(done: int, total: int, what: str) -> None:
        nonlocal checked
        if what.startswith("checked"):
            checked = time.perf_counter()

    arena.contest(game, names, 0, progress=note, isolation=level)
    end = time.perf_counter()
    return end - began, end - checked


def move_microseconds(game: dicegym.Game, name: str, games: int) -> float:
    """Play a match between copies of an agent here; return the microseconds of a move, the bots' own included."""
    players = [Counting(dicegym.agent(game, name, keep=True)) for _ in range(game.players)]
    began = time.perf_counter()
    arena.play_match(game, players, 0, games)
    return 1e6 * (time.perf_counter() - began) / sum(player.moves for player in players)


def quickest(game: dicegym.Game) -> str:
    """Return the scripted agent that takes the least time to move, so that what is left is mostly ours."""
    names = [file.stem for file in scripted(game.name)]
    return min(names, key=lambda name: move_microseconds(game, name, 2))


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measures(game: dicegym.Game, copies: list[str]) -> Iterator[Measure | Skipped]:
    """Yield the measures of what the entries ``copies`` allow: exact values if the game has any, a contest."""

    def measure(what: str, unit: str, run: Callable[[], float]) -> Measure:
        return Measure((Figure("contest", game.name, what, unit),), lambda: [run()], run, REPEATS)

    values = solver(game)
    if copies and values is not None:
        tables = [values.tabulate(dicegym.agent(game, entry), game) for entry in copies]
        pairs = f"exact win rates of all {len(tables) * (len(tables) - 1) // 2} pairs"
        one = partial(values.win_rate, tables[0], tables[1], game)
        yield measure("one exact win rate", "s", partial(_seconds, one))
        yield measure(pairs, "s", partial(_seconds, partial(values.win_rate_matrix, tables, game)))
    if copies and game.players > 1:
        yield from contests(game, copies)
        name = quickest(game)
        what = f"a move in a match of {name}, its own time included"
        yield measure(what, "us", partial(move_microseconds, game, name, 50))
        yield from isolation.measures(game, next(file for file in map(Path, copies) if file.stem == name))


def contests(game: dicegym.Game, copies: list[str]) -> Iterator[Measure]:
    """Yield a contest of agents that are trusted, and of copies of them, which are not, at each kind of isolation."""
    what = f"contest of {len(copies)} entries"
    held: list[tuple[str, list[str] | Mapping[str, str], str]] = [
        ("trusted", trusted(game.name, copies), Isolation.AUTO),
        *((f"copies at isolation {level}", copies, level) for level in isolation.working_levels()),
    ]
    for whose, names, level in held:
        both = (f"{what}, {whose}", f"matches of a {what}, {whose}")
        figures = tuple(Figure("contest", game.name, one, "s") for one in both)
        yield Measure(figures, partial(contest_seconds, game, names, level), repeats=REPEATS)
