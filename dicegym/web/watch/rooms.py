"""What answers for a server of pages: the same for people and for programs."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from dicegym.web.context import Web
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
    if web not in _ALL:
        _ALL[web] = Rooms(web)
    return _ALL[web]


_ALL: WeakKeyDictionary[Web, Rooms] = WeakKeyDictionary()
