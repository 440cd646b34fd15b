"""Exact values of Hog: win rates of strategies, and the best responses to one.

A table is a strategy as int8[goal, goal]: ``table[own score, opponent's score]`` = number of dice, -1 to 10;
``goal`` is the parameter of the game. In a game with ``memory`` it may be int8[goal, goal, 4, 2] too, and then also
chooses by the own run of Pig outs and by whether the player exchanged the dice an even or an odd number of times.
Wherever a `Strategy` is asked for, a player or a function of both scores may be given too and is made a table by
`tabulate`, which may raise AgentError. A table that does not fit the game raises ParameterError.

Values are probabilities over all that is random or hidden: the dice, the first player, the parity of the exchanges,
both runs of Pig outs. Dynamic programming over all states (`dicegym.games.hog.solving.sweeps`) computes
them, exact up to the rounding of floats, about 1e-13. Memory: 0.7 KB for each pair of scores, so 7 MB at goal 100 and
0.7 GB at goal 999; twice that to improve a table, and about three times that again for players that remember.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from dicegym.bots.program import Asked
from dicegym.engine.game import Game
from dicegym.engine.threads import cores
from dicegym.errors import AgentError, ParameterError
from dicegym.games.hog.adapter import by_scores, examine, sit
from dicegym.games.hog.rules import FIRST_NUMBER, MOST_DICE, N_ACTIONS
from dicegym.games.hog.solving import strategies as solving
from dicegym.games.hog.solving.strategies import REMEMBERED, Climber, Duel, choices_of, climb_all
from dicegym.games.hog.solving.sweeps import PLAY, WEIGH
from dicegym.games.worth import Progress, SearchTime
from dicegym.play.player import FunctionPlayer, Player

Function = Callable[[int, int], int]
"""A strategy as in the contest: (own score, opponent's score) -> number of dice."""
Strategy = np.ndarray | Player | Function

MIXED = False
SOLVED: Mapping[str, int] = {}
"""Every game of Hog is solved, whatever its parameters are."""
TRIALS = 100
"""Disturbances that `best_table` tries unless told otherwise; see there what more of them are worth."""


def _check(table: np.ndarray, game: Game) -> np.ndarray:
    """Return ``table`` as a contiguous int8 array. Raises ParameterError if it is no strategy of this game."""
    goal = game.parameters["goal"]
    array = np.asarray(table)
    shapes = [(goal, goal), (goal, goal, *list_memory_axes(game))]
    if array.shape not in shapes or array.dtype.kind not in "iu":
        raise ParameterError(
            f"a table of shape {array.shape} and dtype {array.dtype} is no strategy of Hog to {goal}: "
            f"give whole numbers of shape {' or '.join(map(str, dict.fromkeys(shapes)))}, or the Game that the table "
            "was made for"
        )
    if array.min() < FIRST_NUMBER or array.max() > MOST_DICE:
        raise ParameterError(
            f"a table with numbers of dice from {array.min()} to {array.max()} is no strategy of Hog: "
            f"give {FIRST_NUMBER} to {MOST_DICE}"
        )
    return np.ascontiguousarray(array, np.int8)


def list_memory_axes(game: Game) -> tuple[int, ...]:
    """Return the axes of a table beyond both scores: what players of a game may remember."""
    return REMEMBERED if game.parameters["memory"] else ()


def solves(game: Game) -> bool:
    """Return True: tables hold all that players of Hog choose by, with ``memory`` as without."""
    return True


def questions(game: Game) -> int:
    """Return the number of situations, each of which `tabulate` asks for once."""
    return math.prod((game.parameters["goal"], game.parameters["goal"], *list_memory_axes(game)))


def tabulate(player: Player | Function, game: Game) -> np.ndarray:
    """Return the strategy of a player or a contest's function as a table, as `dicegym.games.hog.adapter.examine` does.

    One that is random, or looks at more than the table knows, becomes the table of its answers. Raises AgentError if it
    fails, or answers with no whole number from -1 to 10.
    """
    if not isinstance(player, Player):
        called = _Called(player)
        player = FunctionPlayer(sit(called, player, game, 0), called.name)
    return _check(examine(game, player, lambda _: None), game)


class _Called(Asked):
    """A function that is asked as bots are."""

    def __init__(self, function: Function) -> None:
        self.name = getattr(function, "__name__", type(function).__name__)

    def failure(self, error: BaseException, when: str) -> AgentError:
        """Return the AgentError for what the function raised."""
        if not isinstance(error, Exception):
            raise error
        return AgentError(self.name, f"failed {when}: {error!r}")


def spread(table: np.ndarray) -> np.ndarray:
    """Return a table by scores as one that chooses the same whatever is remembered; others as they are."""
    full = table if table.shape[2:] else table[:, :, np.newaxis, np.newaxis]
    return np.broadcast_to(full, (*table.shape[:2], *REMEMBERED))


def fitting(strategies: Sequence[Strategy], game: Game, shortest: bool = False) -> list[np.ndarray]:
    """Return strategies as tables of one shape: by all that players of the game may remember.

    With ``shortest``, by the scores alone if all of them choose by these. Raises what `tabulate` raises.
    """
    tables = [_check(one, game) if isinstance(one, np.ndarray) else tabulate(one, game) for one in strategies]
    plain = [by_scores(table) for table in tables] if shortest else []
    known = [table for table in plain if table is not None]
    if len(known) == len(tables):
        return known
    return [spread(table) for table in tables] if list_memory_axes(game) else tables


def win_rates(a: Strategy, b: Strategy, game: Game) -> tuple[float, float]:
    """Return the exact probabilities that ``a`` beats ``b``: (moving first, moving second)."""
    duel = Duel(*map(choices_of, fitting([a, b], game, shortest=True)))
    duel.sweep(PLAY, PLAY)
    return duel.rates()


def win_rate(a: Strategy, b: Strategy, game: Game) -> float:
    """Return the exact probability that ``a`` beats ``b``, the first to move drawn by a fair coin."""
    return sum(win_rates(a, b, game)) / 2


def win_rate_matrix(strategies: Sequence[Strategy], game: Game, *, progress: Progress | None = None) -> np.ndarray:
    """Return float64[n, n], `win_rate` of strategy i against strategy j, computed on all cores.

    A strategy against itself is 0.5. ``progress`` is called after each pair. Equal strategies are computed once. A pair
    takes 10 to 15 ms of a core at goal 100.
    """
    tables = fitting(strategies, game, shortest=True)
    numbers: dict[bytes, int] = {}
    alike = [numbers.setdefault(table.tobytes(), number) for number, table in enumerate(tables)]
    places = [(i, j) for i in range(len(tables)) for j in range(i)]
    pairs = list(dict.fromkeys((alike[i], alike[j]) for i, j in places))

    def compute(pair: tuple[int, int]) -> float:
        duel = Duel(*(choices_of(tables[number]) for number in pair))
        duel.sweep(PLAY, PLAY)
        return sum(duel.rates()) / 2

    rates: dict[tuple[int, int], float] = {}
    matrix = np.full((len(tables), len(tables)), 0.5)
    with ThreadPoolExecutor(cores()) as pool:
        try:
            computed = pool.map(compute, pairs)
            for done, (i, j) in enumerate(places, 1):
                pair = alike[i], alike[j]
                while pair not in rates:
                    rates[pairs[len(rates)]] = next(computed)
                matrix[i, j], matrix[j, i] = rates[pair], 1 - rates[pair]
                if progress is not None:
                    progress(done, len(places), "pairs")
        except BaseException:  # Ctrl-C: stop after what is being computed
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return matrix


def costs(strategy: Strategy, better: Strategy, opponent: Strategy, game: Game) -> np.ndarray:
    """Return where ``strategy`` wins less often against ``opponent`` than ``better`` does: float64[goal, goal].

    For each pair of scores (own, opponent's) the win rate lost there: how often ``strategy`` comes there, times what
    it loses by its own choice if from the next turn on it played as ``better``; negative where the choice gains. The
    sum is exactly the difference of both win rates (the performance difference lemma; Kakade and Langford 2002).
    """
    own, best, rival = map(choices_of, fitting([strategy, better, opponent], game))
    duel = Duel(own, rival)
    duel.spread()
    duel.choices[0] = best
    duel.sweep(WEIGH, PLAY)
    lost: np.ndarray = ((best - own) * duel.gains).sum(axis=(1, 2, 3))
    return lost.reshape(duel.goal, duel.goal)


def best_response(opponent: Strategy, game: Game) -> tuple[float, np.ndarray]:
    """Return the best response to ``opponent`` by a player that sees everything: nothing wins more often against it.

    Returns:
        The win rate, the first to move drawn by a fair coin, and the policy: int8[goal, goal, 2, 4, 4] by
        own score, opponent's score, parity of all exchanges, opponent's run and own run of Pig outs; in a game with
        ``memory`` int8[goal, goal, 2, 2, 4, 4], the parity of the own exchanges before that of all.
    """
    (table,) = fitting([opponent], game)
    rate, policy = solving.best_response(choices_of(table))
    by_pairs = policy.swapaxes(0, 1).reshape(*table.shape[:2], *policy.shape[:1], *policy.shape[2:])
    return rate, np.ascontiguousarray(by_pairs if list_memory_axes(game) else by_pairs[:, :, 0])


def _starts(policy: np.ndarray, shape: tuple[int, ...]) -> list[np.ndarray]:
    """Return tables that choose as a reply that sees everything, if the other has no run and no or one exchange.

    ``policy`` is that of a `Duel`, ``shape`` that of a table.
    """
    owns = range(len(policy))
    runs = math.prod(shape[2:]) // len(policy)
    full = [np.stack([policy[own, :, (own + other) % 2, 0] for own in owns], axis=-1) for other in range(2)]
    return [table[:, :runs].reshape(shape) for table in full]


def best_table(
    opponent: Strategy,
    game: Game,
    *,
    seed: int = 0,
    trials: int = TRIALS,
    progress: Progress | None = None,
    time: SearchTime | None = None,
) -> tuple[float, np.ndarray]:
    """Return the best table found against ``opponent``: by both scores, and by what is remembered with ``memory``.

    Each sweep goes once through all pairs of scores and gives each the choice that is best over the hidden parity and
    runs, as likely as they are there. Peaks are local, so it climbs from many starts (every fixed number of dice, the
    reply that sees everything in both parities, random tables), and then ``trials`` times from a disturbance of the
    best so far. Against always_roll(5) the starts reach 0.80991, 100 trials 0.81047, 1000 trials 0.81092; a player that
    sees everything reaches 0.84474.

    Args:
        opponent: the strategy to beat.
        game: a game of Hog.
        seed: same seed, same table.
        trials: 0 or more; at goal 100 one takes about a third of a second.
        progress: told after each start and each trial.
        time: how long to search, in place of ``trials``; what is found then depends on the machine.

    Returns:
        The win rate, the first to move drawn by a fair coin, and the table int8[goal, goal]; int8[goal, goal, 4, 2]
        with ``memory``.
    """
    if trials < 0:
        raise ParameterError(f"trials={trials} cannot be made: give 0 or more")
    (rival,) = fitting([opponent], game)
    against, shape = choices_of(rival), rival.shape
    climber, generator = Climber(against), np.random.default_rng(seed)
    starts = [np.full(shape, number, np.int8) for number in range(FIRST_NUMBER, MOST_DICE + 1)]
    starts += _starts(solving.best_response(against)[1], shape)
    starts += [generator.integers(0, N_ACTIONS, shape, np.int8) + np.int8(FIRST_NUMBER) for _ in range(2)]
    best, table = -1.0, starts[0]
    if time is not None:
        best, table = next(climber.sweeps(starts[0]))  # which loads what is compiled
        time.begin()
    numbers = itertools.count() if time is not None else range(trials)
    tries = itertools.takewhile(lambda _: time is None or not time.over, numbers)
    climbed = itertools.chain(
        climb_all(against, starts, cores(), time),
        (climber.climb(climber.disturb(table, generator), time) for _ in tries),  # of the best until then
    )
    for number, (value, candidate) in enumerate(climbed, 1):
        if value > best:
            best, table = value, candidate
        if progress is not None:
            done, every = number, len(starts) + trials
            if time is not None:
                done, every = int(min(time.spent, time.seconds)), int(time.seconds)
            progress(done, every, f"{best:.6f}")
    return best, table
