"""Read stores: contests, running or ended, and servers' games.

`StoreReader` never writes, and answers in plain values (`dicegym.arena.store.stored_rows`).
"""

from __future__ import annotations

import itertools
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

from dicegym.arena.ratings.match_places import MatchPlaces
from dicegym.arena.report import Report
from dicegym.arena.storage import refuse_folder
from dicegym.arena.store.opening import Database, is_new
from dicegym.arena.store.outcomes import seats_by_match
from dicegym.arena.store.schema import (
    AGENTS,
    CONTESTS,
    FIELDS,
    MATCHES,
    PLAYS,
    RULES,
    SEATS,
    mapping_in,
    whole_numbers,
)
from dicegym.arena.store.store import live_file, lock_contest, lock_file
from dicegym.arena.store.stored_rows import (
    EntryFigures,
    PlayedGame,
    RunningMatch,
    StoredContest,
    StoredEntry,
    StoredMatch,
    StoredMisplay,
    StoredRules,
    WholeMatch,
)
from dicegym.errors import ParameterError, UnknownNameError, unknown_name
from dicegym.sandbox.jobs import Failure

TOGETHER, WHOLE_TOGETHER = 5_000, 500
"""Matches read at a time, and those read with their games."""
_Read = TypeVar("_Read")


class StoreReader(Database):
    """A store of contests, read-only; arguments as for `Database`.

    Raises:
        ParameterError: the file does not exist, is not a store, is damaged or has another schema, or the database
            cannot be reached. Methods raise it too, as damage may show later, and UnknownNameError for unknown ids.
        DependencyError: it is on a server, and the driver is missing.
    """

    def _check(self) -> None:
        if self.path is not None and not os.path.isfile(self.path):
            refuse_folder(self.path)
            raise ParameterError(
                f"there is no store {self.path}: `dicegym tournament` makes one in your data folder, or "
                "where --store says; name another by --store"
            )
        with self.connection() as connection:
            if is_new(connection, self.name):
                raise ParameterError(f"{self.name} is empty: no contest has been stored in it")

    def contests(self, game: str | None = None, with_match: int | None = None) -> list[StoredContest]:
        """Return all contests, those of a game, or those that have a match, oldest first."""
        asked = _contests()
        if game is not None:
            asked = asked.where(RULES.c.game == game)
        if with_match is not None:
            asked = asked.where(CONTESTS.c.id.in_(sa.select(PLAYS.c.contest).where(PLAYS.c.match == with_match)))
        return self._contests(asked)

    def _contests(self, asked: sa.Select[Any]) -> list[StoredContest]:
        found = []
        with self.connection() as connection:
            for row in connection.execute(asked).mappings():
                plain = {name: row[name] for name in StoredContest._fields} | {"seed": int(row["seed"])}
                for name, kind in (("parameters", int), ("options", object), ("limits", (int, float, type(None)))):
                    plain[name] = mapping_in(row[name], kind)
                found.append(StoredContest(**plain))
        return found

    def contest(self, number: int | None = None) -> StoredContest:
        """Return a contest by its id; None: the one that ran last."""
        row = CONTESTS.c.id == number if number is not None and abs(number) >> 63 == 0 else sa.false()
        if found := self._contests(_contests().where(row)):
            return found[0]
        every = self.contests()
        if not every:
            raise UnknownNameError(f"{self.name} holds no contest: `dicegym tournament` stores them")
        if number is not None:
            raise unknown_name("contest", number, [str(one.id) for one in every], f"The store is {self.name}.")
        return max(every, key=lambda contest: (contest.ended or contest.began, contest.id))

    def is_held(self, contest: int) -> bool:
        """Return whether a process runs the contest now, if this machine can tell."""
        if self.path is not None and not lock_file(self.path, f"contest-{contest}").exists():
            return False
        try:
            with lock_contest(self, contest, seconds=0):
                return False
        except (ParameterError, OSError):  # another process runs it, or another user
            return True

    def running(self, contest: int) -> list[RunningMatch]:
        """Return the running matches; empty for a store on a server, which does not know them.

        Ask `is_held` first: a killed process leaves its last state.
        """
        if self.path is None:
            return []
        try:
            rows = json.loads(live_file(self.path, contest).read_bytes())
            return [RunningMatch(**row) for row in rows]
        except (OSError, ValueError, TypeError):  # nothing is running, or the file is not ours
            return []

    def result(self, contest: int) -> dict[str, Any] | None:
        """Return the result of a contest (`ContestResult.to_json`); None if it has not ended."""
        return self._at_the_end(CONTESTS.c.result, contest, dict)

    def report(self, contest: int) -> Report | None:
        """Return the report of a contest; None if it has not ended."""
        return self._at_the_end(CONTESTS.c.report, contest, Report.from_json)

    def _at_the_end(
        self, column: sa.Column[Any], contest: int, made: Callable[[dict[str, Any]], _Read]
    ) -> _Read | None:
        """Return what was stored when a contest ended; None if it has not, or is being continued."""
        asked = sa.select(column).where(CONTESTS.c.id == contest, CONTESTS.c.ended.is_not(None))
        with self.connection() as connection:
            text = connection.execute(asked).scalar()
            return None if text is None else made(mapping_in(text))

    def standings(self, contest: int) -> list[dict[str, Any]]:
        """Return the rows of a contest's ranking, best first; empty if it has not ended."""
        return self._at_the_end(CONTESTS.c.result, contest, _standings) or []

    def entries(self, contest: int) -> list[StoredEntry]:
        """Return the entries of a contest by name, then withdrawn ones."""
        found = self._entries(FIELDS.c.contest == contest)
        return sorted(found, key=lambda entry: (entry.withdrawn, entry.name, entry.identity))

    def participations(self, game: str, name: str | None = None) -> list[StoredEntry]:
        """Return the entries of all contests of a game, or those of a name, oldest contests first."""
        named = sa.true() if name is None else AGENTS.c.name == name
        return sorted(self._entries((RULES.c.game == game) & named), key=lambda entry: entry.contest)

    def _entries(self, which: sa.ColumnElement[bool]) -> list[StoredEntry]:
        """Return entries of contests, in the order in which they were stored."""
        agent, field = AGENTS.c, FIELDS.c
        asked = (
            sa.select(agent.name, agent.identity, agent.kind, field.given, agent.files)
            .add_columns(field.withdrawn, field.reason, field.contest)
            .join(FIELDS, field.agent == agent.id)
            .join(CONTESTS, CONTESTS.c.id == field.contest)
            .join(RULES, RULES.c.id == CONTESTS.c.rules)
            .where(which)
            .order_by(agent.id)
        )
        with self.connection() as connection:
            found = [StoredEntry(*row) for row in connection.execute(asked)]
            return [one._replace(files=mapping_in(str(one.files), str), withdrawn=bool(one.withdrawn)) for one in found]

    def matches(
        self, contest: int, entry: str | None = None, last: int | None = None, *, before: int | None = None
    ) -> Iterator[StoredMatch]:
        """Yield the matches of a contest, in the order in which they were stored.

        Args:
            contest: its id.
            entry: only matches of this entry, whatever its content was.
            last: only this many of the newest.
            before: only matches with lower ids, for the next page of a list that begins with the newest.

        Raises UnknownNameError if the contest has no such entry.
        """
        number = PLAYS.c.match
        own = sa.select(number).where(PLAYS.c.contest == contest)
        if entry is not None:
            known = {one.name for one in self.entries(contest)}
            if entry not in known:
                raise unknown_name("entry", entry, sorted(known), f"(in contest {contest})")
            seated = sa.select(SEATS.c.match).join(AGENTS, AGENTS.c.id == SEATS.c.agent)
            own = own.where(number.in_(seated.where(AGENTS.c.name == entry)))
        if before is not None:
            own = own.where(number < before)
        after = 0.0
        if last is not None:
            newest = own.order_by(number.desc()).limit(min(last, (1 << 63) - 1)).subquery()
            with self.connection() as connection:
                after = (connection.execute(sa.select(sa.func.min(newest.c[0]))).scalar() or math.inf) - 1
        while after < math.inf:
            found = self._matches(own.where(number > after).order_by(number).limit(TOGETHER))
            yield from found
            after = found[-1].id if len(found) == TOGETHER else math.inf

    def _matches(self, numbers: sa.Select[Any]) -> list[StoredMatch]:
        """Return the matches whose ids a query selects, in order."""
        wanted = numbers.subquery()
        columns = [MATCHES.c[name] for name in ("id", "key", "number", "seed", "games", "failure")]
        asked = sa.select(*columns).join(wanted, wanted.c[0] == MATCHES.c.id).order_by(MATCHES.c.id)
        with self.connection() as connection:
            agents = _agents(connection)
            seats = seats_by_match(connection, SEATS.c.match.in_(sa.select(wanted.c[0])))
            return [_match(row, seats.get(row.id, []), agents) for row in connection.execute(asked)]

    def match(self, number: int) -> StoredMatch:
        """Return a match by its id. Raises UnknownNameError for an unknown id."""
        found = self._matches(sa.select(MATCHES.c.id).where(MATCHES.c.id == number)) if abs(number) >> 63 == 0 else []
        if not found:
            raise self.make_number_error(f"match {number}", MATCHES, "`dicegym arena matches` lists those of a contest")
        return found[0]

    def whole(self, matches: Iterable[StoredMatch]) -> Iterator[WholeMatch]:
        """Yield matches with their rules, games and misplays, in portions that need little memory."""
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
                    games, misplays = _games(outcome, row.actions, len(match.entries)), _misplays(match, outcome)
                    found.append(WholeMatch(match, rules_from(row), games, misplays))
            yield from found

    def misplays_in(self, contest: int, first: int | None = None) -> list[StoredMisplay]:
        """Return the misplays in a contest's matches, in order; only the ``first`` ones if given."""
        noted = sa.select(SEATS.c.match).where(SEATS.c.noted > 0)
        own = sa.select(PLAYS.c.match).where(PLAYS.c.contest == contest, PLAYS.c.match.in_(noted))
        matches = self._matches(own.order_by(PLAYS.c.match).limit(first))
        return [misplay for one in self.whole(matches) for misplay in one.misplays][:first]

    def figures(self, contest: int) -> list[EntryFigures]:
        """Return the totals of a contest's matches, by entry."""
        games = sa.case((MATCHES.c.failure.is_(None), MATCHES.c.games), else_=0)
        sums = [sa.func.sum(one) for one in (games, SEATS.c.wins, SEATS.c.share, SEATS.c.noted)]
        asked = (
            sa.select(AGENTS.c.name, sa.func.count(), *sums)
            .select_from(PLAYS)
            .join(MATCHES, MATCHES.c.id == PLAYS.c.match)
            .join(SEATS, SEATS.c.match == PLAYS.c.match)
            .join(AGENTS, AGENTS.c.id == SEATS.c.agent)
            .where(PLAYS.c.contest == contest)
            .group_by(AGENTS.c.name)
        )
        with self.connection() as connection:
            return sorted(EntryFigures(*row) for row in connection.execute(asked))  # a server sorts by its language

    def match_places(self, contest: int) -> list[MatchPlaces]:
        """Return the places in the games of a contest, with equal matches counted together, for ratings."""
        seats = sa.select(SEATS.c.match, MATCHES.c.places, SEATS.c.agent).join(MATCHES, MATCHES.c.id == SEATS.c.match)
        own = sa.select(PLAYS.c.match).where(PLAYS.c.contest == contest)
        asked = seats.where(SEATS.c.match.in_(own), MATCHES.c.failure.is_(None))
        counts: Counter[tuple[str, tuple[int, ...]]] = Counter()
        with self.connection() as connection:
            agents = _agents(connection)
            rows = connection.execute(asked.order_by(SEATS.c.match, SEATS.c.player))
            for _, seated in itertools.groupby(rows, key=lambda row: row[0]):
                _, places, numbers = zip(*seated, strict=True)
                counts[places[0], numbers] += 1
            found = []
            for (text, numbers), times in counts.items():
                places = tuple((whole_numbers(one), whole_numbers([games])[0]) for one, games in json.loads(text))
                if any(len(one) != len(numbers) or not 0 < games < 1 << 40 for one, games in places):
                    raise ValueError(f"{text[:40]!r} instead of places")
                found.append(MatchPlaces(tuple(agents[number][0] for number in numbers), places, times))
            return sorted(found)

    def make_number_error(self, what: str, table: sa.Table, lists: str) -> UnknownNameError:
        """Return the error for an id that a table does not have."""
        with self.connection() as connection:
            last = connection.execute(sa.select(sa.func.max(table.c.id))).scalar()
        known = f"they go up to {last}" if last else "the store has none"
        return UnknownNameError(f"there is no {what} in {self.name}: {known}; {lists}")


def _contests() -> sa.Select[Any]:
    """Select contests with their rules, and their numbers of entries and matches."""
    entries = (
        sa.select(sa.func.count()).where(FIELDS.c.contest == CONTESTS.c.id, FIELDS.c.withdrawn == 0).scalar_subquery()
    )
    played = sa.select(sa.func.count()).where(PLAYS.c.contest == CONTESTS.c.id).scalar_subquery()
    rules = (RULES.c.game, RULES.c.players, RULES.c.parameters, RULES.c.fingerprint)
    asked = sa.select(CONTESTS, *rules, entries.label("entries"), played.label("played"))
    return asked.join(RULES, RULES.c.id == CONTESTS.c.rules).order_by(CONTESTS.c.id)


def _standings(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{**row, "place": int(row["place"]), "name": str(row["name"])} for row in result["standings"]]


# --- rows as plain values: what cannot be read raises, and counts as damage (`in_words`) ------------------------------


def rules_from(row: Any) -> StoredRules:
    """Return the rules in a row."""
    described = {"dicegym": row.version, "fingerprint": row.fingerprint}
    return StoredRules(row.game, row.players, mapping_in(row.parameters, int), described)


def _agents(connection: sa.Connection) -> dict[int, tuple[str, str]]:
    """Return the name and identity of each agent by id."""
    asked = sa.select(AGENTS.c.id, AGENTS.c.name, AGENTS.c.identity)
    return {number: (name, identity) for number, name, identity in connection.execute(asked)}


def _match(row: Any, seats: Sequence[Any], agents: Mapping[int, tuple[str, str]]) -> StoredMatch:
    by_player = [(*agents[seat.agent], seat.wins, seat.share, seat.faults) for seat in seats]
    names, identities, wins, shares, faults = zip(*by_player, strict=True)
    failed = reason = None
    if row.failure is not None:
        failure = Failure(*json.loads(row.failure))
        failed, reason = names[failure.actor], str(failure.reason)
    about = row.id, row.key, row.number, int(row.seed), row.games
    return StoredMatch(*about, names, identities, wins, shares, faults, failed, reason)


def _games(outcome: Mapping[str, Any], actions: str, players: int) -> list[PlayedGame]:
    found = []
    played = zip(outcome.get("seats", ()), outcome.get("returns", ()), json.loads(actions), strict=True)
    for number, (seats, returns, moves) in enumerate(played):
        finite = len(returns) == players and all(map(math.isfinite, returns))
        if sorted(whole_numbers(seats)) != list(range(players)) or not finite:
            raise ValueError(f"game {number + 1} is not one of {players} players")
        found.append(PlayedGame(number, tuple(seats), tuple(returns), whole_numbers(moves)))
    return found


def _misplays(match: StoredMatch, outcome: Mapping[str, Any]) -> list[StoredMisplay]:
    players = range(len(match.entries))  # without -1
    return [
        StoredMisplay(match.id, match.entries[players.index(player)], int(game), int(turn), str(reason))
        for player, game, turn, reason in outcome.get("incidents", ())
    ]
