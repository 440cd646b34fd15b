"""Whether a bot remembers or draws anything, found out by asking it everything several times."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.games.parts import SITUATIONS, part
from dicegym.play.drive import play_game
from dicegym.play.player import Player, RandomPlayer, whole
from dicegym.play.turn import Act, Turn
from dicegym.sandbox.isolated import IsolatedPlayer
from dicegym.sandbox.limits import Limits

GAMES = 50
"""Games in which a bot has to choose as it did when it was asked everything."""


def prepare(game: Game) -> None:
    """Compile what `looks_pure` needs, or find it compiled, before a bot's time is taken."""
    if part(game, SITUATIONS) is not None:
        _situation(game.new_game()[0])


def _situation(state: Any) -> int:
    """Return the number of the situation of a record."""
    number = np.zeros(1, np.int64)
    loops.situation_rows(np.array([state]), np.zeros(1, np.int64), number)
    return int(number[0])


class OutOfTimeError(Exception):
    """To find out whether a bot is pure has taken as long as it may."""


class TimeBound:
    """How long bots may take, all copies of one together.

    Args:
        seconds: of their processor time; a clock `PATIENCE` times as generous ends what sleeps.
    """

    def __init__(self, seconds: float = math.inf) -> None:
        self._seconds = seconds
        self._copies: list[Player] = []
        self._own, self._began = time.thread_time(), time.monotonic()

    def add(self, player: Player) -> Player:
        """Count what a copy takes, loading included."""
        self._copies.append(player)
        self.check()
        return player

    def check(self) -> None:
        """Raise OutOfTimeError if the time is over."""
        apart = [one for one in self._copies if isinstance(one, IsolatedPlayer)]
        spent = sum(one.load_seconds + one.spent for one in apart)
        if len(apart) < len(self._copies):  # they play in this thread
            spent += time.thread_time() - self._own
        if spent > self._seconds or time.monotonic() - self._began > Limits.wall_of(self._seconds):
            raise OutOfTimeError


def looks_pure(game: Game, load: Callable[[int], Player], bound: TimeBound | None = None) -> bool | None:
    """Return whether a bot gives one answer to each situation of the game; None if these are not numbered.

    It is asked for all situations in their order, by another copy of its program in another order, and then in games
    against itself and against random play. One that remembers may pass all the same, if it takes care to: this is a
    test and no proof.

    Args:
        game: the game with its parameters.
        load: loads a copy of the bot, given the seed of its randomness.
        bound: how long that may take; default: for ever.

    Raises AgentError if it fails, OutOfTimeError.
    """
    bound = bound or TimeBound()
    numbering = part(game, SITUATIONS)
    states = None if numbering is None else numbering.situations(game)
    if states is None:
        return None
    order = np.arange(len(states))
    answers = _answers(game, bound.add(load(1)), states, order, bound)
    other_order = np.random.default_rng(0).permutation(order)
    if not np.array_equal(answers, _answers(game, bound.add(load(2)), states, other_order, bound)):
        return False
    compared, itself = (_Compared(bound.add(load(seed)), answers, bound) for seed in (3, 4))
    for number in range(GAMES):
        rival: Player = RandomPlayer() if number % 2 else itself
        players = [rival] * game.players
        players[number // 2 % game.players] = compared
        play_game(game, players, number)
        if compared.differs or getattr(rival, "differs", False):
            return False
    return True


def table_of(game: Game, player: Player) -> np.ndarray | None:
    """Return the action of ``player`` in each situation of the game: int64[situations]; None if they are not numbered.

    Raises AgentError if it fails.
    """
    numbering = part(game, SITUATIONS)
    states = None if numbering is None else numbering.situations(game)
    return None if states is None else _answers(game, player, states, np.arange(len(states)), TimeBound())


def _answers(game: Game, player: Player, states: np.ndarray, order: np.ndarray, bound: TimeBound) -> np.ndarray:
    """Return the action of ``player`` in each of ``states``, asked in ``order``."""
    act = player.join(game, 0, 0)
    turns = (Turn(game, states[number], 0) for number in order)
    many: Callable[[list[Any]], Iterator[int]] | None = getattr(act, "many", None)  # a bot in another process
    chosen = map(act, turns) if many is None else many([turn.view for turn in turns])
    answers = np.zeros(len(states), np.int64)
    for number, action in zip(order, chosen, strict=True):
        answers[number] = whole(action, player)
        bound.check()
    return answers


class _Compared(Player):
    """Plays as a player does, and notes whether that ever differs from what it answered before."""

    def __init__(self, player: Player, answers: np.ndarray, bound: TimeBound) -> None:
        self.name = player.name
        self.differs = False
        self._player = player
        self._answers = answers
        self._bound = bound

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Let it sit down."""
        act = self._player.join(game, seat, seed)

        def compared(turn: Turn) -> int:
            expected, action = self._answers[_situation(turn.record)], act(turn)
            self.differs = self.differs or action != expected
            self._bound.check()
            return action

        return compared
