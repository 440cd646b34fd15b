"""How alembic, which runs this file, reaches the database: by the connection of ``migrate`` in ``schema.py``."""

from __future__ import annotations

from alembic import context

from dicegym.arena.store.tables import TABLES

context.configure(connection=context.config.attributes["connection"], target_metadata=TABLES)
with context.begin_transaction():
    context.run_migrations()
