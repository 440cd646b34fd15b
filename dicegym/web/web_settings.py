"""Settings of the web server."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

from dicegym.arena.storage import default_store
from dicegym.errors import ParameterError
from dicegym.server.admission import Origins


@dataclass(frozen=True)
class WebSettings:
    """Settings of the web server.

    Raises ParameterError for an invalid host name or proxy.
    """

    folder: Path
    """The server's own data: games of visitors, uploads, tokens. Made if missing."""
    store: str = field(default_factory=default_store)
    """The store of contests: a file, which may not exist yet, or the URL of a PostgreSQL database."""
    runs: tuple[Path, ...] = (Path("runs"),)
    """Folders that are searched for trainings, at any depth."""
    host: str = "127.0.0.1"
    """The address to listen on; the default cannot be reached from other machines."""
    port: int = 8000
    hosts: tuple[str, ...] = ()
    """Further host names that browsers may use, such as ``games.example.org``."""
    proxies: tuple[str, ...] = ()
    """Addresses or networks of proxies whose X-Forwarded-* headers are trusted; ``*``: all."""
    connections: int = 1500
    """Most connections at the same time."""
    compile: bool = False
    """Whether to compile all games at the start, see `dicegym.web.readiness`."""
    isolation: str = "jail"
    """How uploaded bots are isolated, a level of `dicegym.sandbox.jail.Isolation`. Without it no bots are accepted."""

    def __post_init__(self) -> None:
        """Check host names and proxies."""
        Origins(self.host, self.hosts)
        for proxy in set(self.proxies) - {"*"}:
            try:
                ipaddress.ip_network(proxy)
            except ValueError:  # also for a host name: it is compared with addresses, and would never match
                raise ParameterError(
                    f"invalid --proxy {proxy!r}: give an address such as 127.0.0.1, or a network such as 10.0.0.0/8"
                ) from None
