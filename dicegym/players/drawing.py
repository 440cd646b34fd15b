"""Actions drawn from a policy's probabilities: when a model plays so, how likely it acts how, and what decides a draw.

In a game of hidden dice whoever always plays its best action tells by it what it holds: a model is drawn there unless
its file says otherwise. Elsewhere nothing is given away, and the best action is played.

A draw is a function of the seed that the seat has in its game (`dicegym.engine.dice.private_seed`) and of all that
stands in the record but the key. So it is the same in a batch of any size and order, for one seat asked alone, in
copies of a game and after a training is resumed, and nothing is kept from one decision to the next. Records of one
game differ from decision to decision, as they hold what was played.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dicegym.engine.dice import mix, private_seed
from dicegym.engine.game import Game
from dicegym.engine.validate import finite_number
from dicegym.errors import ParameterError
from dicegym.games.hidden import hidden_fields

DRAWN = 1.0
"""The temperature at which models of games with hidden dice play: the probabilities that they were trained by."""
BEST = 0.0
"""The temperature of who plays its best action."""
_KEPT_SEEDS = 1 << 16
_BITS_DROPPED = np.uint64(11)
_SCALE = 1.0 / (1 << 53)
_mixed: Callable[[np.ndarray], np.ndarray] = getattr(mix, "py_func", mix)  # the same arithmetic, over arrays
_seed_of = functools.lru_cache(maxsize=_KEPT_SEEDS)(private_seed)


def gives_away(game: Game) -> bool:
    """Return whether what a seat plays tells others what it hides, while they can still answer.

    So it is in games with hidden dice. Where all choose at once and in secret, nobody answers what it sees.
    """
    return game.players > 1 and bool(hidden_fields(game)) and game.spec.joint_action is None


def usual_temperature(game: Game) -> float:
    """Return the temperature at which a model with a policy plays a game unless it is told otherwise."""
    return DRAWN if gives_away(game) else BEST


def checked_temperature(value: Any) -> float:
    """Return a temperature as a float. Raises ParameterError unless it is a number from 0 on."""
    temperature = finite_number("temperature", value, "how evenly actions are drawn (0: the best one is played)")
    if temperature < 0:
        raise ParameterError(
            f"temperature={value!r} cannot be used: give 0 for the best action, 1 for the policy as it was trained, "
            "more to choose more evenly"
        )
    return temperature


def probabilities(scores: np.ndarray, masks: np.ndarray, temperature: float) -> np.ndarray:
    """Return how likely each action is: softmax(scores / temperature) over legal actions, at 0 the best one alone.

    Args:
        scores: float64[n, n_actions], logits.
        masks: bool[n, n_actions], what is legal, at least one action in each row.
        temperature: from 0 on.

    Returns:
        float64[n, n_actions], rows sum to 1.
    """
    legal = np.where(masks, scores, -np.inf)
    if temperature == BEST:
        found = np.zeros_like(legal)
        found[np.arange(len(found)), legal.argmax(axis=1)] = 1.0
        return found
    weights: np.ndarray = np.exp((legal - legal.max(axis=1, keepdims=True)) / temperature)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def drawn(chances: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Return an action (int64[n]) for each row of ``chances`` (float64[n, n_actions]), by numbers of 0 <= u < 1."""
    bounds = chances.cumsum(axis=1)
    actions = (bounds <= (uniforms * bounds[:, -1])[:, None]).sum(axis=1)
    last = chances.shape[1] - 1 - (chances[:, ::-1] > 0).argmax(axis=1)  # u near 1 may be rounded to it
    found: np.ndarray = np.minimum(actions, last)
    return found


def seeds_of(states: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Return the seed that each seat sits down with, by the keys of the games: uint64[n]."""
    return np.fromiter(map(_seed_of, states["key"].tolist(), seats.tolist()), np.uint64, len(states))


def uniforms(game: Game, seeds: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Return a number of 0 <= u < 1 for each record, that depends on its seed (uint64[n]) and all of it but the key.

    The words of a record are summed with odd random factors modulo 2**64, so that any two records of a game have other
    sums unless they are the same (or by an accident of 2**-64), and the sum is mixed with the seed as dice are.
    """
    raw = game.drawing_bytes(states)
    told = raw[:, states.dtype["key"].itemsize :]  # the key stands first (`dicegym.engine.spec.HEADER`)
    words = np.zeros((len(raw), -(-told.shape[1] // 8) * 8), np.uint8)
    words[:, : told.shape[1]] = told
    sums = (words.view(np.uint64) * _factors(words.shape[1] // 8)).sum(axis=1)
    mixed = _mixed(_mixed(sums) ^ _mixed(seeds))
    found: np.ndarray = (mixed >> _BITS_DROPPED) * _SCALE
    return found


@functools.cache
def _factors(n: int) -> np.ndarray:
    """Return n odd numbers of 64 bits, the same on every machine."""
    return _mixed(np.arange(1, n + 1, dtype=np.uint64)) | np.uint64(1)
