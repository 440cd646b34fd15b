"""How a file of results becomes one of the present schema: a module of ``versions`` for each, run by alembic.

To change the tables: change them in `dicegym.server.schema`, add ``versions/schema_N.py`` with the next number, and
raise `dicegym.server.schema.SCHEMA`. A test compares what the migrations lead to with the tables.
"""
