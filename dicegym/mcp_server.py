"""The server of the Model Context Protocol (``dicegym mcp``): clients play with the texts of `dicegym.text`."""

from __future__ import annotations

import functools
import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dicegym import __version__
from dicegym.errors import DependencyError, DicegymError, ParameterError, unknown_name
from dicegym.players.prompts import ACTION
from dicegym.players.roster import agent_names
from dicegym.registry import GAMES
from dicegym.text import TextEnv

if TYPE_CHECKING:
    from mcp.server import MCPServer

MOST_GAMES = 64
"""Games of a client at the same time; another one ends the oldest."""
SHOWN = 10
"""Actions of a hint."""


class GameTable:
    """The games of a client by their numbers."""

    def __init__(self) -> None:
        self._games: OrderedDict[int, TextEnv] = OrderedDict()
        self._begun = 0

    def list_games(self) -> dict[str, list[str]]:
        """List the games, each with its opponents."""
        return {name: agent_names(name) for name in GAMES}

    def new_game(self, game: str, opponent: str = "", seed: int = 0) -> dict[str, Any]:
        """Begin a game. Returns its number, the rules, and what you see; the same seed rolls the same dice."""
        if game not in GAMES:
            raise unknown_name("game", game, [*GAMES])
        names = agent_names(game)
        if opponent and opponent not in names:  # a path would run a program
            raise unknown_name(f"opponent in {game}", opponent, names)
        env = TextEnv(game, opponent or None)
        text, _ = env.reset(seed=seed)
        self._begun += 1
        self._games[self._begun] = env
        if len(self._games) > MOST_GAMES:
            self._games.popitem(last=False)
        return {"number": self._begun, "rules": env.rules, "text": text}

    def observe(self, number: int) -> str:
        """Return what you see in a game, and your legal actions if it is your turn."""
        return self._found(number).text

    def act(self, number: int, action: str) -> dict[str, Any]:
        """Play an action, written like the legal actions, then the others' turns."""
        if (env := self._found(number)).env.state["over"]:
            raise ParameterError(f"game {number} is over: begin another one with new_game")
        text, reward, over, _, _ = env.step(json.dumps({ACTION: action}))
        return {"text": text, "reward": reward, "over": over}

    def hint(self, number: int) -> list[str]:
        """Return what your best actions are worth."""
        from dicegym.analysis.valuers import fair_valuer, hint

        env = self._found(number).env
        return hint(env.game, env.state, fair_valuer(env.game)).lines(SHOWN)

    def _found(self, number: int) -> TextEnv:
        if number not in self._games:
            raise ParameterError(f"there is no game {number}: begin one with new_game")
        return self._games[number]


def make_server(hints: bool = False) -> MCPServer[Any]:
    """Return a server with tools for games; with ``hints``, its client may ask what actions are worth.

    Raises DependencyError without the extra ``llm``.
    """
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError as error:
        raise DependencyError.for_extra("mcp", "llm", "a server of the Model Context Protocol") from error
    server: MCPServer[Any] = MCPServer("dicegym", version=__version__, instructions="list_games, new_game, then act.")
    table = GameTable()
    lock = threading.Lock()

    def report_errors(tool: Callable[..., Any]) -> Callable[..., Any]:
        """Show errors to the client, which the server otherwise hides; the lock is needed as tools run in threads."""

        @functools.wraps(tool)
        def call(*given: Any, **named: Any) -> Any:
            try:
                with lock:
                    return tool(*given, **named)
            except DicegymError as error:
                raise ToolError(str(error)) from None

        return call

    tools: list[Callable[..., Any]] = [table.list_games, table.new_game, table.observe, table.act]
    if hints:
        tools.append(table.hint)
    for tool in tools:
        server.tool()(report_errors(tool))
    return server
