"""What programs may ask of game servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from dicegym.server.settings import ServerSettings
from dicegym.web.api import Operation, body_of
from dicegym.web.context import Web
from dicegym.web.server.boards import ServerBoard, served_games


class ServerDesk(Protocol):
    """What the pages of servers do."""

    def of(self, game: str) -> ServerBoard:
        """Return what is known of a server."""

    def begin(self, request: Request, settings: ServerSettings) -> ServerBoard:
        """Start a server."""

    def end(self, request: Request, game: str) -> ServerBoard:
        """Stop a server."""


class ServerSeat(BaseModel):
    """Who sits at a table, with how many points so far."""

    name: str
    points: int


class ServerTable(BaseModel):
    """A game in progress."""

    number: int
    seats: list[ServerSeat]
    to_move: str


class ServerRating(BaseModel):
    """What is known of a name."""

    name: str
    rating: float = Field(description="on the Elo scale")
    games: int
    wins: int


class ServedGameRow(BaseModel):
    """A finished game."""

    id: int = Field(description="its replay is server:ID")
    ended: str
    places: str
    forced: int = Field(description="decisions that the server had to play for somebody")


class ServerReport(BaseModel):
    """A server as it stands."""

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


def operations(web: Web, servers: ServerDesk) -> Sequence[Operation]:
    """Return the operations on servers."""

    async def listed(request: Request) -> ServerReports:
        return ServerReports(servers=[report(await run_in_threadpool(servers.of, game)) for game in served_games()])

    async def one(request: Request) -> ServerReport:
        return report(await run_in_threadpool(servers.of, request.path_params["game"]))

    async def begin(request: Request) -> ServerReport:
        told = body_of(request, ServerBegin)
        settings = ServerSettings(
            request.path_params["game"], told.tcp, told.ws, players=told.players, agents=tuple(told.agents),
            always=told.always,
        )  # fmt: skip
        return report(await run_in_threadpool(servers.begin, request, settings))

    async def end(request: Request) -> ServerReport:
        return report(await run_in_threadpool(servers.end, request, request.path_params["game"]))

    return (
        Operation("GET", "/servers", "All game servers", listed, ServerReports),
        Operation("GET", "/servers/{game}", "A game server", one, ServerReport),
        Operation(
            "POST", "/servers/{game}/start", "Start a game server", begin, ServerReport,
            takes=ServerBegin, token=True, tag="servers", example={"tcp": 5000, "agents": []},
        ),
        Operation("POST", "/servers/{game}/stop", "Stop a game server", end, ServerReport, token=True, tag="servers"),
    )  # fmt: skip


def report(board: ServerBoard) -> ServerReport:
    """Return what programs are told of a server."""
    live = board.live or {}
    state = board.status.run.state if board.status and board.status.run and board.running else None
    return ServerReport(
        game=board.game,
        running=board.running,
        here=board.held is not None and board.held.running,
        error=board.held.error if board.held is not None else "",
        addresses=live.get("addresses") or list(state.addresses if state else ()),
        connections=live.get("connections", state.connections if state else 0),
        waiting=live.get("waiting", state.waiting if state else 0),
        turns_per_second=live.get("speed"),
        tables=[
            ServerTable(number=number, seats=[ServerSeat(name=who, points=has) for who, has in seats], to_move=mover)
            for number, seats, mover in live.get("tables", ())
        ],
        lines=live.get("lines", []),
        finished=board.status.games if board.status else 0,
        ratings=[ServerRating(**one._asdict()) for one in board.ratings],
        games=[
            ServedGameRow(id=one.id, ended=one.ended, places=one.places, forced=one.incidents) for one in board.games
        ],
    )
