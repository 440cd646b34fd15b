"""The modes of the bench, and running them: one measure after the other, round after round."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import dicegym
from dicegym.bench import contest, loops, memory, peers, start
from dicegym.bench.figures import Figure, Measure, Plan, Result, Skipped
from dicegym.bench.machine import machine
from dicegym.bench.ratios import DECISIONS, MANY_THREADS, derived
from dicegym.bench.setting import Setting
from dicegym.engine.spec import Parameter
from dicegym.errors import DependencyError, ParameterError, unknown_name
from dicegym.registry import ENVIRONMENTS, GAMES, Environment

LOOP_MODES = {
    "batch": f"bare batch of {loops.BATCH:,}",
    "make_vec": f"make_vec of {loops.BATCH:,}, default opponent",
    "sb3": f"SB3VecEnv of {loops.SB3_BATCH}, default opponent",
    "make": "gymnasium.make, default opponent",
    "state": "one state, dicegym.Game from Python",
    "aec": "PettingZoo env()",
    "parallel": "PettingZoo parallel_env()",
}
"""The modes that are loops, each with its title; all but the first three play one game at a time."""
STEPS = "learner steps/s"
ONE_SEAT = ("make_vec", "sb3", "make")
"""Modes in which the loop chooses for one seat and opponents play the others."""
THREADED = 8192
"""Games in the batches that are played on several threads."""
TRAINED = ("hog", "liarsdice")
"""What `training` trains unless games are named: few and many actions."""


class Options(NamedTuple):
    """What is to be measured."""

    modes: tuple[str, ...] = ()
    """Names of `MODES`, or "all"; none: `DEFAULT_MODES`."""
    games: tuple[str, ...] = ()
    """None: all games."""
    seconds: float = 0.5
    """How long each loop runs."""
    repeats: int = 5
    threads: tuple[int, ...] = (1,)
    """More than one, such as (1, 2): batches of `THREADED` games on each of these numbers of threads too."""

    setting: Setting = Setting()
    """Of the trainings."""

    @property
    def chosen_modes(self) -> tuple[str, ...]:
        """The modes, in the order in which they run."""
        wanted = set(self.modes or DEFAULT_MODES)
        return tuple(mode for mode in MODES if mode in wanted or "all" in wanted)

    @property
    def environments(self) -> list[Environment]:
        """The environments of the games."""
        return [e for e in ENVIRONMENTS if e.game in (self.games or GAMES)]

    def check(self) -> Options:
        """Return these options. Raises UnknownNameError or ParameterError if they cannot work."""
        for mode in self.modes:
            if mode not in (*MODES, "all"):
                raise unknown_name("mode of the bench", mode, [*MODES, "all"])
        for name in self.games:
            if name not in GAMES:
                raise unknown_name("game", name, list(GAMES))
        if not self.seconds > 0:
            raise ParameterError(f"--seconds {self.seconds} is no time to measure anything: give more than 0")
        Parameter(1, 1, 1 << 20, "the number of runs of each loop").check("repeats", self.repeats)
        for number in self.threads:
            Parameter(1, 1, 1 << 10, "a number of threads").check("threads", number)
        return self


SILENCE = 5.0
"""Seconds after which a run says how far it has come."""


def _with_mode(options: Options, mode: str) -> list[Environment]:
    """Return the environments that have a mode: games for one have none in which every seat is played."""
    return [e for e in options.environments if e.multi or mode not in ("aec", "parallel")]


def loop_plan(options: Options, folder: Path, mode: str) -> Plan:
    """Return the measures of one loop mode for all environments that have it."""
    return [
        _measure(environment, mode, LOOP_MODES[mode], loops.LOOPS[mode], options.seconds)
        for environment in _with_mode(options, mode)
    ]


def peers_plan(options: Options, folder: Path) -> Plan:
    """Return the loops of the other libraries that are installed."""
    return peers.plan(options.seconds)


def _measure(
    environment: Environment,
    mode: str,
    what: str,
    make: Callable[[Environment], loops.Work],
    seconds: float,
    section: str = "speed",
) -> Measure | Skipped:
    try:
        work = make(environment)
    except DependencyError as error:
        return Skipped(f"{environment.id}, {what}", str(error))
    figure = Figure(section, environment.id, what, DECISIONS, mode=mode)
    if mode not in ONE_SEAT:
        return Measure((figure,), lambda: [loops.rate(work, seconds)], work)
    factor = loops.decisions_per_step(environment)

    def run() -> tuple[float, float]:
        steps = loops.rate(work, seconds)
        return steps, steps * factor

    return Measure((figure._replace(unit=STEPS), figure), run, work)


def threads_plan(options: Options, folder: Path) -> Plan:
    """Return the measures of large batches on each number of threads that is asked for; none for one thread alone."""
    made = {"batch": (loops.bare_batch, "bare batch"), "make_vec": (loops.make_vec, "make_vec")}
    found: Plan = []
    for environment in options.environments if set(options.threads) != {1} else ():
        for mode, (make, title) in made.items():
            for threads in options.threads:
                what = f"{title} of {THREADED:,} on {threads} thread{'s' * (threads > 1)}"
                loop = partial(make, n=THREADED, threads=threads)
                found.append(_measure(environment, mode, what, loop, options.seconds, MANY_THREADS))
    return found


def memory_plan(options: Options, folder: Path) -> Plan:
    """Return the measures of the memory of batches."""
    found: Plan = [memory.record_measure(environment) for environment in options.environments]
    for mode in memory.BATCHES:
        made = (memory.batch_measure(environment, mode) for environment in options.environments)
        found += _or_skipped(f"memory, {LOOP_MODES[mode]}", made)
    return found


def start_plan(options: Options, folder: Path) -> Plan:
    """Return first calls and warm starts in every loop mode."""
    found: Plan = [start.import_measure()]
    for mode, title in LOOP_MODES.items():
        made = (measure for e in _with_mode(options, mode) for measure in start.measures(e, mode))
        found += _or_skipped(f"start, {title}", made)
    return found


def contest_plan(options: Options, folder: Path) -> Plan:
    """Return exact values, contests and moves in matches; the entries are written to ``folder``."""
    return [
        measure
        for name in options.games or GAMES
        for measure in contest.measures(dicegym.game(name), contest.entries(name, folder / name))
    ]


def server_plan(options: Options, folder: Path) -> Plan:
    """Return the load of a server of each game that has a protocol."""

    def plan() -> Iterator[Measure]:
        from dicegym.server.load import measure
        from dicegym.server.wire import wire_of

        for game in options.games or GAMES:
            try:
                wire_of(game)
            except ParameterError:  # it has no server protocol
                continue
            whose = (Figure("server", game, f"50 games at once: {what}", unit) for what, unit in parts)

            def run(game: str = game) -> tuple[float, float, float]:
                load = measure(game, max(0.3, 4 * options.seconds))
                return load.turns, 100 * load.busy, load.games

            yield Measure(tuple(whose), run)

    parts = (("commands carried out", "turns/s"), ("of one core used", "%"), ("in progress", "games"))
    return _or_skipped("server", plan())


def training_plan(options: Options, folder: Path) -> Plan:
    """Return the trainings of each game."""

    def plan() -> Iterator[Measure]:
        from dicegym.bench import training

        for game in options.games or TRAINED:
            for threads in options.threads:
                yield from training.measures(game, options.setting, threads)

    return _or_skipped("training", plan())


def _or_skipped(what: str, measures: Iterable[Measure]) -> Plan:
    """Return ``measures``; if a package is missing, what came before that and why the rest is skipped."""
    found: Plan = []
    try:
        found.extend(measures)
    except DependencyError as error:
        found.append(Skipped(what, str(error)))
    return found


MODES: Mapping[str, Callable[[Options, Path], Plan]] = {
    "memory": memory_plan,
    **{mode: partial(loop_plan, mode=mode) for mode in LOOP_MODES},
    "threads": threads_plan,
    "peers": peers_plan,
    "start": start_plan,
    "contest": contest_plan,
    "server": server_plan,
    "training": training_plan,
}
"""What each mode measures, in this order: (options, a folder for files) -> its plan."""
DEFAULT_MODES = tuple(mode for mode in MODES if mode not in ("contest", "server", "training"))


def run_bench(options: Options, progress: Callable[[str], None]) -> Result:
    """Measure round after round, one thing after the other in each, so that all see the same noise.

    Args:
        options: what to measure.
        progress: told what is being done.

    Raises:
        ParameterError, UnknownNameError: the options cannot work.
    """
    options.check()
    with TemporaryDirectory(prefix="dicegym-bench-") as folder:
        planned: Plan = []
        for mode in options.chosen_modes:
            progress(f"preparing {mode}")
            planned += MODES[mode](options, Path(folder))
        skipped = [entry for entry in planned if isinstance(entry, Skipped)]
        measures = [entry for entry in planned if isinstance(entry, Measure)]
        figures = _run(measures, options.repeats, progress)
    figures += derived(figures) + memory.peak_figure()
    asked = {
        "modes": list(options.chosen_modes),
        "games": list(options.games or GAMES),
        "seconds": options.seconds,
        "repeats": options.repeats,
        "threads": list(options.threads),
        "training": options.setting.text(),
    }
    return Result(machine(_packages(options)), asked, figures, skipped)


def _packages(options: Options) -> tuple[str, ...]:
    """Return the packages whose versions matter for what was measured."""
    trained = ("torch", "stable-baselines3", "sb3-contrib")
    modes = options.chosen_modes
    return (*(peers.PACKAGES if "peers" in modes else ()), *(trained if {"training", "sb3"} & set(modes) else ()))


def _title(measure: Measure) -> str:
    figure = measure.figures[0]
    return f"{figure.subject}, {figure.what}" + (f" ({figure.mode})" if figure.mode else "")


def _run(measures: list[Measure], repeats: int, progress: Callable[[str], None]) -> list[Figure]:
    rows: list[list[list[float]]] = [[[] for _ in measure.figures] for measure in measures]
    began = time.perf_counter()
    for number, measure in enumerate(measures):
        progress(f"warming up, {number + 1} of {len(measures)}: {_title(measure)}")
        measure.warm_up()
    for run in range(repeats):
        progress(f"run {run + 1} of {repeats}, after {time.perf_counter() - began:.0f} s")
        told = time.perf_counter()
        for number, (row, measure) in enumerate(zip(rows, measures, strict=True)):
            if measure.repeats is None or run < measure.repeats:
                if time.perf_counter() - told > SILENCE:  # between two measures, so that it disturbs none
                    told = time.perf_counter()
                    progress(f"  {number + 1} of {len(measures)}, after {told - began:.0f} s: {_title(measure)}")
                for values, value in zip(row, measure.run(), strict=True):
                    values.append(value)
    return [
        figure.with_values(values)
        for row, measure in zip(rows, measures, strict=True)
        for values, figure in zip(row, measure.figures, strict=True)
    ]
