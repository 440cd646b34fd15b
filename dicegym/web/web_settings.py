"""What a server of pages is told when it starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from dicegym.arena.storage import default_store
from dicegym.errors import ParameterError

HOST, PORT = "127.0.0.1", 8000
"""Where it listens unless told otherwise: nobody else can reach it."""
CONNECTIONS = 1500


@dataclass(frozen=True)
class WebSettings:
    """What a server of pages is told when it starts."""

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
    """Addresses of proxies before it, which say whom they ask for, and whether by https."""
    connections: int = CONNECTIONS
    """At once."""
    compile: bool = False
    """Whether what games need is compiled from the start, see `dicegym.web.readiness`."""
    isolation: str = "jail"
    """What holds bots that are uploaded, a level of `dicegym.sandbox.jail.Isolation`; where it does not work, none are
    taken."""

    def __post_init__(self) -> None:
        """Raise ParameterError if the folder or the store cannot be where they are said to be."""
        if self.folder.exists() and not self.folder.is_dir():
            raise ParameterError(f"--folder {self.folder} is a file: give a folder, which is made if it is missing")
        if "://" in self.store or self.store == default_store():
            return
        store = Path(self.store)
        if store.is_dir():
            raise ParameterError(
                f"--store {store} is a folder: give the file of a store, such as {store / 'arena.sqlite'}"
            )
        if not store.parent.is_dir():
            raise ParameterError(
                f"--store {store}: there is no folder {store.parent}; make it, or check the path. The file itself is "
                "made by the first contest"
            )
