"""The tables of a store: contests with their entries, matches and games, and games of servers."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Collection
from typing import Any

import sqlalchemy as sa

MOST_QUOTED = 40
"""Letters of nonsense that an error quotes."""


class NonsenseError(ValueError):
    """A store holds what dicegym does not write."""


class _Checked(sa.TypeDecorator[Any]):
    """A column in which SQLite may find anything: what is of another kind is refused where it is read."""

    cache_ok = True
    kinds: tuple[type, ...] = ()

    def process_result_value(self, value: Any, dialect: object) -> Any:
        """Return ``value``. Raises NonsenseError."""
        if value is not None and type(value) not in self.kinds:
            raise NonsenseError(f"{type(value).__name__} where {self.kinds[0].__name__} stands")
        return value


class TextColumn(_Checked):
    """A text."""

    impl = sa.Text
    cache_ok = True
    kinds = (str,)


class IntegerColumn(_Checked):
    """A whole number."""

    impl = sa.Integer
    cache_ok = True
    kinds = (int,)


class RealColumn(_Checked):
    """A finite number."""

    impl = sa.Float
    cache_ok = True
    kinds = (float, int)

    def process_result_value(self, value: Any, dialect: object) -> Any:
        """Return ``value``. Raises NonsenseError."""
        found = super().process_result_value(value, dialect)
        if found is not None and not math.isfinite(found):
            raise NonsenseError(f"{found} where a finite number stands")
        return found


TABLES = sa.MetaData()
ABOUT = sa.Table(
    "about", TABLES, sa.Column("name", TextColumn, primary_key=True), sa.Column("value", TextColumn, nullable=False)
)  # "schema"

RULES = sa.Table(  # what was played by, once for all contests and matches of the kind
    "rules",
    TABLES,
    sa.Column("id", IntegerColumn, primary_key=True),
    sa.Column("game", TextColumn, nullable=False),
    sa.Column("players", IntegerColumn, nullable=False),  # seats at a table
    sa.Column("parameters", TextColumn, nullable=False),  # JSON object
    sa.Column("fingerprint", TextColumn, nullable=False),
    sa.Column("version", TextColumn, nullable=False),  # of dicegym that wrote it first
    sa.UniqueConstraint("game", "players", "parameters", "fingerprint"),
)
CONTESTS = sa.Table(
    "contests",
    TABLES,
    sa.Column("id", IntegerColumn, primary_key=True),
    sa.Column("label", TextColumn, nullable=False),  # tells contests apart that are alike otherwise; empty: none
    sa.Column("rules", sa.ForeignKey("rules.id"), nullable=False),
    sa.Column("format", TextColumn, nullable=False),
    sa.Column("options", TextColumn, nullable=False),  # JSON object
    sa.Column("limits", TextColumn, nullable=False),  # JSON object
    sa.Column("settings", TextColumn, nullable=False, index=True),  # digest of all of these: what makes it the same
    sa.Column("seed", TextColumn, nullable=False),  # decimal
    sa.Column("began", TextColumn, nullable=False),
    sa.Column("ended", TextColumn),  # nothing until all is played, and again while it is continued
    sa.Column("version", TextColumn, nullable=False),  # of dicegym that was last at it
    sa.Column("run", IntegerColumn, nullable=False),  # how many times it was begun or continued
    sa.Column("planned", IntegerColumn, nullable=False),  # matches, as far as known
    sa.Column("result", TextColumn),  # JSON, as `ContestResult.to_json` has it, when it has ended
    sa.Column("report", TextColumn),  # JSON, as `dicegym.arena.report.Report.to_json` has it, when it has ended
)
AGENTS = sa.Table(  # whatever took part under a name, by its content
    "agents",
    TABLES,
    sa.Column("id", IntegerColumn, primary_key=True),
    sa.Column("name", TextColumn, nullable=False),
    sa.Column("identity", TextColumn, nullable=False),  # of its content, see `dicegym.sandbox.jobs.Entry`
    sa.Column("kind", TextColumn, nullable=False),  # "bot", "model", "player"
    sa.Column("files", TextColumn, nullable=False),  # JSON object: file -> SHA-256
    sa.UniqueConstraint("name", "identity"),
)
FIELDS = sa.Table(  # entries of a contest
    "fields",
    TABLES,
    sa.Column("contest", sa.ForeignKey("contests.id"), primary_key=True),
    sa.Column("agent", sa.ForeignKey("agents.id"), primary_key=True),
    sa.Column("given", TextColumn, nullable=False),  # how it was named
    sa.Column("run", IntegerColumn, nullable=False),  # the last of the contest's in which it took part; else it is out
    sa.Column("reason", TextColumn),  # why it was disqualified
)
MATCHES = sa.Table(
    "matches",
    TABLES,
    sa.Column("id", IntegerColumn, primary_key=True),
    sa.Column("key", TextColumn, nullable=False, unique=True),  # see `dicegym.arena.work_keys`
    sa.Column("rules", sa.ForeignKey("rules.id"), nullable=False),
    sa.Column("batch", TextColumn, nullable=False, index=True),  # the contest's seed: what one preparation loads
    sa.Column("seed", TextColumn, nullable=False),  # decimal; game(...).new_game(seed, number) is a game of it
    sa.Column("number", IntegerColumn, nullable=False),  # among the matches of the same players
    sa.Column("games", IntegerColumn, nullable=False),
    sa.Column("places", TextColumn, nullable=False),  # JSON: [[place of each player], how many games came out so], ...
    sa.Column("failure", TextColumn),  # JSON, of whom the match ended by: then it has no games
)
SEATS = sa.Table(  # entries of a match, in the order of its players
    "seats",
    TABLES,
    sa.Column("match", sa.ForeignKey("matches.id"), primary_key=True),
    sa.Column("player", IntegerColumn, primary_key=True),
    sa.Column("agent", sa.ForeignKey("agents.id"), nullable=False, index=True),
    sa.Column("wins", IntegerColumn, nullable=False),
    sa.Column("share", RealColumn, nullable=False),
    sa.Column("faults", IntegerColumn, nullable=False),
    sa.Column("noted", IntegerColumn, nullable=False),  # incidents, those in words and the others
    sa.Column("printed", TextColumn),
)
GAMES = sa.Table(
    "games",
    TABLES,
    sa.Column("match", sa.ForeignKey("matches.id"), primary_key=True),
    sa.Column("number", IntegerColumn, primary_key=True),  # from 0
    sa.Column("seats", TextColumn, nullable=False),  # JSON list: which player sat where
    sa.Column("returns", TextColumn, nullable=False),  # JSON list, by player
    sa.Column("actions", TextColumn, nullable=False),  # JSON list: played in this order they give the game again
)
MISPLAYS = sa.Table(
    "misplays",
    TABLES,
    sa.Column("id", IntegerColumn, primary_key=True),
    sa.Column("match", sa.ForeignKey("matches.id"), nullable=False, index=True),
    sa.Column("player", IntegerColumn, nullable=False),
    sa.Column("game", IntegerColumn, nullable=False),  # from 1
    sa.Column("turn", IntegerColumn, nullable=False),  # number of the player's decision, from 1; 0: beside the game
    sa.Column("reason", TextColumn, nullable=False),
)
PLAYS = sa.Table(  # which matches are a contest's
    "plays",
    TABLES,
    sa.Column("contest", sa.ForeignKey("contests.id"), primary_key=True),
    sa.Column("match", sa.ForeignKey("matches.id"), primary_key=True, index=True),
    sa.Column("run", IntegerColumn, nullable=False),  # the last of the contest's that asked for it
)
EXAMINATIONS = sa.Table(  # what entries answered beside games: in checks; and counts of language models' answers
    "examinations",
    TABLES,
    sa.Column("key", TextColumn, primary_key=True),  # see `dicegym.arena.work_keys`
    sa.Column("batch", TextColumn, nullable=False, index=True),  # as of a match
    sa.Column("kind", TextColumn, nullable=False),  # of the work; "usages": of a match, whose key it has
    sa.Column("names", TextColumn, nullable=False),  # JSON list: who was asked
    sa.Column("outcome", sa.LargeBinary, nullable=False),  # JSON, compressed by zlib
)
STANDINGS = sa.Table(
    "standings",
    TABLES,
    sa.Column("contest", sa.ForeignKey("contests.id"), primary_key=True),
    sa.Column("position", IntegerColumn, primary_key=True),  # from 1
    sa.Column("place", IntegerColumn, nullable=False),
    sa.Column("name", TextColumn, nullable=False),
    sa.Column("figures", TextColumn, nullable=False),  # JSON object: the row as the format has it
)

SERVER_RUNS = sa.Table(
    "server_runs",
    TABLES,
    sa.Column("id", IntegerColumn, primary_key=True),
    sa.Column("game", TextColumn, nullable=False, server_default=""),  # its name
    sa.Column("began", TextColumn, nullable=False),
    sa.Column("seed", TextColumn, nullable=False),  # as given or drawn, decimal
    sa.Column("version", TextColumn, nullable=False),  # of dicegym
    sa.Column("ended", TextColumn),  # nothing while it runs, and for ever if it was killed
    sa.Column("state", TextColumn),  # JSON: a `dicegym.server.game_results.ServerState`, as it was last
    sa.Column("rules", sa.ForeignKey("rules.id")),  # nothing of results that were moved here from another store
)
SERVER_RATINGS = sa.Table(
    "server_ratings",
    TABLES,
    sa.Column("game", TextColumn, primary_key=True),  # its name, as of a run
    sa.Column("name", TextColumn, primary_key=True),
    sa.Column("rating", RealColumn, nullable=False),
    sa.Column("games", IntegerColumn, nullable=False),  # rated ones: none for a guest that has never made a move
    sa.Column("wins", IntegerColumn, nullable=False),  # first places, shared ones included
)
SERVER_GAMES = sa.Table(
    "server_games",
    TABLES,
    sa.Column("id", IntegerColumn, primary_key=True),
    sa.Column("run", sa.ForeignKey("server_runs.id"), nullable=False),
    sa.Column("number", IntegerColumn, nullable=False),  # within the run
    sa.Column("seed", TextColumn, nullable=False),  # decimal; dicegym.game(...).new_game(seed, number) is the game
    sa.Column("ended", TextColumn, nullable=False),
    sa.Column("seconds", RealColumn, nullable=False),
    sa.Column("actions", TextColumn, nullable=False),  # JSON list: played in this order they give the game again
    sa.UniqueConstraint("run", "number"),
)
SERVER_RESULTS = sa.Table(
    "server_results",
    TABLES,
    sa.Column("game", sa.ForeignKey("server_games.id"), primary_key=True),
    sa.Column("seat", IntegerColumn, primary_key=True),
    sa.Column("name", TextColumn, nullable=False, index=True),  # as of a rating
    sa.Column("total", IntegerColumn, nullable=False),
    sa.Column("place", IntegerColumn, nullable=False),
    sa.Column("before", RealColumn, nullable=False),  # rating
    sa.Column("after", RealColumn, nullable=False),
    sa.Column("rated", sa.Boolean, nullable=False, server_default="1"),  # whether the game counts for this seat
)
SERVER_INCIDENTS = sa.Table(
    "server_incidents",
    TABLES,
    sa.Column("id", IntegerColumn, primary_key=True),
    sa.Column("game", sa.ForeignKey("server_games.id"), nullable=False, index=True),
    sa.Column("seat", IntegerColumn, nullable=False),
    sa.Column("turn", IntegerColumn, nullable=False),  # number of the seat's decision, from 1
    sa.Column("reason", TextColumn, nullable=False),
)


def rows_by_match(
    connection: sa.Connection,
    table: sa.Table,
    which: Callable[[sa.ColumnElement[int]], sa.ColumnElement[bool]],
    unread: Collection[str] = (),
) -> dict[int, list[Any]]:
    """Return the rows of a table by number of their match, those of a match in the order of the primary key.

    Args:
        connection: to the store.
        table: one with a column ``match``.
        which: says of a column with numbers of matches which are meant; see `those`.
        unread: columns that are left out.
    """
    columns = [column for column in table.columns if column.name not in unread]
    asked = sa.select(*columns).where(which(table.c.match)).order_by(table.c.match, *table.primary_key)
    rows = connection.execute(asked).all()
    return {match: list(own) for match, own in itertools.groupby(rows, key=lambda row: int(row.match))}


def those(matches: Any) -> Callable[[sa.ColumnElement[int]], sa.ColumnElement[bool]]:
    """Say of a column that its numbers are those of ``matches``, a list or a question."""
    return lambda column: column.in_(matches)


def mapping_in(text: str, kind: type | tuple[type, ...] = object) -> dict[str, Any]:
    """Parse a JSON object with values of ``kind``. Raises ValueError if ``text`` holds anything else."""
    found = json.loads(text)
    if not isinstance(found, dict) or not all(isinstance(value, kind) for value in found.values()):
        raise NonsenseError(f"{text[:MOST_QUOTED]!r} where an object of JSON stands")
    return found


def whole_numbers(text: str) -> tuple[int, ...]:
    """Parse a JSON list of whole numbers of 64 bits. Raises ValueError if ``text`` holds anything else."""
    found = json.loads(text)
    if not isinstance(found, list) or any(type(one) is not int or abs(one) >> 63 for one in found):
        raise NonsenseError(f"{text[:MOST_QUOTED]!r} where whole numbers stand")
    return tuple(found)
