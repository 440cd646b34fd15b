"""Stores brought together: what shards have played apart goes into one, where the same contest finds it by its keys."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from dicegym.arena.store.opening import location_of
from dicegym.arena.store.store import ContestStore, add
from dicegym.arena.store.tables import AGENTS, EXAMINATIONS, GAMES, MATCHES, MISPLAYS, RULES, SEATS
from dicegym.errors import ParameterError

TOGETHER = 500
"""Rows that one question to a database is about."""
_Row = dict[str, Any]


class Merged(NamedTuple):
    """What a store was given."""

    matches: int
    """That it did not have."""
    examinations: int
    """Checks of entries that it did not have."""
    known: int
    """Matches that it had."""

    def __add__(self, other: Any) -> Merged:
        """Return the sum of two mergers."""
        return Merged(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def merge(into: str | os.PathLike[str], stores: Iterable[str | os.PathLike[str]]) -> Merged:
    """Put the matches and checks of ``stores`` into another one, each once; return how many there were.

    What belongs to which contest is not copied: the contest's own command, with its seed and the store that all was
    put into, finds all that it needs there and plays nothing again. A server's games stay where they are.

    Args:
        into: path of a SQLite file, made if there is none, or the URL of a PostgreSQL database.
        stores: likewise; they are there, and stay as they are.

    Raises:
        ParameterError: there is no such store, or it cannot be used, or is the one that all goes into.
        DependencyError: one is on a server, and what speaks to that is not installed.
    """
    given = list(stores)
    target = location_of(into)
    for one in given:
        location = location_of(one)
        if location.path is not None and not location.path.is_file():
            raise ParameterError(f"there is no store {location.name}: name the files that the shards have written")
        if location.name == target.name or _same_file(location.path, target.path):
            raise ParameterError(f"{location.name} cannot be put into itself: name another store to put all into")
    total = Merged(0, 0, 0)
    with ContestStore(into) as store:
        for one in given:
            with ContestStore(one) as source, source.reading() as reading, store.writing() as writing:
                total += _Merger(reading, writing).merge()
    return total


def _same_file(first: Path | None, second: Path | None) -> bool:
    return first is not None and second is not None and second.exists() and first.samefile(second)


class _Merger:
    """Copies from one store to another, numbers of rows made those of the other."""

    def __init__(self, source: sa.Connection, target: sa.Connection) -> None:
        self._source, self._target = source, target

    def merge(self) -> Merged:
        """Copy all; return how much that was."""
        self._rules = self._named(RULES, ["game", "players", "parameters", "fingerprint"])
        self._agents = self._named(AGENTS, ["name", "identity"])
        new = known = 0
        for rows in _parts(self._source.execute(sa.select(MATCHES).order_by(MATCHES.c.id)).mappings()):
            have = self._have(MATCHES.c.key, [row["key"] for row in rows])
            lacking = [row for row in rows if row["key"] not in have]
            self._add_matches(lacking)
            new, known = new + len(lacking), known + len(have)
        examined = 0
        for rows in _parts(self._source.execute(sa.select(EXAMINATIONS)).mappings()):
            have = self._have(EXAMINATIONS.c.key, [row["key"] for row in rows])
            lacking = [row for row in rows if row["key"] not in have]
            add(self._target, EXAMINATIONS, lacking, ["key"])
            examined += len(lacking)
        return Merged(new, examined, known)

    def _named(self, table: sa.Table, names: Sequence[str]) -> dict[int, int]:
        """Copy rows that are the same if these columns are; return number there -> number here."""
        rows = [dict(row) for row in self._source.execute(sa.select(table)).mappings()]
        add(self._target, table, [_without_id(row) for row in rows], names)
        columns = [table.c[name] for name in names]
        here = {tuple(row)[1:]: int(row.id) for row in self._target.execute(sa.select(table.c.id, *columns))}
        return {row["id"]: here[tuple(row[name] for name in names)] for row in rows}

    def _have(self, key: sa.Column[Any], keys: Sequence[str]) -> set[str]:
        return set(self._target.execute(sa.select(key).where(key.in_(keys))).scalars())

    def _add_matches(self, rows: Sequence[_Row]) -> None:
        if not rows:
            return
        inserted = sa.insert(MATCHES).returning(MATCHES.c.id, sort_by_parameter_order=True)
        own = [_without_id(row) | {"rules": self._rules[row["rules"]]} for row in rows]
        here = [int(number) for number in self._target.execute(inserted, own).scalars()]
        numbers = dict(zip((row["id"] for row in rows), here, strict=True))
        for table in (SEATS, GAMES, MISPLAYS):
            asked = sa.select(table).where(table.c.match.in_(list(numbers))).order_by(*table.primary_key)
            for part in _parts(self._source.execute(asked).mappings()):
                self._target.execute(table.insert(), [self._renumbered(row, numbers) for row in part])

    def _renumbered(self, row: _Row, matches: Mapping[int, int]) -> _Row:
        own = _without_id(row) | {"match": matches[row["match"]]}
        return own | {"agent": self._agents[row["agent"]]} if "agent" in row else own


def _without_id(row: Mapping[str, Any]) -> _Row:
    return {name: value for name, value in row.items() if name != "id"}


def _parts(rows: Iterable[Mapping[Any, Any]]) -> Iterator[list[_Row]]:
    """Yield rows, some at a time."""
    waiting = iter(rows)
    while part := [dict(row) for row in itertools.islice(waiting, TOGETHER)]:
        yield part
