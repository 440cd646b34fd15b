"""The section: its pages, and what it offers to programs."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute, Route

from dicegym.web.context import Web
from dicegym.web.section import Section
from dicegym.web.watch import assets
from dicegym.web.watch.operations import operations
from dicegym.web.watch.rooms import rooms_of


def _routes(web: Web) -> Sequence[BaseRoute]:
    rooms = rooms_of(web)
    contests, replays, agents, new = rooms.contests, rooms.replays, rooms.agents, rooms.new_games
    return [
        Route("/watch", contests.index),
        Route(f"{assets.PREFIX}/{{name}}", assets.answer),
        Route("/watch/contests/{contest:number}", contests.contest),
        Route("/watch/contests/{contest:number}/matches", contests.matches),
        Route("/watch/contests/{contest:number}/live", contests.live),
        Route("/watch/matches/{match:number}", replays.match),
        Route("/watch/games/{match:number}/{game:number}", replays.game),
        Route("/watch/games/{match:number}/{game:number}/analysis", replays.analysis),
        Route("/watch/served/{number:number}", replays.served),
        Route("/watch/agents", agents.index),
        Route("/watch/agents/{game}", agents.index),
        Route("/watch/new", new.form, methods=["GET"]),
        Route("/watch/new", new.begin, methods=["POST"]),
        Route("/watch/seen/{number}", new.seen),
        Route("/watch/seen/{number}/analysis", new.analysis),
    ]


SECTION = Section(
    "/watch",
    "Watch",
    "See contests as they are held, step through their games, and know the agents.",
    _routes,
    operations,
)
