"""Bots of an original interface as players: a program in a file, or a function or class in memory."""

from __future__ import annotations

import functools
import inspect
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dicegym.bots.program import Asked, Program
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

    A fresh copy of the program plays each game, so no memory or randomness passes from one game to another. A bot
    without memory and randomness may declare ``PURE = True``; it is then executed once and serves any number of games.

    Args:
        source: its source.
        name: its name in reports and errors.
        game: the game, with any number of players.
        keep: play all games with one program, reseeded for each (the games of a match).
        seed: the bot's random seed until it joins a game.

    Raises:
        AgentError: see `Program`.
        PartError: the game has no original bot interface.
    """

    def __init__(self, source: Source, name: str, game: Game, keep: bool = False, seed: int = 0) -> None:
        self.source = source
        self.name = name
        self.printed = Printed()
        """The output of all its programs so far."""
        self._sit = need(game, ADAPTER).sit
        self._made = source, name, game, keep, seed
        self._keep = keep
        self._start = functools.partial(Program, source, name, need(game, INTERFACE), printed=self.printed)
        self._program = self._start(seed=seed)
        self.says_pure = self._program.says_pure
        self.pure = not keep and self.says_pure

    @property
    def remarks(self) -> tuple[str, ...]:
        """Hints for its author; see `Program`."""
        return tuple(self._program.remarks)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by the file; the program is loaded again, without its memory."""
        return type(self), self._made

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; see `Player.join`. A pure bot does not follow the moves of others."""
        program = self._program
        if self._keep:
            program.random.reseed(seed)
        elif not self.pure:
            program = self._start(seed=seed)
        act = self._sit(program, program.take_seat(seat), game, seat)
        return act.__call__ if self.pure and follows(act) else act


class _LiveProgram(Asked):
    """The program of a bot in memory; its output goes to the terminal as usual."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.random = PrivateRandom(seed)

    def failure(self, error: BaseException, when: str) -> AgentError:
        if isinstance(error, KeyboardInterrupt):
            raise error
        if isinstance(error, AgentError):
            return error
        *_, last = traceback.extract_tb(error.__traceback__)
        line = f"{Path(last.filename).name}, line {last.lineno}"
        return AgentError(self.name, f"{describe_raised(error)} {when} ({line})")


class LiveBot(Player):
    """A function or class of a game's original interface as a player, in this process.

    A class is instantiated for each game. A function serves all games, and keeps its memory. In an interface of
    classes, a function becomes the method of one. ``bot.PURE = True`` declares that a bot has no memory and no
    randomness, and makes batches many times as fast.

    Raises PartError if the game has no original bot interface.
    """

    def __init__(self, bot: Callable[..., Any], name: str, game: Game) -> None:
        self.name = name
        self.pure = getattr(bot, "PURE", False) is True
        self._sit = need(game, ADAPTER).sit
        self._interface = need(game, INTERFACE)
        self._made = bot, name, game
        method = getattr(self._interface, "METHOD", "")
        is_method = method and not inspect.isclass(bot)
        self._bot = (lambda *_: types.SimpleNamespace(**{method: bot})) if is_method else bot

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the bot itself."""
        return type(self), self._made

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; see `Player.join`."""
        program = _LiveProgram(self.name, seed)
        return self._sit(program, self._interface.seat_bot(program, self._bot, seat), game, seat)
