"""The section: its operations and what it allows."""

from __future__ import annotations

from dicegym.web.context import Web
from dicegym.web.enter import contest_operations
from dicegym.web.enter.enter_operations import DOOR, ROOM
from dicegym.web.enter.room import EnteringRoom
from dicegym.web.enter.uploads import LARGEST_UPLOAD
from dicegym.web.section import Section

__all__ = ["SECTION", "contest_operations"]


def _set_up(web: Web) -> None:
    web.get(EnteringRoom)
    web.limits.bodies |= {"/enter/bots": LARGEST_UPLOAD + ROOM, "/api/enter/bots": LARGEST_UPLOAD + 1}


SECTION = Section(
    "/enter",
    "Enter",
    "Hand a bot in: it is checked, plays twenty games against each of our agents, and takes a place in a contest.",
    door=DOOR,
    setup=_set_up,
)
