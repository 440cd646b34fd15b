"""The section: its operations."""

from __future__ import annotations

from dicegym.web.section import Section
from dicegym.web.watch import agents, contests, newgames, replays
from dicegym.web.watch.rows import DOOR

__all__ = ["SECTION", "agents", "contests", "newgames", "replays"]

SECTION = Section(
    "/watch", "Watch", "See contests while they run, step through their games, and know the agents.", door=DOOR
)
