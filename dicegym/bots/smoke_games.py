"""Smoke games of a bot: whole games through all stages, in which nothing may go wrong.

They are the test of games whose original contest has none; a game's ``adapter.py`` may define another test. Opponents
come from ``set_table`` there, and lead a bot to its last die or to an empty shop. Otherwise they move at random, and a
bot that wins at once never gets there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.games.parts import ADAPTER, part
from dicegym.play.drive import Referee
from dicegym.play.player import Player, RandomPlayer
from dicegym.play.turn import Act, Follower, Turn

UNIT = "games"
"""The unit of the test; see `dicegym.games.parts.Adapter`."""
GAMES = 20
"""Games of one bot, which takes the seats in turn."""


def examine(game: Game, player: Player, asked: Callable[[int], None]) -> np.ndarray:
    """Play `GAMES` games; return the player's return in each: float64[GAMES].

    ``asked(i)`` is called before game i and before each decision in it. Raises AgentError at the first failure or
    illegal action of ``player``.
    """
    results = np.zeros(GAMES)
    for number in range(GAMES):
        asked(number)
        referee = _SmokeReferee(game, player, number, asked)
        results[number] = game.returns(referee.play())[referee.seat]
    return results


def question(game: Game, i: int) -> str:
    """Name question ``i`` of `examine` in words."""
    return f"game {i + 1} of {GAMES} of the test"


def actions(game: Game, answers: np.ndarray) -> None:
    """Return None: returns do not show which actions were chosen."""


class _SmokeReferee(Referee):
    """Drives smoke game ``number``; any fault of ``player`` ends it."""

    def __init__(self, game: Game, player: Player, number: int, asked: Callable[[int], None]) -> None:
        self._number, self._asked = number, asked
        self.seat = number % game.players
        self._where = question(game, number)
        self._turn = 0
        own = part(game, ADAPTER)
        table = None if own is None else own.set_table(game, number, self.seat)
        states, partner = (game.new_game(0, number), RandomPlayer()) if table is None else table
        super().__init__(game, states, [player if seat == self.seat else partner for seat in range(game.players)])

    def sit(self, seat: int, seed: int) -> Act:
        return self.players[seat].join(self.game, seat, seed)

    def ask(self, seat: int, turn: Turn) -> int:
        if seat == self.seat:
            self._turn += 1
            self._asked(self._number)
        return super().ask(seat, turn)

    def handle_failure(self, seat: int, error: AgentError) -> int:
        raise self._end(seat, error.reason) from error

    def note_fault(self, seat: int, reason: str) -> None:
        raise self._end(seat, reason)

    def tell(self, follower: Follower, turn: Turn) -> None:
        try:
            follower.follow(turn)
        except AgentError as error:
            raise self._end(turn.seat, error.reason) from error

    def _end(self, seat: int, reason: str) -> AgentError:
        return AgentError(self.players[seat].name, f"{reason}, in turn {self._turn} of {self._where}")
