"""Open files: each connection is one, and the system lets a process have so many."""

from __future__ import annotations

import importlib
from typing import Any

BESIDE = 128
"""Files that a server opens beside its places: the store, ports, and connections that have not logged in."""
PER_AGENT = 4


def room_for(connections: int, agents: int = 0) -> int:
    """Return how many connections this process can have at once, up to ``connections``.

    The system's limit (``ulimit -n``) is raised for this process as far as that is allowed and needed.
    """
    try:
        resource: Any = importlib.import_module("resource")
    except ImportError:  # Windows has no such limit
        return connections
    beside = BESIDE + PER_AGENT * agents
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= connections + beside:
        return connections
    wanted = connections + beside
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        wanted = soft
    return int(max(1, min(connections, wanted - beside)))
