"""Yatzy for one, learned by playing: what positions are worth, by what the turns that began there promised.

Temporal differences (Sutton 1988) in an n-tuple network, as learners of 2048 use it (Szubert and Jaskowski, "Temporal
difference learning of n-tuple networks for the game 2048", CIG 2014): a position's worth is the sum of one number of
each of some tables, chosen by parts of the position. The learner knows the dice: it looks through its turn, plays
what is best by its tables, and learns from the mean of all that the turn could have brought. So the luck of a turn is
out of what it learns, which is dynamic programming in the positions that its games come to, nearly: the largest of the
tables has an entry for each 2.4 positions (those alike in boxes, and in a sum that is `PAR_STEPS` or more from par,
share one), and the small ones say from the start what positions are worth that few games came to.

``dicegym solve`` keeps what was learned, a solution like any other; the exact table (`alone`) has no part in it.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from dicegym.engine.dice import draw, key_of, turn_stream
from dicegym.engine.game import Game
from dicegym.engine.jit import kernel
from dicegym.games.solved import read_arrays, tables_folder, unsolved, write_arrays
from dicegym.games.worth import Progress
from dicegym.games.yatzy.rules import PAR, PAR_STEPS, SPEC
from dicegym.games.yatzy.solving.positions import (
    ALL_FILLED,
    END_BOXES,
    END_POINTS,
    LOWER_SETS,
    SUMS,
    UPPER_SETS,
    earned,
    sum_after,
)
from dicegym.games.yatzy.solving.turn import before_rolling, look_through, new_leaves, new_levels
from dicegym.games.yatzy.tables import BEST, BOXES, FACES, KEEPS, ROLLS, UPPER, WITH

PARS = 2 * PAR_STEPS + 1
BY_SUM = 0
BY_BOXES = BY_SUM + UPPER_SETS * SUMS
BY_PAR = BY_BOXES + (1 << BOXES)
BY_ALL = BY_PAR + LOWER_SETS * PARS
OPEN = BY_ALL + (1 << BOXES) * PARS
"""Where tables begin: by the upper boxes and their sum; by all boxes; by the lower boxes and how far the sum is from
par; by all boxes and that; and a number for each open box, by which what few positions teach holds in all."""
SIZE = OPEN + BOXES
TABLES = 4


@kernel
def new_room():
    """Return room for the entries of a position."""
    return np.zeros(TABLES + BOXES, np.int64)


@kernel
def entries(filled, upper, out):
    """Write the entries that make up a position's worth to ``out`` (int64[19]); return how many there are."""
    high, low = filled % UPPER_SETS, filled // UPPER_SETS
    par, n = upper, TABLES
    for box in range(BOXES):
        if not filled >> box & 1:
            out[n] = OPEN + box
            n += 1
        elif box < UPPER:
            par -= PAR * (box + 1)
    par = PAR_STEPS + max(-PAR_STEPS, min(par, PAR_STEPS))
    out[0] = BY_SUM + high * SUMS + upper
    out[1] = BY_BOXES + filled
    out[2] = BY_PAR + low * PARS + par
    out[3] = BY_ALL + filled * PARS + par
    return n


@kernel
def worth(weights, filled, upper, room):
    """Return what a position is worth by the tables; 0 at the end of the game. ``room`` is as for `entries`."""
    if filled == ALL_FILLED:
        return 0.0
    found = 0.0
    for k in range(entries(filled, upper, room)):
        found += weights[room[k]]
    return found


@kernel
def move(weights, filled, upper, change, room):
    """Change what a position is worth, each of the numbers that make it up alike."""
    n = entries(filled, upper, room)
    for k in range(n):
        weights[room[k]] += change / n


@kernel
def play(weights, key, room, leaves, levels, chosen, positions, promised):
    """Play a game by what positions are thought to be worth; write where each turn began. Return the score.

    ``positions`` int64[15, 2]: filled boxes and upper sum. ``promised`` float64[15]: the mean of what was to come.
    """
    filled, upper = np.int64(0), np.int64(0)
    total = 0
    for turn in range(BOXES):
        positions[turn, 0], positions[turn, 1] = filled, upper
        for box, points in zip(END_BOXES, END_POINTS):  # noqa: B905 - Numba knows no strict
            if not filled >> box & 1:
                later = worth(weights, filled | 1 << box, sum_after(upper, box, points), room)
                leaves[box, points] = earned(upper, box, points) + later
        look_through(leaves, filled, levels, chosen)
        promised[turn] = before_rolling(levels[ROLLS])
        stream = turn_stream(key, 0, turn)
        kept, rolled = np.int64(0), 0
        for left in range(ROLLS, -1, -1):
            while kept < KEEPS:
                kept = np.int64(WITH[kept, draw(stream, rolled, FACES)])
                rolled += 1
            if left > 0:
                kept = chosen[left, kept]
            if kept >= KEEPS:
                break
        box = chosen[0, kept]
        scored = np.int64(BEST[kept - KEEPS, box])
        total += earned(upper, box, scored)
        filled, upper = filled | 1 << box, sum_after(upper, box, scored)
    return total


@kernel
def learn(weights, seed, first, games, rate, trace):
    """Play games number ``first`` on, and learn from each; return the mean of their scores.

    Args:
        weights: float64[SIZE], changed.
        seed: uint64, whose games are played.
        first: number of the first game.
        games: how many are played.
        rate: how far a worth moves towards what was promised.
        trace: how much of later errors is heard, from 0 (nothing) to 1 (all of the game): TD's lambda.
    """
    room, leaves = new_room(), new_leaves()
    levels, chosen = new_levels()
    positions, promised = np.zeros((BOXES, 2), np.int64), np.zeros(BOXES)
    total = 0.0
    for game in range(games):
        total += play(weights, key_of(seed, first + game), room, leaves, levels, chosen, positions, promised)
        error = 0.0  # of what was thought of the next turn
        for turn in range(BOXES - 1, -1, -1):
            filled, upper = positions[turn, 0], positions[turn, 1]
            error = promised[turn] + trace * error - worth(weights, filled, upper, room)
            move(weights, filled, upper, rate * error, room)
    return total / games


@kernel
def write_values(weights, values):
    """Write what every position is worth, nothing less than 0, to ``values`` (float64[2**15, 64])."""
    room = new_room()
    for filled in range(ALL_FILLED + 1):
        for upper in range(SUMS):
            values[filled, upper] = max(0.0, worth(weights, filled, upper, room))


# --- the solution that is kept ---------------------------------------------------------------------------------

NAME = "learned"
GAMES = 1_000_000
"""In all."""
AT_ONCE = 2_000
"""Games of one step."""
SEED = 1
RATE, RATE_END = 0.5, 0.002
"""How far a worth moves towards what its turn promised, first and last: it falls by the same factor each step. From 1
on it would run away."""
TRACE = 0.5
"""TD's lambda."""
SAVE_EVERY = 60.0
"""Seconds."""
FILE = "learned.npz"
ALONE = Game(SPEC, 1)


class Learned:
    """What positions are worth by the games of a learner that plays alone; see `dicegym.games.solved.Solution`."""

    name = NAME
    doc = f"what positions are worth, learned in {GAMES:,} games by temporal differences, the exact table unseen"
    measure = "share of its games that are still to be played"
    goal = 1e-6  # that is, none of them: a share below it is none of its games

    def memory(self) -> int:
        """Return the bytes that it takes."""
        return 100_000_000

    def disk(self) -> int:
        """Return the bytes of the file."""
        return 10_000 + 8 * SIZE

    def minutes(self) -> float:
        """Return how long it took on one core."""
        return 3.7

    def quality(self, folder: Path) -> float | None:
        """Return the share of games that are left; None if none were played."""
        found = _read(folder)
        return None if found is None else 1 - found[1] / GAMES

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        """Play and learn on one thread; see `Solution.solve`."""
        weights, played = _read(folder) or (np.zeros(SIZE), 0)
        begun = saved = time.monotonic()
        said = "games of Yatzy"
        try:
            while 1 - played / GAMES > goal and (seconds is None or time.monotonic() - begun < seconds):
                progress(played, GAMES, said)
                rate = RATE * (RATE_END / RATE) ** (played / GAMES)
                mean = learn(weights, np.uint64(SEED), played, AT_ONCE, rate, TRACE)
                played += AT_ONCE
                said = f"games of Yatzy, {mean:.1f} points each"
                if time.monotonic() - saved > SAVE_EVERY:
                    saved = time.monotonic()
                    _write(folder, weights, played)
        finally:
            _write(folder, weights, played)
        return 1 - played / GAMES


def values() -> np.ndarray:
    """Return the mean of what is still to come in every position, as it was learned; see `alone.values`.

    Raises:
        ParameterError: nothing has been learned on this machine yet.
        DamagedFileError: what was cannot be used.
    """
    found = _read(tables_folder(ALONE, NAME))
    if found is None:
        raise unsolved(ALONE, NAME)
    out = np.zeros((ALL_FILLED + 1, SUMS))
    write_values(found[0], out)
    out.setflags(write=False)
    return out


def ready() -> bool:
    """Return whether something has been learned on this machine."""
    return (tables_folder(ALONE, NAME) / FILE).is_file()


def _read(folder: Path) -> tuple[np.ndarray, int] | None:
    """Return the numbers of all tables and how many games made them; None if there are none."""
    if not (folder / FILE).is_file():
        return None
    like = {"weights": ((SIZE,), np.float64), "played": ((), np.int64)}
    found = read_arrays(folder / FILE, ALONE, NAME, like)
    return found["weights"], int(found["played"])


def _write(folder: Path, weights: np.ndarray, played: int) -> None:
    write_arrays(folder / FILE, weights=weights, played=np.array(played))
