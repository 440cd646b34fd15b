"""Games that are played to be watched: agents are chosen for all seats, a thread plays, and the game is kept."""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from fastapi import Query
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

import dicegym
from dicegym import games
from dicegym.arena.replay import Replay, describe_rules, load, save, to_json
from dicegym.engine.game import Game
from dicegym.errors import ParameterError, UnknownNameError, one_line
from dicegym.play.drive import Referee
from dicegym.play.player import Player
from dicegym.play.seeds import draw_seed
from dicegym.web.context import Web, remove_oldest
from dicegym.web.door import QueryNumber
from dicegym.web.learn.run_folders import model_of
from dicegym.web.pages import page, web_of
from dicegym.web.play.rivals import Guests, list_rivals, rival_of
from dicegym.web.watch.analyses import Analyses
from dicegym.web.watch.listed_rows import DOOR, list_titles, title_of
from dicegym.web.watch.replay_view import PageLink, replay_page
from dicegym.web.watch.replays import analysis_page

MOST_KEPT = 1_000
"""Games in the folder; the oldest go."""
BEGUN = 250.0
"""As many requests as a game counts for."""
LONGEST = 120.0
"""Seconds that a game may take."""
LARGEST_SEED = 1 << 62


class GameWanted(BaseModel):
    """A game to be played and watched."""

    game: str
    agents: list[str] = Field(min_length=1, max_length=32, description="by seat")
    seed: int | None = Field(None, ge=0, lt=LARGEST_SEED, description="of the dice; a new one if left out")


class GameBegun(BaseModel):
    """A game that is being played."""

    id: str
    page: str
    api: str


class GameSeen(BaseModel):
    """A game that was asked for."""

    over: bool
    replay: dict[str, Any] | None


class GameToWatch(NamedTuple):
    """A game that is played to be watched."""

    game: str
    players: int
    agents: tuple[str, ...]
    """By seat, as forms name them."""
    seed: int


class NewGames:
    """Games that are played to be watched.

    Args:
        web: the server.
    """

    def __init__(self, web: Web) -> None:
        self._web = web
        self._folder = web.folder("watched")
        self._lock = threading.Lock()
        self._guests: dict[int, Guests] = {}

    def begin(self, visitor: str, wanted: GameToWatch) -> str:
        """Let a thread play a game, and return what it is called. Raises TooBusyError."""
        number = secrets.token_hex(8)
        self._web.slow.answer(visitor, ("watched", number), lambda answer: self._play(number, wanted))
        return number

    def find(self, number: str) -> Replay | None:
        """Return a game; None while it is being played.

        Raises:
            UnknownNameError: the game is unknown here.
            DicegymError: it could not be played.
        """
        path = self._path(number)
        if path.is_file():
            return load(path)
        known = self._web.slow.find(("watched", number))
        if known is None:
            raise UnknownNameError(f"there is no game {number} here any more: play another one")
        if known.error is not None:
            raise known.error
        return load(path) if known.ready else None

    def agent(self, table: Game, name: str) -> str:
        """Return the agent that a form names: one that comes with the game, or a model of a training."""
        return str(model_of(self._web, name)) if name.endswith(".zip") else rival_of(table, name)

    def _path(self, number: str) -> Path:
        if not re.fullmatch("[0-9a-f]{16}", number, re.ASCII):
            raise UnknownNameError(f"there is no game {one_line(number, 40)!r} here: play another one")
        return self._folder / f"{number}.json"

    def _play(self, number: str, wanted: GameToWatch) -> None:
        table = dicegym.game(wanted.game, wanted.players)
        players = []
        for seat, name in enumerate(wanted.agents):
            with self._lock:
                guests = self._guests.setdefault(seat, Guests())
            players.append(guests.player(table, self.agent(table, name)))
        save(_played(table, players, wanted), self._path(number))
        remove_oldest(self._folder, MOST_KEPT)


@DOOR.get("/watch/new", template="watch/new.html")
def choose_agents(
    request: Request,
    game: str = "",
    players: QueryNumber = None,
    agent: Annotated[list[str], Query()] = [],  # noqa: B006
) -> dict[str, Any]:
    """Show the form in which agents are chosen."""
    names = games.loadable()
    game = game or names[0]
    low, high = games.spec(game).players
    seats = dicegym.game(game).players if players is None else players
    if not low <= seats <= high:
        raise ParameterError(f"invalid number of players {seats}: {games.spec(game).title} takes {low} to {high}")
    table = dicegym.game(game, seats)
    offered = [(one.name, one.about) for one in list_rivals(table) if not one.is_strength]
    strong = [one.agent for one in list_rivals(table) if one.is_strength][::-1] or [name for name, _ in offered]
    offered += [(name, "as it plays people") for name in strong if name not in dict(offered)]
    given = [one for one in agent if one][:seats]
    for name in given:
        if name not in dict(offered):
            web_of(request).get(NewGames).agent(table, name)  # which says what is wrong with it
            offered.insert(0, (name, "of a training here"))
    return {
        "games": list_titles(),
        "game": game,
        "players": seats,
        "most": range(low, high + 1),
        "offered": offered,
        "chosen": [given[seat] if seat < len(given) else strong[seat % len(strong)] for seat in range(seats)],
    }


@DOOR.post(
    "/watch/new",
    api="/watch/games",
    to="{0[page]}",
    returns=GameBegun,
    status=201,
    extra={"x-example": {"game": "hog", "agents": ["ham", "bacon"], "seed": 7}},
)
def play_to_watch(request: Request, wanted: GameWanted) -> dict[str, str]:
    """Let agents play a game, to be watched."""
    web = web_of(request)
    new, table = web.get(NewGames), dicegym.game(wanted.game, len(wanted.agents))
    for name in wanted.agents:
        new.agent(table, name)
    web.limits.pay(request, BEGUN)
    seed = draw_seed() if wanted.seed is None else wanted.seed
    number = new.begin(request.state.visitor, GameToWatch(wanted.game, len(wanted.agents), tuple(wanted.agents), seed))
    return {"id": number, "page": f"/watch/seen/{number}", "api": f"/api/watch/games/{number}"}


def _view_seen(request: Request, found: dict[str, Any]) -> Response:
    number, replay = found["number"], found["game"]
    if "hx-request" in request.headers:  # asked again and again, until there is something to see
        return Response(status_code=204, headers={} if replay is None else {"HX-Refresh": "true"})
    if replay is None:
        return page(request, "watch/wait.html")
    kept = web_of(request).get(Analyses).ready(replay)
    return replay_page(
        request,
        replay,
        title=_title(replay),
        back="/watch",
        back_title="Watch",
        notes=None if kept is None else kept.notes,
        links=[
            PageLink(f"/watch/seen/{number}/analysis", "What mistakes cost"),
            PageLink(f"/watch/new?game={replay.game}&players={replay.players}", "Another game"),
        ],
    )


@DOOR.get("/watch/seen/{number}", api="/watch/games/{number}", view=_view_seen, returns=GameSeen)
def show_watched_game(request: Request, number: str) -> dict[str, Any]:
    """Show a game that was asked for."""
    replay = web_of(request).get(NewGames).find(number)
    return {
        "number": number,
        "game": replay,
        "over": replay is not None,
        "replay": None if replay is None else to_json(replay),
    }


@DOOR.get("/watch/seen/{number}/analysis")
def analyse_watched_game(request: Request, number: str) -> Response:
    """Show what mistakes cost in such a game."""
    replay = web_of(request).get(NewGames).find(number)
    if replay is None:
        raise UnknownNameError(f"game {number} is being played: it can be analysed when it is over")
    return analysis_page(request, replay, title=_title(replay), back=f"/watch/seen/{number}")


def _title(replay: Replay) -> str:
    return f"{title_of(replay.game)}: a game to be watched"


def _played(table: Game, players: Sequence[Player], wanted: GameToWatch) -> Replay:
    """Return a game, played here and now. Raises ParameterError if it takes too long."""
    end = time.monotonic() + LONGEST
    referee = Referee(table, table.new_game(wanted.seed), players)
    for _ in referee.moves():
        if time.monotonic() > end:
            raise ParameterError(f"the game was not over after {LONGEST:.0f} seconds: choose agents that think less")
    return Replay(
        table.name,
        table.players,
        dict(table.parameters),
        wanted.seed,
        0,
        wanted.agents,
        tuple(referee.actions),
        tuple(table.returns(referee.state).tolist()),
        (),
        describe_rules(table),
    )
