"""Servers of several games in one store: runs and ratings say of which game they are, and runs by which rules."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"

GAME = "coalesce((SELECT value FROM about WHERE name = 'game'), '')"


def upgrade() -> None:
    """Make ratings and results anew, as SQLite changes no keys; before, one row told the game of all."""
    op.add_column("server_runs", sa.Column("game", sa.Text, nullable=False, server_default=""))
    op.execute("ALTER TABLE server_runs ADD COLUMN rules INTEGER REFERENCES rules (id)")
    op.execute(f"UPDATE server_runs SET game = {GAME}")
    op.create_table(
        "server_results_new",
        sa.Column("game", sa.Integer, sa.ForeignKey("server_games.id"), primary_key=True),
        sa.Column("seat", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("before", sa.Float, nullable=False),
        sa.Column("after", sa.Float, nullable=False),
        sa.Column("rated", sa.Boolean, nullable=False, server_default="1"),
    )
    columns = "game, seat, name, total, place, before, after, rated"
    op.execute(f"INSERT INTO server_results_new ({columns}) SELECT {columns} FROM server_results")
    op.drop_table("server_results")
    op.rename_table("server_results_new", "server_results")
    op.create_index("ix_server_results_name", "server_results", ["name"])
    op.create_table(
        "server_ratings_new",
        sa.Column("game", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("rating", sa.Float, nullable=False),
        sa.Column("games", sa.Integer, nullable=False),
        sa.Column("wins", sa.Integer, nullable=False),
    )
    columns = "name, rating, games, wins"
    op.execute(f"INSERT INTO server_ratings_new (game, {columns}) SELECT {GAME}, {columns} FROM server_ratings")
    op.drop_table("server_ratings")
    op.rename_table("server_ratings_new", "server_ratings")
    op.execute("DELETE FROM about WHERE name = 'game'")
    op.execute(f"UPDATE about SET value = '{revision}' WHERE name = 'schema'")
