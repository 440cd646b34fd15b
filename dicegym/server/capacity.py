"""Who has a place on the server, and who loses it when there are too many.

A server has so many places. Where names have secrets, some more connections than that
are let in, for as long as it takes to log in: a guest is then told that the server is full, and the owner of a secret
gets a place, at the cost of somebody idle if need be. So an owner always gets in, whoever keeps the places.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

SPARE = 32
"""Connections beyond the places, which have not logged in yet."""


class Visitor(Protocol):
    """A connection, as far as places go."""

    @property
    def idleness(self) -> int:
        """How dispensable it is: 0 not at all, and else the more the greater."""


class Capacity:
    """The places of a server.

    Args:
        most: how many there are.
        owners: whether names have secrets.
    """

    def __init__(self, most: int, owners: bool) -> None:
        self._most = most
        self._spare = SPARE if owners else 0
        self._taken: dict[Visitor, None] = {}  # in the order in which they came
        self._extra: dict[Visitor, None] = {}

    def enter(self, visitor: Visitor) -> str:
        """Take in a connection. Return why not, if there is no place for it."""
        why = self._full()
        if not why:
            self._taken[visitor] = None
        elif self._spare:
            self._extra[visitor] = None
        return "" if self._spare else why

    def surplus(self) -> Visitor | None:
        """Return who is to go because more have come than wait beyond the places; None while they are few."""
        return _idlest(self._extra) if len(self._extra) > self._spare else None

    def stay(self, visitor: Visitor) -> str:
        """Give a guest a place. Return why not, if there is none."""
        if visitor not in self._extra:
            return ""
        why = self._full()
        if not why:
            self._taken[visitor] = self._extra.pop(visitor)
        return why

    def own(self, visitor: Visitor) -> Visitor | None:
        """Give the owner of a secret a place; return who is to lose its own for that, if anybody has to and is idle."""
        self._extra.pop(visitor, None)
        self._taken[visitor] = None
        return _idlest(self._taken) if len(self._taken) > self._most else None

    def leave(self, visitor: Visitor) -> None:
        """Take note that a connection is gone."""
        self._taken.pop(visitor, None)
        self._extra.pop(visitor, None)

    def _full(self) -> str:
        if len(self._taken) >= self._most:
            return f"the server has {self._most} connections, which is all it takes: try later"
        return ""


def _idlest(among: Iterable[Visitor]) -> Visitor | None:
    """Return the idlest, of those the first."""
    idle = [visitor for visitor in among if visitor.idleness]
    return max(idle, key=lambda visitor: visitor.idleness, default=None)
