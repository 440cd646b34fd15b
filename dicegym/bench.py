"""How fast this is, on this machine: every figure the median of several runs, side by side with a known peer."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

import dicegym
from dicegym import arena
from dicegym.arena.report import plain_table
from dicegym.envs.multi import TurnEnv
from dicegym.envs.vector import BatchEnv
from dicegym.exact import solver
from dicegym.players.roster import agents_folder
from dicegym.registry import ENVIRONMENTS, GAMES, Environment

BATCH = 1024
CONTEST_ENTRIES = 17
"""As many as the Hog contest whose results are published had."""
PACKAGES = ("dicegym", "gymnasium", "pettingzoo", "numba", "numpy")


class Figure(NamedTuple):
    """One measured figure."""

    subject: str
    loop: str
    unit: str
    values: list[float]
    """One a run."""

    @property
    def median(self) -> float:
        """The middle run."""
        return statistics.median(self.values)


class Result(NamedTuple):
    """All figures, with the machine and the versions that they were measured on."""

    machine: dict[str, str]
    figures: list[Figure]

    def text(self) -> str:
        """Return the figures as a table, under the machine that they were measured on."""
        rows = []
        for figure in self.figures:
            numbers = (figure.median, min(figure.values), max(figure.values))
            shown = [f"{number:.3g}" if number < 100 else f"{number:,.0f}" for number in numbers]
            rows.append([figure.subject, figure.loop, *shown, figure.unit])
        titles = ["subject", "loop", "median", "lowest", "highest", "unit"]
        facts = " | ".join(f"{name} {value}" for name, value in self.machine.items())
        return "\n".join([facts, "", *plain_table(titles, rows)])

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {"machine": self.machine, "figures": [f._asdict() | {"median": f.median} for f in self.figures]}


def machine() -> dict[str, str]:
    """Return what the figures depend on: processor, cores, Python, packages."""
    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        processor = names[0] if names else processor
    facts = {"processor": processor, "cores": str(os.cpu_count()), "Python": platform.python_version()}
    return facts | {package: version(package) for package in PACKAGES}


def _peak_memory() -> float | None:
    """Return the most memory that this process has had, in MiB; None on Windows, which does not say."""
    if sys.platform == "win32":
        return None
    import resource

    units = 1 << 20 if sys.platform == "darwin" else 1 << 10  # macOS counts bytes, Linux KiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / units


def _rate(work: Callable[[], int], seconds: float) -> float:
    """Call ``work`` for about ``seconds``; return what it counted per second."""
    done, began = 0, time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds:
        done += work()
    return done / spent


def _seconds(work: Callable[..., object], *arguments: object) -> float:
    began = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - began


def _batch(environment: Environment) -> Callable[[], int]:
    batch = dicegym.game(environment.game, **environment.settings).batch(BATCH)
    clock = iter(range(1 << 62))

    def work() -> int:
        for _ in range(50):
            batch.step(batch.random_actions(next(clock)))
        return 50 * BATCH

    return work


def _vector(environment: Environment) -> Callable[[], int]:
    env = BatchEnv(environment.game, BATCH, autoreset_mode="SameStep", **environment.settings)
    _, info = env.reset(seed=0)
    generator = np.random.default_rng(0)

    def work() -> int:
        nonlocal info
        for _ in range(10):
            noise = generator.random(info["action_mask"].shape, np.float32)
            *_, info = env.step(np.where(info["action_mask"], noise, -1).argmax(axis=1))
        return 10 * BATCH

    return work


def _gymnasium(env_id: str, masked: bool = True) -> Callable[[], int]:
    env = gym.make(env_id)
    _, info = env.reset(seed=0)
    choices = np.random.default_rng(0).integers(0, 1 << 30, 1000).tolist()

    def work() -> int:
        nonlocal info
        for choice in choices:
            if masked:
                legal = info["action_mask"].nonzero()[0]
                action = legal[choice % len(legal)]
            else:
                action = choice % 2
            _, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                _, info = env.reset()
        return len(choices)

    return work


def _cycle(environment: Environment) -> Callable[[], int]:
    env = TurnEnv(environment.game, **environment.settings)
    env.reset(seed=0)
    choices = np.random.default_rng(0).integers(0, 1 << 30, 1000).tolist()

    def work() -> int:
        for choice in choices:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                continue
            legal = observation["action_mask"].nonzero()[0]
            env.step(legal[choice % len(legal)])
        return len(choices)

    return work


def _entries(name: str, folder: Path) -> list[str]:
    """Return as many entries as `CONTEST_ENTRIES`: the scripted agents of the game, and copies of them.

    None if it has no scripted agents.
    """
    files = sorted(agents_folder(name).glob("*.py"))
    if not files:
        return []
    folder.mkdir()
    entries = []
    for number in range(CONTEST_ENTRIES):
        source = files[number % len(files)]
        copy = folder / (f"{source.stem}.py" if number < len(files) else f"{source.stem}_{number}.py")
        copy.write_text(source.read_text())
        entries.append(str(copy))
    return entries


def _contest_seconds(game: dicegym.Game, entries: list[str]) -> float:
    """Hold a contest; return the seconds from the last check of an entry to the end."""
    began = time.perf_counter()

    def note(done: int, total: int, what: str) -> None:
        nonlocal began
        if what.startswith("checked"):
            began = time.perf_counter()

    arena.contest(game, entries, progress=note)
    return time.perf_counter() - began


class _Counting(dicegym.Player):
    """A player whose decisions are counted."""

    def __init__(self, player: dicegym.Player) -> None:
        self.player, self.name, self.moves = player, player.name, 0

    def join(self, game: dicegym.Game, seat: int, seed: int) -> dicegym.players.Act:
        """Sit down; see `Player.join`."""
        act = self.player.join(game, seat, seed)

        def counted(turn: dicegym.players.Turn) -> int:
            self.moves += 1
            return act(turn)

        return counted


def _move_microseconds(game: dicegym.Game, name: str, games: int) -> float:
    """Play a match between copies of an agent here; return the microseconds of a move, the bots' own included."""
    players = [_Counting(dicegym.agent(game, name, keep=True)) for _ in range(game.players)]
    began = time.perf_counter()
    arena.play_match(game, players, 0, games)
    return 1e6 * (time.perf_counter() - began) / sum(player.moves for player in players)


def _quickest(game: dicegym.Game) -> str:
    """Return the scripted agent that takes the least time to move, so that what is left is mostly ours."""
    names = [path.stem for path in agents_folder(game).glob("*.py")]
    return min(sorted(names), key=lambda name: _move_microseconds(game, name, 2))


def _process(code: str, fresh_cache: bool = False) -> float:
    """Return the seconds that ``code`` prints, run in a process of its own."""
    with tempfile.TemporaryDirectory() as cache:
        environ = os.environ | ({"DICEGYM_CACHE": cache} if fresh_cache else {})
        done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    return float(done.stdout)


_TIMED = "import time; t = time.perf_counter(); {work}; print(time.perf_counter() - t)"


def _rates(seconds: float) -> list[tuple[str, str, str, Callable[[], float]]]:
    """Return (subject, loop, unit, measure) of everything that is a rate."""
    loops: list[tuple[str, str, str, Callable[[], int]]] = []
    for environment in ENVIRONMENTS:
        made = [("batch of 1,024, random legal actions", "decisions/s", _batch(environment))]
        made.append(("make_vec of 1,024, default opponent", "learner steps/s", _vector(environment)))
        made.append(("gymnasium.make, default opponent", "learner steps/s", _gymnasium(environment.full_id)))
        if environment.multi:
            made.append(("PettingZoo env()", "decisions/s", _cycle(environment)))
        loops += [(environment.id, *loop) for loop in made]
    loops.append(("CartPole-v1", "gymnasium.make, for scale", "steps/s", _gymnasium("CartPole-v1", masked=False)))
    return [(s, loop, unit, partial(_rate, work, seconds)) for s, loop, unit, work in loops]


def _times(folder: Path) -> list[tuple[str, str, str, Callable[[], float]]]:
    """Return (subject, loop, unit, measure) of everything that is a time."""
    first = ENVIRONMENTS[0].full_id
    step = f"import gymnasium as gym, dicegym; e = gym.make('{first}'); e.reset(seed=0); e.step(1)"
    found: list[tuple[str, str, str, Callable[[], float]]] = [
        ("import dicegym", "new process", "s", partial(_process, _TIMED.format(work="import dicegym"))),
        (first, "first step, nothing compiled yet", "s", partial(_process, _TIMED.format(work=step), True)),
        (first, "first step, kernels on disk", "s", partial(_process, _TIMED.format(work=step))),
    ]
    for name in GAMES:
        found += _times_of(dicegym.game(name), _entries(name, folder / name))
    return found


def _times_of(game: dicegym.Game, entries: list[str]) -> list[tuple[str, str, str, Callable[[], float]]]:
    """Return the measures of what ``entries`` allow: exact values if the game has any, a contest."""
    found: list[tuple[str, str, str, Callable[[], float]]] = []
    values = solver(game)
    if entries and values is not None:
        tables = [values.tabulate(dicegym.agent(game, entry), game) for entry in entries]
        pairs = f"exact win rates of all {len(tables) * (len(tables) - 1) // 2} pairs"
        one = partial(_seconds, values.win_rate, tables[0], tables[1], game)
        found.append((game.name, "one exact win rate", "s", one))
        found.append((game.name, pairs, "s", partial(_seconds, values.win_rate_matrix, tables, game)))
    if entries and game.players > 1:
        loop = f"matches of a contest of {len(entries)} entries"
        found.append((game.name, loop, "s", partial(_contest_seconds, game, entries)))
        name = _quickest(game)
        move = partial(_move_microseconds, game, name, 50)
        found.append((game.name, f"a move in a match of {name}, its own time included", "us", move))
    return found


def run_bench(seconds: float, repeats: int, progress: Callable[[str], None]) -> Result:
    """Measure everything ``repeats`` times, loop after loop in turn, so that all see the same noise.

    Args:
        seconds: how long each loop runs.
        repeats: runs of each loop.
        progress: told what is being measured.
    """
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        measures = _rates(seconds) + _times(Path(folder))
        values: list[list[float]] = [[] for _ in measures]
        for _, _, _, measure in measures:
            measure()  # compile, load and warm up
        for run in range(repeats):
            progress(f"run {run + 1} of {repeats}")
            for found, (_, _, _, measure) in zip(values, measures, strict=True):
                found.append(measure())
        figures = [
            Figure(subject, loop, unit, found) for (subject, loop, unit, _), found in zip(measures, values, strict=True)
        ]
    for environment in ENVIRONMENTS:
        size = dicegym.game(environment.game, **environment.settings).rules.state.itemsize
        figures.append(Figure(environment.id, "one game's record", "bytes", [float(size)]))
    peak = _peak_memory()
    if peak is not None:
        figures.append(Figure("this process", "peak memory", "MiB", [peak]))
    return Result(machine(), figures)
