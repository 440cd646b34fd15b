"""A bot of an original interface as a player."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dicegym.bots.program import Program, Supplied
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.play.player import Player
from dicegym.play.printed import Printed
from dicegym.play.turn import Act

Find = Callable[[Program], Callable[..., Any]]
"""What an adapter hands to `BotPlayer`: from a program to the bot in it, a function or a class."""
Sit = Callable[[Program, Callable[..., Any], Game, int], Act]
"""And from a program, the bot in it, the game and the seat to what is asked for actions in that game."""


class BotPlayer(Player):
    """A bot of an original interface as a player.

    In an environment each game is played by a fresh copy of the program, so that what a bot remembers, or
    draws, never reaches from one game into another. A bot that remembers and draws nothing may say so by a
    line ``PURE = True``; it is then executed once and serves any number of games.

    Args:
        source: where it is.
        name: what reports and errors call it.
        supplied: makes the modules of the original interface, given the bot's own randomness.
        find: finds the bot in a program.
        sit: makes the function that is asked for actions.
        keep: play all games with the one program made here, reseeded for each (the games of a match).
        seed: of the bot's randomness until it joins a game.

    Attributes:
        printed: what all its programs printed so far.
        says_pure: whether the file says so of itself.

    Raises:
        AgentError: see `Program`; and what ``find`` raises.
    """

    def __init__(
        self, source: Source, name: str, supplied: Supplied, find: Find, sit: Sit, keep: bool = False, seed: int = 0
    ) -> None:
        self.source = source
        self.name = name
        self.printed = Printed()
        self._supplied = supplied
        self._find = find
        self._sit = sit
        self._keep = keep
        self._seed = seed
        self._program = Program(source, name, supplied, seed, self.printed)
        self._bot = find(self._program)
        self.says_pure = self._program.namespace.get("PURE") is True
        self.pure = not keep and self.says_pure

    @property
    def remarks(self) -> tuple[str, ...]:
        """What its author should know although nothing is wrong; see `Program`."""
        return tuple(self._program.remarks)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by the file: a program is loaded again, and has forgotten everything."""
        made = (self.source, self.name, self._supplied, self._find, self._sit, self._keep, self._seed)
        return type(self), made

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down in one new game; see `Player.join`."""
        program, bot = self._program, self._bot
        if self._keep:
            program.random.reseed(seed)
        elif not self.pure:
            program = Program(self.source, self.name, self._supplied, seed, self.printed)
            bot = self._find(program)
        return self._sit(program, bot, game, seat)
