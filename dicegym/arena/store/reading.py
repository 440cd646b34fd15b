"""A reader of stores: contests while they run and afterwards, and servers' games.

Nothing is ever written to it. `StoreReader` answers in plain values (`dicegym.arena.store.stored_rows`).
"""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import sqlalchemy as sa

from dicegym.arena.ratings.match_places import MatchPlaces
from dicegym.arena.report import Report
from dicegym.arena.store.opening import Database, is_new, location_of
from dicegym.arena.store.outcomes import seats_by_match
from dicegym.arena.store.schema import (
    AGENTS,
    CONTESTS,
    FIELDS,
    MATCHES,
    PLAYS,
    RULES,
    SEATS,
    SERVER_GAMES,
    SERVER_INCIDENTS,
    SERVER_RESULTS,
    SERVER_RUNS,
    mapping_in,
    whole_numbers,
)
from dicegym.arena.store.store import live_file, lock_contest, lock_file
from dicegym.arena.store.stored_rows import (
    EntryFigures,
    RunningMatch,
    ServedGame,
    StoredContest,
    StoredEntry,
    StoredMatch,
    StoredMisplay,
    WholeMatch,
    agents_in,
    games_from,
    match_from,
    misplays_from,
    rules_from,
)
from dicegym.errors import ParameterError, UnknownNameError, unknown_name

TOGETHER, WHOLE_TOGETHER = 5_000, 500
"""Matches that one question asks for, and those of which it asks for everything."""
_Read = TypeVar("_Read")


class StoreReader(Database):
    """A store of contests, to be read.

    Args:
        where: path of a file, or URL of a PostgreSQL database.

    Attributes:
        name: where it is, for people.
        path: of its file; None: it is on a server.

    Raises:
        ParameterError: there is no such file, or it is not a store, damaged, out of reach, or has a later schema.
        DependencyError: it is on a server, and what speaks to that is not installed.

    What is asked of it raises the same, as not all damage shows at once; and UnknownNameError where there is no such
    contest, entry or match.
    """

    def __init__(self, where: str | os.PathLike[str]) -> None:
        location = location_of(where)
        if location.path is not None and not location.path.is_file():
            raise ParameterError(
                f"there is no store {location.path}: `dicegym tournament` makes one in your data folder, or "
                "where --store says; name another by --store"
            )
        super().__init__(location, writes=False)

    def _check(self) -> None:
        with self.connection() as connection:
            if is_new(connection, self.name):
                raise ParameterError(f"{self.name} is empty: no contest has been stored in it")

    def contests(self, game: str | None = None, with_match: int | None = None) -> list[StoredContest]:
        """Return all contests, or those of a game, or those that have a match, the oldest first."""
        asked = _contests()
        if game is not None:
            asked = asked.where(RULES.c.game == game)
        if with_match is not None:
            asked = asked.where(CONTESTS.c.id.in_(sa.select(PLAYS.c.contest).where(PLAYS.c.match == with_match)))
        return self._contests(asked)

    def _contests(self, asked: sa.Select[Any]) -> list[StoredContest]:
        with self.connection() as connection:
            found = []
            for row in connection.execute(asked).mappings():
                plain = {name: row[name] for name in StoredContest._fields}
                plain["parameters"] = mapping_in(row["parameters"], int)
                plain["options"] = mapping_in(row["options"])
                plain["limits"] = mapping_in(row["limits"], (int, float, type(None)))
                found.append(StoredContest(**plain | {"seed": int(row["seed"])}))
            return found

    def contest(self, number: int | None = None) -> StoredContest:
        """Return a contest by its number; None: the one that was run last."""
        if number is not None and (found := self._contests(_contests().where(CONTESTS.c.id == number))):
            return found[0]
        every = self.contests()
        if not every:
            raise UnknownNameError(f"{self.name} holds no contest: `dicegym tournament` stores them")
        if number is not None:
            raise unknown_name("contest", number, [str(one.id) for one in every], f"(in {self.name})")
        return max(every, key=lambda contest: (contest.ended or contest.began, contest.id))

    def is_held(self, contest: int) -> bool:
        """Return whether some process has a contest just now, if this machine can tell."""
        if self.path is not None and not lock_file(self.path, contest).exists():
            return False
        try:
            with lock_contest(self, contest, seconds=0):
                return False
        except (ParameterError, OSError):  # another process has it, or another user
            return True

    def running(self, contest: int) -> list[RunningMatch]:
        """Return the matches that are being played; empty for a store on a server, which is not told of them.

        Ask `is_held` first: a process that was killed leaves what it told last.
        """
        if self.path is None:
            return []
        try:
            rows = json.loads(live_file(self.path, contest).read_bytes())
            return [RunningMatch(**row) for row in rows]
        except (OSError, ValueError, TypeError):  # none is being played, or the file is somebody else's
            return []

    def result(self, contest: int) -> dict[str, Any] | None:
        """Return the result of a contest, as `ContestResult.to_json` has it; None if it has not ended."""
        return self._at_the_end(CONTESTS.c.result, contest, dict)

    def report(self, contest: int) -> Report | None:
        """Return the report of a contest as it was shown at its end; None if it has not ended."""
        return self._at_the_end(CONTESTS.c.report, contest, Report.from_json)

    def _at_the_end(
        self, column: sa.Column[Any], contest: int, made: Callable[[dict[str, Any]], _Read]
    ) -> _Read | None:
        """Return what was stored when a contest ended; None if it has not, or is continued."""
        asked = sa.select(column).where(CONTESTS.c.id == contest, CONTESTS.c.ended.is_not(None))
        with self.connection() as connection:
            text = connection.execute(asked).scalar()
            return None if text is None else made(mapping_in(text))

    def standings(self, contest: int) -> list[dict[str, Any]]:
        """Return the rows of a contest's ranking, best first; empty if it has not ended."""
        return self._at_the_end(CONTESTS.c.result, contest, _standings) or []

    def entries(self, contest: int) -> list[StoredEntry]:
        """Return the entries of a contest by name, and below them those that were withdrawn."""
        found = self._entries(FIELDS.c.contest == contest)
        return sorted(found, key=lambda entry: (entry.withdrawn, entry.name, entry.identity))

    def participations(self, game: str, name: str | None = None) -> list[StoredEntry]:
        """Return the entries of all contests of a game, or those of a name, the oldest contests first."""
        found = self._entries(
            RULES.c.game == game if name is None else (RULES.c.game == game) & (AGENTS.c.name == name)
        )
        return sorted(found, key=lambda entry: entry.contest)

    def _entries(self, which: sa.ColumnElement[bool]) -> list[StoredEntry]:
        """Return entries of contests, in the order in which they came into the store."""
        asked = (
            sa.select(
                AGENTS.c.name,
                AGENTS.c.identity,
                AGENTS.c.kind,
                FIELDS.c.given,
                AGENTS.c.files,
                FIELDS.c.withdrawn,
                FIELDS.c.reason,
                FIELDS.c.contest,
            )
            .join(FIELDS, FIELDS.c.agent == AGENTS.c.id)
            .join(CONTESTS, CONTESTS.c.id == FIELDS.c.contest)
            .join(RULES, RULES.c.id == CONTESTS.c.rules)
            .where(which)
            .order_by(AGENTS.c.id)
        )
        with self.connection() as connection:
            found = [StoredEntry(*row) for row in connection.execute(asked)]
            return [one._replace(files=mapping_in(str(one.files), str), withdrawn=bool(one.withdrawn)) for one in found]

    def matches(
        self,
        contest: int | None = None,
        entry: str | None = None,
        last: int | None = None,
        *,
        game: str | None = None,
        before: int | None = None,
    ) -> Iterator[StoredMatch]:
        """Yield matches, in the order in which they were stored.

        Args:
            contest: those of this contest alone.
            entry: those of this entry alone, whatever it was made of.
            last: the number of the newest to list alone.
            game: those of this game alone.
            before: those with lower numbers alone: the next page of a list that begins with the newest.

        Raises UnknownNameError if the contest has no such entry.
        """
        if entry is not None and contest is not None:
            known = {one.name for one in self.entries(contest)}
            if entry not in known:
                raise unknown_name("entry", entry, sorted(known), f"(in contest {contest})")
        with self.connection() as connection:
            own = sa.select(MATCHES.c.id)
            if contest is not None:
                own = sa.select(PLAYS.c.match).where(PLAYS.c.contest == contest)
            (number,) = own.selected_columns
            if entry is not None:
                agents_named = sa.select(AGENTS.c.id).where(AGENTS.c.name == entry)
                own = own.where(number.in_(sa.select(SEATS.c.match).where(SEATS.c.agent.in_(agents_named))))
            if game is not None:
                rules = sa.select(RULES.c.id).where(RULES.c.game == game)
                own = own.where(number.in_(sa.select(MATCHES.c.id).where(MATCHES.c.rules.in_(rules))))
            if before is not None:
                own = own.where(number < before)
            agents, after = agents_in(connection), 0.0
            if last is not None:
                newest = own.order_by(number.desc()).limit(last).subquery()
                after = (connection.execute(sa.select(sa.func.min(newest.c[0]))).scalar() or math.inf) - 1
        while after < math.inf:
            with self.connection() as connection:
                some = own.where(number > after).order_by(number).limit(TOGETHER)
                found = list(_matches_from(connection, some, agents))
            yield from found
            if len(found) < TOGETHER:
                return
            after = found[-1].id

    def match(self, number: int) -> StoredMatch:
        """Return a match by its number."""
        with self.connection() as connection:
            one = sa.select(MATCHES.c.id).where(MATCHES.c.id == number)
            found = list(_matches_from(connection, one, agents_in(connection)))
            if not found:
                known = _known(connection, MATCHES)
                raise UnknownNameError(
                    f"there is no match {number} in {self.name}: {known}; `dicegym arena matches` lists those of a "
                    "contest"
                )
        return found[0]

    def whole(self, matches: Iterable[StoredMatch]) -> Iterator[WholeMatch]:
        """Yield matches with their rules, games and misplays, as they come and in little memory."""
        waiting = iter(matches)
        asked = sa.select(MATCHES.c.id.label("match"), MATCHES.c.outcome, MATCHES.c.actions, RULES)
        asked = asked.join(RULES, RULES.c.id == MATCHES.c.rules)
        while some := list(itertools.islice(waiting, WHOLE_TOGETHER)):
            with self.connection() as connection:
                rows = connection.execute(asked.where(MATCHES.c.id.in_([match.id for match in some])))
                found, stored = [], {row.match: row for row in rows}
                for match in some:
                    row = stored[match.id]
                    outcome = mapping_in(row.outcome)
                    games = games_from(outcome, row.actions, len(match.entries))
                    misplays = misplays_from(match.id, outcome, match.entries)
                    found.append(WholeMatch(match, rules_from(row), games, misplays))
            yield from found

    def misplays_in(self, contest: int, first: int | None = None) -> list[StoredMisplay]:
        """Return what went wrong in the matches of a contest, in words and in order, the first ones if not all."""
        with self.connection() as connection:
            noted = sa.select(SEATS.c.match).where(SEATS.c.noted > 0)
            own = sa.select(PLAYS.c.match).where(PLAYS.c.contest == contest, PLAYS.c.match.in_(noted))
            asked = sa.select(MATCHES.c.id, MATCHES.c.outcome).where(MATCHES.c.id.in_(own)).order_by(MATCHES.c.id)
            rows, found = connection.execute(asked.limit(first)).all(), list[StoredMisplay]()
            seats = seats_by_match(connection, SEATS.c.match.in_([row.id for row in rows]))
            agents = agents_in(connection)
            for row in rows:
                names = [agents[seat.agent][0] for seat in seats[row.id]]
                found += misplays_from(row.id, mapping_in(row.outcome), names)
            return found[:first]

    def figures(self, contest: int) -> list[EntryFigures]:
        """Sum the stored matches of a contest up, by name of entries."""
        counted = (
            sa.func.count(),
            sa.func.sum(sa.case((MATCHES.c.failure.is_(None), MATCHES.c.games), else_=0)),
            sa.func.sum(SEATS.c.wins),
            sa.func.sum(SEATS.c.share),
            sa.func.sum(SEATS.c.noted),
        )
        with self.connection() as connection:
            asked = (
                sa.select(AGENTS.c.name, *counted)
                .select_from(PLAYS)
                .join(MATCHES, MATCHES.c.id == PLAYS.c.match)
                .join(SEATS, SEATS.c.match == PLAYS.c.match)
                .join(AGENTS, AGENTS.c.id == SEATS.c.agent)
                .where(PLAYS.c.contest == contest)
                .group_by(AGENTS.c.name)
            )
            return sorted(EntryFigures(*row) for row in connection.execute(asked))  # a server may sort by a language

    def match_places(self, contest: int) -> list[MatchPlaces]:
        """Return who came in which place in the games of a contest, equal matches as one: what ratings are made of.

        The database groups them, so that a million matches take seconds.
        """
        with self.connection() as connection:
            within = sa.select(MATCHES.c.rules).join(PLAYS, PLAYS.c.match == MATCHES.c.id)
            rules = within.where(PLAYS.c.contest == contest)
            largest = sa.select(sa.func.max(RULES.c.players)).where(RULES.c.id.in_(rules.distinct()))
            players = connection.execute(largest).scalar() or 0
            seats = [SEATS.alias(f"seat{player}") for player in range(players)]
            joined: Any = PLAYS.join(MATCHES, MATCHES.c.id == PLAYS.c.match)
            for player, seat in enumerate(seats):
                joined = joined.outerjoin(seat, (seat.c.match == MATCHES.c.id) & (seat.c.player == player))
            who = [seat.c.agent for seat in seats]
            asked = (
                sa.select(MATCHES.c.places, sa.func.count().label("times"), *who)
                .select_from(joined)
                .where(PLAYS.c.contest == contest, MATCHES.c.failure.is_(None))
                .group_by(MATCHES.c.places, *who)
            )
            agents = agents_in(connection)
            read: dict[str, tuple[tuple[tuple[int, ...], int], ...]] = {}
            found = []
            for text, times, *numbers in connection.execute(asked):
                if text not in read:
                    read[text] = tuple((whole_numbers(places), games) for places, games in json.loads(text))
                names = tuple(agents[number][0] for number in numbers if number is not None)
                found.append(MatchPlaces(names, read[text], times))
        return sorted(found)

    def find_served_game(self, number: int) -> ServedGame:
        """Return a game of a server, by its number. Raises UnknownNameError for a number that is unknown."""
        g, r, s, i = SERVER_GAMES.c, SERVER_RUNS.c, SERVER_RESULTS.c, SERVER_INCIDENTS.c
        one = sa.select(SERVER_GAMES, r.game, r.rules, r.ended.label("over")).join(SERVER_RUNS, r.id == g.run)
        with self.connection() as connection:
            row = connection.execute(one.where(g.id == number)).first()
            if row is None:
                known = _known(connection, SERVER_GAMES)
                raise UnknownNameError(
                    f"there is no game {number} of a server in {self.name}: {known}; `dicegym server games` lists them"
                )
            results = connection.execute(sa.select(s.name, s.total).where(s.game == number).order_by(s.seat)).all()
            forced = connection.execute(sa.select(i.seat, i.turn, i.reason).where(i.game == number).order_by(i.id))
            rules = connection.execute(sa.select(RULES).where(RULES.c.id == row.rules)).first()
            return ServedGame(
                row.game,
                int(row.seed),
                row.number,
                tuple(name for name, _ in results),
                tuple(total for _, total in results),
                whole_numbers(json.loads(row.actions)),
                tuple((seat, turn, reason) for seat, turn, reason in forced),
                None if rules is None else rules_from(rules),
                row.over is None,
            )


# --- questions ------------------------------------------------------------------------------------------------------


def _contests() -> sa.Select[Any]:
    """Ask for contests with their rules, and how many entries and matches they have."""
    entries = (
        sa.select(sa.func.count()).where(FIELDS.c.contest == CONTESTS.c.id, FIELDS.c.withdrawn == 0).scalar_subquery()
    )
    played = sa.select(sa.func.count()).where(PLAYS.c.contest == CONTESTS.c.id).scalar_subquery()
    rules = (RULES.c.game, RULES.c.players, RULES.c.parameters, RULES.c.fingerprint)
    asked = sa.select(CONTESTS, *rules, entries.label("entries"), played.label("played"))
    return asked.join(RULES, RULES.c.id == CONTESTS.c.rules).order_by(CONTESTS.c.id)


def _standings(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = result["standings"]
    if any(type(row["place"]) is not int or type(row["name"]) is not str for row in rows):
        raise ValueError("a ranking without places and names")
    return rows


def _matches_from(
    connection: sa.Connection, numbers: sa.Select[Any], agents: Mapping[int, tuple[str, str]]
) -> Iterator[StoredMatch]:
    """Yield the matches whose numbers a question gives, in order."""
    wanted = numbers.subquery()
    columns = [MATCHES.c[name] for name in ("id", "key", "number", "seed", "games", "failure")]
    rows = connection.execute(sa.select(*columns).join(wanted, wanted.c[0] == MATCHES.c.id).order_by(MATCHES.c.id))
    seats = seats_by_match(connection, SEATS.c.match.in_(sa.select(wanted.c[0])))
    for row in rows:
        yield match_from(row, seats.get(row.id, []), agents)


def _known(connection: sa.Connection, table: sa.Table) -> str:
    """Return in words which numbers there are."""
    last = connection.execute(sa.select(sa.func.max(table.c.id))).scalar()
    return f"they go up to {last}" if last else "the store has none"
