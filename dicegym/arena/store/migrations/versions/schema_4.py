"""Contests, with their entries, matches and games; what a server has held has names of its own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """Rename a server's tables, and make those of contests."""
    op.drop_index("ix_results_name", "results")
    op.drop_index("ix_incidents_game", "incidents")
    for name in ("runs", "ratings", "games", "results", "incidents"):
        op.rename_table(name, f"server_{name}")
    op.create_index("ix_server_results_name", "server_results", ["name"])
    op.create_index("ix_server_incidents_game", "server_incidents", ["game"])
    op.create_table(
        "rules",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("game", sa.Text, nullable=False),
        sa.Column("players", sa.Integer, nullable=False),
        sa.Column("parameters", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("description", sa.Text),
        sa.Column("version", sa.Text, nullable=False),
        sa.UniqueConstraint("game", "players", "parameters", "fingerprint"),
    )
    op.create_table(
        "contests",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("rules", sa.Integer, sa.ForeignKey("rules.id"), nullable=False),
        sa.Column("format", sa.Text, nullable=False),
        sa.Column("options", sa.Text, nullable=False),
        sa.Column("limits", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("seed", sa.Text, nullable=False),
        sa.Column("began", sa.Text, nullable=False),
        sa.Column("ended", sa.Text),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("planned", sa.Integer, nullable=False),
        sa.Column("result", sa.Text),
        sa.Column("report", sa.Text),
    )
    op.create_index("ix_contests_settings", "contests", ["settings"])
    op.create_table(
        "agents",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("files", sa.Text, nullable=False),
        sa.UniqueConstraint("name", "identity"),
    )
    op.create_table(
        "fields",
        sa.Column("contest", sa.Integer, sa.ForeignKey("contests.id"), primary_key=True),
        sa.Column("agent", sa.Integer, sa.ForeignKey("agents.id"), primary_key=True),
        sa.Column("given", sa.Text, nullable=False),
        sa.Column("run", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text),
    )
    op.create_table(
        "matches",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.Text, nullable=False, unique=True),
        sa.Column("rules", sa.Integer, sa.ForeignKey("rules.id"), nullable=False),
        sa.Column("batch", sa.Text, nullable=False),
        sa.Column("seed", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("games", sa.Integer, nullable=False),
        sa.Column("places", sa.Text, nullable=False),
        sa.Column("failure", sa.Text),
    )
    op.create_index("ix_matches_batch", "matches", ["batch"])
    op.create_table(
        "seats",
        sa.Column("match", sa.Integer, sa.ForeignKey("matches.id"), primary_key=True),
        sa.Column("player", sa.Integer, primary_key=True),
        sa.Column("agent", sa.Integer, sa.ForeignKey("agents.id"), nullable=False),
        sa.Column("wins", sa.Integer, nullable=False),
        sa.Column("share", sa.Float, nullable=False),
        sa.Column("faults", sa.Integer, nullable=False),
        sa.Column("noted", sa.Integer, nullable=False),
        sa.Column("printed", sa.Text),
    )
    op.create_index("ix_seats_agent", "seats", ["agent"])
    op.create_table(
        "games",
        sa.Column("match", sa.Integer, sa.ForeignKey("matches.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("seats", sa.Text, nullable=False),
        sa.Column("returns", sa.Text, nullable=False),
        sa.Column("actions", sa.Text, nullable=False),
    )
    op.create_table(
        "misplays",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("match", sa.Integer, sa.ForeignKey("matches.id"), nullable=False),
        sa.Column("player", sa.Integer, nullable=False),
        sa.Column("game", sa.Integer, nullable=False),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
    )
    op.create_index("ix_misplays_match", "misplays", ["match"])
    op.create_table(
        "plays",
        sa.Column("contest", sa.Integer, sa.ForeignKey("contests.id"), primary_key=True),
        sa.Column("match", sa.Integer, sa.ForeignKey("matches.id"), primary_key=True),
        sa.Column("run", sa.Integer, nullable=False),
    )
    op.create_index("ix_plays_match", "plays", ["match"])
    op.create_table(
        "examinations",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("batch", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("names", sa.Text, nullable=False),
        sa.Column("outcome", sa.LargeBinary, nullable=False),
    )
    op.create_index("ix_examinations_batch", "examinations", ["batch"])
    op.create_table(
        "standings",
        sa.Column("contest", sa.Integer, sa.ForeignKey("contests.id"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("figures", sa.Text, nullable=False),
    )
    op.execute(f"UPDATE about SET value = '{revision}' WHERE name = 'schema'")
