"""What each choice in a state is worth, by playing the game on from there many times: rollouts.

In each of many games the player to move chooses each of the candidates once, with the same dice to come and the same
hidden dice of others, so that candidates differ by less luck than games do. What others hide is drawn anew for each
game, as the player to move may believe it (`dicegym.analysis.playing_on.Beliefs`); nothing that is hidden from it is
read.

Candidates that are worse than another one by a confidence sequence (`half_width`), which may be looked at as often as
one likes, are played no further. At `CONFIDENCE` the best is dropped in one run of twenty at the most: alpha is shared
out among its rivals.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.playing_on import Beliefs, Continuation, suppose_players, unit_of, usual_policy
from dicegym.engine import loops
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.validate import seed_number, whole_number
from dicegym.errors import ParameterError
from dicegym.games.worth import ActionValues, Progress, ValueKind, ValueUnit
from dicegym.play.player import Player, RandomPlayer
from dicegym.players.roster import opponent

GAMES = 20_000
"""Games with each candidate at the most, unless told otherwise."""
GAMES_OF_VALUER = 1_000
"""The same of a `RolloutValuer`."""
CONFIDENCE = 0.95
_FIRST, _LARGEST = 128, 16_384
"""Games with each candidate until the first look, and from look to look at the most; looks come at doubled numbers."""
NARROWEST = 5_000
"""Games at which intervals are narrowest, relative to those of a fixed number of games."""
LEAST = 100
"""Games before anything is decided: the sequence is one of the limit, as a normal interval is."""


class Candidate(NamedTuple):
    """One choice, and what it is worth."""

    action: int
    name: str
    value: float
    """Mean result of its games for the player to move."""
    error: float
    """Its standard error."""
    games: int
    """Games that were played with it."""
    difference: float
    """By how much it is behind the best in the same games; 0 for the best."""
    difference_error: float
    """Standard error of that: dice are common, so it is smaller than that of two values."""
    dropped: bool
    """Whether it was found to be worse than another one, and played no further."""


class RolloutResult(NamedTuple):
    """What came out of a rollout."""

    game: Game
    seat: int
    """Who is to move."""
    unit: ValueUnit
    candidates: tuple[Candidate, ...]
    """The best first: those that are left by their values, then those that were dropped, the last one first."""
    decided: bool
    """Whether one is better than all others, at `CONFIDENCE`."""
    reason: str
    """Why it stopped, in words."""
    games: int
    """Games in all, of all candidates."""
    players: tuple[str, ...]
    """Who played on, by seat."""
    weighed: bool
    """Whether others' hidden dice were drawn by all that they have done, too; True where nothing is hidden."""
    seed: int
    seconds: float

    @property
    def best(self) -> Candidate:
        """The candidate that is worth most."""
        return self.candidates[0]

    def lines(self) -> list[str]:
        """Return what the figures are made of, and whether the best choice is decided, in sentences."""
        names = ", ".join(dict.fromkeys(self.players))
        found = [f"{self.games:,} games in {self.seconds:.1f} s (seed {self.seed}), played on by {names}."]
        if not self.weighed:
            found.append(
                "What others hide was drawn without a regard to some of their bids, which these would not make."
            )
        if self.decided and len(self.candidates) > 1:
            found.append(f"Decided at a confidence of {CONFIDENCE:.0%}: {self.best.name}.")
        elif len(self.candidates) > 1:
            left = sum(not one.dropped for one in self.candidates)
            found.append(f"Not decided, {left} choices are left: it ended as {self.reason}.")
        return found


def rollout(
    game: Game,
    state: Any,
    *,
    actions: Sequence[int] | None = None,
    games: int = GAMES,
    player: Any = None,
    against: Any = None,
    seconds: float | None = None,
    seed: int = 0,
    threads: int = 2,
    progress: Progress | None = None,
) -> RolloutResult:
    """Play a game on from a state with each of several choices; return what they are worth.

    Args:
        game: the game.
        state: its record, in which somebody is to move. What that player may not know is not read: it may be zero.
        actions: the choices; default: all that are legal. Wide ones are played as the rules say.
        games: games with each of them at the most.
        player: plays on in every seat: an agent's name or a `dicegym.play.player.Player`; default:
            `dicegym.analysis.playing_on.usual_policy`.
        against: the same for the other seats alone.
        seconds: begin no further games after so long. The result then depends on the machine.
        seed: names all dice.
        threads: number of threads; the result does not depend on it.
        progress: told of games.

    Raises:
        ParameterError: the game is over, there are no such actions, or an argument is out of range.
        UnknownNameError, AgentError, ModelError, DependencyError: a player cannot play; see `dicegym.agent`.

    Example:
        >>> import dicegym
        >>> from dicegym.values import rollout
        >>> game = dicegym.game("hog")
        >>> result = rollout(game, game.new_game(seed=1)[0], actions=[0, 6], games=200, player="bacon")
        >>> len(result.candidates)
        2
    """
    began = time.monotonic()
    candidates = _candidates(game, state, actions)
    games = whole_number("games", games, 1, 10**9, "the games with each candidate")
    mover = int(state["player"])
    own = opponent(game, usual_policy(game) if player is None else player)
    others = own if against is None else opponent(game, against)
    players: list[Player] = [own if seat == mover else others for seat in range(game.players)]
    beliefs = Beliefs(game, state, players)
    table = Continuation(game, players, threads)
    race = _Race(len(candidates), 0.0 if unit_of(game) == "points" else 1.0)
    generator = np.random.default_rng(named_seed("rollout", seed))
    step, reason = _FIRST, f"{games:,} games were played with each of them"
    while race.games < games:
        n = min(step, games - race.games)
        keys = generator.integers(0, 1 << 64, n, dtype=np.uint64)
        dealt = beliefs.deal(n, keys, generator)
        race.add(_play(table, dealt, [candidates[one] for one in race.left], mover))
        if progress is not None:
            progress(race.games, games, f"{len(race.left)} of {len(candidates)} choices left")
        if len(race.left) == 1 and len(candidates) > 1:
            reason = "decided"
            break
        if seconds is not None and time.monotonic() - began >= seconds:
            reason = f"{seconds:g} seconds are over"
            break
        step = min(race.games, _LARGEST)
    found = [race.candidate(one, candidates[one], _name(game, candidates[one])) for one in race.rank_actions()]
    return RolloutResult(
        game,
        mover,
        unit_of(game),
        tuple(found),
        len(race.left) == 1,
        reason,
        sum(one.games for one in found),
        tuple(one.name for one in players),
        beliefs.weighed,
        seed,
        time.monotonic() - began,
    )


def _candidates(game: Game, state: Any, actions: Sequence[int] | None) -> list[int]:
    if state["over"]:
        raise ParameterError("the game is over: there is nothing left to choose")
    if actions is None:
        return np.flatnonzero(game.legal(state)).tolist()
    found = list(dict.fromkeys(int(action) for action in actions))
    if not found:
        raise ParameterError("there is no action to play: name one, or leave them out for all that are legal")
    return found


def _name(game: Game, action: int) -> str:
    return game.action_name(action) if 0 <= action < game.n_actions else f"action {action}"


def _play(table: Continuation, dealt: np.ndarray, actions: Sequence[int], seat: int) -> np.ndarray:
    """Return the result of each action in each game: float64[actions, games]."""
    n = len(dealt)
    states = np.concatenate([dealt] * len(actions)) if isinstance(dealt, np.recarray) else np.tile(dealt, len(actions))
    faults = np.zeros(len(states), np.int64)
    loops.step_rows(states, np.arange(len(states)), np.repeat(np.array(actions, np.int64), n), faults)
    return table.results(states)[:, seat].reshape(len(actions), n)


class _Race:
    """Results of the candidates in the same games, and which candidates are left."""

    def __init__(self, n: int, least: float) -> None:
        self._least = least
        self.left = list(range(n))
        self.out: list[int] = []
        self._alpha = (1 - CONFIDENCE) / max(n - 1, 1)
        self._values = [np.zeros(0) for _ in range(n)]

    def count_games(self, one: int) -> int:
        """Return in how many games a candidate was played."""
        return len(self._values[one])

    @property
    def games(self) -> int:
        """In how many games those that are left were played."""
        return self.count_games(self.left[0])

    def add(self, values: np.ndarray) -> None:
        """Add games of the candidates that are left, and drop those that are worse than another."""
        for one, own in zip(self.left, values, strict=True):
            self._values[one] = np.concatenate([self._values[one], own])
        if self.games < LEAST:
            return
        worse: dict[int, float] = {}
        best = self.best
        for one in self.left:
            mean, deviation, n = self._paired(best, one)
            if one != best and mean > half_width(deviation, n, self._alpha):
                worse[one] = mean
        for one in sorted(worse, key=lambda each: -worse[each]):
            self.left.remove(one)
            self.out.append(one)

    def _paired(self, a: int, b: int) -> tuple[float, float, int]:
        """Return mean and standard deviation of a's value less b's in the games of both, and how many these are."""
        n = min(self.count_games(a), self.count_games(b))
        gap = self._values[a][:n] - self._values[b][:n]
        return float(gap.mean()), _deviation(gap), n

    @property
    def best(self) -> int:
        """Of those that are left, the one that is worth most."""
        return max(self.left, key=lambda one: self._values[one].mean())

    def error(self, one: int) -> float:
        """Return the standard error of a candidate's value; of a win rate at least that of one game among all.

        What never came in n games may still come in one of n: no game lost does not mean that none can be.
        """
        n = self.count_games(one)
        return max(_deviation(self._values[one]) / math.sqrt(n), self._least / n)

    def rank_actions(self) -> list[int]:
        """Return the candidates, the best first."""
        return [*sorted(self.left, key=lambda one: -self._values[one].mean()), *reversed(self.out)]

    def candidate(self, one: int, action: int, name: str) -> Candidate:
        """Return what is known of a candidate."""
        mean, deviation, n = self._paired(self.best, one)
        is_best = one == self.best
        return Candidate(
            action,
            name,
            float(self._values[one].mean()),
            self.error(one),
            self.count_games(one),
            0.0 if is_best else mean,
            0.0 if is_best else deviation / math.sqrt(n),
            one not in self.left,
        )


def _deviation(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else math.inf


def half_width(deviation: float, n: int, alpha: float, narrowest: int = NARROWEST) -> float:
    """Return half the width of the interval for the mean after ``n`` values, one of a confidence sequence.

    An interval for a fixed number of games is wrong in more than 5 % of runs if one looks again and again and stops at
    the first that pleases. The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas
    ("Time-uniform central limit theory and asymptotic confidence sequences", Annals of Statistics 52, 2024, theorem
    2.2) holds for all n together: after n values with the standard deviation s, the mean is within

        s * sqrt(2 (n r² + 1) / (n² r²) * ln(sqrt(n r² + 1) / alpha))

    of the true one with probability 1 - alpha at every n. r says for which n it is narrowest.

    Args:
        deviation: standard deviation of the values so far.
        n: how many there are.
        alpha: probability that the mean is ever outside of its intervals.
        narrowest: where the sequence is to be narrowest.
    """
    if n < 2:
        return math.inf
    # The best r for a given n, eq. (9) of the paper to first order.
    squared = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / narrowest
    spread = n * squared + 1
    return deviation * math.sqrt(2 * spread / (n * n * squared) * math.log(math.sqrt(spread) / alpha))


def sample_returns(
    game: Game, state: Any, n: int, *, policy: Any = None, seed: int = 0, threads: int = 1
) -> np.ndarray:
    """Play a state on to the end ``n`` times; return what each seat gets: see `dicegym.engine.state.State.rollouts`."""
    n = whole_number("n", n, 1, 10**8, "a number of games")
    player = RandomPlayer() if policy is None else opponent(game, policy)
    table = Continuation(game, [player] * game.players, threads)
    if state["over"]:
        return np.tile(game.returns(state), (n, 1))
    generator = np.random.default_rng(named_seed("rollouts", seed_number("seed", seed)))
    keys = generator.integers(0, 1 << 64, n, dtype=np.uint64)
    return table.returns(Beliefs(game, state, suppose_players(game)).deal(n, keys, generator))


class RolloutValuer:
    """What states are worth by the mean of games that are played on; see `rollout`.

    The same state gives the same values: all dice follow from ``seed``.

    Args:
        game: the game.
        player: plays on in every seat: a name or a player (default: the usual one).
        games: games with each choice at the most.
        seed: names all dice.
        threads: number of threads.

    Raises as `rollout` does.
    """

    name = "rollouts"
    kind: ValueKind = "rollouts"
    sees_all = False

    def __init__(
        self,
        game: Game,
        player: Any = None,
        games: int = GAMES_OF_VALUER,
        seed: int = 0,
        threads: int = 2,
    ) -> None:
        self.game = game
        self.unit = unit_of(game)
        self._player = opponent(game, usual_policy(game) if player is None else player)
        self._games, self._seed, self._threads = games, seed, threads
        self._table = Continuation(game, [self._player] * game.players, threads)
        self.sure = f"means of up to {games:,} games each, played on by {self._player.name}"

    def value(self, state: Any, seat: int) -> float:
        """Return the mean of games that are played on from the whole record with other dice to come."""
        return float(self._values(state)[seat])

    def _values(self, state: Any) -> np.ndarray:
        """Return `value` for every seat, of the same games: float64[players]."""
        generator = np.random.default_rng(named_seed("value", self._seed))
        states = self.game.new_states(self._games)
        states[:] = state
        if not state["over"]:
            states["key"] = generator.integers(0, 1 << 64, self._games, dtype=np.uint64)
        means: np.ndarray = self._table.results(states).mean(axis=0)
        return means

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `value` of every state for every seat: float64[states, players]."""
        return np.array([self._values(state) for state in states])

    def action_values(self, state: Any) -> ActionValues:
        """Return the mean of each legal action's games with its standard error; see `Valuer`."""
        size = self.game.n_actions
        found = ActionValues(np.full(size, np.nan), np.full(size, np.nan), np.full(size, np.nan))
        if not state["over"]:
            for one in self._rollout(state, None).candidates:
                found.values[one.action], found.errors[one.action] = one.value, one.error
                found.behind[one.action] = one.difference_error  # type: ignore[index]  # three arrays, as made above
        return found

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return `action_values` of every state, none of which is over."""
        return stack_values([self.action_values(state) for state in states], self.game.n_actions)

    def action_value(self, state: Any, action: int) -> float:
        """Return the mean of one action's games; nan when the game is over."""
        return float("nan") if state["over"] else self._rollout(state, [action]).best.value

    def policy(self, state: Any) -> np.ndarray:
        """Return 1 for the action that is worth most, 0 for all others; see `Valuer`."""
        chosen = np.zeros(self.game.n_actions)
        if not state["over"]:
            chosen[self._rollout(state, None).best.action] = 1.0
        return chosen

    def _rollout(self, state: Any, actions: list[int] | None) -> RolloutResult:
        how: dict[str, Any] = {"player": self._player, "seed": self._seed, "threads": self._threads}
        return rollout(self.game, state, actions=actions, games=self._games, **how)


def stack_values(found: Sequence[ActionValues], n_actions: int) -> ActionValues:
    """Return what actions are worth in several states as one: arrays of float64[states, n_actions]."""
    values, errors = (np.array([one[column] for one in found], np.float64).reshape(-1, n_actions) for column in (0, 1))
    behind = [one.behind for one in found if one.behind is not None]
    return ActionValues(values, errors, np.array(behind) if behind and len(behind) == len(found) else None)
