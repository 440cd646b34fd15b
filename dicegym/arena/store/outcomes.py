"""Outcomes of matches as rows of a store, written and read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from dicegym.arena.match import Match
from dicegym.arena.ratings.match_places import match_places
from dicegym.arena.store.schema import AGENTS, GAMES, MATCHES, MISPLAYS, SEATS, rows_by_match, whole_numbers
from dicegym.arena.store.store import number_of_rules
from dicegym.engine.game import Game
from dicegym.sandbox.jobs import Entry, Failure

BY_PLAYER = {"wins": "wins", "shares": "share", "faults": "faults", "noted": "noted", "printed": "printed"}
"""What an outcome says of each player, and the columns of ``seats`` that hold it."""
MatchOutcome = dict[str, Any] | Failure
"""The outcome of a match: a `dicegym.arena.match.MatchResult` as plain values, or the failure that ended it."""


class KnownNumbers:
    """The numbers of agents and rules in a store, each asked for once."""

    def __init__(self) -> None:
        self._rules: dict[Game, int] = {}
        self._agents: dict[tuple[str, str], int] = {}

    def rules(self, connection: sa.Connection, game: Game) -> int:
        """Return the number of a game's rules, which are put there if they are not."""
        if game not in self._rules:
            self._rules[game] = number_of_rules(connection, game)
        return self._rules[game]

    def agent(self, connection: sa.Connection, entry: Entry) -> int:
        """Return the number of an agent that has been entered."""
        who = entry.name, entry.identity
        if who not in self._agents:
            same = (AGENTS.c.name == who[0]) & (AGENTS.c.identity == who[1])
            self._agents[who] = connection.execute(sa.select(AGENTS.c.id).where(same)).scalar_one()
        return self._agents[who]


def add_match(
    connection: sa.Connection, numbers: KnownNumbers, batch: str, key: str, job: Match, outcome: MatchOutcome
) -> int:
    """Put a match into a store unless it is there; return its number there.

    Args:
        connection: to the store, in a transaction that stays open.
        numbers: of its agents and rules.
        batch: the contest's seed.
        key: of the match.
        job: the match.
        outcome: of the match.
    """
    there = connection.execute(_NUMBER, {"key": key}).scalar()
    if there is not None:
        return int(there)
    failed = isinstance(outcome, Failure)
    found: Mapping[str, Any] = _outcome_of_failure(job) if isinstance(outcome, Failure) else outcome
    row = {
        "key": key,
        "rules": numbers.rules(connection, job.game),
        "batch": batch,
        "seed": str(job.seed),
        "number": job.number,
        "games": job.games,
        "places": json.dumps(match_places((), found["returns"]).places),
        "failure": json.dumps(list(outcome)) if failed else None,
    }
    match = connection.execute(_NEW_MATCH, row).scalar_one()
    seats = [
        {"match": match, "player": player, "agent": numbers.agent(connection, entry)}
        | {column: found[name][player] for name, column in BY_PLAYER.items()}
        | {"printed": _storable(found["printed"][player]) or None}
        for player, entry in enumerate(job.entries)
    ]
    played = zip(found["seats"], found["returns"], found["actions"], strict=True)
    games = [
        {"match": match, "number": number, "seats": _brief(seats), "returns": _brief(got), "actions": _brief(actions)}
        for number, (seats, got, actions) in enumerate(played)
    ]
    misplays = [
        {"match": match, "player": player, "game": game, "turn": turn, "reason": _storable(reason)}
        for player, game, turn, reason in found["incidents"]
    ]
    for table, rows in ((SEATS, seats), (GAMES, games), (MISPLAYS, misplays)):
        if rows:
            connection.execute(_NEW_ROWS[table], rows)
    return int(match)


# Made once, as making a statement takes longer than a small match takes to be stored.
_NUMBER = sa.select(MATCHES.c.id).where(MATCHES.c.key == sa.bindparam("key"))
_NEW_MATCH = sa.insert(MATCHES).returning(MATCHES.c.id)
_NEW_ROWS = {table: sa.insert(table) for table in (SEATS, GAMES, MISPLAYS)}


def _outcome_of_failure(job: Match) -> dict[str, list[Any]]:
    """Return the outcome of a match that ended by a failure."""
    by_player: dict[str, list[Any]] = {name: [0] * len(job.entries) for name in BY_PLAYER}
    return by_player | {"printed": [""] * len(job.entries), "seats": [], "returns": [], "actions": [], "incidents": []}


def _storable(text: str) -> str:
    """Return a bot's words as every database takes them: without the halves of letters, and without zeros."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def _brief(numbers: Iterable[Any]) -> str:
    """Return (nested) lists of numbers as JSON, which Python writes alike, in a third of the time."""
    return str(list(numbers)).replace(" ", "")


def matches_between(
    connection: sa.Connection, first: int, beyond: int, actions: bool = False
) -> dict[int, MatchOutcome]:
    """Return the outcomes of the matches with the numbers ``first`` .. ``beyond`` - 1, as their jobs returned them.

    ``actions``: those of their games too, which say what luck did; ranking does not need them.
    """

    def within(number: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
        return (number >= first) & (number < beyond)

    unread = () if actions else ("actions",)
    seats, games, misplays = (rows_by_match(connection, table, within, unread) for table in (SEATS, GAMES, MISPLAYS))
    found: dict[int, MatchOutcome] = {}
    for match, failure in connection.execute(sa.select(MATCHES.c.id, MATCHES.c.failure).where(within(MATCHES.c.id))):
        if failure is not None:
            found[match] = Failure(*json.loads(failure))
            continue
        sat, played = seats.get(match, []), games.get(match, [])
        outcome: dict[str, Any] = {
            name: [getattr(seat, column) for seat in sat] for name, column in BY_PLAYER.items()
        } | {
            "printed": [seat.printed or "" for seat in sat],
            "seats": [list(whole_numbers(game.seats)) for game in played],
            "returns": [[float(value) for value in json.loads(game.returns)] for game in played],
            "incidents": [[one.player, one.game, one.turn, one.reason] for one in misplays.get(match, [])],
        }
        if actions:
            outcome["actions"] = [whole_numbers(game.actions) for game in played]
        found[match] = outcome
    return found


def is_whole(match: Match, outcome: MatchOutcome) -> bool:
    """Return whether an outcome that was read is one of a match: a store may have lost or changed parts of it."""
    players = range(len(match.entries))
    if isinstance(outcome, Failure):
        return outcome.actor in players and isinstance(outcome.reason, str)
    by_player = all(len(outcome[name]) == len(players) for name in BY_PLAYER)
    seated = all(sorted(seats) == list(players) for seats in outcome["seats"])
    paid = all(len(returns) == len(players) for returns in outcome["returns"])
    counted = len(outcome["seats"]) == len(outcome["returns"]) == match.games
    told = all(player in players for player, *_ in outcome["incidents"])
    within = all(0 <= one <= match.games for name in ("wins", "shares") for one in outcome[name])
    return by_player and seated and paid and counted and told and within
