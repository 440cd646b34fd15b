"""Stores brought together: what shards have played apart goes into one, where the same contest finds it by its keys."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from dicegym.arena.store.opening import location_of
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.store import ContestStore, add
from dicegym.arena.store.tables import AGENTS, GAMES, MATCHES, MISPLAYS, RULES, SEATS
from dicegym.arena.store.verifying import refuse_wrong, verdicts
from dicegym.errors import ParameterError
from dicegym.games.parts import Progress

TOGETHER = 500
"""Rows that one question to a database is about."""
_Row = dict[str, Any]


class Merged(NamedTuple):
    """What a store was given."""

    matches: int
    """That it did not have."""
    known: int
    """Matches that it had."""
    replayed: int
    """How many of the given ones were played again."""
    failed: int
    """Matches that an entry ended by failing."""
    other_rules: int
    """Matches by other rules than today's, which are left out."""

    def __add__(self, other: Any) -> Merged:
        """Return the sum of two mergers."""
        return Merged(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def merge(
    into: str | os.PathLike[str],
    stores: Iterable[str | os.PathLike[str]],
    sample: int | None = None,
    failed: bool = False,
    progress: Progress | None = None,
) -> Merged:
    """Put the matches of ``stores`` into another one, each once; return how many there were.

    Nothing is believed that can be tried: games are played again, and all figures and keys have to follow from them
    (`dicegym.arena.store.verifying`), else nothing of a store is taken. What entries answered when they were checked is
    not copied, as only they can show it. What belongs to which contest is not either: the contest's own command, with
    its seed and the store that all was put into, finds the matches there. A server's games stay where they are.

    Args:
        into: path of a SQLite file, made if there is none, or the URL of a PostgreSQL database.
        stores: likewise; they are there, and stay as they are.
        sample: so many matches of each store, drawn at random, are played again instead of all.
        failed: take matches, too, that an entry ended by failing, which no replay can show; else they are played anew.
        progress: told of matches.

    Raises:
        ParameterError: there is no such store, or it cannot be used, or is the one that all goes into, or something in
            it cannot be.
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
    total = Merged(0, 0, 0, 0, 0)
    with ContestStore(into) as store:
        for one in given:
            with StoreReader(one) as source, source.connection() as reading:
                found = list(verdicts(reading, sample, progress))
                refuse_wrong(source.name, found)
                taken = [verdict for verdict in found if not verdict.other_rules and (failed or not verdict.failed)]
                with store.writing() as writing:
                    new, known = _Merger(reading, writing).merge([verdict.id for verdict in taken])
                total += Merged(
                    new,
                    known,
                    sum(verdict.replayed for verdict in found),
                    sum(verdict.failed for verdict in found),
                    sum(verdict.other_rules for verdict in found),
                )
    return total


def _same_file(first: Path | None, second: Path | None) -> bool:
    return first is not None and second is not None and second.exists() and first.samefile(second)


class _Merger:
    """Copies from one store to another, numbers of rows made those of the other."""

    def __init__(self, source: sa.Connection, target: sa.Connection) -> None:
        self._source, self._target = source, target

    def merge(self, wanted: Sequence[int]) -> tuple[int, int]:
        """Copy matches by their numbers; return how many the target did not have, and had."""
        self._rules = self._named(RULES, ["game", "players", "parameters", "fingerprint"])
        self._agents = self._named(AGENTS, ["name", "identity"])
        new = known = 0
        for first in range(0, len(wanted), TOGETHER):
            some = MATCHES.c.id.in_(wanted[first : first + TOGETHER])
            asked = self._source.execute(sa.select(MATCHES).where(some).order_by(MATCHES.c.id)).mappings()
            rows = [dict(row) for row in asked]
            have = self._have(MATCHES.c.key, [row["key"] for row in rows])
            lacking = [row for row in rows if row["key"] not in have]
            self._add_matches(lacking)
            new, known = new + len(lacking), known + len(have)
        return new, known

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
