"""Removing a contest from a store, with all that is no other contest's."""

from __future__ import annotations

import contextlib
from typing import NamedTuple

import sqlalchemy as sa

from dicegym.arena.store.holding import lock_contest
from dicegym.arena.store.store import ContestStore
from dicegym.arena.store.tables import (
    AGENTS,
    CONTESTS,
    EXAMINATIONS,
    FIELDS,
    GAMES,
    MATCHES,
    MISPLAYS,
    PLAYS,
    RULES,
    SEATS,
    STANDINGS,
)


class Removed(NamedTuple):
    """What has gone with a contest."""

    matches: int
    games: int
    entries: int
    """Entries that have no part in another contest."""
    kept: int
    """Its matches that stay, as other contests have them too."""


def remove(store: ContestStore, contest: int) -> Removed:
    """Remove a contest, and of the matches with its seed those that no other contest has; the file gets smaller.

    Raises ParameterError if another process holds the contest, or one of the same seed, whose matches may be its too.
    """
    with store.reading() as connection:
        seed = sa.select(CONTESTS.c.seed).where(CONTESTS.c.id == contest).scalar_subquery()
        related = list(connection.execute(sa.select(CONTESTS.c.id).where(CONTESTS.c.seed == seed)).scalars())
    with contextlib.ExitStack() as stack:
        for one in related:
            stack.enter_context(lock_contest(store, one, None))
        with store.writing() as connection:
            removed = _remove(connection, contest)
        with contextlib.suppress(sa.exc.OperationalError):  # somebody else uses the file: another time, then
            store.compact()
    return removed


def _remove(connection: sa.Connection, contest: int) -> Removed:
    def drop(table: sa.Table, *where: sa.ColumnElement[bool]) -> int:
        return connection.execute(table.delete().where(*where)).rowcount

    seed = connection.execute(sa.select(CONTESTS.c.seed).where(CONTESTS.c.id == contest)).scalar()
    others = PLAYS.alias()
    shared = sa.exists().where(others.c.match == PLAYS.c.match, others.c.contest != contest)
    kept = sa.select(sa.func.count()).select_from(PLAYS).where(PLAYS.c.contest == contest, shared)
    stay = int(connection.execute(kept).scalar_one())
    drop(PLAYS, PLAYS.c.contest == contest)
    nobodys = sa.select(MATCHES.c.id).where(MATCHES.c.batch == seed, ~sa.exists().where(PLAYS.c.match == MATCHES.c.id))
    drop(MISPLAYS, MISPLAYS.c.match.in_(nobodys))
    games = drop(GAMES, GAMES.c.match.in_(nobodys))
    drop(SEATS, SEATS.c.match.in_(nobodys))
    matches = drop(MATCHES, MATCHES.c.id.in_(nobodys))
    drop(STANDINGS, STANDINGS.c.contest == contest)
    drop(FIELDS, FIELDS.c.contest == contest)
    drop(CONTESTS, CONTESTS.c.id == contest)
    if not connection.execute(sa.select(sa.exists().where(CONTESTS.c.seed == seed))).scalar():
        drop(EXAMINATIONS, EXAMINATIONS.c.batch == seed)
    entries = drop(
        AGENTS,
        ~sa.exists().where(FIELDS.c.agent == AGENTS.c.id),
        ~sa.exists().where(SEATS.c.agent == AGENTS.c.id),
    )
    drop(
        RULES,
        ~sa.exists().where(CONTESTS.c.rules == RULES.c.id),
        ~sa.exists().where(MATCHES.c.rules == RULES.c.id),
    )
    return Removed(matches, games, entries, stay)
