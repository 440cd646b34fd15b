"""The tables of a store: contests with their entries and matches, and servers' games.

SQLite has them as STRICT tables, which check the types of values.
"""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

TABLES = sa.MetaData()
REAL = sa.Float().with_variant(sa.REAL(), "sqlite")


def _table(name: str, *columns: Any) -> sa.Table:
    return sa.Table(name, TABLES, *columns, sqlite_strict=True)


def _text(name: str, **options: Any) -> sa.Column[str]:
    return sa.Column(name, sa.Text, **{"nullable": False, **options})


def _whole(name: str, **options: Any) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, **{"nullable": False, **options})


def _real(name: str) -> sa.Column[float]:
    return sa.Column(name, REAL, nullable=False)


def _id() -> sa.Column[int]:
    return sa.Column("id", sa.Integer, primary_key=True)


def _of(name: str, column: str, **options: Any) -> sa.Column[int]:
    """Return a column with the id of a row of another table, deleted together with it."""
    return sa.Column(name, sa.ForeignKey(column, ondelete="CASCADE"), **{"nullable": False, **options})


ABOUT = _table("about", _text("name", primary_key=True), _text("value"))  # "schema"
RULES = _table(  # stored once for all contests and matches with these rules
    "rules",
    _id(),
    _text("game"),
    _whole("players"),  # seats at a table
    _text("parameters"),  # JSON object
    _text("fingerprint"),
    _text("version"),  # of dicegym that wrote it first
    sa.UniqueConstraint("game", "players", "parameters", "fingerprint"),
)
CONTESTS = _table(
    "contests",
    _id(),
    _text("label"),  # tells contests with equal settings apart; may be empty
    _of("rules", "rules.id"),
    _text("format"),
    _text("options"),  # JSON object
    _text("limits"),  # JSON object
    _text("settings", index=True),  # digest of all of these, which identify it
    _text("seed"),  # decimal
    _text("began"),
    _text("ended", nullable=True),  # null until all is played, and again while it is continued
    _text("version"),  # of dicegym that ran it last
    _whole("run"),  # how many times it was begun or continued
    _whole("planned"),  # matches; 0: unknown
    _text("result", nullable=True),  # JSON of `ContestResult.to_json`, when it has ended
    _text("report", nullable=True),  # JSON of `dicegym.arena.report.Report.to_json`, when it has ended
)
AGENTS = _table(  # participants by name and content
    "agents",
    _id(),
    _text("name"),
    _text("identity"),  # digest of its content, see `dicegym.sandbox.jobs.Entry`
    _text("kind"),  # "bot", "model", "player"
    _text("files"),  # JSON object: file -> SHA-256
    sa.UniqueConstraint("name", "identity"),
)
FIELDS = _table(  # entries of a contest
    "fields",
    _of("contest", "contests.id", primary_key=True),
    _of("agent", "agents.id", primary_key=True),
    _text("given"),  # how it was named
    _whole("withdrawn"),  # 1: it took part only in an earlier run
    _text("reason", nullable=True),  # why it was disqualified
)
MATCHES = _table(
    "matches",
    _id(),
    _text("key", unique=True),  # see `dicegym.arena.storage`
    _of("rules", "rules.id"),
    _text("batch", index=True),  # the contest's seed: all that a contest loads at once
    _text("seed"),  # decimal; game(...).new_game(seed, number) is a game of it
    _whole("number"),  # among the matches of the same players
    _whole("games"),
    _text("places"),  # JSON: [[place of each player], number of such games], ...
    _text("failure", nullable=True),  # JSON of the failure that ended the match; then it has no games
    _text("outcome"),  # JSON: a `dicegym.arena.match.MatchResult` without its actions and the columns of `seats`
    _text("actions"),  # JSON: for each game all actions, from which it is played again
)
SEATS = _table(  # entries of a match, in the order of its players
    "seats",
    _of("match", "matches.id", primary_key=True),
    _whole("player", primary_key=True),
    _of("agent", "agents.id", index=True),
    _whole("wins"),
    _real("share"),
    _whole("faults"),
    _whole("noted"),  # number of all incidents
)
PLAYS = _table(  # matches of a contest
    "plays",
    _of("contest", "contests.id", primary_key=True),
    _of("match", "matches.id", primary_key=True, index=True),
)
ANSWERS = _table(  # answers of entries outside of games, such as in checks
    "answers",
    _text("key", primary_key=True),  # see `dicegym.arena.storage`
    _text("batch", index=True),  # as of a match
    sa.Column("outcome", sa.LargeBinary, nullable=False),  # JSON, compressed by zlib
)

SERVER_RUNS = _table(
    "server_runs",
    _id(),
    _text("game", server_default=""),  # its name
    _text("began"),
    _text("seed"),  # as given or drawn, decimal
    _text("version"),  # of dicegym
    _text("ended", nullable=True),  # null while it runs, and for ever if it was killed
    sa.Column("rules", sa.ForeignKey("rules.id")),
)
SERVER_RATINGS = _table(
    "server_ratings",
    _text("game", primary_key=True),  # its name, as of a run
    _text("name", primary_key=True),
    _real("rating"),
    _whole("games"),  # rated ones; 0 for a guest that has never made a move
    _whole("wins"),  # first places, shared ones included
)
SERVER_GAMES = _table(
    "server_games",
    _id(),
    sa.Column("run", sa.ForeignKey("server_runs.id"), nullable=False),
    _whole("number"),  # within the run
    _text("seed"),  # decimal; dicegym.game(...).new_game(seed, number) is the game
    _text("ended"),
    _real("seconds"),
    _text("actions"),  # JSON list, from which the game is played again
    sa.UniqueConstraint("run", "number"),
)
SERVER_RESULTS = sa.Table(
    "server_results",
    TABLES,
    sa.Column("game", sa.ForeignKey("server_games.id"), primary_key=True),
    _whole("seat", primary_key=True),
    _text("name", index=True),  # as of a rating
    _whole("total"),
    _whole("place"),
    _real("before"),  # rating
    _real("after"),
    sa.Column("rated", sa.Boolean, nullable=False, server_default="1"),  # whether the game counts for this seat
)
SERVER_INCIDENTS = _table(
    "server_incidents",
    _id(),
    sa.Column("game", sa.ForeignKey("server_games.id"), nullable=False, index=True),
    _whole("seat"),
    _whole("turn"),  # number of the seat's decision, from 1
    _text("reason"),
)


def mapping_in(text: str, kind: type | tuple[type, ...] = object) -> dict[str, Any]:
    """Parse a JSON object with values of ``kind``. Raises ValueError for any other text."""
    found = json.loads(text)
    if not isinstance(found, dict) or not all(isinstance(value, kind) for value in found.values()):
        raise ValueError(f"{text[:40]!r} instead of a JSON object")
    return found


def whole_numbers(found: Any) -> tuple[int, ...]:
    """Return a list of 64-bit whole numbers as a tuple. Raises ValueError for anything else."""
    if not isinstance(found, list) or any(type(one) is not int or abs(one) >> 63 for one in found):
        raise ValueError(f"{str(found)[:40]!r} instead of whole numbers")
    return tuple(found)
