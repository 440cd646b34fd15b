"""The address of a server of pages: taken and said before anything else is loaded."""

from __future__ import annotations

import errno
import os
import secrets
import socket
from collections.abc import Sequence

from dicegym.errors import ParameterError
from dicegym.server.admission import is_loopback

BACKLOG = 512
TOKEN_BYTES = 16
FIELD = "token"
"""Of the query of the address that an operator opens."""


def new_token() -> str:
    """Return what makes a browser the operator's; another one at each start."""
    return secrets.token_hex(TOKEN_BYTES)


def is_private(host: str, hosts: Sequence[str], proxies: Sequence[str]) -> bool:
    """Return whether nobody but this machine reaches a server of pages, given its settings."""
    return is_loopback(host) and not hosts and not proxies


def compose_address(host: str, port: int, hosts: Sequence[str], proxies: Sequence[str], token: str) -> str:
    """Return the address that a server prints: with its token where nobody else reaches it."""
    address = address_of(host, port)
    return with_token(address, token) if is_private(host, hosts, proxies) else address


def with_token(address: str, token: str) -> str:
    """Return the address that makes a browser the operator's."""
    return f"{address}?{FIELD}={token}"


def address_of(host: str, port: int) -> str:
    """Return where a browser on this machine finds a server that listens on ``host``."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/"


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises ParameterError, in words, where that is not possible."""
    if not 0 <= port <= 65535:
        raise ParameterError(f"invalid --port {port}: use 1024-65535, or 0 for any free port")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except OSError:
        raise ParameterError(
            f"invalid --host {host!r}: use 127.0.0.1 for this machine alone, or 0.0.0.0 for all"
        ) from None
    listener = socket.socket(found[0], socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(found[4])
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise ParameterError(f"{_why(error, host, port)}") from None
    return listener


def _why(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is taken, perhaps by another `dicegym web`: give another one by --port, or "
            "--port 0 for any free one"
        )
    if error.errno == errno.EACCES:
        return f"port {port} is for the system's own programs: give one from 1024 on, and put a proxy before it"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is not an address of this machine: use 127.0.0.1 for this machine alone, 0.0.0.0 for all"
    return f"port {port} of {host} cannot be listened on: {error.strerror}"
