"""How each mode measures: a plan, which is a list of measures and of what has to be left out here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import dicegym
from benchmarks import contest, large, limits, memory, peers, search, start
from benchmarks.decisions import decisions_per_step
from benchmarks.figures import Figure, Measure, Plan, Skipped
from benchmarks.loops import LOOPS
from benchmarks.modes import LOOP_MODES, ONE_SEAT
from benchmarks.options import Options
from benchmarks.ratios import DECISIONS, MANY_THREADS
from dicegym.bench import Work, bare_batch, make_vec, measure_rate
from dicegym.errors import DependencyError, ParameterError
from dicegym.registry import GAMES, Environment

STEPS = "learner steps/s"
SINGLE_STEPS = 300_000
"""Goal of one environment by ``gymnasium.make``, in learner steps a second."""
LARGE = 8192
"""Games in the batches that are played on several threads."""


def _with_mode(options: Options, mode: str) -> list[Environment]:
    """Return the environments that have a mode: games for one have none in which every seat is played."""
    return [e for e in options.environments if e.multi or mode not in ("aec", "parallel")]


def loop_plan(options: Options, folder: Path, mode: str) -> Plan:
    """Return the measures of one loop mode for all environments that have it."""
    return [
        _measure(environment, mode, LOOP_MODES[mode], LOOPS[mode], options.seconds)
        for environment in _with_mode(options, mode)
    ]


def peers_plan(options: Options, folder: Path) -> Plan:
    """Return the loops of the other libraries that are installed."""
    return peers.plan(options.seconds)


def search_plan(options: Options, folder: Path) -> Plan:
    """Return the measures of searches, ours and other libraries'."""
    return search.plan([dicegym.game(name) for name in options.games or GAMES], options.seconds)


def _measure(
    environment: Environment,
    mode: str,
    what: str,
    make: Callable[[Environment], Work],
    seconds: float,
    section: str = "speed",
) -> Measure | Skipped:
    try:
        work = make(environment)
    except DependencyError as error:
        return Skipped(f"{environment.id}, {what}", str(error))
    figure = Figure(section, environment.id, what, DECISIONS, mode=mode)
    if mode not in ONE_SEAT:
        return Measure((figure,), lambda: [measure_rate(work, seconds)], work)
    factor = decisions_per_step(environment)

    def run() -> tuple[float, float]:
        steps = measure_rate(work, seconds)
        return steps, steps * factor

    goal = ("at least", SINGLE_STEPS) if mode == "make" else None
    return Measure((figure._replace(unit=STEPS, goal=goal), figure), run, work)


def threads_plan(options: Options, folder: Path) -> Plan:
    """Return the measures of large batches on each number of threads that is asked for; none for one thread alone."""
    made = {"batch": (bare_batch, "bare batch"), "make_vec": (make_vec, "make_vec")}
    found: Plan = []
    for environment in options.environments if set(options.threads) != {1} else ():
        for mode, (make, title) in made.items():
            for threads in options.threads:
                what = f"{title} of {LARGE:,} on {threads} thread{'s' * (threads > 1)}"
                loop = partial(make, n=LARGE, threads=threads)
                found.append(_measure(environment, mode, what, loop, options.seconds, MANY_THREADS))
    return found


def limits_plan(options: Options, folder: Path) -> Plan:
    """Return batches beside what the core could do at most."""
    return [
        measure for environment in options.environments for measure in limits.measures(environment, options.seconds)
    ]


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
    """Return exact values, contests, moves in matches, and stores; entries and stores are written to ``folder``."""
    found: Plan = []
    games = [dicegym.game(name) for name in options.games or GAMES]
    for game in games:
        found += contest.measures(game, contest.entries(game.name, folder / game.name))
        found += _or_skipped(
            f"{game.name}, contests of many entries", large.measures(game, folder / f"{game.name}_many")
        )
    return found + _or_skipped("stores of many matches", large.stored_measures(games[0], folder))


def server_plan(options: Options, folder: Path) -> Plan:
    """Return the load of a server of each game that has a protocol, and what floods cost those who play there."""

    def plan() -> Iterator[Measure]:
        from benchmarks import server_flood, server_load
        from dicegym.server.wire import make_served_game

        for game in options.games or GAMES:
            try:
                make_served_game(game)
            except ParameterError:  # it has no server protocol
                continue
            seconds = max(0.3, 4 * options.seconds)
            whose = (Figure("server", game, f"50 games at once: {what}", unit) for what, unit in parts)

            def run(game: str = game, seconds: float = seconds) -> tuple[float, float, float]:
                load = server_load.measure(game, seconds)
                return load.turns, 100 * load.busy, load.games

            yield Measure(tuple(whose), run)
            for flood in (None, *server_flood.FLOODS):
                beside = "nobody floods" if flood is None else server_flood.FLOODS[flood].title
                yield Measure(
                    tuple(Figure("server", game, f"wait after a move, {beside}: {what}", "ms") for what in waits),
                    partial(server_flood.measure, game, flood, seconds),
                )

    parts = (("commands carried out", "turns/s"), ("of one core used", "%"), ("in progress", "games"))
    waits = ("median", "99th percentile")
    return _or_skipped("server", plan())


WEB_GAMES = ("hog", "liarsdice")
"""What is played on pages unless games are named: a quick one, and one with rivals that think."""


def web_plan(options: Options, folder: Path) -> Plan:
    """Return how long people wait for pages."""

    def plan() -> Iterator[Measure]:
        from benchmarks import web

        games = options.games or WEB_GAMES
        shown = " and ".join(games)

        def run() -> tuple[float, ...]:
            load = web.measure(games, max(5.0, 60 * options.seconds))
            if load.failures:
                raise ParameterError(f"{len(load.failures)} requests failed, the first: {load.failures[0]}")
            return 1000 * load.median, 1000 * load.p95, 1000 * load.p99, load.requests

        parts = (("median", "ms"), ("95th percentile", "ms"), ("99th percentile", "ms"), ("requests", "requests/s"))
        figures = [Figure("web", shown, f"wait for an answer: {what}", unit) for what, unit in parts[:3]]
        figures[2] = figures[2]._replace(goal=("at most", 1000 * web.SLOWEST))
        yield Measure((*figures, Figure("web", shown, *parts[3])), run)

    return _or_skipped("web", plan())


def solve_plan(options: Options, folder: Path) -> Plan:
    """Return what it takes to solve what can be solved of each game."""

    def plan() -> Iterator[Measure]:
        from benchmarks import solving

        yield from solving.measures(options.games or tuple(GAMES))

    return _or_skipped("solve", plan())


def few_and_many_actions() -> tuple[str, ...]:
    """Return what `training` trains unless games are named: the games with the fewest and the most actions."""
    by_actions = sorted(GAMES, key=lambda name: dicegym.game(name).n_actions)
    return tuple(dict.fromkeys((by_actions[0], by_actions[-1])))


def training_plan(options: Options, folder: Path) -> Plan:
    """Return trainers side by side for every game, and trainings on environments of other kinds."""

    def plan() -> Iterator[Measure | Skipped]:
        from benchmarks import trainers, training

        for game in options.games or GAMES:
            yield from trainers.measures(game, options.setup, options.threads)
        yield from trainers.missing()

        for game in options.games or few_and_many_actions():
            for threads in options.threads:
                yield from training.measures(game, options.setup, threads)

    return _or_skipped("training", plan())


def _or_skipped(what: str, measures: Iterable[Measure | Skipped]) -> Plan:
    """Return ``measures``; if a package is missing, what came before that and why the rest is skipped."""
    found: Plan = []
    try:
        found.extend(measures)
    except DependencyError as error:
        found.append(Skipped(what, str(error)))
    return found


PLANS: Mapping[str, Callable[[Options, Path], Plan]] = {
    "memory": memory_plan,
    **{mode: partial(loop_plan, mode=mode) for mode in LOOP_MODES},
    "threads": threads_plan,
    "limits": limits_plan,
    "peers": peers_plan,
    "search": search_plan,
    "start": start_plan,
    "contest": contest_plan,
    "server": server_plan,
    "web": web_plan,
    "solve": solve_plan,
    "training": training_plan,
}
"""How each mode of `benchmarks.modes` is measured: (options, a folder for files) -> its plan."""
