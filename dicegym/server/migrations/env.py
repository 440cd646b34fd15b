"""How alembic, which runs this file, reaches the database: by the connection of `dicegym.server.schema.migrate`."""

from __future__ import annotations

from alembic import context

from dicegym.server.schema import TABLES

context.configure(connection=context.config.attributes["connection"], target_metadata=TABLES)
with context.begin_transaction():
    context.run_migrations()
