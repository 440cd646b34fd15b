"""Bots of an original interface as players: a program in a file, or a function or class as it is."""

from __future__ import annotations

import functools
import inspect
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dicegym.bots.program import Program
from dicegym.bots.source import Source
from dicegym.bots.surroundings import PrivateRandom
from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.escape import describe_raised
from dicegym.games.parts import ADAPTER, INTERFACE, need
from dicegym.play.player import Player
from dicegym.play.printed import Printed
from dicegym.play.turn import Act, follows


class BotPlayer(Player):
    """A bot in a file as a player.

    Each game is played by a fresh copy of the program, so that what a bot remembers, or draws, never reaches from one
    game into another. A bot that remembers and draws nothing may say so by a line ``PURE = True``; it is then executed
    once and serves any number of games.

    Args:
        source: where it is.
        name: what reports and errors call it.
        game: what it plays, with any number of players.
        keep: play all games with the one program made here, reseeded for each (the games of a match).
        seed: of the bot's randomness until it joins a game.

    Raises:
        AgentError: see `Program`.
        PartError: the game has no bots of an original interface.
    """

    def __init__(self, source: Source, name: str, game: Game, keep: bool = False, seed: int = 0) -> None:
        self.source = source
        self.name = name
        self.printed = Printed()
        """What all its programs printed so far."""
        self._sit = need(game, ADAPTER).sit
        self._made = source, name, game, keep, seed
        self._keep = keep
        self._start = functools.partial(Program, source, name, need(game, INTERFACE), printed=self.printed)
        self._program = self._start(seed=seed)
        self.says_pure = self._program.says_pure
        self.pure = not keep and self.says_pure

    @property
    def remarks(self) -> tuple[str, ...]:
        """What its author should know although nothing is wrong; see `Program`."""
        return tuple(self._program.remarks)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by the file: a program is loaded again, and has forgotten everything."""
        return type(self), self._made

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down in one new game; see `Player.join`. A pure bot does not follow the moves of others."""
        program = self._program
        if self._keep:
            program.random.reseed(seed)
        elif not self.pure:
            program = self._start(seed=seed)
        act = self._sit(program, program.take_seat(seat), game, seat)
        return act.__call__ if self.pure and follows(act) else act


class LiveProgram(Program):
    """Replaces the program of a file for a bot without one; what the bot prints goes where it always goes."""

    def __init__(self, bot: Callable[..., Any], name: str, interface: Any, seed: int) -> None:
        self.name = name
        self.printed = Printed()
        self.random = PrivateRandom(seed)
        self.namespace = getattr(bot, "__globals__", {})
        self.interface = interface
        self.bot = bot
        method = getattr(interface, "METHOD", "")
        if method and not inspect.isclass(bot):
            self.bot = lambda *_: types.SimpleNamespace(**{method: bot})

    def failure(self, error: BaseException, when: str) -> AgentError:
        """Return the AgentError for what the bot raised ``when``; KeyboardInterrupt is raised again as it is."""
        if isinstance(error, KeyboardInterrupt):
            raise error
        if isinstance(error, AgentError):
            return error
        *_, last = traceback.extract_tb(error.__traceback__)
        line = f"{Path(last.filename).name}, line {last.lineno}"
        return AgentError(self.name, f"{describe_raised(error)} {when} ({line})")


class LiveBot(Player):
    """A function or class of a game's original interface as a player: no file, no process of its own.

    A class is made anew for each game; a function is asked in all games, and what it remembers goes with it. In an
    interface of classes a function stands for a class whose method it is. One that remembers and draws nothing may say
    so: ``bot.PURE = True`` makes batches many times as fast.

    Raises PartError if the game has no bots of an original interface.
    """

    def __init__(self, bot: Callable[..., Any], name: str, game: Game) -> None:
        self.name = name
        self.pure = getattr(bot, "PURE", False) is True
        self._sit = need(game, ADAPTER).sit
        self._start = functools.partial(LiveProgram, bot, name, need(game, INTERFACE))
        self._made = bot, name, game

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the bot itself as Python does."""
        return type(self), self._made

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down in one new game; see `Player.join`."""
        program = self._start(seed)
        return self._sit(program, program.take_seat(seat), game, seat)
