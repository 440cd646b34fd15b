"""Exact values of classic Liar's Dice for two with one die of six faces each: the whole game is a single hand.

A strategy is a table, float64[6, 4096, 13]: for the own face - 1 and the set of bids made (a number whose bit b stands
for the bid of action b), the probability of each of the twelve bids and, last, of calling liar. All that the rules take
as liar counts as such. A player may be given in place of a table, and `tabulate` makes one of it.

Values are win probabilities, averaged over both dice and over who moves first. They are exact up to the rounding of
floats for players that draw nothing; see `tabulate`. The protocol of the module is `dicegym.games.worth.Duel`.

Bids rise, so a set tells in which order they were made, and by whom: the first player moves after an even number of
bids. The sets whose highest bid is b are the numbers from 2**b to 2**(b + 1), and bid c leads from the sets ``low`` to
``high`` to ``low + 2**c`` to ``high + 2**c``. So values take a dozen steps with arrays, from the highest bid down.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dicegym.engine import loops
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ParameterError
from dicegym.games.bidding.table import FACES
from dicegym.games.liarsdice import rules
from dicegym.games.parts import Progress, plays_with
from dicegym.play.player import Player, draws_openly, sit_down, whole
from dicegym.play.turn import Act, Turn

Strategy = np.ndarray | Player
SOLVED = {"players": 2, "dice": 1}
"""The parameters with which a game is a single hand."""
MIXED = True
N_BIDS = 2 * FACES
N_SETS = 1 << N_BIDS
LIAR = N_BIDS
N_CHOICES = N_BIDS + 1
SHAPE = (FACES, N_SETS, N_CHOICES)
ASKED = 64
"""How often a player that may draw is asked each question."""


def solves(game: Game) -> bool:
    """Return whether the game is a single hand of two dice with six faces."""
    return plays_with(game, SOLVED) and not game.added_parameters


def _check_game(game: Game) -> None:
    if not solves(game):
        raise ParameterError(
            f"{game!r} has no exact values: give players=2, dice=1 and faces={FACES}, or use its values of source "
            "'equilibrium'"
        )


def questions(game: Game) -> int:
    """Return how many questions `tabulate` asks at most."""
    return ASKED * FACES * N_SETS


def tabulate(player: Player, game: Game) -> np.ndarray:
    """Return ``player``'s strategy as a table, float64[6, 4096, 13]; sets that its own play excludes stay all zero.

    A pure player, and one whose probabilities can be asked for, answers each question once. Any other player is asked
    `ASKED` times, and the frequencies of its answers are taken for its probabilities; it may remember earlier
    questions. Raises AgentError if the player cannot sit down, ParameterError for a game that is not solved.
    """
    _check_game(game)
    table = np.zeros(SHAPE)
    for seat in (0, 1):
        _explore(player, sit_down(player, game, seat, named_seed("exact", seat)), game, seat, table)
    return table


def _explore(player: Player, act: Act, game: Game, seat: int, table: np.ndarray) -> None:
    """Ask for every choice of a seat, all states with as many bids together; the other seat makes every bid."""
    states = game.new_states(FACES)
    faces, made = np.arange(FACES), np.zeros(FACES, np.int64)
    for face in range(FACES):
        states[face] = game.new_game()[0]
        states["hands"][face] = 0
        states["hands"][face, :2, face] = 1  # the other's face is arbitrary: the player does not see it
    while len(states):
        possible = np.arange(N_BIDS) >= np.frexp(made)[1][:, None]  # the bids above the last one
        if states["player"][0] == seat:  # both bid in turn
            table[faces, made] = _ask(player, act, game, states)
            possible &= table[faces, made, :N_BIDS] > 0
        rows, bids = np.nonzero(possible)
        states, faces, made = states[rows], faces[rows], made[rows] | 1 << bids
        loops.step_rows(states, np.arange(len(rows)), bids, np.zeros(len(rows), np.int64))


def _ask(player: Player, act: Act, game: Game, states: np.ndarray) -> np.ndarray:
    """Return the probability of each choice in each state: float64[states, 13]."""
    found = np.zeros((len(states), N_CHOICES))
    if draws_openly(player):
        found[:, :N_BIDS] = player.chances(game, states)[:, :N_BIDS]
        found[:, LIAR] = np.maximum(0.0, 1.0 - found.sum(axis=1))
        return found
    times = 1 if player.pure else ASKED
    for chances, state in zip(found, states, strict=True):
        mask, turn = game.legal(state), Turn(game, state, int(state["player"]))
        for _ in range(times):
            try:
                action = whole(act(turn), player)
            except AgentError:
                action = rules.NO_ANSWER
            chances[action if 0 <= action < N_BIDS and mask[action] else LIAR] += 1 / times
    return found


def _table(strategy: Strategy, game: Game) -> np.ndarray:
    """Return any strategy as a table. Raises ParameterError for another game or an invalid table."""
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


_second_moves = np.array([made.bit_count() % 2 == 1 for made in range(N_SETS)])
_faces = np.arange(FACES)


def _chances(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the probability that ``first``, who moves first, wins: float64[6, 6] by its face and the other's."""
    values = np.empty((N_SETS, FACES, FACES))
    for low in range(N_BIDS, -1, -1):  # the lowest bid that may follow the sets in ``made``
        made = slice(1 << low >> 1, 1 << low)
        quantity, face = (low - 1) // FACES + 1, (low - 1) % FACES
        found = (_faces[:, None] == face).astype(np.int64) + (_faces == face)
        turn = _second_moves[made, None, None]
        bids = [values[made.start + (1 << bid) : made.stop + (1 << bid)] for bid in range(low, N_BIDS)]
        after = np.array([*bids, (found < quantity) != turn])  # a call before any bid loses
        value = (first[:, made, low:].T[:, :, :, None] * after).sum(axis=0)
        answered = (second[:, made, low:].T[:, :, None, :] * after).sum(axis=0)
        values[made] = np.where(turn, answered, value)
    opened: np.ndarray = values[0]
    return opened


def win_rate(a: Strategy, b: Strategy, game: Game) -> float:
    """Return the probability that strategy ``a`` beats ``b``; a fair coin decides who moves first."""
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
