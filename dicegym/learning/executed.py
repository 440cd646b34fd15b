"""Measuring by an executor: strangers' bots in processes of their own, and games on several processors or machines."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dicegym.arena.exact_ranking import PATIENCE, Tabulate
from dicegym.arena.executors import Executor, Executors
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.errors import AgentError, FaultWarning, ModelError, ParameterError
from dicegym.escape import one_line
from dicegym.games.parts import quick_solver_of, tabulated
from dicegym.learning.blocks import APART, BlockResult, Results, blocks_of
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


class Measurement:
    """Who is measured, and the opponents, ready to be sent to wherever they play.

    Args:
        game: the game.
        player: an agent, as for `dicegym.agent`.
        rivals: others; where the name of an agent with a compiled twin is given, that plays.
        executors: makes who has them play.
        isolation: how strangers' bots are kept apart.
        limits: what these may use.
        weights: as for `dicegym.learning.blocks.results_of`.

    Raises:
        UnknownNameError, ParameterError, AgentError, ModelError: see `dicegym.agent`; a model that only PyTorch can
            play cannot be sent.
    """

    def __init__(
        self,
        game: Game,
        player: Any,
        rivals: Sequence[Any],
        executors: Executors,
        isolation: str,
        limits: Limits,
        weights: tuple[float, ...] = (),
    ) -> None:
        self.game = game
        self._weights = weights
        self._specs = [player, *rivals]
        self._executors, self._isolation, self._limits = executors, isolation, limits

    @property
    def names(self) -> list[str]:
        """What the opponents are called."""
        return [one_line(agent_name(self.game, spec)) for spec in self._specs[1:]]

    def strategies(self, seed: int) -> list[tuple[Any, bool]] | None:
        """Return everybody as `dicegym.games.parts.tabulated` does, strangers' bots by processes of their own.

        None if one of them has no exact value, or takes too many questions. Raises AgentError for one who fails.
        """
        game = self.game
        apart = [number for number, spec in enumerate(self._specs) if is_strangers(game, spec)]
        found = [None if number in apart else agent(game, spec) for number, spec in enumerate(self._specs)]
        values = quick_solver_of(game, *(player for player in found if player is not None))
        if values is None:
            return None
        jobs = [Tabulate(game, (_entry(game, self._specs[number]),), seed, quick=True) for number in apart]
        tables: dict[Entry, tuple[np.ndarray, bool]] = {}
        if jobs:
            patient = replace(self._limits, seconds=PATIENCE * self._limits.start_seconds)
            with self._executors(game, patient, self._isolation) as executor:
                for job, outcome in executor.run(jobs):
                    table = _succeeded(job, outcome)
                    if table["table"] is None:
                        return None
                    tables[job.entries[0]] = np.array(table["table"], np.dtype(table["dtype"])), bool(table["draws"])
        by_number = {number: tables[job.entries[0]] for number, job in zip(apart, jobs, strict=True)}
        return [
            by_number.get(number) or tabulated(values.tabulate, player, game) for number, player in enumerate(found)
        ]

    def play(self, games: int, seed: int, progress: Callable[[int, int], None], less_luck: bool = False) -> Results:
        """Play, and return what who is measured got in each game; see `dicegym.learning.blocks.results_of`.

        Faults are told as warnings, as where games are played here. Raises AgentError for one who fails where the
        rules do not say what that costs, or whose process is gone.
        """
        game, (player, *rivals) = self.game, self._specs
        opponents = [_twin(game, rival, hides=less_luck) for rival in rivals]
        player = _twin(game, player, hides=True) if less_luck else player
        names = (one_line(agent_name(game, spec)) for spec in self._specs)
        entries = tuple(_entry(game, spec, name) for spec, name in zip([player, *opponents], names, strict=True))
        blocks = blocks_of(game, entries, games, seed, less_luck, self._weights)
        found: dict[int, BlockResult] = {}
        done = 0
        progress(0, games)
        with self._executors(game, self._limits, self._isolation) as executor:
            for job, outcome in executor.run(blocks):
                result = BlockResult(*_succeeded(job, outcome))
                first = job.facts["first"]
                found[first] = result
                done += len(result.shares)
                progress(done, games)
        in_order = [found[block.first] for block in blocks]
        _tell(words for result in in_order for words, times in result.faults for _ in range(times))
        luck = [result.luck for result in in_order if result.luck is not None]
        return Results(
            np.concatenate([result.shares for result in in_order]), np.concatenate(luck) if less_luck else None
        )


def _tell(faults: Iterable[str]) -> None:
    for words in faults:
        warnings.warn(words, FaultWarning, stacklevel=4)


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
