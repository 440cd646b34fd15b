"""What the checks share: errors, random games, guarded buffers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dicegym.engine.dice import draw_number, named_seed
from dicegym.engine.game import Game
from dicegym.errors import ConformanceError
from dicegym.play.drive import walk

GUARD = 32
"""Elements on each side of a buffer that a kernel must not touch."""
STRANGE_ACTIONS = (-1, -128, 2**31, 2**63 - 1, -(2**63))
"""Whole numbers that are hardly ever actions, but that an agent may return."""
PLAIN = (bool, int, float, str, type(None))


def report_break(subject: object, seen: str, remedy: str) -> ConformanceError:
    """Return the error for a broken promise: what was seen, and what to do."""
    return ConformanceError(f"{subject}: {seen}. {remedy}.")


def random_below(n: int, *parts: object) -> int:
    """Return a number in 0..n-1 that depends only on ``parts``."""
    return draw_number(named_seed("check", *parts), 0, 0, 0, n)


def random_action(game: Game, state: Any, *parts: object) -> int:
    """Return a random legal action of a running game, a function of the state's mask and ``parts``."""
    check_running(game, state)
    choices = np.flatnonzero(game.legal(state))
    return int(choices[random_below(len(choices), *parts)])


def bytes_of(state: Any) -> bytes:
    """Return a record as bytes."""
    return bytes(state.tobytes())


def states_of(game: Game, games: int, longest: int, seed: int) -> Iterator[Any]:
    """Yield every state of some random games, the final ones included. Callers must not change them."""
    for episode in range(games):

        def choose(state: Any, time: int, episode: int = episode) -> int:
            return random_action(game, state, seed, episode, time)

        yield from walk(game, game.new_game(seed, episode)[0], choose, longest)


def erring_states_of(game: Game, longest: int, seed: int) -> Iterator[Any]:
    """Yield states of a random game with occasional illegal actions that do not end it.

    Only in such games do the rules record faults and missing answers.
    """
    errors = STRANGE_ACTIONS[:1] + (() if game.spec.forfeit is None else (game.spec.forfeit,))
    state = game.new_game(seed)[0]
    for time in range(longest):
        yield state
        if state["over"]:
            break
        kind = random_below(4 * len(errors), "err", seed, time)
        branch = state.copy()
        if kind < len(errors):
            game.step(branch, errors[kind])
        if kind >= len(errors) or branch["over"]:
            game.step(state, random_action(game, state, "err", seed, time))
        else:
            state = branch


def run_guarded(kernel: Callable[[Any], None], n: int, dtype: type, fill: float) -> tuple[np.ndarray, bool]:
    """Return what ``kernel`` writes into n elements filled with ``fill``, and whether it wrote around them."""
    buffer: np.ndarray = np.full(n + 2 * GUARD, fill, dtype)
    inside = buffer[GUARD : GUARD + n]
    kernel(inside)
    around = np.concatenate([buffer[:GUARD], buffer[GUARD + n :]])
    return inside, not np.array_equal(around, np.full(2 * GUARD, fill, dtype))


def check_running(game: Game, state: Any) -> None:
    """Somebody is to move and has a legal action, or the game is over."""
    if state["over"]:
        return
    player = int(state["player"])
    if not 0 <= player < game.players:
        raise report_break(game, f"player {player} is to move", f"Let reset and step set a seat below {game.players}")
    if not game.legal(state).any():
        raise report_break(game, f"player {player} has no legal action", "Let step skip it, or end the game")
