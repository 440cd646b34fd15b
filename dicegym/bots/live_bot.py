"""A function or class of a game's original interface as a player, as it is: no file, no process of its own."""

from __future__ import annotations

import importlib
import inspect
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dicegym.bots.bot_player import Sit
from dicegym.bots.program import Program
from dicegym.bots.surroundings import PrivateRandom
from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.escape import describe_raised
from dicegym.games.parts import Interface
from dicegym.play.player import Player
from dicegym.play.printed import Printed
from dicegym.play.turn import Act


class LiveProgram(Program):
    """Stands in for the program of a file where there is none; what the bot prints goes where it always goes."""

    def __init__(self, bot: Callable[..., Any], name: str, seed: int) -> None:
        self.name = name
        self.printed = Printed()
        self.random = PrivateRandom(seed)
        self.namespace = getattr(bot, "__globals__", {})

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
    """A function or class of an original interface as a player.

    A class is made anew for each game; a function is asked in all games, and what it remembers goes with it. One that
    remembers and draws nothing may say so: ``bot.PURE = True`` makes batches many times as fast.

    Args:
        bot: the function or class.
        name: what reports and errors call it.
        interface, sit: as for `dicegym.bots.bot_player.BotPlayer`.
        method: in an interface of classes, the method that plays: a function then stands for a class with this method.
    """

    def __init__(self, bot: Callable[..., Any], name: str, interface: Any, sit: Sit, method: str = "") -> None:
        self.name = name
        self.pure = getattr(bot, "PURE", False) is True
        self._bot = bot
        self._interface: Interface = interface
        self._interface_name: str = interface.__name__
        self._sit = sit
        self._method = method

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the module of the interface, which is found again; the bot itself is copied as Python copies it."""
        return {name: value for name, value in vars(self).items() if name != "_interface"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Find the module of the interface again."""
        vars(self).update(state)
        self._interface = importlib.import_module(self._interface_name)

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down in one new game; see `Player.join`."""
        bot = self._bot
        if self._method and not inspect.isclass(bot):
            function = bot

            def made(*_: Any) -> Any:
                return types.SimpleNamespace(**{self._method: function})

            bot = made
        program = LiveProgram(self._bot, self.name, seed)
        return self._sit(program, self._interface.seated(program, bot, seat), game, seat)
