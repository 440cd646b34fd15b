"""How a store becomes one of the present schema: a module of ``versions`` for each, run by alembic.

To change the tables: change them in `dicegym.arena.store.tables`, add ``versions/schema_N.py`` with the next number,
and raise `dicegym.arena.store.schema.SCHEMA`. A test compares what the migrations lead to with the tables.
"""
