"""The section: its pages, and what it offers to programs."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from starlette.routing import BaseRoute, Route

from dicegym.web.context import Web
from dicegym.web.section import Section
from dicegym.web.watch import assets
from dicegym.web.watch.agents import Agents
from dicegym.web.watch.analyses import Analyses
from dicegym.web.watch.contests import Contests
from dicegym.web.watch.newgames import NewGames
from dicegym.web.watch.replays import Replays


class Rooms:
    """What answers for a server.

    Args:
        web: the server.
    """

    def __init__(self, web: Web) -> None:
        analyses = Analyses(web)
        self.contests = Contests(web)
        self.replays = Replays(web, analyses)
        self.agents = Agents(web, self.contests.boards)
        self.new_games = NewGames(web, analyses)


def rooms_of(web: Web) -> Rooms:
    """Return what answers for a server, the same for pages and programs."""
    return _ALL.setdefault(web, Rooms(web)) if web not in _ALL else _ALL[web]


_ALL: WeakKeyDictionary[Web, Rooms] = WeakKeyDictionary()


def _routes(web: Web) -> Sequence[BaseRoute]:
    rooms = rooms_of(web)
    contests, replays, agents, new = rooms.contests, rooms.replays, rooms.agents, rooms.new_games
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
)
