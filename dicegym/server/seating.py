"""Who plays whom: from those who wait to the company of the next table. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Waiting(NamedTuple):
    """A remote bot that waits for a game."""

    name: str
    since: float
    """When it began to wait, in seconds of some clock."""
    met: Mapping[str, int]
    """Names of those it has met, with the number of the last common game; larger is later."""
    last: frozenset[str]
    """The names of all remote bots at its last table, its own included."""


class Company(NamedTuple):
    """Who sits down together."""

    remote: tuple[str, ...]
    local: int
    """Seats left for local agents."""


def company(
    waiting: Sequence[Waiting], players: int, local: int, expected: int, now: float, patience: float
) -> Company | None:
    """Return who plays the next game, None if it is better to wait.

    Who waits longest plays next, against those it has met longest ago or never, and then those who wait longest.
    Local agents fill what seats are left. Nobody waits longer than ``patience`` for more remote bots, or for others
    than it has just played with, and not at all if there are none to come.

    Args:
        waiting: the remote bots that wait.
        players: seats at a table.
        local: how many local agents there are.
        expected: how many more remote bots are connected and may soon wait too.
        now: the time.
        patience: in seconds.
    """
    if not waiting:
        return None
    first, *others = sorted(waiting, key=lambda bot: bot.since)
    others.sort(key=lambda bot: (first.met.get(bot.name, -1), bot.since))
    remote = tuple(bot.name for bot in (first, *others[: players - 1]))
    free = players - len(remote)
    if free > local:
        return None
    if expected and now - first.since < patience and (free or frozenset(remote) == first.last):
        return None
    return Company(remote, free)
