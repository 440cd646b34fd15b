"""A bot of an original interface as a player."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from dicegym.bots.program import Asked, Program
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.games.parts import Interface
from dicegym.play.player import Player
from dicegym.play.printed import Printed
from dicegym.play.turn import Act

Sit = Callable[[Asked, Callable[..., Any], Game, int], Act]
"""What an adapter hands to `BotPlayer`: from a program, what is asked in one game, the game and the seat to what is
asked for actions in that game."""


def _again(module: str, *made: Any) -> BotPlayer:
    """Make the player of a file again in another process."""
    kind, source, name, sit, keep, seed = made
    player: BotPlayer = kind(source, name, importlib.import_module(module), sit, keep, seed)
    return player


class BotPlayer(Player):
    """A bot of an original interface as a player.

    In an environment each game is played by a fresh copy of the program, so that what a bot remembers, or
    draws, never reaches from one game into another. A bot that remembers and draws nothing may say so by a
    line ``PURE = True``; it is then executed once and serves any number of games.

    Args:
        source: where it is.
        name: what reports and errors call it.
        interface: the module with the bot's own half of the original interface.
        sit: makes the function that is asked for actions.
        keep: play all games with the one program made here, reseeded for each (the games of a match).
        seed: of the bot's randomness until it joins a game.

    Attributes:
        printed: what all its programs printed so far.
        says_pure: whether the file says so of itself.

    Raises:
        AgentError: see `Program`; and what ``interface.find`` raises.
    """

    def __init__(self, source: Source, name: str, interface: Any, sit: Sit, keep: bool = False, seed: int = 0) -> None:
        self.source = source
        self.name = name
        self.printed = Printed()
        self._interface: Interface = interface
        self._interface_name: str = interface.__name__
        self._sit = sit
        self._keep = keep
        self._seed = seed
        self._program = Program(source, name, interface.supplied_modules, seed, self.printed)
        self._bot = interface.find(self._program)
        self.says_pure = self._program.namespace.get("PURE") is True
        self.pure = not keep and self.says_pure

    @property
    def remarks(self) -> tuple[str, ...]:
        """What its author should know although nothing is wrong; see `Program`."""
        return tuple(self._program.remarks)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by the file: a program is loaded again, and has forgotten everything."""
        made = type(self), self.source, self.name, self._sit, self._keep, self._seed
        return _again, (self._interface_name, *made)

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down in one new game; see `Player.join`."""
        program, bot = self._program, self._bot
        if self._keep:
            program.random.reseed(seed)
        elif not self.pure:
            program = Program(self.source, self.name, self._interface.supplied_modules, seed, self.printed)
            bot = self._interface.find(program)
        return self._sit(program, self._interface.seated(program, bot, seat), game, seat)
