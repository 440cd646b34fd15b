"""The tables of a store: contests with their entries, matches and games, and what a game server has held."""

from __future__ import annotations

import math
from typing import Any

import sqlalchemy as sa


class NonsenseError(ValueError):
    """A store holds what nobody writes."""


class _Checked(sa.TypeDecorator[Any]):
    """A column in which SQLite may find anything: what is of another kind is refused where it is read."""

    cache_ok = True
    kinds: tuple[type, ...] = ()

    def process_result_value(self, value: Any, dialect: object) -> Any:
        """Return ``value``. Raises NonsenseError."""
        if value is not None and type(value) not in self.kinds:
            raise NonsenseError(f"{type(value).__name__} where {self.kinds[0].__name__} stands")
        return value


class Words(_Checked):
    """A text."""

    impl = sa.Text
    cache_ok = True
    kinds = (str,)


class Whole(_Checked):
    """A whole number."""

    impl = sa.Integer
    cache_ok = True
    kinds = (int,)


class Real(_Checked):
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
    "about", TABLES, sa.Column("name", Words, primary_key=True), sa.Column("value", Words, nullable=False)
)  # "schema"

RULES = sa.Table(  # what was played by, once for all contests and matches of the kind
    "rules",
    TABLES,
    sa.Column("id", Whole, primary_key=True),
    sa.Column("game", Words, nullable=False),
    sa.Column("players", Whole, nullable=False),  # seats at a table
    sa.Column("parameters", Words, nullable=False),  # JSON object
    sa.Column("fingerprint", Words, nullable=False),
    sa.Column("description", Words),  # JSON: what tells which rule has changed, where the fingerprint differs
    sa.Column("version", Words, nullable=False),  # of dicegym that wrote it first
    sa.UniqueConstraint("game", "players", "parameters", "fingerprint"),
)
CONTESTS = sa.Table(
    "contests",
    TABLES,
    sa.Column("id", Whole, primary_key=True),
    sa.Column("label", Words, nullable=False),  # tells contests apart that are alike otherwise; empty: none
    sa.Column("rules", sa.ForeignKey("rules.id"), nullable=False),
    sa.Column("format", Words, nullable=False),
    sa.Column("options", Words, nullable=False),  # JSON object
    sa.Column("limits", Words, nullable=False),  # JSON object
    sa.Column("settings", Words, nullable=False, index=True),  # digest of all of these: what makes it the same
    sa.Column("seed", Words, nullable=False),  # decimal
    sa.Column("began", Words, nullable=False),
    sa.Column("ended", Words),  # nothing until all is played, and again while it is gone on with
    sa.Column("version", Words, nullable=False),  # of dicegym that was last at it
    sa.Column("run", Whole, nullable=False),  # how many times somebody has begun or gone on with it
    sa.Column("planned", Whole, nullable=False),  # matches, as far as known
    sa.Column("result", Words),  # JSON, as `ContestResult.to_json` has it, when it has ended
    sa.Column("report", Words),  # JSON, as `dicegym.arena.report.Report.to_json` has it, when it has ended
)
AGENTS = sa.Table(  # whatever took part under a name, by its content
    "agents",
    TABLES,
    sa.Column("id", Whole, primary_key=True),
    sa.Column("name", Words, nullable=False),
    sa.Column("identity", Words, nullable=False),  # of its content, see `dicegym.sandbox.jobs.Entry`
    sa.Column("kind", Words, nullable=False),  # "bot", "model", "player"
    sa.Column("files", Words, nullable=False),  # JSON object: file -> SHA-256
    sa.UniqueConstraint("name", "identity"),
)
FIELDS = sa.Table(  # who takes part in a contest
    "fields",
    TABLES,
    sa.Column("contest", sa.ForeignKey("contests.id"), primary_key=True),
    sa.Column("agent", sa.ForeignKey("agents.id"), primary_key=True),
    sa.Column("given", Words, nullable=False),  # how it was named
    sa.Column("run", Whole, nullable=False),  # the last of the contest's in which it took part; else it is out
    sa.Column("reason", Words),  # why it was struck
)
MATCHES = sa.Table(
    "matches",
    TABLES,
    sa.Column("id", Whole, primary_key=True),
    sa.Column("key", Words, nullable=False, unique=True),  # see `dicegym.arena.keys`
    sa.Column("rules", sa.ForeignKey("rules.id"), nullable=False),
    sa.Column("batch", Words, nullable=False, index=True),  # the contest's seed: what one preparation loads
    sa.Column("seed", Words, nullable=False),  # decimal; game(...).new_game(seed, number) is a game of it
    sa.Column("number", Whole, nullable=False),  # among the matches of the same players
    sa.Column("games", Whole, nullable=False),
    sa.Column("places", Words, nullable=False),  # JSON: [[place of each player], how many games came out so], ...
    sa.Column("failure", Words),  # JSON, of whom the match ended by: then it has no games
)
SEATS = sa.Table(  # who played a match, in the order of its players
    "seats",
    TABLES,
    sa.Column("match", sa.ForeignKey("matches.id"), primary_key=True),
    sa.Column("player", Whole, primary_key=True),
    sa.Column("agent", sa.ForeignKey("agents.id"), nullable=False, index=True),
    sa.Column("wins", Whole, nullable=False),
    sa.Column("share", Real, nullable=False),
    sa.Column("faults", Whole, nullable=False),
    sa.Column("noted", Whole, nullable=False),  # incidents, those in words and the others
    sa.Column("printed", Words),
)
GAMES = sa.Table(
    "games",
    TABLES,
    sa.Column("match", sa.ForeignKey("matches.id"), primary_key=True),
    sa.Column("number", Whole, primary_key=True),  # from 0
    sa.Column("seats", Words, nullable=False),  # JSON list: which player sat where
    sa.Column("returns", Words, nullable=False),  # JSON list, by player
    sa.Column("actions", Words, nullable=False),  # JSON list: played in this order they give the game again
)
MISPLAYS = sa.Table(
    "misplays",
    TABLES,
    sa.Column("id", Whole, primary_key=True),
    sa.Column("match", sa.ForeignKey("matches.id"), nullable=False, index=True),
    sa.Column("player", Whole, nullable=False),
    sa.Column("game", Whole, nullable=False),  # from 1
    sa.Column("turn", Whole, nullable=False),  # number of the player's decision, from 1; 0: beside the game
    sa.Column("reason", Words, nullable=False),
)
PLAYS = sa.Table(  # which matches are a contest's
    "plays",
    TABLES,
    sa.Column("contest", sa.ForeignKey("contests.id"), primary_key=True),
    sa.Column("match", sa.ForeignKey("matches.id"), primary_key=True, index=True),
    sa.Column("run", Whole, nullable=False),  # the last of the contest's that asked for it
)
EXAMINATIONS = sa.Table(  # what entries answered when they were checked, or asked for their strategy
    "examinations",
    TABLES,
    sa.Column("key", Words, primary_key=True),  # see `dicegym.arena.keys`
    sa.Column("batch", Words, nullable=False, index=True),  # as of a match
    sa.Column("kind", Words, nullable=False),  # of the work
    sa.Column("names", Words, nullable=False),  # JSON list: who was asked
    sa.Column("outcome", sa.LargeBinary, nullable=False),  # JSON, compressed by zlib
)
STANDINGS = sa.Table(
    "standings",
    TABLES,
    sa.Column("contest", sa.ForeignKey("contests.id"), primary_key=True),
    sa.Column("position", Whole, primary_key=True),  # from 1
    sa.Column("place", Whole, nullable=False),
    sa.Column("name", Words, nullable=False),
    sa.Column("figures", Words, nullable=False),  # JSON object: the row as the format has it
)

SERVER_RUNS = sa.Table(
    "server_runs",
    TABLES,
    sa.Column("id", Whole, primary_key=True),
    sa.Column("game", Words, nullable=False, server_default=""),  # its name
    sa.Column("began", Words, nullable=False),
    sa.Column("seed", Words, nullable=False),  # as given or drawn, decimal
    sa.Column("version", Words, nullable=False),  # of dicegym
    sa.Column("ended", Words),  # nothing while it runs, and for ever if it was killed
    sa.Column("state", Words),  # JSON: a `dicegym.server.results.ServerState`, as it was last
    sa.Column("rules", sa.ForeignKey("rules.id")),  # nothing where nobody noted them: before schema 5
)
SERVER_RATINGS = sa.Table(
    "server_ratings",
    TABLES,
    sa.Column("game", Words, primary_key=True),  # its name, as of a run
    sa.Column("name", Words, primary_key=True),
    sa.Column("rating", Real, nullable=False),
    sa.Column("games", Whole, nullable=False),  # rated ones: none for a guest that has never made a move
    sa.Column("wins", Whole, nullable=False),  # first places, shared ones included
)
SERVER_GAMES = sa.Table(
    "server_games",
    TABLES,
    sa.Column("id", Whole, primary_key=True),
    sa.Column("run", sa.ForeignKey("server_runs.id"), nullable=False),
    sa.Column("number", Whole, nullable=False),  # within the run
    sa.Column("seed", Words, nullable=False),  # decimal; dicegym.game(...).new_game(seed, number) is the game
    sa.Column("ended", Words, nullable=False),
    sa.Column("seconds", Real, nullable=False),
    sa.Column("actions", Words, nullable=False),  # JSON list: played in this order they give the game again
    sa.UniqueConstraint("run", "number"),
)
SERVER_RESULTS = sa.Table(
    "server_results",
    TABLES,
    sa.Column("game", sa.ForeignKey("server_games.id"), primary_key=True),
    sa.Column("seat", Whole, primary_key=True),
    sa.Column("name", Words, nullable=False, index=True),  # as of a rating
    sa.Column("total", Whole, nullable=False),
    sa.Column("place", Whole, nullable=False),
    sa.Column("before", Real, nullable=False),  # rating
    sa.Column("after", Real, nullable=False),
    sa.Column("rated", sa.Boolean, nullable=False, server_default="1"),  # whether the game counts for this seat
)
SERVER_INCIDENTS = sa.Table(
    "server_incidents",
    TABLES,
    sa.Column("id", Whole, primary_key=True),
    sa.Column("game", sa.ForeignKey("server_games.id"), nullable=False, index=True),
    sa.Column("seat", Whole, nullable=False),
    sa.Column("turn", Whole, nullable=False),  # number of the seat's decision, from 1
    sa.Column("reason", Words, nullable=False),
)
