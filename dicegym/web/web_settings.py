"""What a server of pages is told when it starts."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

from dicegym.arena.storage import default_store
from dicegym.errors import ParameterError
from dicegym.server.admission import Origins

HOST, PORT = "127.0.0.1", 8000
"""Where it listens unless told otherwise: nobody else can reach it."""
CONNECTIONS = 1500


@dataclass(frozen=True)
class WebSettings:
    """What a server of pages is told when it starts.

    Raises ParameterError for a host name or a proxy that cannot be one.
    """

    folder: Path
    """What the server itself keeps: games that people play, what was uploaded, tokens. It is made."""
    store: str = field(default_factory=default_store)
    """The arena's store: a file, which need not be there yet, or the URL of a PostgreSQL database."""
    runs: tuple[Path, ...] = (Path("runs"),)
    """Folders in which trainings are looked for, at any depth."""
    host: str = HOST
    port: int = PORT
    hosts: tuple[str, ...] = field(default=())
    """Names by which browsers may ask for it, beside its own address, such as ``games.example.org``."""
    proxies: tuple[str, ...] = ()
    """Addresses or networks of proxies before it, which say whom they ask for, and whether by https; ``*``: all."""
    connections: int = CONNECTIONS
    """At once."""
    compile: bool = False
    """Whether what games need is compiled from the start, see `dicegym.web.readiness`."""
    isolation: str = "jail"
    """What holds bots that are uploaded, a level of `dicegym.sandbox.jail.Isolation`; where it does not work, none are
    taken."""

    def __post_init__(self) -> None:
        """Check names and addresses."""
        Origins(self.host, self.hosts)
        for proxy in set(self.proxies) - {"*"}:
            try:
                ipaddress.ip_network(proxy)
            except ValueError:  # a name too: it would be compared with addresses, and never be found
                raise ParameterError(
                    f"invalid --proxy {proxy!r}: give its address such as 127.0.0.1, or a network such as 10.0.0.0/8"
                ) from None
