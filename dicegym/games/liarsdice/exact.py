"""Exact values of classic Liar's Dice for two with one die of six faces each: the whole game is a single hand.

A table is a strategy as float64[6, 4096, 13]: for the own face - 1 and the set of bids made (a number whose bit b
stands for the bid of action b) the probability of each of the twelve bids and, last, of calling liar; what the rules
take as liar counts as such. Where a strategy is asked for, a player may be given, which `tabulate` makes a table.

Values are win probabilities over both dice and, where nothing else is said, over who moves first. They are exact up to
the rounding of floats for players that draw nothing; see `tabulate`. What such a module offers, and raises:
`dicegym.games.worth.Duel`.

Bids rise, so a set says in which order they were made and, by turns, by whom: who made an even number of bids is to
move first. The sets whose highest bid is b are the numbers from 2**b to 2**(b + 1), and bid c leads from the sets
``low`` to ``high`` to ``low + 2**c`` to ``high + 2**c``. So each sweep over all sets is a dozen steps with arrays:
up for probabilities, down for values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dicegym.engine import loops
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ParameterError
from dicegym.games.bidding.table import FACES
from dicegym.games.liarsdice import rules
from dicegym.games.parts import Progress, plays_with
from dicegym.games.worth import SearchTime
from dicegym.play.player import Player, draws_openly, sit_down, whole
from dicegym.play.turn import Act, Turn

Strategy = np.ndarray | Player
SOLVED = {"players": 2, "dice": 1}
"""Then a game is a single hand."""
MIXED = True
N_BIDS = 2 * FACES
N_SETS = 1 << N_BIDS
LIAR = N_BIDS
N_CHOICES = N_BIDS + 1
SHAPE = (FACES, N_SETS, N_CHOICES)
ASKED = 64
"""How often a player that may draw is asked the same question."""


def solves(game: Game) -> bool:
    """Return whether the game is a single hand of two dice with six faces."""
    return plays_with(game, SOLVED) and not game.added_parameters


def _check_game(game: Game) -> None:
    if game.added_parameters:
        raise ParameterError(
            f"exact values are known for dice of {FACES} faces, not for {game!r}: give faces={FACES}. The equilibrium "
            "is there with fewer: `dicegym.games.bidding.values.sources`"
        )
    if not solves(game):
        raise ParameterError(f"{game!r} is too large for exact values: give players=2 and dice=1")


def questions(game: Game) -> int:
    """Return how many questions `tabulate` asks at most."""
    return ASKED * FACES * N_SETS


def tabulate(player: Player, game: Game) -> np.ndarray:
    """Return ``player``'s strategy as a table, float64[6, 4096, 13]; sets that it never lets come about stay all zero.

    Each question is put once to a player that is pure, or that can be asked how likely it does what. Another is asked
    `ASKED` times, and its answers are taken for its probabilities; what such a player remembers from one question to
    the next is its own affair. Raises AgentError if it cannot sit down, ParameterError for a game that is not solved.
    """
    _check_game(game)
    table = np.zeros(SHAPE)
    for seat in (0, 1):
        act = sit_down(player, game, seat, named_seed("exact", seat))

        def ask(states: np.ndarray, act: Act = act) -> np.ndarray:
            if draws_openly(player):
                found = np.zeros((len(states), N_CHOICES))
                found[:, :N_BIDS] = player.chances(game, states)[:, :N_BIDS]
                found[:, LIAR] = np.maximum(0.0, 1.0 - found.sum(axis=1))
                return found
            return np.array([_choices(player, act, game, state) for state in states])

        _explore(ask, game, seat, table)
    return table


def _explore(ask: Callable[[np.ndarray], np.ndarray], game: Game, seat: int, table: np.ndarray) -> None:
    """Ask for every choice of a seat, after each number of bids all together; the other seat bids what it likes."""
    states = game.new_states(FACES)
    faces, made = np.arange(FACES), np.zeros(FACES, np.int64)
    for face in range(FACES):
        states[face] = game.new_game()[0]
        states["hands"][face] = 0
        states["hands"][face, :2, face] = 1  # a face of the other's, of which the player knows nothing
    legal = np.zeros((N_SETS, N_BIDS), np.bool_)  # by the set of bids: faces make no difference
    while len(states):
        for reached, state in dict(zip(made.tolist(), states, strict=True)).items():
            legal[reached] = game.legal(state)[:N_BIDS]
        likely = legal[made].astype(np.float64)
        if states["player"][0] == seat:  # both bid in turn
            table[faces, made] = ask(states)
            likely *= table[faces, made, :N_BIDS]
        rows, bids = np.nonzero(likely)
        states, faces, made = states[rows], faces[rows], made[rows] | 1 << bids
        loops.step_rows(states, np.arange(len(rows)), bids, np.zeros(len(rows), np.int64))


def _choices(player: Player, act: Act, game: Game, state: Any) -> np.ndarray:
    """Return the probability of each choice, float64[13]."""
    found, mask = np.zeros(N_CHOICES), game.legal(state)
    turn = Turn(game, state, int(state["player"]))
    times = 1 if player.pure else ASKED
    for _ in range(times):
        try:
            action = whole(act(turn), player)
        except AgentError:
            action = rules.NO_ANSWER
        found[action if 0 <= action < N_BIDS and mask[action] else LIAR] += 1 / times
    return found


def _table(strategy: Strategy, game: Game) -> np.ndarray:
    """Return any strategy as a table that fits the game."""
    if isinstance(strategy, Player):
        return tabulate(strategy, game)
    _check_game(game)
    array = np.asarray(strategy)
    fits = array.shape == SHAPE and array.dtype.kind == "f"
    if not (fits and array.min() >= 0 and array.sum(axis=2).max() <= 1 + 1e-9):  # nan is neither
        raise ParameterError(
            f"a table of shape {array.shape} and dtype {array.dtype} is no strategy of Liar's Dice with one die each: "
            f"give probabilities, float64{list(SHAPE)}"
        )
    return np.ascontiguousarray(array, np.float64)


# --- sweeps over all sets of bids ------------------------------------------------------------------------------

_second_moves = np.array([made.bit_count() % 2 == 1 for made in range(N_SETS)])
_faces = np.arange(FACES)


def _downwards() -> Iterator[tuple[slice, int, np.ndarray]]:
    """Yield the sets of bids with the same highest bid, the highest first.

    Each is (the sets, the lowest bid that may follow, bool[6, 6]: whether a call wins by the faces - 1 of both; before
    any bid it loses).
    """
    for low in range(N_BIDS, -1, -1):
        quantity, face = (low - 1) // FACES + 1, (low - 1) % FACES
        found = (_faces[:, None] == face).astype(np.int64) + (_faces == face)
        yield slice(1 << low >> 1, 1 << low), low, found < quantity


def _after(made: slice, bid: int) -> slice:
    """Return the sets that a bid makes of ``made``."""
    return slice(made.start + (1 << bid), made.stop + (1 << bid))


def _chances(first: np.ndarray | None, second: np.ndarray | None) -> np.ndarray:
    """Return the probability that ``first``, who moves first, wins: float64[6, 6] by its face and the other's.

    None stands for a player that sees both dice and plays as well as can be.
    """
    values = np.empty((N_SETS, FACES, FACES))
    for made, low, wins in _downwards():
        turn = _second_moves[made, None, None]
        after = np.array([*(values[_after(made, bid)] for bid in range(low, N_BIDS)), wins != turn])
        value = after.max(axis=0) if first is None else (first[:, made, low:].T[:, :, :, None] * after).sum(axis=0)
        answered = after.min(axis=0) if second is None else (second[:, made, low:].T[:, :, None, :] * after).sum(axis=0)
        values[made] = np.where(turn, answered, value)
    found: np.ndarray = values[0]
    return found


def _best_reply(opponent: np.ndarray, moves_first: bool, choices: np.ndarray) -> float:
    """Return the best win probability against ``opponent`` by what players see, from the seat that moves first or not.

    Writes ``choices``, int8[6, N_SETS], where that seat moves. Values are weighted by how likely the opponent does its
    part with each of its faces, so that a maximum needs no belief.
    """
    mine = (_second_moves != moves_first)[:, None]
    reach, values = np.ones((2, N_SETS, FACES))
    for bid in range(N_BIDS):
        before = slice(0, 1 << bid)
        reach[_after(before, bid)] = reach[before] * np.where(mine[before], 1.0, opponent[:, before, bid].T)
    for made, low, wins in _downwards():
        called = np.zeros((2, made.stop - made.start, FACES))  # by me, by the opponent
        for hidden in range(FACES):
            theirs = reach[made, hidden, None]
            called[0] += wins[:, hidden] * theirs
            called[1] += ~wins[hidden] * (theirs * opponent[hidden, made, LIAR, None])
        best, replied = called / FACES
        best -= low == 0  # who opens bids
        choice = np.full(best.shape, LIAR, np.int8)
        for bid in range(low, N_BIDS):
            after = values[_after(made, bid)]
            choice[after > best] = bid
            best = np.maximum(best, after)
            replied += after
        values[made] = np.where(mine[made], best, replied)
        np.copyto(choices[:, made], choice.T, where=mine[made].T)
    return float(values[0].mean())


# --- what strategies are worth -----------------------------------------------------------------------------------


def win_rate(a: Strategy, b: Strategy, game: Game) -> float:
    """Return the probability that strategy ``a`` beats ``b``, who moves first being drawn by a fair coin."""
    one, other = _table(a, game), _table(b, game)
    return float((_chances(one, other).ravel().mean() + 1 - _chances(other, one).ravel().mean()) / 2)


def win_rate_matrix(strategies: Sequence[Strategy], game: Game, *, progress: Progress | None = None) -> np.ndarray:
    """Return float64[n, n]: `win_rate` of each strategy (row) against each (column), 0.5 against itself."""
    tables = [_table(strategy, game) for strategy in strategies]
    matrix = np.full((len(tables), len(tables)), 0.5)
    pairs = [(i, j) for i in range(len(tables)) for j in range(i)]
    for done, (i, j) in enumerate(pairs, 1):
        matrix[i, j] = win_rate(tables[i], tables[j], game)
        matrix[j, i] = 1 - matrix[i, j]
        if progress is not None:
            progress(done, len(pairs), "pairs")
    return matrix


def best_response(opponent: Strategy, game: Game) -> tuple[float, np.ndarray]:
    """Return the best win rate for a player that sees both dice: float64[2, 6, 6] by seat, own and other face.

    The float is their mean.
    """
    table = _table(opponent, game)
    chances = np.array([_chances(None, table), 1 - _chances(table, None).T])
    return float(chances.mean()), chances


def best_table(
    opponent: Strategy,
    game: Game,
    *,
    seed: int = 0,
    trials: int = 0,
    progress: Progress | None = None,
    time: SearchTime | None = None,
) -> tuple[float, np.ndarray]:
    """Return the best win rate against ``opponent`` by what players see, and a table that has it.

    There is no better one, and nothing to search: ``seed``, ``trials``, ``progress`` and ``time`` make no difference.
    """
    against = _table(opponent, game)
    choices = np.full((FACES, N_SETS), LIAR, np.int8)
    rates = [_best_reply(against, first, choices) for first in (True, False)]
    table = np.zeros(SHAPE)
    np.put_along_axis(table, choices[:, :, None].astype(np.int64), 1.0, axis=2)
    return float(np.mean(rates)), table
