"""The outcomes of matches as rows of a store, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from dicegym.arena.match import Match
from dicegym.arena.ratings.places import match_places
from dicegym.arena.store.selecting import whole_numbers
from dicegym.arena.store.tables import AGENTS, GAMES, MATCHES, MISPLAYS, SEATS
from dicegym.engine.game import Game
from dicegym.sandbox.jobs import Failure

MatchOutcome = dict[str, Any] | Failure
"""What a match came to: a `dicegym.arena.match.MatchResult` as plain values, or who ended it."""
KeyedMatch = tuple[str, Match, MatchOutcome]
"""A match with its key, and what it came to."""

TOGETHER = 500
"""Keys that one question to the database names."""


class KnownNumbers:
    """The numbers of agents and rules in a store, each asked for once.

    Args:
        rules: returns the number of a game's rules, and puts them there if they are not.
    """

    def __init__(self, rules: Any) -> None:
        self._ask = rules
        self._rules: dict[Game, int] = {}
        self._agents: dict[tuple[str, str], int] = {}

    def rules(self, connection: sa.Connection, game: Game) -> int:
        """Return the number of a game's rules."""
        if game not in self._rules:
            self._rules[game] = self._ask(connection, game)
        return self._rules[game]

    def agent(self, connection: sa.Connection, who: tuple[str, str]) -> int:
        """Return the number of an agent of this name and identity, who has been entered."""
        if who not in self._agents:
            same = (AGENTS.c.name == who[0]) & (AGENTS.c.identity == who[1])
            self._agents[who] = connection.execute(sa.select(AGENTS.c.id).where(same)).scalar_one()
        return self._agents[who]


def add_matches(
    connection: sa.Connection, numbers: KnownNumbers, batch: str, matches: Sequence[KeyedMatch]
) -> list[int]:
    """Put matches into a store, each with its key, unless they are there; return their numbers there."""
    found: dict[str, int] = {}
    for first in range(0, len(matches), TOGETHER):
        keys = [key for key, _, _ in matches[first : first + TOGETHER]]
        known = sa.select(MATCHES.c.key, MATCHES.c.id).where(MATCHES.c.key.in_(keys))
        found |= {row.key: row.id for row in connection.execute(known)}
    new = [one for one in {key: (key, job, outcome) for key, job, outcome in matches}.values() if one[0] not in found]
    if new:
        rows = [_match_row(numbers.rules(connection, job.game), batch, key, job, outcome) for key, job, outcome in new]
        inserted = sa.insert(MATCHES).returning(MATCHES.c.id, sort_by_parameter_order=True)
        ids = [int(number) for number in connection.execute(inserted, rows).scalars()]
        found |= {key: number for (key, _, _), number in zip(new, ids, strict=True)}
        _add_seats(connection, numbers, ids, new)
        _add_games(connection, ids, new)
    return [found[key] for key, _, _ in matches]


def _match_row(rules: int, batch: str, key: str, job: Match, outcome: MatchOutcome) -> dict[str, Any]:
    failed = isinstance(outcome, Failure)
    places = () if isinstance(outcome, Failure) else match_places((), outcome["returns"]).places
    return {
        "key": key,
        "rules": rules,
        "batch": batch,
        "seed": str(job.seed),
        "number": job.number,
        "games": job.games,
        "places": json.dumps(places),
        "failure": json.dumps(list(outcome)) if failed else None,
    }


def _add_seats(
    connection: sa.Connection,
    numbers: KnownNumbers,
    ids: Sequence[int],
    matches: Sequence[KeyedMatch],
) -> None:
    rows = []
    for number, (_, job, outcome) in zip(ids, matches, strict=True):
        found: Any = _nothing(len(job.entries)) if isinstance(outcome, Failure) else outcome
        for player, entry in enumerate(job.entries):
            rows.append(
                {
                    "match": number,
                    "player": player,
                    "agent": numbers.agent(connection, (entry.name, entry.identity)),
                    "wins": found["wins"][player],
                    "share": found["shares"][player],
                    "faults": found["faults"][player],
                    "noted": found["noted"][player],
                    "printed": _storable(found["printed"][player]) or None,
                }
            )
    connection.execute(SEATS.insert(), rows)


def _add_games(connection: sa.Connection, ids: Sequence[int], matches: Sequence[KeyedMatch]) -> None:
    games, misplays = [], []
    for match, (_, _, outcome) in zip(ids, matches, strict=True):
        if isinstance(outcome, Failure):
            continue
        played = zip(outcome["seats"], outcome["returns"], outcome["actions"], strict=True)
        for number, (seats, returns, actions) in enumerate(played):
            games.append(
                {
                    "match": match,
                    "number": number,
                    "seats": _brief(seats),
                    "returns": _brief(returns),
                    "actions": _brief(actions),
                }
            )
        for player, game, turn, reason in outcome["incidents"]:
            misplays.append({"match": match, "player": player, "game": game, "turn": turn, "reason": _storable(reason)})
    if games:
        connection.execute(GAMES.insert(), games)
    if misplays:
        connection.execute(MISPLAYS.insert(), misplays)


def _storable(text: str | int) -> str:
    """Return a bot's words as every database takes them: without the halves of letters, and without zeros."""
    return str(text or "").encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def _brief(numbers: Iterable[Any]) -> str:
    """Return (nested) lists of numbers as JSON, which Python writes alike, in a third of the time."""
    return str(list(numbers)).replace(" ", "")


def matches_between(
    connection: sa.Connection, first: int, beyond: int, actions: bool = False
) -> dict[int, MatchOutcome]:
    """Return the outcomes of the matches with the numbers ``first`` .. ``beyond`` - 1, as their jobs returned them.

    ``actions``: those of their games too, which say what luck did; nobody needs them to rank matches.
    """
    rows = connection.execute(
        sa.select(MATCHES.c.id, MATCHES.c.failure).where((MATCHES.c.id >= first) & (MATCHES.c.id < beyond))
    )
    found: dict[int, MatchOutcome] = {
        row.id: _empty() if row.failure is None else Failure(*json.loads(row.failure)) for row in rows
    }

    def of(table: sa.Table, *order: sa.Column[Any]) -> Iterable[tuple[dict[str, Any], Any]]:
        unread = ("id",) if actions else ("actions", "id")
        columns = [column for column in table.columns if column.name not in unread]
        within = (table.c.match >= first) & (table.c.match < beyond)
        for row in connection.execute(sa.select(*columns).where(within).order_by(table.c.match, *order)).mappings():
            outcome = found.get(row["match"])
            if isinstance(outcome, dict):
                yield outcome, row

    for outcome, seat in of(SEATS, SEATS.c.player):
        for name, value in (("wins", seat["wins"]), ("shares", seat["share"]), ("faults", seat["faults"])):
            outcome[name].append(value)
        outcome["noted"].append(seat["noted"])
        outcome["printed"].append(seat["printed"] or "")
    for outcome, game in of(GAMES, GAMES.c.number):
        outcome["seats"].append(list(whole_numbers(json.loads(game["seats"]))))
        outcome["returns"].append([float(value) for value in json.loads(game["returns"])])
        if actions:
            outcome.setdefault("actions", []).append(whole_numbers(json.loads(game["actions"])))
    for outcome, misplay in of(MISPLAYS, MISPLAYS.c.id):
        outcome["incidents"].append([misplay["player"], misplay["game"], misplay["turn"], misplay["reason"]])
    return found


def is_whole(match: Match, outcome: MatchOutcome) -> bool:
    """Return whether an outcome that was read is one of a match: a store may have lost or changed parts of it."""
    players = range(len(match.entries))
    if isinstance(outcome, Failure):
        return outcome.actor in players and isinstance(outcome.reason, str)
    by_player = all(len(outcome[name]) == len(players) for name in ("wins", "shares", "faults", "noted", "printed"))
    seated = all(sorted(seats) == list(players) for seats in outcome["seats"])
    paid = all(len(returns) == len(players) for returns in outcome["returns"])
    counted = len(outcome["seats"]) == len(outcome["returns"]) == match.games
    told = all(player in players for player, *_ in outcome["incidents"])
    within = all(0 <= one <= match.games for name in ("wins", "shares") for one in outcome[name])
    return by_player and seated and paid and counted and told and within


def _nothing(players: int) -> dict[str, list[Any]]:
    """Return what a match that has ended by a failure came to for each player."""
    return {name: [0] * players for name in ("wins", "shares", "faults", "noted", "printed")}


def _empty() -> dict[str, Any]:
    return {name: [] for name in ("wins", "shares", "faults", "seats", "returns", "incidents", "noted", "printed")}
