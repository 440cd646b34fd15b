"""Exact values of Hog: win rates of strategies, and best responses.

A table is a strategy as int8[goal, goal]: ``table[own score, opponent's score]`` = number of dice, -1 to 10;
``goal`` is the parameter of the game. In a game with ``memory`` it may also be int8[goal, goal, 4, 2], by the player's
own run of Pig outs and the parity of its own exchanges too. A `Strategy` may also be a player or a function of both
scores: `tabulate` makes a table of it, and may raise AgentError. A table of another game raises ParameterError.

Values are probabilities over everything random or hidden: the dice, the first player, the parity of the exchanges, both
runs of Pig outs. Dynamic programming over all states (`dicegym.games.hog.solving.sweeps`) computes them exactly, up to
rounding of about 1e-13. Memory: 0.7 KB for each pair of scores, so 7 MB at goal 100 and 0.7 GB at goal 999; twice that
to improve a table, and about three times that again for players that remember.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from dicegym.bots.program import Asked
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ParameterError
from dicegym.games.hog.adapter import by_scores, examine, sit
from dicegym.games.hog.rules import FIRST_NUMBER, MOST_DICE, N_ACTIONS
from dicegym.games.hog.solving.strategies import REMEMBERED, Duel, map_on_cores
from dicegym.games.hog.solving.sweeps import PLAY, SEE_ALL
from dicegym.games.worth import Progress, SearchTime
from dicegym.play.player import FunctionPlayer, Player

Function = Callable[[int, int], int]
"""A strategy of the contest: (own score, opponent's score) -> number of dice."""
Strategy = np.ndarray | Player | Function

MIXED = False
SOLVED: Mapping[str, int] = {}
"""Every game of Hog is solved, with any parameters."""
TRIALS = 100
"""Default number of disturbances that `best_table` tries."""


def _check(table: np.ndarray, game: Game) -> np.ndarray:
    """Return ``table`` as a contiguous int8 array. Raises ParameterError if it is not a strategy of this game."""
    shapes = {_shape(game)[:2], _shape(game)}
    array = np.asarray(table)
    if array.shape not in shapes or array.dtype.kind not in "iu":
        raise ParameterError(
            f"invalid table of shape {array.shape} and dtype {array.dtype} for {game!r}: give whole numbers of shape "
            f"{' or '.join(map(str, sorted(shapes)))}, or the Game that the table was made for"
        )
    if array.min() < FIRST_NUMBER or array.max() > MOST_DICE:
        raise ParameterError(
            f"invalid table with numbers from {array.min()} to {array.max()}: give {FIRST_NUMBER} to {MOST_DICE} dice"
        )
    return np.ascontiguousarray(array, np.int8)


def _shape(game: Game) -> tuple[int, ...]:
    """Return the shape of a table by everything that players of a game may know."""
    return game.parameters["goal"], game.parameters["goal"], *(REMEMBERED if game.parameters["memory"] else ())


def solves(game: Game) -> bool:
    """Return True: tables contain everything that players of Hog know, with and without ``memory``."""
    return True


def questions(game: Game) -> int:
    """Return the number of situations; `tabulate` asks for each of them once."""
    return math.prod(_shape(game))


def tabulate(player: Player | Function, game: Game) -> np.ndarray:
    """Return the strategy of a player or function as a table, from `dicegym.games.hog.adapter.examine`.

    For a player that is random, or uses more than the table knows, it is the table of its answers. Raises AgentError if
    the player fails or answers with anything but a whole number from -1 to 10.
    """
    if not isinstance(player, Player):
        called = _Called(player)
        player = FunctionPlayer(sit(called, player, game, 0), called.name)
    return _check(examine(game, player, lambda _: None), game)


class _Called(Asked):
    """A function that is asked like a bot."""

    def __init__(self, function: Function) -> None:
        self.name = getattr(function, "__name__", type(function).__name__)

    def failure(self, error: BaseException, when: str) -> AgentError:
        """Return the AgentError for what the function raised."""
        if not isinstance(error, Exception):
            raise error
        return AgentError(self.name, f"failed {when}: {error!r}")


def spread(table: np.ndarray) -> np.ndarray:
    """Return a table with axes for what a player remembers; a table by scores ignores them."""
    full = table if table.shape[2:] else table[:, :, np.newaxis, np.newaxis]
    return np.broadcast_to(full, (*table.shape[:2], *REMEMBERED))


def fitting(strategies: Sequence[Strategy], game: Game, shortest: bool = False) -> list[np.ndarray]:
    """Return strategies as tables of one shape, by everything that players of the game may remember.

    With ``shortest``, tables are by the scores alone if all strategies are. Raises what `tabulate` raises.
    """
    tables = [_check(one, game) if isinstance(one, np.ndarray) else tabulate(one, game) for one in strategies]
    plain = [by_scores(table) for table in tables] if shortest else []
    known = [table for table in plain if table is not None]
    if len(known) == len(tables):
        return known
    return [spread(table) for table in tables] if game.parameters["memory"] else tables


def win_rates(a: Strategy, b: Strategy, game: Game) -> tuple[float, float]:
    """Return the exact probabilities that ``a`` beats ``b``: (moving first, moving second)."""
    duel = Duel(*fitting([a, b], game, shortest=True))
    duel.sweep(PLAY, PLAY)
    return duel.rates()


def win_rate(a: Strategy, b: Strategy, game: Game) -> float:
    """Return the exact probability that ``a`` beats ``b``; a fair coin decides who moves first."""
    return sum(win_rates(a, b, game)) / 2


def win_rate_matrix(strategies: Sequence[Strategy], game: Game, *, progress: Progress | None = None) -> np.ndarray:
    """Return float64[n, n], `win_rate` of strategy i against strategy j, computed on all cores.

    A strategy against itself is 0.5. ``progress`` is called after each pair. A pair takes 10 to 15 ms of a core at goal
    100.
    """
    tables = fitting(strategies, game, shortest=True)
    pairs = [(i, j) for i in range(len(tables)) for j in range(i)]
    matrix = np.full((len(tables), len(tables)), 0.5)
    with contextlib.closing(map_on_cores(lambda pair: Duel(*(tables[one] for one in pair)).win_rate(), pairs)) as found:
        for done, ((i, j), rate) in enumerate(zip(pairs, found, strict=True), 1):
            matrix[i, j], matrix[j, i] = rate, 1 - rate
            if progress is not None:
                progress(done, len(pairs), "pairs")
    return matrix


def best_response(opponent: Strategy, game: Game) -> tuple[float, np.ndarray]:
    """Return the best response to ``opponent`` by a player that sees everything.

    Returns:
        The win rate, with a fair coin for who moves first, and the policy: int8[goal, goal, 2, 4, 4] by own score,
        opponent's score, parity of all exchanges, opponent's run and own run of Pig outs. In a game with ``memory`` it
        is int8[goal, goal, 2, 2, 4, 4], with the parity of the own exchanges before that of all.
    """
    (table,) = fitting([opponent], game)
    duel = Duel(table, table)
    rate = duel.win_rate(SEE_ALL, PLAY)
    by_pairs = duel.policy.swapaxes(0, 1).reshape(*table.shape[:2], -1, *duel.policy.shape[2:])
    return rate, np.ascontiguousarray(by_pairs if game.parameters["memory"] else by_pairs[:, :, 0])


def _sighted_starts(opponent: np.ndarray) -> list[np.ndarray]:
    """Return two tables from the best response with full sight.

    They choose as if the opponent had no run, and an even (first table) or odd (second) number of exchanges.
    """
    duel = Duel(opponent, opponent)
    duel.sweep(SEE_ALL, PLAY)
    _, _, runs, owns = duel.numbers.shape
    full = [[duel.policy[own, :, (own + other) % 2, 0, :runs] for own in range(owns)] for other in range(2)]
    return [np.stack(tables, axis=-1).reshape(opponent.shape) for tables in full]


def best_table(
    opponent: Strategy,
    game: Game,
    *,
    seed: int = 0,
    trials: int = TRIALS,
    progress: Progress | None = None,
    time: SearchTime | None = None,
) -> tuple[float, np.ndarray]:
    """Return the best table found against ``opponent``: by both scores, and with ``memory`` by what is remembered too.

    This is hill climbing. Each sweep visits all pairs of scores once and takes for each the best choice, averaged over
    the hidden parity and runs. Peaks are local, so it climbs from many starts (every fixed number of dice, the best
    response with full sight for both parities, random tables), and then ``trials`` times from a disturbance of the best
    table so far. Against always_roll(5) the starts reach 0.80991, 100 trials 0.81047, 1000 trials 0.81092; a player
    that sees everything reaches 0.84474.

    Args:
        opponent: the strategy to beat.
        game: a game of Hog.
        seed: same seed, same table.
        trials: 0 or more; at goal 100 one takes about a third of a second.
        progress: called after each start and each trial.
        time: how long to search, instead of ``trials``; the result then depends on the machine.

    Returns:
        The win rate, with a fair coin for who moves first, and the table int8[goal, goal]; int8[goal, goal, 4, 2] with
        ``memory``.
    """
    if trials < 0:
        raise ParameterError(f"invalid trials={trials}: give 0 or more")
    (rival,) = fitting([opponent], game)
    duel, generator = Duel(rival, rival), np.random.default_rng(seed)
    starts = [np.full(rival.shape, number, np.int8) for number in range(FIRST_NUMBER, MOST_DICE + 1)]
    starts += _sighted_starts(rival)
    starts += [generator.integers(0, N_ACTIONS, rival.shape, np.int8) + np.int8(FIRST_NUMBER) for _ in range(2)]
    best, table = -1.0, starts[0]
    if time is not None:
        best, table = next(duel.improve(starts[0]))  # compiles or loads the kernels before the clock starts
        time.begin()

    def climb(start: np.ndarray) -> tuple[float, np.ndarray]:
        return (0.0, start) if time is not None and time.over else Duel(rival, rival).climb(start, time)

    def climbs() -> Iterator[tuple[float, np.ndarray]]:
        yield from map_on_cores(climb, starts)
        for _ in range(trials) if time is None else itertools.count():
            if time is not None and time.over:
                return
            yield duel.climb(duel.disturb(table, generator), time)  # from the best table so far

    for number, (value, candidate) in enumerate(climbs(), 1):
        if value > best:
            best, table = value, candidate
        if progress is not None:
            done, every = number, len(starts) + trials
            if time is not None:
                done, every = int(min(time.spent, time.seconds)), int(time.seconds)
            progress(done, every, f"{best:.6f}")
    return best, table
