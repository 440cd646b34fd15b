"""Measuring by an executor: strangers' bots in processes of their own, and games on several processors or machines."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dicegym.analysis.less_luck import check_meter
from dicegym.arena.exact_ranking import PATIENCE, Tabulate
from dicegym.arena.executors import Executor, Executors
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.errors import AgentError, FaultWarning, ModelError, ParameterError
from dicegym.escape import one_line
from dicegym.games.parts import quick_solver_of, solver, tabulated
from dicegym.learning.blocks import APART, BlockResult, Results, blocks_of
from dicegym.learning.evaluate import EVALUATION_SEED, Score, score_of, score_of_tables, together
from dicegym.players import twins
from dicegym.players.roster import agent, agent_name, resolve
from dicegym.sandbox.jail import Choice
from dicegym.sandbox.jobs import Entry, Failure, Job, entry
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import JobOutcome

GAME_SECONDS = 10.0
"""Processor time of a stranger's bot for all its moves of a game, unless it is given more."""


def is_strangers(game: Game, spec: Any) -> bool:
    """Return whether ``spec``, as for `dicegym.agent`, names a bot's file that does not ship with the package.

    Raises as `dicegym.players.roster.resolve` does.
    """
    origin = resolve(game, spec)
    return isinstance(origin, Source) and not Entry("", origin).trusted


def limits_of(seconds: float = GAME_SECONDS, memory: int = Limits.memory) -> Limits:
    """Return what a stranger's bot may use in an evaluation.

    Args:
        seconds: of processor time, to load, for a move, and on average for all its moves of a game.
        memory: bytes; see `Limits`.
    """
    return Limits(seconds * APART, memory, seconds, seconds)


@contextlib.contextmanager
def kept_open(executors: Executors) -> Iterator[Executors]:
    """Yield ``executors`` that open each executor once, for all who ask for the same, and end them all at the end."""
    with contextlib.ExitStack() as stack:
        found: dict[tuple[Game, Limits | None, str], Executor] = {}

        def make(game: Game, limits: Limits | None, isolation: str) -> Executor:
            key = game, limits, isolation
            if key not in found:
                found[key] = stack.enter_context(executors(*key))
            return _KeptOpen(found[key])

        yield make


class _KeptOpen:
    """An executor that somebody else opens and ends."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    @property
    def limits(self) -> Limits:
        return self._executor.limits

    @property
    def isolation(self) -> Choice:
        return self._executor.isolation

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, JobOutcome]]:
        return self._executor.run(jobs)


def measured_by(
    executors: Executors,
    isolation: str,
    limits: Limits | None,
    game: Game,
    player: Any,
    rivals: Sequence[Any],
    weights: tuple[float, ...],
    games: int,
    exact: bool,
    seed: int,
    less_luck: bool,
    progress: Callable[[int, int, str], None],
) -> Score:
    """Return what `dicegym.learning.evaluate.evaluate` does, which says what the arguments are, by executors.

    Raises as that does; a model that only PyTorch can play cannot be sent.
    """
    specs = [player, *rivals]
    names = [one_line(agent_name(game, spec)) for spec in specs]
    against = together(game, names[1:], weights)
    limits = limits or limits_of()
    values = solver(game) if exact else None
    if values is not None:
        patient = replace(limits, seconds=PATIENCE * limits.start_seconds)
        tables = _tables(game, specs, seed, lambda: executors(game, patient, isolation))
        if tables is not None:
            return score_of_tables(values, game, tables, weights, against)
    if less_luck:
        check_meter(game)
    seated = [_twin(game, player, hides=True) if less_luck else player]
    seated += [_twin(game, rival, hides=less_luck) for rival in rivals]
    entries = tuple(_entry(game, spec, name) for spec, name in zip(seated, names, strict=True))
    blocks = blocks_of(game, entries, games, EVALUATION_SEED + seed, less_luck, weights)
    found: dict[int, BlockResult] = {}
    progress(0, games, f"against {against}")
    with executors(game, limits, isolation) as executor:
        for job, outcome in executor.run(blocks):
            found[job.facts["first"]] = BlockResult(*_succeeded(job, outcome))
            progress(sum(len(one.shares) for one in found.values()), games, f"against {against}")
    in_order = [found[block.first] for block in blocks]
    for words, times in (fault for result in in_order for fault in result.faults):
        for _ in range(times):
            warnings.warn(words, FaultWarning, stacklevel=3)
    luck = [result.luck for result in in_order if result.luck is not None]
    shares = np.concatenate([result.shares for result in in_order])
    return score_of(game, Results(shares, np.concatenate(luck) if less_luck else None), against)


def _tables(
    game: Game, specs: Sequence[Any], seed: int, open_executor: Callable[[], Executor]
) -> list[tuple[Any, bool]] | None:
    """Return everybody as `dicegym.games.parts.tabulated` does, strangers' bots by processes of their own.

    None if one of them has no exact value, or takes too many questions. Raises AgentError for one who fails.
    """
    apart = [number for number, spec in enumerate(specs) if is_strangers(game, spec)]
    found = [None if number in apart else agent(game, spec) for number, spec in enumerate(specs)]
    values = quick_solver_of(game, *(player for player in found if player is not None))
    if values is None:
        return None
    jobs = [Tabulate(game, (_entry(game, specs[number]),), seed, quick=True) for number in apart]
    tables: dict[Entry, tuple[np.ndarray, bool]] = {}
    if jobs:
        with open_executor() as executor:
            for job, outcome in executor.run(jobs):
                table = _succeeded(job, outcome)
                if table["table"] is None:
                    return None
                tables[job.entries[0]] = np.array(table["table"], np.dtype(table["dtype"])), bool(table["draws"])
    by_number = {number: tables[job.entries[0]] for number, job in zip(apart, jobs, strict=True)}
    return [by_number.get(number) or tabulated(values.tabulate, player, game) for number, player in enumerate(found)]


def _succeeded(job: Job, outcome: Any) -> Any:
    """Return the outcome of a job. Raises AgentError for a failure."""
    if isinstance(outcome, Failure):
        raise AgentError(job.entries[outcome.actor].name, outcome.reason)
    return outcome


def _twin(game: Game, spec: Any, hides: bool) -> Any:
    """Return the compiled twin of an agent; what was given where there is none, or loading it would run its file.

    ``hides`` tells whether the twin may hide what the file draws; see `dicegym.learning.evaluate.rivals_of`.
    """
    if isinstance(spec, str) and spec.strip() in twins.twin_numbers(game):
        found = twins.opponent(game, spec)
        if isinstance(found, twins.TwinPlayer) and (hides or found.pure or quick_solver_of(game, found) is None):
            return found
    return spec


def _entry(game: Game, spec: Any, name: str = "") -> Entry:
    name = name or one_line(agent_name(game, spec))
    try:
        return entry(game, name, spec)
    except AgentError as error:
        if isinstance(error.__cause__, ModelError):
            raise ParameterError(
                f"{name} cannot be sent to another process ({error.reason}): measure it here, without --workers, and "
                "against agents that are no files of others"
            ) from error
        raise
