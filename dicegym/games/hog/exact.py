"""Exact values of Hog: win rates of strategies, and the best replies to one.

A table is a strategy as int8[goal, goal]: ``table[own score, opponent's score]`` = number of dice, -1 to 10;
``goal`` is the parameter of the game. Wherever a `Strategy` is asked for, a player or a function of both
scores may be given too and is made a table by `tabulate`, whose errors may then be raised (AgentError,
ParameterError).

Values are probabilities over everything that the rules leave to chance or hide: dice, who moves first, the
parity of the exchanges, both runs of Pig outs. They are computed by dynamic programming over all states
(`dicegym.games.hog.exact_kernels`) and exact up to the rounding of floats, about 1e-13. Memory: 512 bytes for each
pair of scores, so 5 MB at goal 100 and 0.5 GB at goal 999; twice that to improve a table.
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import AgentError, ParameterError
from dicegym.games.hog import exact_kernels as kernels
from dicegym.games.hog.examination import action_of, examine
from dicegym.games.hog.rules import FIRST_NUMBER, MOST_DICE, N_ACTIONS
from dicegym.games.hog.strategy_file import strategy_source
from dicegym.games.parts import Progress, plays_with
from dicegym.play.player import FunctionPlayer, Player
from dicegym.play.turn import Turn

Function = Callable[[int, int], int]
"""A strategy as in the contest: (own score, opponent's score) -> number of dice."""
Strategy = np.ndarray | Player | Function

MIXED = False
SOLVED = {"memory": 0}
"""A table holds all that players choose by, if they do not see the turns before."""
MARGIN = 1e-12
"""By how much a choice must be better to replace another: above rounding, so that every search ends."""
AT_ONCE = 10
"""Pairs that a thread computes before it asks for more."""
TRIALS = 100
"""Disturbances that `best_table` tries unless told otherwise; see there what more of them are worth."""


@functools.cache
def _rolls() -> np.ndarray:
    return kernels.roll_chances()


def _check(table: np.ndarray, game: Game) -> np.ndarray:
    """Return ``table`` as a contiguous int8 array. Raises ParameterError if it is no strategy of this game."""
    goal = game.parameters["goal"]
    array = np.asarray(table)
    if array.shape != (goal, goal) or array.dtype.kind not in "iu":
        raise ParameterError(
            f"a table of shape {array.shape} and dtype {array.dtype} is no strategy of Hog to {goal}: "
            f"give whole numbers of shape {(goal, goal)}, or the Game that the table was made for"
        )
    if array.min() < FIRST_NUMBER or array.max() > MOST_DICE:
        raise ParameterError(
            f"a table with numbers of dice from {array.min()} to {array.max()} is no strategy of Hog: "
            f"give {FIRST_NUMBER} to {MOST_DICE}"
        )
    return np.ascontiguousarray(array, np.int8)


def _new_values(goal: int) -> np.ndarray:
    return np.empty((2, goal * goal, 2, kernels.RUNS, kernels.RUNS))


def _rates(values: np.ndarray) -> tuple[float, float]:
    """Return player 0's win rates (as first, as second to move) at the start of a game."""
    return float(values[0, 0, 0, 0, 0]), 1 - float(values[1, 0, 0, 0, 0])


def solves(game: Game) -> bool:
    """Return whether a table holds all that players of ``game`` choose by: not with ``memory``."""
    return plays_with(game, SOLVED)


def tabulate(player: Player | Function, game: Game) -> np.ndarray:
    """Return ``player``'s strategy as a table, int8[goal, goal]; each pair of scores is asked exactly once.

    Args:
        player: a player, or a function (own score, opponent's score) -> number of dice, as in the contest.
            One that is random or looks at more than both scores becomes the table of its answers.
        game: a game of Hog.

    Raises:
        AgentError: it fails, or answers something else than a whole number from -1 to 10.
        ParameterError: the game is none that this module `solves`.
    """
    if not solves(game):
        raise ParameterError(
            "with memory=1 players of Hog choose by more than both scores, and no table holds that: "
            "make the game with memory=0 for exact values"
        )
    asked = player if isinstance(player, Player) else _seated(player)
    return _check(examine(game, asked, lambda _: None), game)


def _seated(function: Function) -> Player:
    """Return a player that asks ``function``."""
    name = getattr(function, "__name__", type(function).__name__)

    def act(turn: Turn) -> int:
        score, opponent_score, *_ = turn.view
        try:
            answer = function(score, opponent_score)
        except Exception as error:
            raise AgentError(name, f"failed at ({score}, {opponent_score}): {error!r}") from error
        return action_of(name, answer, score, opponent_score)

    return FunctionPlayer(act, name)


def _table(strategy: Strategy, game: Game) -> np.ndarray:
    """Return any strategy as a table that fits the game."""
    return _check(strategy, game) if isinstance(strategy, np.ndarray) else tabulate(strategy, game)


def win_rates(a: Strategy, b: Strategy, game: Game) -> tuple[float, float]:
    """Return the exact probabilities that ``a`` beats ``b``: (moving first, moving second).

    Raises ParameterError if a table does not fit the game.
    """
    return _win_rates(_table(a, game), _table(b, game), _new_values(game.parameters["goal"]))


def _win_rates(a: np.ndarray, b: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Return `win_rates` of two tables; ``values`` is room for what is computed on the way."""
    tables = np.stack([a, b])
    parities = 2 if (tables < 0).any() else 1  # without exchanges the parity stays even
    kernels.evaluate(tables, _rolls(), parities, values)
    return _rates(values)


def win_rate(a: Strategy, b: Strategy, game: Game) -> float:
    """Return the exact probability that ``a`` beats ``b``, the first to move drawn by a fair coin.

    Raises ParameterError if a table does not fit the game.
    """
    return sum(win_rates(a, b, game)) / 2


def win_rate_matrix(strategies: Sequence[Strategy], game: Game, *, progress: Progress | None = None) -> np.ndarray:
    """Return float64[n, n], `win_rate` of strategy i against strategy j, computed on all cores.

    A strategy against itself is 0.5. ``progress`` is called after each pair. Equal strategies are computed once. A pair
    takes about 10 ms of a core at goal 100, and each thread the memory of one pair. Raises ParameterError if a table
    does not fit the game.
    """
    tables = [_table(strategy, game) for strategy in strategies]
    numbers: dict[bytes, int] = {}
    alike = [numbers.setdefault(table.tobytes(), number) for number, table in enumerate(tables)]
    places = [(i, j) for i in range(len(tables)) for j in range(i)]
    pairs = list(dict.fromkeys((alike[i], alike[j]) for i, j in places))
    own, stopped = threading.local(), threading.Event()

    def compute(first: int) -> list[float]:
        if not hasattr(own, "values"):
            own.values = _new_values(game.parameters["goal"])  # once for each thread, as new memory costs its first use
        some = () if stopped.is_set() else pairs[first : first + AT_ONCE]
        return [sum(_win_rates(tables[a], tables[b], own.values)) / 2 for a, b in some]

    rates: dict[tuple[int, int], float] = {}
    matrix = np.full((len(tables), len(tables)), 0.5)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            computed = itertools.chain.from_iterable(pool.map(compute, range(0, len(pairs), AT_ONCE)))
            for done, (i, j) in enumerate(places, 1):
                pair = alike[i], alike[j]
                while pair not in rates:
                    rates[pairs[len(rates)]] = next(computed)
                matrix[i, j], matrix[j, i] = rates[pair], 1 - rates[pair]
                if progress is not None:
                    progress(done, len(places), "pairs")
        except BaseException:  # Ctrl-C: stop after what is being computed
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return matrix


def costs(strategy: Strategy, better: Strategy, opponent: Strategy, game: Game) -> np.ndarray:
    """Return where ``strategy`` wins less often against ``opponent`` than ``better`` does: float64[goal, goal].

    For each pair of scores (own, opponent's) the win rate lost there: how often ``strategy`` comes there, times what
    it loses by its own choice if from the next turn on it played as ``better``. The sum over all pairs is exactly the
    difference of both win rates (the performance difference lemma; Kakade and Langford 2002). A pair where the
    choice gains is negative.

    Raises ParameterError if a table does not fit the game.
    """
    own, best, rival = (_table(one, game) for one in (strategy, better, opponent))
    values, reach = _new_values(len(own)), _new_values(len(own))
    kernels.evaluate(np.stack([best, rival]), _rolls(), 2, values)
    kernels.spread(np.stack([own, rival]), _rolls(), reach)
    forgone = np.empty(own.shape)
    kernels.forgo(own, _rolls(), reach, values, forgone)
    return forgone


def best_response(opponent: Strategy, game: Game) -> tuple[float, np.ndarray]:
    """Return the best reply to ``opponent`` by a player who sees everything.

    No strategy wins more often against ``opponent``, whatever it remembers or guesses.

    Returns:
        The win rate, the first to move drawn by a fair coin, and the policy: int8[goal, goal, 2, 4, 4] by
        own score, opponent's score, parity of all exchanges, opponent's run and own run of Pig outs.

    Raises:
        ParameterError: the table does not fit the game.
    """
    goal = game.parameters["goal"]
    values = _new_values(goal)
    policy = np.empty(values.shape[1:], np.int8)
    kernels.respond(_table(opponent, game), _rolls(), values, policy)
    return sum(_rates(values)) / 2, policy.reshape(goal, goal, *policy.shape[1:])


class _Climber:
    """Improves tables against one opponent until no single choice can be bettered."""

    def __init__(self, opponent: np.ndarray) -> None:
        self.goal = len(opponent)
        self.opponent = opponent
        self.values = _new_values(self.goal)
        self.reach = np.empty_like(self.values)

    def sweeps(self, table: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
        """Yield (win rate, a new table) after each sweep over all pairs, up to the one that changes nothing."""
        tables = np.stack([table, self.opponent])
        changes = 1
        while changes:
            kernels.spread(tables, _rolls(), self.reach)
            changes = kernels.improve(tables, _rolls(), self.reach, MARGIN, self.values)
            yield sum(_rates(self.values)) / 2, tables[0].copy()

    def climb(self, table: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the last of `sweeps`."""
        *_, last = self.sweeps(table)
        return last

    def disturb(self, table: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Return ``table`` with some choices replaced, rather those that are often met.

        3 to 300 of them, since small disturbances find the next better peak and large ones other regions; a
        third of the new choices exchange the dice, as what that is worth depends on many choices at once.
        """
        kernels.spread(np.stack([table, self.opponent]), _rolls(), self.reach)
        likely = np.sqrt(self.reach[0].sum(axis=(1, 2, 3)))
        count = int(3 * 10 ** (2 * generator.random()))
        count = min(count, int(np.count_nonzero(likely)))
        where = generator.choice(likely.size, count, replace=False, p=likely / likely.sum())
        numbers = generator.integers(FIRST_NUMBER, MOST_DICE + 1, count)
        numbers[generator.random(count) < 1 / 3] = FIRST_NUMBER
        disturbed = table.copy()
        disturbed.flat[where] = numbers
        return disturbed


def improvements(start: Strategy, opponent: Strategy, game: Game) -> Iterator[tuple[float, np.ndarray]]:
    """Yield ever better tables against ``opponent``, starting from ``start``: (win rate, int8[goal, goal]).

    Each sweep goes once through all pairs of scores and gives each the choice that is best over the hidden
    parity and runs, as likely as they are there. The last table yielded cannot be bettered by any single
    choice. Raises ParameterError if a table does not fit the game.
    """
    yield from _Climber(_table(opponent, game)).sweeps(_table(start, game))


def best_table(
    opponent: Strategy, game: Game, *, seed: int = 0, trials: int = TRIALS, progress: Progress | None = None
) -> tuple[float, np.ndarray]:
    """Return the best table found against ``opponent``, whose player sees both scores alone.

    Peaks of `improvements` are local, so it climbs from many starts (every fixed number of dice, the reply
    that sees everything in both parities, random tables), and then ``trials`` times from a disturbance of the
    best so far. The more the better: against always_roll(5) the starts reach 0.80991,
    100 trials 0.81047, 300 trials 0.81083, 1000 trials 0.81092; one who sees everything reaches 0.84474.
    Pairs that no game meets get the choice that is best if nothing is hidden there (even parity, no runs).

    Args:
        opponent: the strategy to beat.
        game: a game of Hog.
        seed: same seed, same table.
        trials: 0 or more; at goal 100 one takes about a third of a second.
        progress: told after each start and each trial.

    Returns:
        The win rate, the first to move drawn by a fair coin, and the table int8[goal, goal].

    Raises:
        ParameterError: the table does not fit the game, or ``trials`` is negative.
    """
    if trials < 0:
        raise ParameterError(f"trials={trials} cannot be made: give 0 or more")
    climber = _Climber(_table(opponent, game))
    shape = climber.opponent.shape
    generator = np.random.default_rng(seed)
    seeing = best_response(climber.opponent, game)[1]
    starts = [np.full(shape, number, np.int8) for number in range(FIRST_NUMBER, MOST_DICE + 1)]
    starts += [np.ascontiguousarray(seeing[:, :, parity, 0, 0]) for parity in range(2)]
    starts += [generator.integers(0, N_ACTIONS, shape, np.int8) + np.int8(FIRST_NUMBER) for _ in range(2)]
    best, table = -1.0, starts[0]
    for number in range(len(starts) + trials):
        start = starts[number] if number < len(starts) else climber.disturb(table, generator)
        value, candidate = climber.climb(start)
        if value > best:
            best, table = value, candidate
        if progress is not None:
            progress(number + 1, len(starts) + trials, f"{best:.6f}")
    return best, table


def best_bot(
    opponent: Player, game: Game, *, seed: int = 0, trials: int = TRIALS, progress: Progress | None = None
) -> str:
    """Return the source of a bot that plays `best_table` against ``opponent``, in the original interface.

    Raises what `best_table` raises.
    """
    value, table = best_table(opponent, game, seed=seed, trials=trials, progress=progress)
    return bot_source(table, value, opponent.name, game, seed=seed, trials=trials)


def bot_source(table: np.ndarray, value: float, opponent: str, game: Game, seed: int = 0, trials: int = TRIALS) -> str:
    """Return the file that `best_bot` makes of a table found by `best_table` with these arguments.

    ``value`` is its win rate, ``opponent`` the name of the agent that it was made against. Raises
    ParameterError if the table does not fit the game.
    """
    goal = game.parameters["goal"]
    if goal == game.spec.parameters["goal"].default:
        made, goal_text = f"dicegym.game({game.name!r})", ""
    else:
        made, goal_text = f"dicegym.game({game.name!r}, goal={goal})", f" to {goal}"
    heading = f"""\
The best strategy found for Hog{goal_text} that knows both scores alone, against {opponent}.

It wins {value:.6f} of its games against {opponent}, the first to move drawn by a fair coin: exact, by dynamic
programming over all states. It was found by improving one choice after another, each weighted over what the
scores hide (parity of the exchanges, runs of Pig outs), until none could be bettered, and starting again
from {trials} disturbances of the best so far. This program writes the file:

    import dicegym
    from dicegym.games.hog.exact import best_bot

    game = {made}
    print(best_bot(dicegym.agent(game, {opponent!r}), game, seed={seed}, trials={trials}), end="")"""
    return strategy_source(_check(table, game), heading)
