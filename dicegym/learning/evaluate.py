"""Measure a player: by its exact win rate where the game has exact values, otherwise by games, with an interval."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dicegym.analysis.exploitability import best_reply, check_best_reply
from dicegym.analysis.variance_reduction import NO_SPREAD, check_meter, scale_luck
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.engine.validate import MOST, whole_number
from dicegym.errors import AgentError, FaultWarning, ModelError, ParameterError, one_line
from dicegym.games import game as make_game
from dicegym.games.parts import Z_95, Duel, quick_solver_of, tabulate_player
from dicegym.learning.blocks import APART, Results, blocks_of
from dicegym.play.player import Player
from dicegym.players.batch_players import TwinPlayer, twin_numbers, twin_of
from dicegym.players.roster import agent, agent_name, is_strangers, resolve
from dicegym.players.roster import opponent as twin_or_agent
from dicegym.sandbox.jobs import Entry, Failure, Job, entry
from dicegym.sandbox.limits import Limits

if TYPE_CHECKING:
    from dicegym.arena.executors import Executor, Executors
    from dicegym.learning.training_settings import RunSettings

    Opened = Callable[[Game, Limits | None, str], contextlib.AbstractContextManager[Executor]]
    """Opens an executor, like `Executors`."""

EVALUATION_SEED = 1 << 63
"""The smallest seed of an evaluation's games. A training's seeds are below 2**32 plus its number of games, so it never
plays the same games: a game's key is mixed from its seed (`dicegym.engine.dice.game_key`)."""
CURVE_SEED, CARD_SEED, LEAGUE_SEED, FRESH_SEED = range(4)
"""Seeds of evaluations: for the curve of a training, which may select its best model; for the card of a model; for a
league, which selects opponents; and from the last on for fresh games, which nothing was selected by."""
GAME_SECONDS = 10.0
"""Default processor time of a user's bot for all its moves of a game."""

BY_EXPLOITABILITY, BEST_REPLY = "exploitability", "its best reply"
"""The setting that selects models by their win rate against a best response, and the name of that opponent."""
EARLY = 4
"""How often the interval of evaluations is halved for the first ones, so that a short run has a curve too."""
EXACT, OF_ONE_DRAW = "exact win rate", "win rate by one drawn table"
"""Computed measures: of deterministic strategies; and with a strategy that draws or remembers, for one draw of all its
answers."""


class Score(NamedTuple):
    """A player's result against an opponent."""

    measure: str
    """The meaning of ``value``, such as "exact win rate"."""
    opponent: str
    value: float
    """Win rate in 0..1 (a tie of n players counts 1 / n), or the mean return in games for one."""
    low: float
    """Lower end of the 95 % interval; equal to ``value`` if exact."""
    high: float
    games: int
    """Number of games; 0 if computed."""
    saved: float | None = None
    """Without variance reduction the same precision would need this many times as many games; inf if luck is all that
    varies; None without variance reduction, or if all results are equal."""

    def __str__(self) -> str:
        """Describe the score."""
        interval = f" [{self.low:.4f}, {self.high:.4f}], {self.games} games" if self.games else ""
        if self.games == 1:  # one game says nothing about the variance
            interval = ", 1 game, too few for an interval"
        return f"{self.value:.4f} {self.measure} against {self.opponent}{interval}"

    @property
    def known_by(self) -> str:
        """The number of games, ``exact``, or ``one draw`` of a table, for a column of a table."""
        return f"{self.games:,}" if self.games else "one draw" if self.measure == OF_ONE_DRAW else "exact"

    def to_json(self) -> dict[str, Any]:
        """Return the score as plain values."""
        found = self._asdict()
        saved = found.pop("saved")
        return found if saved is None else found | {"saved": saved if math.isfinite(saved) else None}

    @classmethod
    def from_json(cls, said: Any) -> Score:
        """Return a score from the values of `to_json`. Raises ParameterError if they are damaged."""
        kinds = {"measure": str, "opponent": str, "games": int}
        try:
            values = {name: said[name] for name in cls._fields if name != "saved" or said.get("saved") is not None}
            _ = [float(values[name]) for name in values.keys() - {"measure", "opponent"}]  # none is too large
        except (TypeError, LookupError, ValueError, OverflowError):
            values = {}
        if not values or not all(isinstance(one, kinds.get(name, int | float)) for name, one in values.items()):
            raise ParameterError(f"{one_line(said, 100)} is not a score: only trainings write them")
        return cls(**values)


def rivals_of(game: Game, opponent: Any) -> list[Player]:
    """Return the players for ``opponent``, an argument of `evaluate`. Raises as `evaluate` does."""
    return [_rival(game, spec) for spec in _named(game, opponent)]


def _rival(game: Game, spec: Any) -> Player:
    """Return an opponent: its compiled twin if there is one, but its file where the twin would hide its draws."""
    rival = twin_or_agent(game, spec)
    return agent(game, spec) if isinstance(rival, TwinPlayer) and _hides(game, rival) else rival


def _hides(game: Game, twin: TwinPlayer) -> bool:
    """Return whether a twin hides the draws of its file, which exact values need."""
    return not twin.pure and quick_solver_of(game, twin) is not None


def _named(game: Game, opponent: Any) -> list[Any]:
    """Return the agents in ``opponent``, an argument of `evaluate`. Raises ParameterError if there are too many."""
    specs = opponent if isinstance(opponent, list | tuple) else [opponent]
    if not specs:
        raise ParameterError("an empty list of opponents cannot be played against: name at least one, or leave it out")
    if len(specs) >= game.players > 1:
        raise ParameterError(
            f"{len(specs)} opponents cannot share a table with the measured player: {game!r} seats "
            f"{game.players - 1} of them; give fewer, players={len(specs) + 1} if the game allows it, or measure "
            "against one after the other"
        )
    return [game.spec.baseline if spec is None else spec for spec in specs]


def evaluate(
    game: Game | str,
    player: Any,
    opponent: Any = None,
    games: int = 10_000,
    exact: bool = True,
    seed: int = FRESH_SEED,
    less_luck: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
    executors: Opened | None = None,
    isolation: str = "auto",
    limits: Limits | None = None,
) -> Score:
    """Measure ``player`` against ``opponent`` (default: the game's baseline) from every seat in turn.

    Args:
        game: the game, or its name.
        player: an agent, as for `dicegym.agent`: a name, a file, a `Player`, a model in memory or a function.
        opponent: another agent, in all other seats; or a list of agents, who share the table and move on by one seat
            whenever the player has sat in every seat.
        games: number of games where there is no exact value.
        exact: False plays games even if there is an exact value.
        seed: selects the games; they are never games of a training, nor by default games that select models.
        progress: called with (games played, total games, text) while games are played.
        less_luck: reduce the variance with the game's luck meter: the same mean with a smaller interval
            (`dicegym.analysis.variance_reduction`).
        executors: where games are played, such as ``dicegym.arena.executors.local(workers=2)``: results are the same
            for any number of processes, and bots that do not ship with the package are isolated. None: this process,
            for all bots.
        isolation: how these bots are isolated; see `dicegym.sandbox.jail.Isolation`.
        limits: what such a bot may use in 200 games; default: `limits_of`.

    Returns:
        The exact value; for a player that draws, by one draw of all its answers, which ``measure`` says. Where there is
        no such value, or a draw would take too many questions (`dicegym.games.parts.Duel.questions`), the share of
        games won with Wilson's 95 % interval. In games for one, the mean return with the normal 95 % interval, which is
        also used with ``less_luck``.

    Raises:
        AgentError, ModelError, UnknownNameError: a player cannot be loaded, or fails.
        ParameterError: ``games`` is less than 1, ``seed`` is outside 0 to 2**63 - 1, there are too many opponents, the
            game has no luck meter, or ``executors`` cannot play these agents.
        DependencyError, DicegymError: ``executors`` cannot be started.

    Example:
        >>> from dicegym.training import evaluate
        >>> score = evaluate("hog", "bacon", "always_roll(5)")
        >>> score.games, score.low <= score.value <= score.high
        (0, True)
    """
    games = whole_number("games", games, 1, MOST, "the number of games of an evaluation")
    seed = whole_number("seed", seed, 0, EVALUATION_SEED - 1, "the seed of an evaluation")
    if not all(isinstance(switch, bool | np.bool_) for switch in (exact, less_luck)):
        raise ParameterError(f"exact={exact!r} and less_luck={less_luck!r} are switches: give True or False")
    game = make_game(game)
    report = progress or (lambda done, total, text: None)
    specs = _named(game, opponent)
    open_executor = None if executors is None else lambda limits: executors(game, limits, isolation)
    by = _Table(game, [player, *specs], seed, open_executor, limits_of() if limits is None else Limits.of(limits))
    against = "nobody" if game.players == 1 else ", ".join(by.names[1:])
    if exact and len(specs) == 1 and (tables := by.tables()) is not None:
        values, ((mine, i_draw), (theirs, they_draw)) = tables
        value = values.win_rate(mine, theirs, game)
        return Score(OF_ONE_DRAW if i_draw or they_draw else EXACT, against, value, value, value, 0)
    if less_luck:
        check_meter(game)
    preparing = "preparing the luck meter, " if less_luck else ""
    results = by.play(
        games, less_luck, lambda done: report(done, games, f"{'' if done else preparing}against {against}")
    )
    return score_of(game, results, against)


def as_duel(share: float, players: int) -> float:
    """Convert a share of first places at a table to a win rate in duels: 1 / ``players`` becomes 0.5.

    If players come first in proportion to their strengths (Luce, "Individual choice behavior", 1959), a player with the
    share s against n - 1 equal opponents wins a duel against one with probability s (n - 1) / (s (n - 1) + 1 - s).
    """
    odds = share * (players - 1)
    return odds / (odds + 1 - share)


def overall(scores: Sequence[Score], by: str = "mean") -> Score:
    """Return one score for several opponents: ``by`` the ``"mean"`` or the ``"worst"``.

    The mean's interval is the mean of their intervals. All opponents play the same games, so their results are
    dependent: the standard error of the mean is at most the mean of their standard errors.
    """
    if len(scores) == 1:
        return scores[0]
    if by == "worst":
        return min(scores, key=lambda score: score.value)
    n = len(scores)
    mean, low, high = (sum(ends) / n for ends in zip(*((one.value, one.low, one.high) for one in scores), strict=True))
    return Score("mean win rate", f"{n} opponents", mean, low, high, sum(score.games for score in scores))


def score_of(game: Game, results: Results, against: str) -> Score:
    """Return the score for ``results``, without luck if that was measured."""
    shares, luck, games, alone = results.shares, results.luck, len(results.shares), game.players == 1
    if luck is None and not alone:
        mean = float(shares.mean())
        return Score("win rate", against, mean, *wilson(mean, games), games)
    left = shares if luck is None else shares - scale_luck(shares, luck)
    mean, spread = float(left.mean()), float(left.std(ddof=min(1, games - 1)))
    half = Z_95 * spread / games**0.5
    low, high = mean - half, mean + half
    if not alone:  # one game says nothing about the variance
        low, high = (max(0.0, low), min(1.0, high)) if games > 1 else (0.0, 1.0)
    saved = None
    if luck is not None and shares.var():
        saved = float(shares.var()) / spread**2 if spread > NO_SPREAD else float("inf")
    measure = f"{'mean return' if alone else 'win rate'}{'' if luck is None else ' less luck'}"
    return Score(measure, against, mean, low, high, games, saved)


def wilson(rate: float, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % score interval (Wilson 1927) of a share ``rate`` of ``n`` trials."""
    z = Z_95
    centre = (rate + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * float(np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n * n)))
    return max(0.0, centre - half), min(1.0, centre + half)


class _Table:
    """The players of an evaluation: the measured one, then its opponents.

    Args:
        game: the game.
        specs: the players, as for `dicegym.agent`.
        seed: of the evaluation.
        open_executor: opens an executor with limits for users' bots; None: this process plays.
        limits: of users' bots.
    """

    def __init__(
        self,
        game: Game,
        specs: Sequence[Any],
        seed: int,
        open_executor: Callable[[Limits], contextlib.AbstractContextManager[Executor]] | None,
        limits: Limits,
    ) -> None:
        self._game, self._specs, self._seed = game, specs, seed
        self._open, self._limits = open_executor, limits
        self._loaded: dict[int, Player] = {}
        named = [one_line(agent_name(game, spec)) for spec in specs] if open_executor else None
        self.names = named or [player.name for player in self.players]

    @property
    def players(self) -> list[Player]:
        """The players, all loaded in this process."""
        return [self._load(number) for number in range(len(self._specs))]

    def _load(self, number: int) -> Player:
        if number not in self._loaded:
            load = _rival if number else agent
            self._loaded[number] = load(self._game, self._specs[number])
        return self._loaded[number]

    def tables(self) -> tuple[Duel, list[tuple[Any, bool]]] | None:
        """Return the solver, and each player's table as from `tabulate_player`.

        Return None if the game has no exact values, or a user's bot would be asked too many questions. Raises
        AgentError for a player that fails.
        """
        game = self._game
        apart = [self._open is not None and is_strangers(game, spec) for spec in self._specs]
        known = [None if far else self._load(number) for number, far in enumerate(apart)]
        values = quick_solver_of(game, *(player for player in known if player is not None))
        if values is None:
            return None
        isolated = self._tabulate_isolated([spec for spec, far in zip(self._specs, apart, strict=True) if far])
        if isolated is None:
            return None
        tables = [isolated.pop(0) if one is None else tabulate_player(values.tabulate, one, game) for one in known]
        return values, tables

    def _tabulate_isolated(self, specs: Sequence[Any]) -> list[tuple[Any, bool]] | None:
        """Return the tables of users' bots, each from its own process; None if one is too large."""
        if not specs or self._open is None:
            return []
        from dicegym.arena.tabulation import PATIENCE, Tabulate

        jobs = [Tabulate(self._game, (_entry(self._game, spec),), self._seed, quick=True) for spec in specs]
        found: dict[Entry, tuple[np.ndarray, bool]] = {}
        with self._open(replace(self._limits, seconds=PATIENCE * self._limits.start_seconds)) as executor:
            for job, outcome in executor.run(jobs):
                table = _succeeded(job, outcome)
                if table["table"] is None:
                    return None
                found[job.entries[0]] = np.array(table["table"], np.dtype(table["dtype"])), bool(table["draws"])
        return [found[job.entries[0]] for job in jobs]

    def play(self, games: int, less_luck: bool, tell: Callable[[int], None]) -> Results:
        """Play games in blocks; call ``tell`` with the number of finished games.

        Faults of bots become warnings; from executors they come after the last game.
        """
        if self._open is None:
            return self._play_here(games, less_luck, tell)
        player, *rivals = self._specs  # as below: a twin draws as often as its file, but other numbers
        seated = [_twin(self._game, player, hides=True) if less_luck else player]
        seated += [_twin(self._game, rival, hides=less_luck) for rival in rivals]
        entries = tuple(_entry(self._game, spec, name) for spec, name in zip(seated, self.names, strict=True))
        blocks = blocks_of(self._game, entries, games, EVALUATION_SEED + self._seed, less_luck)
        found: dict[int, tuple[Results, list[tuple[str, int]]]] = {}
        tell(0)
        with self._open(self._limits) as executor:
            for job, outcome in executor.run(blocks):
                shares, luck, faults = _succeeded(job, outcome)
                known = Results(np.array(shares), None if luck is None else np.array(luck))
                found[job.facts["first"]] = known, faults
                tell(sum(len(one.shares) for one, _ in found.values()))
        in_order = [found[block.first] for block in blocks]
        for words, times in (fault for _, faults in in_order for fault in faults):
            for _ in range(times):
                warnings.warn(words, FaultWarning, stacklevel=3)
        return Results.join([one for one, _ in in_order])

    def _play_here(self, games: int, less_luck: bool, tell: Callable[[int], None]) -> Results:
        players = self.players
        if less_luck:  # the luck meter knows compiled twins better than files that draw
            players = [twin_or_agent(self._game, spec) for spec in self._specs]
        found = []
        for block in blocks_of(self._game, (), games, EVALUATION_SEED + self._seed, less_luck):
            tell(block.first)
            found.append(block.play(players))
        tell(games)
        return Results.join(found)


def limits_of(seconds: float = GAME_SECONDS, memory: int = Limits.memory) -> Limits:
    """Return the limits of a user's bot in an evaluation.

    Args:
        seconds: processor time to load, for a move, and on average for all moves of a game.
        memory: bytes; see `Limits`.
    """
    return Limits(seconds * APART, memory, seconds, seconds)


@contextlib.contextmanager
def keep_open(executors: Executors) -> Iterator[Opened]:
    """Yield executors that open once for equal arguments; close them at the end of the context."""
    with contextlib.ExitStack() as stack:
        found: dict[tuple[Game, Limits | None, str], Executor] = {}

        def make(game: Game, limits: Limits | None, isolation: str) -> contextlib.nullcontext[Executor]:
            key = game, limits, isolation
            if key not in found:
                found[key] = stack.enter_context(executors(*key))
            return contextlib.nullcontext(found[key])

        yield make


def _succeeded(job: Job, outcome: Any) -> Any:
    """Return the outcome of a job. Raises AgentError for a failure."""
    if isinstance(outcome, Failure):
        raise AgentError(job.entries[outcome.actor].name, outcome.reason)
    return outcome


def _twin(game: Game, spec: Any, hides: bool) -> Any:
    """Return the compiled twin of an agent without running its file, or ``spec`` if it has none.

    Unless ``hides``, a twin that hides the draws of its file is not used; see `_rival`.
    """
    if isinstance(spec, str) and (name := spec.strip()) in twin_numbers(game):
        origin = resolve(game, spec)
        found = twin_of(game, origin, name) if isinstance(origin, Source) else None
        if found is not None and (hides or not _hides(game, found)):
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
                "against agents that are not users' files"
            ) from error
        raise


class Evaluator:
    """Measures a learner in training against the opponents in the settings, always in the same games.

    Raises UnknownNameError or ParameterError for invalid opponents, or for a measure that this game, or a learner that
    samples, does not have.
    """

    def __init__(self, game: Game, settings: RunSettings) -> None:
        self.game, self.settings = game, settings
        self._met = [rivals_of(game, against) for against in settings.evaluate_against or [game.spec.baseline]]
        if settings.less_luck:
            check_meter(game)
        if settings.best_by == BY_EXPLOITABILITY:
            if game.players < 2:
                raise ParameterError(
                    f"{game!r} is played alone, without a best response: leave out run.best_by={BY_EXPLOITABILITY}"
                )
            check_best_reply(game, bool(settings.temperature))

    def measure(self, learner: Player) -> tuple[Score, list[Score]]:
        """Return the learner's score, which normally selects the best model, and its score against each opponent."""
        run = self.settings
        scores = [
            evaluate(self.game, learner, rivals, run.evaluate_games, seed=CURVE_SEED, less_luck=run.less_luck)
            for rivals in self._met
        ]
        if run.best_by == BY_EXPLOITABILITY:
            found = best_reply(learner, self.game)
            scores.append(Score("worst win rate", BEST_REPLY, 1 - found.high, 1 - found.high, 1 - found.low, 0))
            return scores[-1], scores
        return overall(scores, run.best_by), scores

    @property
    def takes_last(self) -> bool:
        """Whether the latest model counts as the best, whatever its scores."""
        return self.settings.best_by == "last"


def next_evaluation(steps: int, every: int) -> int:
    """Return the steps of the next evaluation after ``steps``: multiples of ``every``, and early ones."""
    early = (every >> halved for halved in range(EARLY, -1, -1))
    return next((due for due in early if due > steps), (steps // every + 1) * every)
