"""The game servers: their scoreboards, and how operators start and stop them."""

from __future__ import annotations

import dataclasses
from typing import Any

from pydantic import BaseModel, Field
from starlette.requests import Request

from dicegym.errors import ParameterError
from dicegym.games import game as make_game
from dicegym.players.roster import agent_names
from dicegym.server.server_settings import ServerSettings
from dicegym.web.context import Web
from dicegym.web.door import Door
from dicegym.web.pages import web_of
from dicegym.web.rights import is_operator, need_operator
from dicegym.web.section import Section
from dicegym.web.server.processes import StartedServers
from dicegym.web.server.server_boards import ServerBoard, board, list_served, need_served

TCP = 5000
"""The port that the form proposes."""
DOOR = Door("servers")


class ServerSeat(BaseModel):
    """A player at a table, with the points so far."""

    name: str
    points: int


class ServerTable(BaseModel):
    """A game in progress."""

    number: int
    seats: list[ServerSeat]
    to_move: str


class ServerRating(BaseModel):
    """The rating of a name."""

    name: str
    rating: float = Field(description="on the Elo scale")
    games: int
    wins: int


class ServedGameRow(BaseModel):
    """A finished game."""

    id: int = Field(description="its replay is server:ID")
    ended: str
    places: str
    forced: int = Field(description="decisions that the server had to play", validation_alias="incidents")


class ServerReport(BaseModel):
    """A server as it is now."""

    game: str
    running: bool
    here: bool = Field(description="whether it was started from the pages, so that its tables are known")
    error: str = Field(description="why it could not be started from the pages")
    addresses: list[str]
    connections: int
    waiting: int = Field(description="remote bots that wait for a game")
    turns_per_second: float | None
    tables: list[ServerTable]
    lines: list[str] = Field(description="what has happened, the newest last")
    finished: int = Field(description="games in all runs")
    ratings: list[ServerRating]
    games: list[ServedGameRow] = Field(description="the newest first")


class ServerReports(BaseModel):
    """All servers."""

    servers: list[ServerReport]


class ServerBegin(BaseModel):
    """How a server is started."""

    tcp: int | None = Field(None, description="port for TCP; 0: any free one")
    ws: int | None = Field(None, description="port for WebSocket; 0: any free one")
    players: int = Field(2, description="seats at a table")
    agents: list[str] = Field([], description="shipped agents that fill free seats")
    always: bool = Field(False, description="whether they play each other while nobody is there")


class Servers:
    """The servers that were started from the pages."""

    def __init__(self, web: Web) -> None:
        self.held = StartedServers()
        self._web = web
        web.on_stop.append(self.held.stop_all)

    def of(self, game: str) -> ServerBoard:
        """Return what is known of the server of a game. Raises UnknownNameError if it has none."""
        need_served(game)
        return board(self._web.settings.store, self.held, game)


def _servers(request: Request) -> Servers:
    return web_of(request).get(Servers)


def _view_list(request: Request, found: dict[str, Any]) -> dict[str, Any]:
    boards: list[ServerBoard] = found["servers"]
    return {"boards": boards, "titles": {one.game: make_game(one.game).spec.title for one in boards}}


@DOOR.get("/server", api="/servers", template="server/list.html", view=_view_list, returns=ServerReports)
def list_servers(request: Request) -> dict[str, Any]:
    """List all game servers."""
    return {"servers": [_servers(request).of(game) for game in list_served()]}


def _view_server(request: Request, found: ServerBoard) -> dict[str, Any]:
    game = make_game(found.game)
    return {
        "board": found,
        "title": game.spec.title,
        "operator": is_operator(request),
        "agents": agent_names(game),
        "most": game.spec.players[1],
        "port": TCP,
    }


@DOOR.get("/server/{game}", api="/servers/{game}", template="server/game.html", view=_view_server, returns=ServerReport)
def show_server(request: Request, game: str) -> ServerBoard:
    """Show a game server: its tables, ratings and newest games."""
    return _servers(request).of(game)


@DOOR.post(
    "/server/{game}/start",
    api="/servers/{game}/start",
    to="/server/{0.game}",
    returns=ServerReport,
    token=True,
    extra={"x-example": {"tcp": TCP, "agents": []}},
)
def start_server(request: Request, game: str, wanted: ServerBegin) -> ServerBoard:
    """Start a game server for an operator, on this machine alone."""
    settings = ServerSettings(game, **{**wanted.model_dump(), "agents": tuple(wanted.agents)})
    need_operator(request)
    servers = _servers(request)
    if servers.of(game).running:
        raise ParameterError(f"a server of {game} runs already: stop it first")
    known = agent_names(game)
    for name in settings.agents:
        if name not in known:
            raise ParameterError(f"unknown agent {name!r}: use some of {', '.join(known)}")
    servers.held.start(dataclasses.replace(settings, store=web_of(request).settings.store))
    return servers.of(game)


@DOOR.post("/server/{game}/stop", api="/servers/{game}/stop", to="/server/{0.game}", returns=ServerReport, token=True)
def stop_server(request: Request, game: str) -> ServerBoard:
    """Stop a game server for an operator."""
    need_operator(request)
    servers = _servers(request)
    known = servers.of(game)
    if known.held is None and known.running:
        raise ParameterError("this server runs in another process: stop it where it was started, by Ctrl-C")
    servers.held.stop(game)
    return servers.of(game)


SECTION = Section(
    "/server",
    "Server",
    "Let bots play rated games over the network, and watch the scoreboard.",
    door=DOOR,
    setup=lambda web: web.get(Servers),
)
