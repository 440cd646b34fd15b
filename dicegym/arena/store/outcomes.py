"""Store and read outcomes of matches as rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from dicegym.arena.match import Match
from dicegym.arena.match_rows import read_outcome, sum_up
from dicegym.arena.ratings.match_places import match_places
from dicegym.arena.store.schema import MATCHES, SEATS
from dicegym.sandbox.jobs import Failure

BY_PLAYER = {"wins": "wins", "shares": "share", "faults": "faults", "noted": "noted"}
"""Fields of an outcome by player, and their columns in ``seats``."""
WRITTEN = ("seats", "returns", "incidents", "printed", "usages")
"""Fields of an outcome that are stored as JSON."""
MatchOutcome = dict[str, Any] | Failure
"""The outcome of a match: plain values of a `dicegym.arena.match.MatchResult`, or the failure that ended it."""
_KEY = sa.select(MATCHES.c.id).where(MATCHES.c.key == sa.bindparam("key"))
_MATCH = sa.insert(MATCHES).returning(MATCHES.c.id)
_SEATS = sa.insert(SEATS)


def add_match(
    connection: sa.Connection, rules: int, agents: Sequence[int], batch: str, key: str, job: Match, outcome: Any
) -> int:
    """Store a match within the connection's transaction, unless it is stored already; return its id.

    ``rules`` and ``agents`` are the ids of its rules and entries, ``batch`` is the contest's seed.
    """
    there = connection.execute(_KEY, {"key": key}).scalar()
    if there is not None:
        return int(there)
    failed = isinstance(outcome, Failure)
    found: Mapping[str, Any] = {} if failed else outcome
    row = {
        "key": key,
        "rules": rules,
        "batch": batch,
        "seed": str(job.seed),
        "number": job.number,
        "games": job.games,
        "places": _brief(match_places((), found.get("returns", ())).places),
        "failure": json.dumps(list(outcome)) if failed else None,
        "outcome": _brief({name: found[name] for name in WRITTEN if name in found}),
        "actions": _brief(found.get("actions", ())),
    }
    match = int(connection.execute(_MATCH, row).scalar_one())
    seats = [
        {"match": match, "player": player, "agent": agent}
        | {column: 0 if failed else found[name][player] for name, column in BY_PLAYER.items()}
        for player, agent in enumerate(agents)
    ]
    connection.execute(_SEATS, seats)
    return match


def _brief(plain: Any) -> str:
    return json.dumps(plain, separators=(",", ":"))


def seats_by_match(connection: sa.Connection, which: sa.ColumnElement[bool]) -> dict[int, list[Any]]:
    """Return the selected rows of ``seats`` by match, in the order of its players."""
    found: dict[int, list[Any]] = {}
    for row in connection.execute(sa.select(SEATS).where(which).order_by(SEATS.c.match, SEATS.c.player)):
        found.setdefault(row.match, []).append(row)
    return found


def outcomes_between(
    connection: sa.Connection, first: int, beyond: int, actions: bool = False
) -> dict[int, MatchOutcome]:
    """Return the outcomes of the matches with the ids ``first`` .. ``beyond`` - 1, as their jobs returned them.

    ``actions``: with the actions, from which luck is computed; ranking does not need them.
    """
    number = MATCHES.c.id
    columns = [number, MATCHES.c.failure, MATCHES.c.outcome, *([MATCHES.c.actions] if actions else [])]
    asked = sa.select(*columns).where(number >= first, number < beyond)
    seats = seats_by_match(connection, (SEATS.c.match >= first) & (SEATS.c.match < beyond))
    found: dict[int, MatchOutcome] = {}
    for match, failure, outcome, *played in connection.execute(asked):
        if failure is not None:
            found[match] = Failure(*json.loads(failure))
            continue
        own = seats.get(match, [])
        by_player = {name: [getattr(seat, column) for seat in own] for name, column in BY_PLAYER.items()}
        found[match] = by_player | json.loads(outcome) | ({"actions": json.loads(played[0])} if actions else {})
    return found


def is_whole(match: Match, outcome: MatchOutcome) -> bool:
    """Return whether a stored outcome can be that of ``match``; raise what reading it for a result raises."""
    players = list(range(len(match.entries)))
    if isinstance(outcome, Failure):
        return outcome.actor in players and isinstance(outcome.reason, str)
    by_player = [*outcome["returns"], *(outcome[name] for name in BY_PLAYER)]
    seated = all(sorted(seats) == players for seats in outcome["seats"])
    counted = len(outcome["seats"]) == len(outcome["returns"]) == match.games
    whole = counted and seated and all(len(own) == len(players) for own in by_player)
    within = all(0 <= one <= match.games for name in ("wins", "shares") for one in outcome[name])
    read = whole and within and bool(sum_up([read_outcome(match, outcome)]))
    return read and all(player >= 0 and outcome["noted"][player] > 0 for player, *_ in outcome["incidents"])
