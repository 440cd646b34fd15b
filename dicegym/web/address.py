"""The address of the web server. This module imports little, so that the command can listen and print it first."""

from __future__ import annotations

import errno
import os
import socket

from dicegym.errors import ParameterError

BACKLOG = 512


def address_of(host: str, port: int) -> str:
    """Return the URL for a browser on this machine of a server that listens on ``host``."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/"


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises ParameterError if the host or port cannot be used."""
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
        raise ParameterError(_explain(error, host, port)) from None
    return listener


def _explain(error: OSError, host: str, port: int) -> str:
    taken = f"port {port} of {host} is taken, perhaps by another `dicegym web`"
    return {
        errno.EADDRINUSE: f"{taken}: give another --port, or --port 0 for any free port",
        errno.EACCES: f"port {port} is reserved for the system: use --port 1024 or higher, behind a proxy",
        errno.EADDRNOTAVAIL: f"{host} is not an address of this machine: use 127.0.0.1, or 0.0.0.0 for all networks",
    }.get(error.errno or 0, f"cannot listen on port {port} of {host}: {error.strerror}")
