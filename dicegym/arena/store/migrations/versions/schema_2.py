"""What a run is doing, for whoever asks from outside, and when it ended."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Add two columns; of runs before, nobody knows."""
    op.add_column("runs", sa.Column("ended", sa.Text))
    op.add_column("runs", sa.Column("state", sa.Text))
    op.execute(f"UPDATE about SET value = '{revision}' WHERE name = 'schema'")
