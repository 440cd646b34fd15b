"""The section: its operations."""

from __future__ import annotations

from dicegym.web.section import Section
from dicegym.web.watch import agent_pages, contest_lists, newgames, replays
from dicegym.web.watch.listed_rows import DOOR

__all__ = ["SECTION", "agent_pages", "contest_lists", "newgames", "replays"]

SECTION = Section(
    "/watch", "Watch", "See contests while they run, step through their games, and know the agents.", door=DOOR
)
