"""Enter: hand a bot in, see what becomes of it, and give it a place in a contest."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute

from dicegym.web.api import Operation
from dicegym.web.context import Web
from dicegym.web.enter import contest_pages, operations, pages
from dicegym.web.enter.forms import ROOM
from dicegym.web.enter.room import room_of
from dicegym.web.enter.uploads import LARGEST_UPLOAD
from dicegym.web.enter.visitors import is_operator
from dicegym.web.section import Section


def _routes(web: Web) -> Sequence[BaseRoute]:
    room_of(web)
    web.operators.append(is_operator)
    web.limits.bodies |= {"/enter/bots": LARGEST_UPLOAD + ROOM, "/api/enter/bots": LARGEST_UPLOAD + 1}
    return [*pages.routes(), *contest_pages.routes()]


def _operations(web: Web) -> Sequence[Operation]:
    return operations.operations()


SECTION = Section(
    "/enter",
    "Enter",
    "Hand a bot in: it is checked, plays twenty games against each of our agents, and takes a place in a contest.",
    _routes,
    _operations,
)
