"""The section: its operations and the tables of the server."""

from __future__ import annotations

from dicegym.web.play import play_operations
from dicegym.web.play.hall import PlayHall
from dicegym.web.section import Section

SECTION = Section(
    "/play",
    "Play",
    "Sit down against agents of every strength, take moves back, ask for hints, and see what your moves cost.",
    door=play_operations.DOOR,
    setup=lambda web: web.get(PlayHall),
)
