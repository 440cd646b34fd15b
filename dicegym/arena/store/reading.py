"""What stands in a store of contests, for whoever asks: while contests are held, and when they are not.

Nothing is ever written to it.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, TypeVar

import sqlalchemy as sa

from dicegym.arena.ratings.places import MatchPlaces
from dicegym.arena.report import Report
from dicegym.arena.store.opening import engine_at, location_of
from dicegym.arena.store.schema import is_new, read_in_words
from dicegym.arena.store.selecting import (
    TOGETHER,
    agents_in,
    contest_of,
    game_from,
    mapping_in,
    matches_from,
    misplays_from,
    own_matches,
    parts_of,
    rules_from,
    whole_numbers,
)
from dicegym.arena.store.stored import (
    EntryFigures,
    PlayedGame,
    StoredContest,
    StoredEntry,
    StoredMatch,
    StoredMisplay,
    StoredRules,
)
from dicegym.arena.store.tables import (
    AGENTS,
    CONTESTS,
    FIELDS,
    GAMES,
    MATCHES,
    MISPLAYS,
    PLAYS,
    RULES,
    SEATS,
    STANDINGS,
)
from dicegym.errors import ParameterError, UnknownNameError, unknown_name

_Read = TypeVar("_Read")


class StoreReader:
    """A store of contests, to be read.

    Args:
        where: path of a file, or URL of a PostgreSQL database.

    Attributes:
        name: where it is, for people.
        path: of its file; None: it is on a server.

    Raises:
        ParameterError: there is no such file, or it is none of a store, damaged, out of reach, or has a later schema.
        DependencyError: it is on a server, and what speaks to that is not installed.

    What is asked of it raises the same, as not all damage shows at once; and UnknownNameError where there is no such
    contest, entry or match.
    """

    def __init__(self, where: str | os.PathLike[str], waits: bool = False) -> None:
        location = location_of(where)
        self.name, self.path = location.name, location.path
        if location.path is not None and not location.path.is_file():
            raise ParameterError(
                f"there is no store {location.path}: `dicegym tournament` makes one where it is run; name another "
                "by --store"
            )
        self._engine = engine_at(location, writes=False, waits=waits)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        with self.connection() as connection:
            if is_new(connection, self.name):
                raise ParameterError(f"{self.name} is empty: no contest has been stored in it")

    @contextlib.contextmanager
    def connection(self) -> Iterator[sa.Connection]:
        """Yield a connection in a transaction that changes nothing; what goes wrong with it is said in words.

        So is what cannot be read of what it answers, within the context.
        """
        with read_in_words(self.name), self._engine.begin() as connection:
            yield connection

    def __enter__(self) -> StoreReader:
        """Return it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let go of it."""
        self._engine.dispose()

    def contests(self, game: str | None = None) -> list[StoredContest]:
        """Return all contests, or those of a game, the oldest first."""
        entries = (
            sa.select(FIELDS.c.contest, FIELDS.c.run, sa.func.count().label("entries"))
            .group_by(FIELDS.c.contest, FIELDS.c.run)
            .subquery()
        )
        played = sa.select(PLAYS.c.contest, sa.func.count().label("played")).group_by(PLAYS.c.contest).subquery()
        asked = (
            sa.select(
                CONTESTS,
                RULES.c.game,
                RULES.c.players,
                RULES.c.parameters,
                RULES.c.fingerprint,
                sa.func.coalesce(entries.c.entries, 0).label("entries"),
                sa.func.coalesce(played.c.played, 0).label("played"),
            )
            .join(RULES, RULES.c.id == CONTESTS.c.rules)
            .outerjoin(entries, (entries.c.contest == CONTESTS.c.id) & (entries.c.run == CONTESTS.c.run))
            .outerjoin(played, played.c.contest == CONTESTS.c.id)
            .order_by(CONTESTS.c.id)
        )
        if game is not None:
            asked = asked.where(RULES.c.game == game)
        with self.connection() as connection:
            return [contest_of(row) for row in connection.execute(asked).mappings()]

    def contest(self, number: int | None = None) -> StoredContest:
        """Return a contest by its number; None: the latest that somebody was at."""
        found = {contest.id: contest for contest in self.contests()}
        if not found:
            raise UnknownNameError(f"{self.name} holds no contest: `dicegym tournament` stores them")
        if number is None:
            return max(found.values(), key=lambda contest: (contest.ended or contest.began, contest.id))
        if number not in found:
            raise unknown_name("contest", number, list(map(str, found)), f"(in {self.name})")
        return found[number]

    def result(self, contest: int) -> dict[str, Any] | None:
        """Return what a contest came to, as `ContestResult.to_json` has it; None if it has not ended."""
        return self._at_the_end(CONTESTS.c.result, contest, dict)

    def report(self, contest: int) -> Report | None:
        """Return the report of a contest as it was shown at its end; None if it has not ended."""
        return self._at_the_end(CONTESTS.c.report, contest, Report.from_json)

    def _at_the_end(
        self, column: sa.Column[Any], contest: int, made: Callable[[dict[str, Any]], _Read]
    ) -> _Read | None:
        """Return what was stored when a contest ended; None if it has not, or is gone on with."""
        asked = sa.select(column).where(CONTESTS.c.id == contest, CONTESTS.c.ended.is_not(None))
        with self.connection() as connection:
            text = connection.execute(asked).scalar()
            return None if text is None else made(mapping_in(text))

    def standings(self, contest: int) -> list[dict[str, Any]]:
        """Return the rows of a contest's ranking, best first; empty if it has not ended."""
        asked = (
            sa.select(STANDINGS.c.figures, STANDINGS.c.place, STANDINGS.c.name)
            .join(CONTESTS, CONTESTS.c.id == STANDINGS.c.contest)
            .where(STANDINGS.c.contest == contest, CONTESTS.c.ended.is_not(None))
            .order_by(STANDINGS.c.position)
        )
        with self.connection() as connection:
            return [
                mapping_in(row.figures) | {"place": row.place, "name": row.name} for row in connection.execute(asked)
            ]

    def entries(self, contest: int) -> list[StoredEntry]:
        """Return who takes part in a contest, by name, and below them who has been withdrawn."""
        asked = (
            sa.select(AGENTS, FIELDS.c.given, FIELDS.c.reason, (FIELDS.c.run < CONTESTS.c.run).label("withdrawn"))
            .join(FIELDS, FIELDS.c.agent == AGENTS.c.id)
            .join(CONTESTS, CONTESTS.c.id == FIELDS.c.contest)
            .where(FIELDS.c.contest == contest)
        )
        with self.connection() as connection:
            found = [
                StoredEntry(
                    row["name"],
                    row["identity"],
                    row["kind"],
                    row["given"],
                    mapping_in(row["files"], str),
                    bool(row["withdrawn"]),
                    row["reason"],
                )
                for row in connection.execute(asked).mappings()
            ]
        return sorted(found, key=lambda entry: (entry.withdrawn, entry.name, entry.identity))

    def matches(
        self, contest: int, entry: str | None = None, last: int | None = None, first: int | None = None
    ) -> Iterator[StoredMatch]:
        """Yield the matches of a contest, in the order in which they were stored.

        Args:
            contest: which.
            entry: those of this entry alone, whatever it was made of.
            last: so many of the newest alone.
            first: so many of the oldest alone.
        """
        known = [one.name for one in self.entries(contest)] if entry is not None else []
        if entry is not None and entry not in known:
            raise unknown_name("entry", entry, sorted(set(known)), f"(in contest {contest})")
        with self.connection() as connection:
            own = sa.select(PLAYS.c.match).where(own_matches(connection, contest))
            if entry is not None:
                agents_named = sa.select(AGENTS.c.id).where(AGENTS.c.name == entry)
                own = own.where(PLAYS.c.match.in_(sa.select(SEATS.c.match).where(SEATS.c.agent.in_(agents_named))))
            agents = agents_in(connection)
            after, left = 0, first
            if last is not None:
                newest = own.order_by(PLAYS.c.match.desc()).limit(last).subquery()
                oldest = connection.execute(sa.select(sa.func.min(newest.c.match))).scalar()
                after = (oldest or 1) - 1
        while left is None or left > 0:
            at_once = TOGETHER if left is None else min(left, TOGETHER)
            some = own.where(PLAYS.c.match > after).order_by(PLAYS.c.match).limit(at_once)
            with self.connection() as connection:
                found = list(matches_from(connection, some, agents))
            yield from found
            if len(found) < at_once:
                return
            after, left = found[-1].id, None if left is None else left - at_once

    def match(self, number: int) -> StoredMatch:
        """Return a match by its number."""
        with self.connection() as connection:
            one = sa.select(MATCHES.c.id).where(MATCHES.c.id == number)
            found = list(matches_from(connection, one, agents_in(connection)))
            if not found:
                last = connection.execute(sa.select(sa.func.max(MATCHES.c.id))).scalar()
                known = f"they go up to {last}" if last else "there is none"
                raise UnknownNameError(
                    f"there is no match {number} in {self.name}: {known}; `dicegym arena matches` lists those of a "
                    "contest"
                )
        return found[0]

    def keyed(self, beginning: str) -> list[int]:
        """Return the numbers of the matches whose keys begin so; of many the first two."""
        asked = sa.select(MATCHES.c.id).where(MATCHES.c.key.startswith(beginning, autoescape=True))
        with self.connection() as connection:
            return list(connection.execute(asked.order_by(MATCHES.c.id).limit(2)).scalars())

    def games(self, matches: Iterable[int]) -> Iterator[PlayedGame]:
        """Yield the games of matches, in order."""
        for some in parts_of(sorted(set(matches))):
            asked = sa.select(GAMES).where(GAMES.c.match.in_(some)).order_by(GAMES.c.match, GAMES.c.number)
            sitting = sa.select(SEATS.c.match, sa.func.count()).where(SEATS.c.match.in_(some)).group_by(SEATS.c.match)
            with self.connection() as connection:
                players = {row[0]: row[1] for row in connection.execute(sitting)}
                found = [game_from(row, players.get(row.match, 0)) for row in connection.execute(asked)]
            yield from found

    def rules(self, matches: Iterable[int]) -> dict[int, StoredRules]:
        """Return by which rules matches were played, by their numbers."""
        found: dict[int, StoredRules] = {}
        for some in parts_of(sorted(set(matches))):
            with self.connection() as connection:
                asked = sa.select(MATCHES.c.id, MATCHES.c.rules).where(MATCHES.c.id.in_(some))
                of_match = {row.id: row.rules for row in connection.execute(asked)}
                wanted = sa.select(RULES).where(RULES.c.id.in_(set(of_match.values())))
                rules = {row.id: rules_from(row) for row in connection.execute(wanted)}
                found |= {match: rules[number] for match, number in of_match.items()}
        return found

    def misplays(self, matches: Iterable[int]) -> Iterator[StoredMisplay]:
        """Yield what went wrong in matches, of each player in a match the first in words, in order."""
        for some in parts_of(sorted(set(matches))):
            with self.connection() as connection:
                found = list(misplays_from(connection, MISPLAYS.c.match.in_(some)))
            yield from found

    def misplays_in(self, contest: int, first: int | None = None) -> list[StoredMisplay]:
        """Return what went wrong in the matches of a contest, in words and in order, the first ones if not all."""
        with self.connection() as connection:
            own = sa.select(PLAYS.c.match).where(own_matches(connection, contest))
            return list(misplays_from(connection, MISPLAYS.c.match.in_(own), first))

    def figures(self, contest: int) -> list[EntryFigures]:
        """Return what the matches of a contest that are stored come to, by name of entries."""
        counted = {
            "matches": sa.func.count(),
            "games": sa.func.sum(sa.case((MATCHES.c.failure.is_(None), MATCHES.c.games), else_=0)),
            "wins": sa.func.sum(SEATS.c.wins),
            "shares": sa.func.sum(SEATS.c.share),
            "faults": sa.func.sum(SEATS.c.noted),
        }
        with self.connection() as connection:
            asked = (
                sa.select(AGENTS.c.name, *counted.values())
                .select_from(PLAYS)
                .join(MATCHES, MATCHES.c.id == PLAYS.c.match)
                .join(SEATS, SEATS.c.match == PLAYS.c.match)
                .join(AGENTS, AGENTS.c.id == SEATS.c.agent)
                .where(own_matches(connection, contest))
                .group_by(AGENTS.c.name)
            )
            found = [EntryFigures(*row) for row in connection.execute(asked)]
            return sorted(found)  # a server may sort by a language

    def match_places(self, contest: int) -> list[MatchPlaces]:
        """Return who came in which place in the games of a contest, equal matches as one: what ratings are made of.

        The database groups them, so that a million matches take seconds.
        """
        with self.connection() as connection:
            within = sa.select(MATCHES.c.rules).distinct().join(PLAYS, PLAYS.c.match == MATCHES.c.id)
            largest = sa.select(sa.func.max(RULES.c.players)).where(
                RULES.c.id.in_(within.where(PLAYS.c.contest == contest))
            )
            players = connection.execute(largest).scalar() or 0
            seats = [SEATS.alias(f"seat{player}") for player in range(players)]
            joined: Any = PLAYS.join(MATCHES, MATCHES.c.id == PLAYS.c.match)
            for player, seat in enumerate(seats):
                joined = joined.outerjoin(seat, (seat.c.match == MATCHES.c.id) & (seat.c.player == player))
            who = [seat.c.agent for seat in seats]
            asked = (
                sa.select(MATCHES.c.places, sa.func.count().label("times"), *who)
                .select_from(joined)
                .where(own_matches(connection, contest), MATCHES.c.failure.is_(None))
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
