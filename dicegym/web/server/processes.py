"""Game servers that the pages have started, each in a process of its own, which ends with the pages."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from typing import Any, NamedTuple

from dicegym.errors import ParameterError
from dicegym.server.server_settings import ServerSettings

STOPPING = 20.0
"""Seconds that a server has to store what is finished; then it is ended."""
LONGEST = 1 << 20
"""Bytes of a line that it says."""
COMMAND = (sys.executable, "-P", "-m", "dicegym.web.server.server_child")


class ProcessState(NamedTuple):
    """A server that was started here, as it was last seen."""

    running: bool
    board: dict[str, Any] | None
    """What the page shows of it, as `dicegym.web.server.server_child` says it; None before it does."""
    error: str
    """Why it could not run."""


class ServerProcess:
    """One process that serves a game.

    Args:
        settings: of the server.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._board: dict[str, Any] | None = None
        self._error = ""
        self._process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        told = {
            "game": settings.game,
            "tcp": settings.tcp,
            "ws": settings.ws,
            "players": settings.players,
            "agents": settings.agents,
            "always": settings.always,
            "host": settings.host,
            "store": None if settings.store is None else str(settings.store),
        }
        with contextlib.suppress(OSError):  # it has ended: `_listen` finds out
            self._stdin.write(json.dumps(told).encode() + b"\n")
            self._stdin.flush()
        threading.Thread(target=self._listen, daemon=True, name=f"server-of-{settings.game}").start()

    @property
    def _stdin(self) -> Any:
        return self._process.stdin

    def look(self) -> ProcessState:
        """Return how it stands."""
        running = self._process.poll() is None
        error = self._error or ("" if running or self._board else "it ended before it had begun")
        return ProcessState(running, self._board, error)

    def stop(self) -> None:
        """End it, and wait until what it has finished is stored."""
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self._process.wait(STOPPING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _listen(self) -> None:
        out: Any = self._process.stdout
        for line in iter(lambda: out.readline(LONGEST), b""):
            with contextlib.suppress(ValueError):
                told = json.loads(line)
                self._board = told.get("board", self._board)
                self._error = told.get("error", self._error)


class StartedServers:
    """All servers that were started here, by game: one for each."""

    def __init__(self) -> None:
        self._servers: dict[str, ServerProcess] = {}
        self._lock = threading.Lock()

    def start(self, settings: ServerSettings) -> None:
        """Start a server. Raises ParameterError if one of its game runs already."""
        with self._lock:
            known = self._servers.get(settings.game)
            if known is not None and known.look().running:
                raise ParameterError(f"a server of {settings.game} runs already: stop it first")
            self._servers[settings.game] = ServerProcess(settings)

    def look(self, game: str) -> ProcessState | None:
        """Return how the server of a game stands that was started here; None if none was."""
        found = self._servers.get(game)
        return None if found is None else found.look()

    def stop(self, game: str) -> None:
        """End a server, if it was started here."""
        found = self._servers.get(game)
        if found is not None:
            found.stop()

    def stop_all(self) -> None:
        """End them all."""
        for found in list(self._servers.values()):
            found.stop()
