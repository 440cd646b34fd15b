"""What the pages of game servers answer."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from dicegym.errors import ParameterError
from dicegym.games import game as make_game
from dicegym.players.roster import agent_names
from dicegym.server.settings import ServerSettings
from dicegym.web.context import Web
from dicegym.web.pages import environment, page
from dicegym.web.rights import is_operator, need_operator
from dicegym.web.section import Section
from dicegym.web.server import operations
from dicegym.web.server.boards import ServerBoard, board, need_served, served_games
from dicegym.web.server.held import HeldServers
from dicegym.web.streams import Tell

EVERY = 1.0
"""Seconds between two looks at a server, for all who watch it together."""
STORED = 3
"""So many looks for one at the store."""
TCP = 5000
"""The port that is proposed."""


class Servers:
    """The pages, and the servers that were started from them."""

    def __init__(self, web: Web) -> None:
        self.held = HeldServers()
        self._web = web
        web.on_stop.append(self.held.stop_all)

    def of(self, game: str) -> ServerBoard:
        """Return what is known of the server of a game. Raises UnknownNameError if it has none."""
        need_served(game)
        return board(self._web.settings.store, self.held, game)

    def index(self, request: Request) -> Response:
        """Answer with all servers."""
        boards = [self.of(game) for game in served_games()]
        titles = {one.game: make_game(one.game).spec.title for one in boards}
        return page(request, "server/list.html", boards=boards, titles=titles)

    def one(self, request: Request) -> Response:
        """Answer with the scoreboard of a server, and what starts or stops it."""
        game = request.path_params["game"]
        return page(
            request,
            "server/game.html",
            board=self.of(game),
            title=make_game(game).spec.title,
            operator=is_operator(request),
            agents=agent_names(game),
            most=make_game(game).spec.players[1],
            port=TCP,
        )

    async def live(self, request: Request) -> Response:
        """Tell of a server as long as somebody watches it."""
        game = request.path_params["game"]
        need_served(game)

        async def source(tell: Tell) -> None:
            template = environment().get_template("server/board.html")
            known, looks = await run_in_threadpool(self.of, game), 0
            while True:
                known = known._replace(held=self.held.seen(game))
                tell("board", template.render(board=known))
                await asyncio.sleep(EVERY)
                looks += 1
                if looks % STORED == 0:
                    known = await run_in_threadpool(self.of, game)

        return self._web.channels.stream(request, f"server {game}", source)

    async def start(self, request: Request) -> Response:
        """Start a server as a form says, and show it."""
        game = request.path_params["game"]
        async with request.form() as form:
            settings = ServerSettings(
                game,
                tcp=_port(str(form.get("tcp", ""))),
                ws=_port(str(form.get("ws", ""))),
                players=_whole(str(form.get("players", "2")), "the number of seats"),
                agents=tuple(str(one) for one in form.getlist("agents")),
                always="always" in form,
            )
        await run_in_threadpool(self._start, request, settings)
        return RedirectResponse(f"/server/{game}", 303)

    def begin(self, request: Request, settings: ServerSettings) -> ServerBoard:
        """Start a server for an operator, on this machine alone.

        Raises:
            NotAllowedError: no operator asks.
            UnknownNameError: the game has no server, or one of the agents is not known.
            ParameterError: a server of it runs already.
        """
        self._start(request, settings)
        return self.of(settings.game)

    def _start(self, request: Request, settings: ServerSettings) -> None:
        need_operator(request, "a server is started")
        if self.of(settings.game).running:
            raise ParameterError(f"a server of {settings.game} runs already: stop it first")
        known = agent_names(settings.game)
        for name in settings.agents:
            if name not in known:
                raise ParameterError(f"{name!r} is none of the agents that ship: name some of {', '.join(known)}")
        self.held.start(dataclasses.replace(settings, store=self._web.settings.store))

    def stop(self, request: Request) -> Response:
        """Stop a server, and show what it has held."""
        game = request.path_params["game"]
        self.end(request, game)
        return RedirectResponse(f"/server/{game}", 303)

    def end(self, request: Request, game: str) -> ServerBoard:
        """Stop a server for an operator.

        Raises:
            NotAllowedError: no operator asks.
            ParameterError: it was not started here.
        """
        need_operator(request, "a server is stopped")
        known = self.of(game)
        if known.held is None and known.running:
            raise ParameterError("this server runs in another process: stop it where it was started, by Ctrl-C")
        self.held.stop(game)
        return self.of(game)


def _port(text: str) -> int | None:
    return _whole(text, "a port") if text.strip() else None


def _whole(text: str, what: str) -> int:
    if not (text.strip().isascii() and text.strip().isdigit()):
        raise ParameterError(f"{text!r:.40} is no whole number: give {what}")
    return int(text.strip()[:9])


def _routes(web: Web) -> Sequence[BaseRoute]:
    servers = web.shared(Servers)
    return (
        Route("/server", servers.index),
        Route("/server/{game}", servers.one),
        Route("/server/{game}/live", servers.live),
        Route("/server/{game}/start", servers.start, methods=["POST"]),
        Route("/server/{game}/stop", servers.stop, methods=["POST"]),
    )


SECTION = Section(
    "/server",
    "Server",
    "Let bots play rated games over the network, and watch the scoreboard.",
    _routes,
    lambda web: operations.operations(web, web.shared(Servers)),
)
