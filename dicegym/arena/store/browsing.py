"""Questions that pages ask of a store: a page of matches, how far a contest is, who has taken part in what."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from dicegym.arena.store.holding import lock_files
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.selecting import agents_in, matches_from, own_matches
from dicegym.arena.store.stored import StoredMatch
from dicegym.arena.store.tables import AGENTS, CONTESTS, FIELDS, MATCHES, PLAYS, RULES, SEATS
from dicegym.errors import unknown_name

LOCKS = Path("/proc/locks")
"""Where Linux says which files are locked."""


class ContestProgress(NamedTuple):
    """How far a contest is."""

    run: int
    played: int
    """Matches that are stored of it."""
    planned: int
    """Matches that it has, as far as known; 0: nobody knows."""
    ended: str | None


class KnownAgent(NamedTuple):
    """Somebody who has taken part in contests of a game."""

    name: str
    kind: str
    """Of what took part last under this name: "bot", "model" or "player"."""
    contests: int
    versions: int
    """How many different contents took part under this name."""


class Participation(NamedTuple):
    """That an agent took part in a contest."""

    contest: int
    identity: str
    """SHA-256 of what it was made of."""
    withdrawn: bool
    reason: str | None
    """Why it was struck; None if it was not."""


def progress_of(reader: StoreReader, contest: int) -> ContestProgress:
    """Return how far a contest is. Raises UnknownNameError if there is none of this number."""
    played = sa.select(sa.func.count()).select_from(PLAYS).where(PLAYS.c.contest == contest).scalar_subquery()
    asked = sa.select(CONTESTS.c.run, played, CONTESTS.c.planned, CONTESTS.c.ended).where(CONTESTS.c.id == contest)
    with reader.connection() as connection:
        row = connection.execute(asked).first()
    if row is None:
        raise unknown_name("contest", contest, [], f"(in {reader.name})")
    return ContestProgress(*row)


def is_held(reader: StoreReader, contest: int) -> bool:
    """Return whether some process has a contest just now, as far as this machine can tell."""
    if reader.path is None:
        asked = (
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = :contest AND objsubid = 2 "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        with reader.connection() as connection:
            return bool(connection.execute(sa.text(asked), {"contest": contest}).scalar())
    files = lock_files(reader.path, contest)
    if not files or not LOCKS.is_file():
        return bool(files)
    locked = {line.split()[5] for line in LOCKS.read_text().splitlines() if line.split()[1] == "FLOCK"}
    for file in files:
        try:
            found = file.stat()
        except OSError:  # it has just ended
            continue
        if f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}" in locked:
            return True
    return False


def newest_matches(
    reader: StoreReader, contest: int, entry: str | None = None, before: int | None = None, count: int = 50
) -> list[StoredMatch]:
    """Return matches of a contest, the newest first.

    Args:
        reader: of the store.
        contest: which.
        entry: those of this entry alone, whatever it was made of.
        before: those with lower numbers alone: how a list goes on.
        count: at most so many.

    Raises UnknownNameError if the contest has no such entry.
    """
    if entry is not None and entry not in {one.name for one in reader.entries(contest)}:
        raise unknown_name("entry", entry, sorted({one.name for one in reader.entries(contest)}))
    with reader.connection() as connection:
        own = sa.select(PLAYS.c.match).where(own_matches(connection, contest))
        if entry is not None:
            own = own.where(PLAYS.c.match.in_(_matches_of(entry)))
        if before is not None:
            own = own.where(PLAYS.c.match < before)
        own = own.order_by(PLAYS.c.match.desc()).limit(count)
        return list(matches_from(connection, own, agents_in(connection)))[::-1]


def matches_of(
    reader: StoreReader, game: str, name: str, before: int | None = None, count: int = 50
) -> list[StoredMatch]:
    """Return matches of an agent in contests of a game, the newest first; arguments as of `newest_matches`."""
    asked = (
        sa.select(MATCHES.c.id)
        .join(RULES, RULES.c.id == MATCHES.c.rules)
        .where(RULES.c.game == game, MATCHES.c.id.in_(_matches_of(name)))
        .order_by(MATCHES.c.id.desc())
        .limit(count)
    )
    if before is not None:
        asked = asked.where(MATCHES.c.id < before)
    with reader.connection() as connection:
        return list(matches_from(connection, asked, agents_in(connection)))[::-1]


def _matches_of(name: str) -> sa.Select[tuple[int]]:
    named = sa.select(AGENTS.c.id).where(AGENTS.c.name == name)
    return sa.select(SEATS.c.match).where(SEATS.c.agent.in_(named))


def contests_with(reader: StoreReader, match: int) -> list[tuple[int, bool]]:
    """Return the contests that have a match, the newest first, and whether each has ended."""
    asked = (
        sa.select(CONTESTS.c.id, CONTESTS.c.ended)
        .join(PLAYS, PLAYS.c.contest == CONTESTS.c.id)
        .where(PLAYS.c.match == match)
        .order_by(CONTESTS.c.id.desc())
    )
    with reader.connection() as connection:
        return [(row.id, row.ended is not None) for row in connection.execute(asked)]


def known_agents(reader: StoreReader, game: str) -> list[KnownAgent]:
    """Return who has taken part in contests of a game, by name."""
    asked = (
        sa.select(AGENTS.c.id, AGENTS.c.name, AGENTS.c.kind, FIELDS.c.contest)
        .join(FIELDS, FIELDS.c.agent == AGENTS.c.id)
        .join(CONTESTS, CONTESTS.c.id == FIELDS.c.contest)
        .join(RULES, RULES.c.id == CONTESTS.c.rules)
        .where(RULES.c.game == game)
        .order_by(AGENTS.c.id)
    )
    kinds: dict[str, str] = {}
    contests: dict[str, set[int]] = {}
    versions: dict[str, set[int]] = {}
    with reader.connection() as connection:
        for row in connection.execute(asked):
            kinds[row.name] = row.kind
            contests.setdefault(row.name, set()).add(row.contest)
            versions.setdefault(row.name, set()).add(row.id)
    return [KnownAgent(name, kinds[name], len(contests[name]), len(versions[name])) for name in sorted(kinds)]


def participations(reader: StoreReader, game: str, name: str) -> list[Participation]:
    """Return in which contests of a game somebody took part under a name, the oldest first."""
    asked = (
        sa.select(CONTESTS.c.id, AGENTS.c.identity, (FIELDS.c.run < CONTESTS.c.run).label("withdrawn"), FIELDS.c.reason)
        .join(FIELDS, FIELDS.c.contest == CONTESTS.c.id)
        .join(AGENTS, AGENTS.c.id == FIELDS.c.agent)
        .join(RULES, RULES.c.id == CONTESTS.c.rules)
        .where(RULES.c.game == game, AGENTS.c.name == name)
        .order_by(CONTESTS.c.id, AGENTS.c.id)
    )
    with reader.connection() as connection:
        return [Participation(row[0], row[1], bool(row[2]), row[3]) for row in connection.execute(asked)]
