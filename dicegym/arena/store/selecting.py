"""Questions to a store whose answers several readers share, and their rows as plain values."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from dicegym.arena.store.stored import PlayedGame, StoredContest, StoredMatch, StoredMisplay, StoredRules
from dicegym.arena.store.tables import AGENTS, CONTESTS, FIELDS, MATCHES, MISPLAYS, PLAYS, SEATS, NonsenseError
from dicegym.sandbox.jobs import Failure

TOGETHER = 5_000
"""Matches whose seats, games or misplays one question asks for."""
MOST_QUOTED = 40
"""Letters of nonsense that an error quotes."""


def own_matches(connection: sa.Connection, contest: int) -> sa.ColumnElement[bool]:
    """Return which plays are a contest's: of one that has not ended, without those of who has been withdrawn."""
    out = (
        sa.select(FIELDS.c.agent)
        .join(CONTESTS, CONTESTS.c.id == FIELDS.c.contest)
        .where(FIELDS.c.contest == contest, FIELDS.c.run < CONTESTS.c.run)
    )
    withdrawn = list(connection.execute(out).scalars())
    if not withdrawn:
        return PLAYS.c.contest == contest
    theirs = sa.select(SEATS.c.match).where(SEATS.c.agent.in_(withdrawn))
    return (PLAYS.c.contest == contest) & PLAYS.c.match.not_in(theirs)


def mapping_in(text: str, kind: type | tuple[type, ...] = object) -> dict[str, Any]:
    """Parse a JSON object with values of ``kind``. Raises ValueError if ``text`` holds anything else."""
    found = json.loads(text)
    if not isinstance(found, dict) or not all(isinstance(value, kind) for value in found.values()):
        raise NonsenseError(f"{text[:MOST_QUOTED]!r} where an object of JSON stands")
    return found


def whole_numbers(values: Any) -> tuple[int, ...]:
    """Return ``values`` as a tuple. Raises ValueError unless they are a list of whole numbers of 64 bits."""
    if not isinstance(values, list) or any(type(one) is not int or abs(one) >> 63 for one in values):
        raise NonsenseError(f"{str(values)[:MOST_QUOTED]!r} where whole numbers stand")
    return tuple(values)


def game_from(row: Any, players: int) -> PlayedGame:
    """Return a game of a match of ``players`` from its row. Raises ValueError if the row is damaged."""
    seats, actions = whole_numbers(json.loads(row.seats)), whole_numbers(json.loads(row.actions))
    returns = tuple(json.loads(row.returns))
    if sorted(seats) != list(range(players)) or len(returns) != players:
        raise NonsenseError(f"a game of {len(seats)} seats in a match of {players}")
    if any(type(value) not in (int, float) or not math.isfinite(value) for value in returns):
        raise NonsenseError(f"{row.returns[:MOST_QUOTED]!r} where returns stand")
    return PlayedGame(row.match, row.number, seats, returns, actions)


def contest_of(row: Mapping[Any, Any]) -> StoredContest:
    """Return a contest from its row."""
    plain = {name: row[name] for name in StoredContest._fields}
    read = {
        "parameters": mapping_in(row["parameters"], int),
        "options": mapping_in(row["options"]),
        "limits": mapping_in(row["limits"], (int, float, type(None))),
    }
    return StoredContest(**plain | read | {"seed": int(row["seed"])})


def rules_from(row: Any) -> StoredRules:
    """Return what a row of the rules says."""
    described = {"dicegym": row.version, "fingerprint": row.fingerprint}
    return StoredRules(row.game, row.players, mapping_in(row.parameters, int), described)


def agents_in(connection: sa.Connection) -> dict[int, tuple[str, str]]:
    """Return agent -> name and identity."""
    asked = sa.select(AGENTS.c.id, AGENTS.c.name, AGENTS.c.identity)
    return {row.id: (row.name, row.identity) for row in connection.execute(asked)}


def parts_of(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield numbers in parts that one question may name."""
    for first in range(0, len(numbers), TOGETHER):
        yield numbers[first : first + TOGETHER]


def matches_from(
    connection: sa.Connection, numbers: sa.Select[Any], agents: Mapping[int, tuple[str, str]]
) -> Iterator[StoredMatch]:
    """Yield the matches whose numbers a question gives, in order."""
    wanted = numbers.subquery()
    number = wanted.c[0]
    m = MATCHES.c
    about = sa.select(m.id, m.key, m.number, m.seed, m.games, m.failure).join(wanted, number == m.id).order_by(m.id)
    s = SEATS.c
    sitting = sa.select(s.match, s.agent, s.wins, s.share, s.faults).join(wanted, number == s.match)
    seated: dict[int, list[Any]] = {}
    for seat in connection.execute(sitting.order_by(s.match, s.player)):
        seated.setdefault(seat[0], []).append(seat)
    for row in connection.execute(about).all():
        seats = seated.get(row.id, [])
        who = [agents[seat[1]] for seat in seats]
        actor, reason = _failure(row.failure)
        yield StoredMatch(
            row.id,
            row.key,
            row.number,
            int(row.seed),
            row.games,
            tuple(name for name, _ in who),
            tuple(identity for _, identity in who),
            tuple(seat[2] for seat in seats),
            tuple(seat[3] for seat in seats),
            tuple(seat[4] for seat in seats),
            None if actor is None else who[actor][0],
            reason,
        )


def misplays_from(
    connection: sa.Connection, which: sa.ColumnElement[bool], first: int | None = None
) -> Iterator[StoredMisplay]:
    """Yield the misplays in the matches that ``which`` says, at most the ``first`` ones."""
    seat = (SEATS.c.match == MISPLAYS.c.match) & (SEATS.c.player == MISPLAYS.c.player)
    m = MISPLAYS.c
    asked = (
        sa.select(m.match, AGENTS.c.name, m.game, m.turn, m.reason)
        .join(SEATS, seat)
        .join(AGENTS, AGENTS.c.id == SEATS.c.agent)
        .where(which)
        .order_by(m.match, m.id)
        .limit(first)
    )
    for row in connection.execute(asked).all():
        yield StoredMisplay(*row)


def _failure(text: str | None) -> tuple[int | None, str | None]:
    """Return who ended a match, and how; see `dicegym.sandbox.jobs.Failure`."""
    if text is None:
        return None, None
    failure = Failure(*json.loads(text))
    if type(failure.actor) is not int or type(failure.reason) is not str:
        raise NonsenseError(f"{text[:MOST_QUOTED]!r} where a failure stands")
    return failure.actor, failure.reason
