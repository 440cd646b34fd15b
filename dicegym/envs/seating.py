"""Who sits where: the learner's seat and its opponents, drawn from each game's own key."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.seats import draw_seats
from dicegym.engine.spec import Parameter
from dicegym.envs.batch_kernels import ALTERNATE_SEAT, RANDOM_SEAT
from dicegym.errors import ParameterError
from dicegym.play.player import Player
from dicegym.players.pool import Pool

SeatRule = int | Literal["random", "alternate"]
OnIllegal = Literal["rule", "raise", "terminate"]


class Seating:
    """The learner's seat and opponents of each game.

    Args:
        game: the game.
        opponent: whatever `Pool.of` accepts: an agent's name, a path, a Player, a list, or a dict of weights;
            None for the game's default. Each opposing seat draws its own from the pool.
        seat: a seat's number, ``"random"`` (drawn for each game) or ``"alternate"`` (by episode).

    Raises:
        ParameterError: ``seat`` is none of these.
        UnknownNameError, AgentError: an opponent cannot be found or loaded.
    """

    def __init__(self, game: Game, opponent: Any = None, seat: SeatRule = "random") -> None:
        self.game = game
        self.pool = Pool.of(game, game.spec.default_opponent if opponent is None else opponent)
        if seat not in ("random", "alternate"):
            whole = isinstance(seat, int | np.integer) and not isinstance(seat, bool)
            if not whole or not 0 <= int(seat) < game.players:
                raise ParameterError(
                    f"seat={seat!r} is no seat of this game: give 0 to {game.players - 1}, 'random' or 'alternate'"
                )
            seat = int(seat)
        self._seat = seat

    @property
    def code(self) -> int:
        """How the compiled loop of the batch finds the learner's seat; see `dicegym.envs.batch_kernels`."""
        if isinstance(self._seat, int):
            return self._seat
        return RANDOM_SEAT if self._seat == "random" else ALTERNATE_SEAT

    def seats(self, keys: np.ndarray, episodes: np.ndarray) -> np.ndarray:
        """Return the learner's seat (int64) in the games with these keys and episode numbers (uint64)."""
        out = np.empty(len(keys), np.int64)
        if self._seat == "random":
            draw_seats(keys, self.game.players, out)
        elif self._seat == "alternate":
            out[:] = episodes % np.uint64(self.game.players)
        else:
            out[:] = self._seat
        return out

    def opponents(self, key: int, learner: int) -> dict[int, Player]:
        """Return the opponent in every seat but the learner's."""
        return {seat: self.pool.pick(key, seat) for seat in range(self.game.players) if seat != learner}


def check_on_illegal(value: str) -> OnIllegal:
    """Return ``value``; raise ParameterError if it names no way to treat illegal actions."""
    if value not in get_args(OnIllegal):
        raise ParameterError(
            f"on_illegal={value!r} is unknown: give 'rule' (what the game says), 'raise' or 'terminate'"
        )
    return value  # type: ignore[return-value]  # mypy does not read get_args


def check_seed(seed: Any, name: str = "seed") -> int:
    """Return ``seed`` as an int; raise ParameterError for anything but a whole number of at least 0."""
    if isinstance(seed, bool | np.bool_):
        raise ParameterError(f"{name}={seed!r} is no number: give a whole number of at least 0")
    return Parameter(0, 0, (1 << 64) - 1, "a number that names games").check(name, seed)


def check_number(value: Any, name: str) -> float:
    """Return ``value`` as a float; raise ParameterError if it is no number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{name}={value!r} is no number") from None


def check_cap(value: int | None, name: str) -> int | None:
    """Return ``value``, a number of turns before truncation or None; raise ParameterError for anything else."""
    return None if value is None else Parameter(1, 1, 1 << 62, "the turns before truncation").check(name, value)
