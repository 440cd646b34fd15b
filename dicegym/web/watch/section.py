"""The section: its pages, and what it offers to programs."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute, Route

from dicegym.web.context import Web
from dicegym.web.section import Section
from dicegym.web.watch import assets
from dicegym.web.watch.analyses import Analyses
from dicegym.web.watch.contests import Contests
from dicegym.web.watch.replays import Replays


def _routes(web: Web) -> Sequence[BaseRoute]:
    contests, replays = Contests(web), Replays(web, Analyses(web))
    return [
        Route("/watch", contests.index),
        Route(f"{assets.PREFIX}/{{name}}", assets.answer),
        Route("/watch/contests/{contest:int}", contests.contest),
        Route("/watch/contests/{contest:int}/matches", contests.matches),
        Route("/watch/contests/{contest:int}/live", contests.live),
        Route("/watch/matches/{match:int}", replays.match),
        Route("/watch/games/{match:int}/{game:int}", replays.game),
        Route("/watch/games/{match:int}/{game:int}/analysis", replays.analysis),
        Route("/watch/served/{number:int}", replays.served),
    ]


SECTION = Section(
    "/watch",
    "Watch",
    "See contests as they are held, step through their games, and know the agents.",
    _routes,
)
