"""Stores brought together: what shards have played apart goes into one, where the same contest finds it by its keys."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from dicegym.arena.store.opening import location_of
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.schema import AGENTS, GAMES, MATCHES, MISPLAYS, RULES, SEATS, rows_by_match, those
from dicegym.arena.store.store import ContestStore, add
from dicegym.arena.store.verifying import refuse_wrong, verdicts
from dicegym.errors import ParameterError
from dicegym.games.parts import Progress

TOGETHER = 500
"""Matches that are copied at once."""


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
    served: int = 0
    """Games of servers, which are left out: a store keeps them with their runs and ratings."""

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
    its seed and the store that all was put into, finds the matches there. A server's games are left out.

    Args:
        into: path of a SQLite file, made if there is none, or the URL of a PostgreSQL database.
        stores: likewise; they are there, and stay as they are.
        sample: the number of matches of each store, drawn at random, that are played again instead of all.
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
            with StoreReader(one) as source:
                served = sum(server.games for server in source.servers())
                with source.connection() as reading:
                    found = list(verdicts(reading, sample, progress))
                    refuse_wrong(source.name, found)
                    wanted = [one.id for one in found if not one.other_rules and (failed or not one.failed)]
                    with store.writing() as writing:
                        new = _copy(reading, writing, wanted)
                    replayed, ended, others = (
                        sum(getattr(one, name) for one in found) for name in ("replayed", "failed", "other_rules")
                    )
                    total += Merged(new, len(wanted) - new, replayed, ended, others, served)
    return total


def _same_file(first: Path | None, second: Path | None) -> bool:
    return first is not None and second is not None and second.exists() and first.samefile(second)


def _copy(source: sa.Connection, target: sa.Connection, wanted: Sequence[int]) -> int:
    """Copy matches by their numbers, unless they are there; return how many were not."""
    rules = _copy_named(source, target, RULES, ["game", "players", "parameters", "fingerprint"])
    agents = _copy_named(source, target, AGENTS, ["name", "identity"])
    new = 0
    for first in range(0, len(wanted), TOGETHER):
        some = MATCHES.c.id.in_(wanted[first : first + TOGETHER])
        rows = source.execute(sa.select(MATCHES).where(some).order_by(MATCHES.c.id)).all()
        known = sa.select(MATCHES.c.key).where(MATCHES.c.key.in_([row.key for row in rows]))
        there = set(target.execute(known).scalars())
        rows = [row for row in rows if row.key not in there]
        if not rows:
            continue
        numbered = sa.insert(MATCHES).returning(MATCHES.c.id, sort_by_parameter_order=True)
        ids = target.execute(numbered, [_without_id(row) | {"rules": rules[row.rules]} for row in rows]).scalars()
        here = dict(zip([row.id for row in rows], ids, strict=True))
        for table in (SEATS, GAMES, MISPLAYS):
            found = rows_by_match(source, table, those(list(here)))
            copies = [_without_id(row) | {"match": here[match]} for match, own in found.items() for row in own]
            for copy in copies if table is SEATS else ():
                copy["agent"] = agents[copy["agent"]]
            if copies:
                target.execute(table.insert(), copies)
        new += len(rows)
    return new


def _copy_named(
    source: sa.Connection, target: sa.Connection, table: sa.Table, names: Sequence[str]
) -> Mapping[int, int]:
    """Copy rows that are the same if these columns are; return number there -> number here."""
    rows = source.execute(sa.select(table)).all()
    add(target, table, [_without_id(row) for row in rows], names)
    columns = [table.c[name] for name in names]
    here = {tuple(own): int(number) for number, *own in target.execute(sa.select(table.c.id, *columns))}
    return {row.id: here[tuple(getattr(row, name) for name in names)] for row in rows}


def _without_id(row: Any) -> dict[str, Any]:
    return {name: value for name, value in row._asdict().items() if name != "id"}
