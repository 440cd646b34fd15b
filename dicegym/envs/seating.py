"""Who sits where: the learner's seat and its opponents, drawn from each game's own key."""

from __future__ import annotations

from typing import Any

from dicegym.engine.game import Game
from dicegym.envs.options import SeatRule, seat_rule
from dicegym.play.player import Player
from dicegym.players.pool import Pool


class Seating:
    """The learner's seat and opponents of each game.

    Args:
        game: the game.
        opponent: whatever `Pool.of` accepts: an agent's name, a path, a Player, a list, or a dict of weights;
            None for the game's default. Each opposing seat draws its own from the pool.
        seat: a seat's number, ``"random"`` (drawn for each game) or ``"alternate"`` (by episode).

    Attributes:
        rule: how the learner's seat is found, as a number; see `dicegym.engine.seats`.

    Raises:
        ParameterError: ``seat`` is something else.
        UnknownNameError, AgentError: an opponent cannot be found or loaded.
    """

    def __init__(self, game: Game, opponent: Any = None, seat: SeatRule = "random") -> None:
        self.game = game
        self.set_opponent(opponent)
        self.rule = seat_rule(game, seat)

    def set_opponent(self, opponent: Any) -> None:
        """Draw from ``opponent`` from now on; as for the constructor, which says what it raises."""
        self.pool = Pool.of(self.game, self.game.spec.default_opponent if opponent is None else opponent)

    def opponents(self, key: int, learner: int) -> dict[int, Player]:
        """Return the opponent in every seat but the learner's."""
        return self.pool.draw_seats(key, learner, self.game.players)
