"""The settings of a server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dicegym.engine.validate import finite_number, whole_number
from dicegym.errors import ParameterError
from dicegym.games import game as make_game
from dicegym.server.admission import Origins, is_loopback
from dicegym.server.client_limits import BYTES
from dicegym.server.wire import LIMIT


@dataclass(frozen=True)
class ServerSettings:
    """The settings of a server.

    Attributes:
        game: the game's name.
        tcp: port for TCP; 0: any free port; None: no TCP.
        ws: port for WebSocket; 0 and None as for ``tcp``.
        host: address to listen on.
        players: seats at a table.
        agents: local agents, as for `dicegym.agent`; each may sit at many tables.
        always: whether the agents play each other while no remote bot is connected; otherwise the server rests.
        games: stop after this number of finished games; 0: never.
        secrets: file of names and their secrets.
        guests: whether clients may play without a secret; None: if ``host`` is a loopback address.
        store: path of the file of results, or the URL of a PostgreSQL database; None: the store of contests.
        seed: of all dice; None: random.
        login: seconds to log in.
        answer: seconds to answer.
        gather: seconds for which a bot waits for other bots before local agents take free seats.
        pause: seconds between two games of a remote bot.
        connections: largest number of connections at once.
        rate: bytes per second from a client, in addition to its moves; each message costs 640 more.
        hosts: further host names of the server, for WebSocket.
        origins: web pages that may connect by WebSocket, such as ``https://example.org``.
        isolation: how bots' files among the agents are isolated; see `dicegym.sandbox.jail`.

    Raises:
        ParameterError: a setting is invalid, or settings do not fit together.
    """

    game: str
    tcp: int | None = None
    ws: int | None = None
    host: str = "127.0.0.1"
    players: int = 2
    agents: tuple[str, ...] = ()
    games: int = 0
    secrets: Path | None = None
    guests: bool | None = None
    store: str | Path | None = None
    seed: int | None = None
    login: float = 2.0
    answer: float = 10.0
    gather: float = 0.5
    pause: float = 0.5
    connections: int = 1000
    always: bool = False
    rate: int = BYTES
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    isolation: str = "auto"

    def __post_init__(self) -> None:
        """Check the values."""
        for name, port in (("tcp", self.tcp), ("ws", self.ws)):
            if port is not None:
                whole_number(name, port, 0, 65535, "a port")
        if self.tcp and self.tcp == self.ws:
            raise ParameterError(
                f"--tcp {self.tcp} and --ws {self.ws} are one port: give two ports, or 0 for any free one"
            )
        if self.tcp is None and self.ws is None:
            raise ParameterError(
                "no client could reach this server: give --tcp PORT, --ws PORT or both; 0 is any free port"
            )
        most = make_game(self.game).spec.players[1]
        whole_number("players", self.players, 2, most, "the number of players at a table")
        if self.always and len(self.agents) < self.players:
            raise ParameterError(
                f"--always lets the server's own agents play each other, but {len(self.agents)} cannot fill the "
                f"{self.players} seats of a table: name at least {self.players} by --agents (an agent may be repeated)"
            )
        for name in ("login", "answer", "gather", "pause"):
            if finite_number(name, getattr(self, name), "a number of seconds") < 0:
                raise ParameterError(f"{name}={getattr(self, name)!r} cannot be a number of seconds: give 0 or more")
        whole_number("games", self.games, 0, 1 << 53, "a number of games")
        whole_number("connections", self.connections, 1, 1 << 20, "a number of connections")
        whole_number("rate", self.rate, LIMIT, 1 << 30, "bytes a second (at least one message of 4096)")
        Origins(self.host, self.hosts, self.origins)
        if not self.allows_guests and self.secrets is None:
            raise ParameterError(
                f"no client could log in on {self.host}: guests play by default only on loopback addresses. Give "
                "names and secrets by --secrets FILE, or let everybody play by --guests"
            )

    @property
    def allows_guests(self) -> bool:
        """Whether clients may play without a secret."""
        return is_loopback(self.host) if self.guests is None else self.guests
