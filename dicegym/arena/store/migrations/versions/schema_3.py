"""Whether a game counts for a seat: before, every game did for everybody."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    """Add a column."""
    op.add_column("results", sa.Column("rated", sa.Boolean, nullable=False, server_default="1"))
    op.execute(f"UPDATE about SET value = '{revision}' WHERE name = 'schema'")
