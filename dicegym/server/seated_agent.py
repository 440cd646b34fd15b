"""An agent in a seat of a game that it knows by its messages alone: standings in, commands out."""

from __future__ import annotations

from collections.abc import Callable

from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.games import game as make_game
from dicegym.play.player import Player, whole
from dicegym.play.turn import Act, Turn
from dicegym.server.wire import Message, Wire

MakePlayer = Callable[[Game], Player]
"""Makes the player, given the game with as many seats as the first standing shows."""


class SeatedAgent:
    """Answers the standings of one game, and after `leave` those of another.

    Args:
        wire: the messages.
        game: the game's name.
        make: makes the player.
        seed: of the player's randomness: game number i of this agent gets a seed of its own.

    Attributes:
        trouble: why the last answer was no command, or nothing.
    """

    def __init__(self, wire: Wire, game: str, make: MakePlayer, seed: int) -> None:
        self._wire = wire
        self._game = game
        self._make = make
        self._seed = seed
        self._tables: dict[int, Game] = {}
        self._player: Player | None = None
        self._act: Act | None = None
        self._seat = -1
        self.trouble = ""
        self._begun = 0

    def leave(self) -> None:
        """Leave the table: the game is over, and the next standing is of another."""
        self._act = None

    def answer(self, standing: Message, name: str) -> Message | None:
        """Return the command of the player called ``name``, or None if it is not its turn.

        An empty one stands for an action that no command means: by the rules it is an error like others.

        Raises:
            CommandError: ``standing`` is no standing, or the name is not in it.
            AgentError: the player failed.
            ModelError: the player cannot play this game.
        """
        wire = self._wire
        names = wire.names_of(standing)
        if len(names) not in self._tables:
            self._tables[len(names)] = make_game(self._game, players=len(names))
        game = self._tables[len(names)]
        state, seat = wire.state_of(standing, name, game)
        if state["over"] or state["player"] != seat:
            return None
        if self._player is None:
            self._player = self._make(game)
        if self._act is None or self._seat != seat:
            self._seat = seat
            # "chair" is the old word for a seat. It is part of the seed, so another would change what agents draw.
            self._act = self._player.join(game, seat, named_seed("chair", self._seed, self._begun))
            self._begun += 1
        action = whole(self._act(Turn(game, state, seat)), self._player)
        self.trouble = ""
        try:
            return wire.command_in(action, state)
        except wire.CommandError as error:
            self.trouble = str(error)
            return {}
