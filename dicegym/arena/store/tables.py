"""The tables of a store: contests with their entries, matches and games, and what a game server has held."""

from __future__ import annotations

import sqlalchemy as sa

TABLES = sa.MetaData()
ABOUT = sa.Table(
    "about", TABLES, sa.Column("name", sa.Text, primary_key=True), sa.Column("value", sa.Text, nullable=False)
)  # "schema"

RULES = sa.Table(  # what was played by, once for all contests and matches of the kind
    "rules",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("game", sa.Text, nullable=False),
    sa.Column("players", sa.Integer, nullable=False),  # seats at a table
    sa.Column("parameters", sa.Text, nullable=False),  # JSON object
    sa.Column("fingerprint", sa.Text, nullable=False),
    sa.Column("description", sa.Text),  # JSON: what tells which rule has changed, where the fingerprint differs
    sa.Column("version", sa.Text, nullable=False),  # of dicegym that wrote it first
    sa.UniqueConstraint("game", "players", "parameters", "fingerprint"),
)
CONTESTS = sa.Table(
    "contests",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("label", sa.Text, nullable=False),  # tells contests apart that are alike otherwise; empty: none
    sa.Column("rules", sa.ForeignKey("rules.id"), nullable=False),
    sa.Column("format", sa.Text, nullable=False),
    sa.Column("options", sa.Text, nullable=False),  # JSON object
    sa.Column("limits", sa.Text, nullable=False),  # JSON object
    sa.Column("settings", sa.Text, nullable=False, index=True),  # digest of all of these: what makes it the same
    sa.Column("seed", sa.Text, nullable=False),  # decimal
    sa.Column("began", sa.Text, nullable=False),
    sa.Column("ended", sa.Text),  # nothing until all is played, and again while it is gone on with
    sa.Column("version", sa.Text, nullable=False),  # of dicegym that was last at it
    sa.Column("run", sa.Integer, nullable=False),  # how many times somebody has begun or gone on with it
    sa.Column("planned", sa.Integer, nullable=False),  # matches, as far as known
    sa.Column("result", sa.Text),  # JSON, as `ContestResult.to_json` has it, when it has ended
    sa.Column("report", sa.Text),  # JSON, as `dicegym.arena.report.Report.to_json` has it, when it has ended
)
AGENTS = sa.Table(  # whatever took part under a name, by its content
    "agents",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("identity", sa.Text, nullable=False),  # of its content, see `dicegym.sandbox.jobs.Entry`
    sa.Column("kind", sa.Text, nullable=False),  # "bot", "model", "player"
    sa.Column("files", sa.Text, nullable=False),  # JSON object: file -> SHA-256
    sa.UniqueConstraint("name", "identity"),
)
FIELDS = sa.Table(  # who takes part in a contest
    "fields",
    TABLES,
    sa.Column("contest", sa.ForeignKey("contests.id"), primary_key=True),
    sa.Column("agent", sa.ForeignKey("agents.id"), primary_key=True),
    sa.Column("given", sa.Text, nullable=False),  # how it was named
    sa.Column("run", sa.Integer, nullable=False),  # the last of the contest's in which it took part; else it is out
    sa.Column("reason", sa.Text),  # why it was struck
)
MATCHES = sa.Table(
    "matches",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", sa.Text, nullable=False, unique=True),  # see `dicegym.arena.keys`
    sa.Column("rules", sa.ForeignKey("rules.id"), nullable=False),
    sa.Column("batch", sa.Text, nullable=False, index=True),  # the contest's seed: what one preparation loads
    sa.Column("seed", sa.Text, nullable=False),  # decimal; game(...).new_game(seed, number) is a game of it
    sa.Column("number", sa.Integer, nullable=False),  # among the matches of the same players
    sa.Column("games", sa.Integer, nullable=False),
    sa.Column("places", sa.Text, nullable=False),  # JSON: [[place of each player], how many games came out so], ...
    sa.Column("failure", sa.Text),  # JSON, of whom the match ended by: then it has no games
)
SEATS = sa.Table(  # who played a match, in the order of its players
    "seats",
    TABLES,
    sa.Column("match", sa.ForeignKey("matches.id"), primary_key=True),
    sa.Column("player", sa.Integer, primary_key=True),
    sa.Column("agent", sa.ForeignKey("agents.id"), nullable=False, index=True),
    sa.Column("wins", sa.Integer, nullable=False),
    sa.Column("share", sa.Float, nullable=False),
    sa.Column("faults", sa.Integer, nullable=False),
    sa.Column("noted", sa.Integer, nullable=False),  # incidents, those in words and the others
    sa.Column("printed", sa.Text),
)
GAMES = sa.Table(
    "games",
    TABLES,
    sa.Column("match", sa.ForeignKey("matches.id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),  # from 0
    sa.Column("seats", sa.Text, nullable=False),  # JSON list: which player sat where
    sa.Column("returns", sa.Text, nullable=False),  # JSON list, by player
    sa.Column("actions", sa.Text, nullable=False),  # JSON list: played in this order they give the game again
)
MISPLAYS = sa.Table(
    "misplays",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("match", sa.ForeignKey("matches.id"), nullable=False, index=True),
    sa.Column("player", sa.Integer, nullable=False),
    sa.Column("game", sa.Integer, nullable=False),  # from 1
    sa.Column("turn", sa.Integer, nullable=False),  # number of the player's decision, from 1; 0: beside the game
    sa.Column("reason", sa.Text, nullable=False),
)
PLAYS = sa.Table(  # which matches are a contest's
    "plays",
    TABLES,
    sa.Column("contest", sa.ForeignKey("contests.id"), primary_key=True),
    sa.Column("match", sa.ForeignKey("matches.id"), primary_key=True, index=True),
    sa.Column("run", sa.Integer, nullable=False),  # the last of the contest's that asked for it
)
EXAMINATIONS = sa.Table(  # what entries answered when they were checked, or asked for their strategy
    "examinations",
    TABLES,
    sa.Column("key", sa.Text, primary_key=True),  # see `dicegym.arena.keys`
    sa.Column("batch", sa.Text, nullable=False, index=True),  # as of a match
    sa.Column("kind", sa.Text, nullable=False),  # of the work
    sa.Column("names", sa.Text, nullable=False),  # JSON list: who was asked
    sa.Column("outcome", sa.LargeBinary, nullable=False),  # JSON, compressed by zlib
)
STANDINGS = sa.Table(
    "standings",
    TABLES,
    sa.Column("contest", sa.ForeignKey("contests.id"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),  # from 1
    sa.Column("place", sa.Integer, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("figures", sa.Text, nullable=False),  # JSON object: the row as the format has it
)

SERVER_RUNS = sa.Table(
    "server_runs",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("game", sa.Text, nullable=False, server_default=""),  # its name
    sa.Column("began", sa.Text, nullable=False),
    sa.Column("seed", sa.Text, nullable=False),  # as given or drawn, decimal
    sa.Column("version", sa.Text, nullable=False),  # of dicegym
    sa.Column("ended", sa.Text),  # nothing while it runs, and for ever if it was killed
    sa.Column("state", sa.Text),  # JSON: a `dicegym.server.results.ServerState`, as it was last
    sa.Column("rules", sa.ForeignKey("rules.id")),  # nothing where nobody noted them: before schema 5
)
SERVER_RATINGS = sa.Table(
    "server_ratings",
    TABLES,
    sa.Column("game", sa.Text, primary_key=True),  # its name, as of a run
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("rating", sa.Float, nullable=False),
    sa.Column("games", sa.Integer, nullable=False),  # rated ones: none for a guest that has never made a move
    sa.Column("wins", sa.Integer, nullable=False),  # first places, shared ones included
)
SERVER_GAMES = sa.Table(
    "server_games",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("run", sa.ForeignKey("server_runs.id"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),  # within the run
    sa.Column("seed", sa.Text, nullable=False),  # decimal; dicegym.game(...).new_game(seed, number) is the game
    sa.Column("ended", sa.Text, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("actions", sa.Text, nullable=False),  # JSON list: played in this order they give the game again
    sa.UniqueConstraint("run", "number"),
)
SERVER_RESULTS = sa.Table(
    "server_results",
    TABLES,
    sa.Column("game", sa.ForeignKey("server_games.id"), primary_key=True),
    sa.Column("seat", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, index=True),  # as of a rating
    sa.Column("total", sa.Integer, nullable=False),
    sa.Column("place", sa.Integer, nullable=False),
    sa.Column("before", sa.Float, nullable=False),  # rating
    sa.Column("after", sa.Float, nullable=False),
    sa.Column("rated", sa.Boolean, nullable=False, server_default="1"),  # whether the game counts for this seat
)
SERVER_INCIDENTS = sa.Table(
    "server_incidents",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("game", sa.ForeignKey("server_games.id"), nullable=False, index=True),
    sa.Column("seat", sa.Integer, nullable=False),
    sa.Column("turn", sa.Integer, nullable=False),  # number of the seat's decision, from 1
    sa.Column("reason", sa.Text, nullable=False),
)
