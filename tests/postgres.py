"""A real PostgreSQL server for tests: started where one is installed, and gone with whoever started it."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PASSWORD = "geheim"
PR_SET_PDEATHSIG = 1
SECONDS_TO_START = 60.0
ANYBODY = 65534
"""A user that is not root, which PostgreSQL refuses to be; of its files nobody else has any."""
QUICK = {
    "fsync": "off",  # it loses its data with the machine, and nobody minds
    "full_page_writes": "off",
    "max_connections": "40",
    "shared_buffers": "16MB",
    "autovacuum": "off",
    "max_wal_senders": "0",
    "wal_level": "minimal",
    "log_statement": "none",
}


class MissingError(Exception):
    """No server can be started here, and why."""


class Postgres(NamedTuple):
    """A server that runs; it belongs to the tests alone."""

    port: int
    process: subprocess.Popen[bytes]
    user: str = "tester"
    password: str = PASSWORD

    def url(self, database: str = "postgres", user: str | None = None, password: str | None = None) -> str:
        """Return the address of a database."""
        who = f"{user or self.user}:{password or self.password}"
        return f"postgresql://{who}@127.0.0.1:{self.port}/{database}"

    def run(self, *statements: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run statements, each for itself, and return what the last one found."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            for statement in statements:
                found = connection.execute(statement)  # type: ignore[call-overload]  # takes texts of its source alone
            return list(found.fetchall()) if found.description else []

    def database(self) -> str:
        """Make an empty database and return its address."""
        name = f"store_{next(_NUMBERS)}"
        self.run(f"CREATE DATABASE {name}")
        return self.url(name)


_NUMBERS = itertools.count(1)


def programs() -> Path:
    """Return the folder of the server's programs. Raises MissingError if there is none."""
    folders = [Path(found).parent for found in (shutil.which("postgres"),) if found]
    if shutil.which("pg_config"):
        told = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=False)
        folders.append(Path(told.stdout.strip()))
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "postgres").is_file() and (folder / "initdb").is_file():
            return folder
    raise MissingError("no PostgreSQL server is installed (apt-get install postgresql)")


@contextlib.contextmanager
def running() -> Iterator[Postgres]:
    """Run a server of its own for as long as the context lasts, or this process. Raises MissingError."""
    if sys.platform != "linux":
        raise MissingError("the server is started where it can be tied to the life of the tests: on Linux")
    folder = programs()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    where = Path(tempfile.mkdtemp(prefix="pg-"))
    try:
        if os.getuid() == 0:
            os.chown(where, ANYBODY, ANYBODY)
        (where / "password").write_text(PASSWORD)
        (where / "password").chmod(0o644)
        made = subprocess.run(
            [
                *(folder / "initdb", "-D", where / "data", "-U", "tester", "--auth=scram-sha-256", "--no-sync"),
                *("--encoding=UTF8", "--locale-provider=icu", "--icu-locale=en", f"--pwfile={where / 'password'}"),
            ],
            preexec_fn=_as_anybody,  # as below
            cwd=where,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise MissingError(f"no database can be made here ({made.stderr.strip().splitlines()[-1:]})")
        settings = [f"-c{name}={value}" for name, value in QUICK.items()]
        listens = ("-p", str(port), "-clisten_addresses=127.0.0.1", f"-cunix_socket_directories={where}")
        with (where / "log").open("wb") as log:
            process = subprocess.Popen(
                [folder / "postgres", "-D", where / "data", *listens, *settings],
                preexec_fn=_as_anybody,  # noqa: PLW1509  # it calls into the system alone
                cwd=where,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            server = Postgres(port, process)
            _wait(server, where / "log")
            yield server
        finally:
            process.send_signal(signal.SIGQUIT)  # at once, and with all its children
            process.wait()
    finally:
        shutil.rmtree(where, ignore_errors=True)


def _as_anybody() -> None:
    """Be no longer root, and end when the parent does, in whatever way."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(ANYBODY)
        os.setuid(ANYBODY)
    # After the change of user, which would undo it. SIGQUIT: a server leaves its children behind if it is killed.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)


def _wait(server: Postgres, log: Path) -> None:
    import psycopg

    end = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            server.run("SELECT 1")
            return
        except psycopg.OperationalError:
            if server.process.poll() is not None or time.monotonic() > end:
                last = log.read_text(errors="replace").strip().splitlines()[-1:]
                raise MissingError(f"no PostgreSQL server can be started here ({last})") from None
            time.sleep(0.05)
