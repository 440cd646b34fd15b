"""A client as the lobby and its table see it, and which clients play together next."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dicegym.server.access import origin_of

if TYPE_CHECKING:
    from dicegym.server.connections import Connection
    from dicegym.server.table import Table


class Client:
    """A client, from its connection on."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.tell = connection.send
        self.origin = origin_of(connection.address)
        self.name = ""
        self.guest = True  # until it has shown a secret
        self.original = False  # shown the table when it is to move, and nothing else, as the original server does
        self.table: Table | None = None
        self.seat = 0
        self.since = 0.0  # the time from which on it waits
        self.met: dict[str, int] = {}  # names of those it has met, with the number of the last common game
        self.last: frozenset[str] = frozenset()  # the names of all remote bots at its last table
        self.asleep = False
        self.stirred = True
        self.moved = False  # whether it has ever made a move
        self.wrong = 0  # secrets
        self.deadline: asyncio.TimerHandle | None = None  # to log in

    @property
    def present(self) -> bool:
        """Whether it can be told anything."""
        return self.connection.open

    @property
    def waits(self) -> bool:
        """Whether it is to be seated."""
        return bool(self.name) and self.table is None and not self.asleep and not self.resting and self.present

    @property
    def resting(self) -> bool:
        """Whether its last game has just ended."""
        return asyncio.get_running_loop().time() < self.since

    @property
    def idleness(self) -> int:
        """How dispensable it is: 3 if it has not logged in, 2 if it does not answer, 1 if it has never moved."""
        if not self.guest:
            return 0
        return 3 if not self.name else 2 if self.asleep else 0 if self.moved else 1

    def note_help(self) -> None:
        """Take note that the server has played a turn for it: unless it says something, it may be asleep."""
        self.stirred = False


def find_company(
    waiting: Sequence[Client], players: int, local: int, expected: int, now: float, patience: float
) -> list[Client] | None:
    """Return the remote bots that play the next game, None if it is better to wait.

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
    remote = [first, *others[: players - 1]]
    free = players - len(remote)
    if free > local:
        return None
    if expected and now - first.since < patience and (free or {bot.name for bot in remote} == first.last):
        return None
    return remote
