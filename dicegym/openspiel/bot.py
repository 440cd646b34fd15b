"""Our agents as OpenSpiel's bots."""

from __future__ import annotations

import pyspiel

from dicegym.engine.dice import private_seed
from dicegym.engine.validate import check_seat
from dicegym.errors import ParameterError
from dicegym.openspiel.spiel_game import SpielGame, SpielState
from dicegym.play.drive import Audience
from dicegym.play.player import Player, answer, sit_down
from dicegym.play.turn import Turn
from dicegym.players.roster import agent


class PlayerBot(pyspiel.Bot):
    """An agent of ours as an OpenSpiel bot, as for ``open_spiel.python.algorithms.evaluate_bots``.

    Args:
        game: as `dicegym.openspiel.load` or ``pyspiel.load_game`` returns it.
        seat: the seat that it plays.
        player: an agent's name, a bot's file, a model, or a `dicegym.Player`.
        seed: seed of its randomness; each `restart` begins the next game of the seed.

    Raises ParameterError if the game has no such seat or is not ours, and what `dicegym.agent` raises.
    """

    def __init__(self, game: SpielGame, seat: int, player: Player | str, seed: int = 0) -> None:
        super().__init__()
        if not isinstance(game, SpielGame):
            raise ParameterError(f"{game} is not a game of dicegym: load it with dicegym.openspiel.load")
        self._game = game.dicegym_game
        self._seat = check_seat(self._game, seat)
        self._player = agent(self._game, player)
        self._seed, self._number = seed, -1
        self.restart()

    def player_id(self) -> int:
        """Return the seat that it plays."""
        return self._seat

    def restart(self) -> None:
        """Sit down for the next game."""
        self._number += 1
        self._act = sit_down(self._player, self._game, self._seat, private_seed(self._seed, self._number))
        self._states = self._game.new_states(1)
        self._audience = Audience(self._game, self._states[0], {self._seat: self._act})

    def restart_at(self, state: SpielState) -> None:
        """Sit down in the middle of a game."""
        self.restart()
        self._look(state)

    def _look(self, state: SpielState) -> None:
        """Set the state, and tell followers of the game what has happened."""
        self._states[0] = state.record
        self._audience.tell()

    def inform_action(self, state: SpielState, player: int, action: int) -> None:
        """Look at the state in which another player has moved."""
        if not state.is_chance_node():
            self._look(state)

    def step(self, state: SpielState) -> int:
        """Return its action."""
        self._look(state)
        return answer(self._act, Turn(self._game, self._states[0], self._seat), self._player)
