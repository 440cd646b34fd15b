"""Play: a person at a table against agents, in a browser."""

from __future__ import annotations

from dicegym.web.play.operations import operations
from dicegym.web.play.pages import routes
from dicegym.web.section import Section

SECTION = Section(
    "/play",
    "Play",
    "Sit down against agents of every strength, take moves back, ask for hints, and see what your moves cost.",
    routes,
    operations,
)
