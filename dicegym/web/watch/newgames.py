"""Games that are played to be watched: agents are chosen for all seats, a thread plays, and the game is kept."""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

import dicegym
from dicegym import games
from dicegym.arena.replay import Replay, describe_rules, load, save
from dicegym.engine.game import Game
from dicegym.errors import DicegymError, ParameterError, UnknownNameError, one_line
from dicegym.play.drive import Referee
from dicegym.play.player import Player
from dicegym.play.seeds import draw_seed
from dicegym.web.context import Web
from dicegym.web.learn.places import model_of
from dicegym.web.play.seating import Guests, rival_of, rivals
from dicegym.web.watch.analyses import Analyses
from dicegym.web.watch.contests import title_of
from dicegym.web.watch.pages import shown
from dicegym.web.watch.replays import analysis_page
from dicegym.web.watch.shown import PageLink, replay_page

MOST_KEPT = 1_000
"""Games in the folder; the oldest go."""
MOST_BEGUN = 500
"""Games of which it is remembered how they fared while they were played."""
BEGUN = 250.0
"""As many requests as a game counts for."""
LONGEST = 120.0
"""Seconds that a game may take."""
LARGEST_SEED = 1 << 62


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
        analyses: what mistakes cost.
    """

    def __init__(self, web: Web, analyses: Analyses) -> None:
        self._web = web
        self._analyses = analyses
        self._folder = web.folder("watched")
        self._lock = threading.Lock()
        self._begun: OrderedDict[str, Future[None]] = OrderedDict()
        self._guests: dict[int, Guests] = {}

    def form(self, request: Request) -> Response:
        """Answer with the form in which agents are chosen."""
        asked = request.query_params
        names = games.loadable()
        game = asked.get("game") or names[0]
        low, high = games.spec(game).players
        players = _players(asked.get("players"), dicegym.game(game))
        table = dicegym.game(game, players)
        offered = [(one.name, one.about) for one in rivals(table) if not one.is_strength]
        strong = [one.agent for one in rivals(table) if one.is_strength][::-1] or [name for name, _ in offered]
        offered += [(name, "as it plays people") for name in strong if name not in dict(offered)]
        given = [one for one in asked.getlist("agent") if one][:players]
        for name in given:
            if name not in dict(offered):
                self._agent(table, name)  # which says what is wrong with it
                offered.insert(0, (name, "of a training here"))
        return shown(
            request,
            "watch/new.html",
            games=[(name, title_of(name)) for name in names],
            game=game,
            players=players,
            most=range(low, high + 1),
            offered=offered,
            chosen=[given[seat] if seat < len(given) else strong[seat % len(strong)] for seat in range(players)],
        )

    async def begin(self, request: Request) -> Response:
        """Take the form, and send on to the game."""
        form = await request.form()
        game = str(form.get("game", ""))
        agents = tuple(str(one) for one in form.getlist("agent"))
        seed = str(form.get("seed", "")).strip()
        number = await run_in_threadpool(self.play, request, game, agents, seed)
        return RedirectResponse(f"/watch/seen/{number}", 303)

    def play(self, request: Request, game: str, agents: Sequence[str], seed: str | int | None = None) -> str:
        """Let a thread play a game, and return what it is called.

        Args:
            request: who asks for it.
            game: which.
            agents: for all seats.
            seed: names the dice; None or nothing: a new one.

        Raises:
            UnknownNameError: there is no such game or agent.
            ParameterError: the agents are not as many as a table has seats, or the seed is no whole number.
            TooOftenError, TooBusyError: not now.
        """
        table = dicegym.game(game, len(agents))
        for name in agents:
            self._agent(table, name)
        wanted = GameToWatch(game, len(agents), tuple(agents), _seed(seed))
        self._web.limits.pay(request, BEGUN)
        number = secrets.token_hex(8)
        future = self._web.work.begin(request.state.visitor, self._play, number, wanted)
        with self._lock:
            self._begun[number] = future
            while len(self._begun) > MOST_BEGUN:
                self._begun.popitem(last=False)
        return number

    def seen(self, request: Request) -> Response:
        """Answer with a game, or with what became of it."""
        number = request.path_params["number"]
        if "hx-request" in request.headers:  # asked again and again, until there is something to see
            return Response(status_code=204, headers={"HX-Refresh": "true"} if self._over(number) else {})
        replay = self.found(number)
        if replay is None:
            return shown(request, "watch/wait.html", here=f"/watch/seen/{number}")
        kept = self._analyses.ready(replay)
        return replay_page(
            request,
            replay,
            title=f"{title_of(replay.game)}: a game to be watched",
            back="/watch",
            back_title="Watch",
            notes=None if kept is None else kept.notes,
            links=[
                PageLink(f"/watch/seen/{number}/analysis", "What mistakes cost"),
                PageLink(f"/watch/new?game={replay.game}&players={replay.players}", "Another game"),
            ],
        )

    def analysis(self, request: Request) -> Response:
        """Answer with what mistakes cost in such a game."""
        number = request.path_params["number"]
        replay = self.found(number)
        if replay is None:
            raise UnknownNameError(f"game {number} is being played: it can be analysed when it is over")
        title = f"{title_of(replay.game)}: a game to be watched"
        return analysis_page(request, self._analyses, replay, title=title, back=f"/watch/seen/{number}")

    def found(self, number: str) -> Replay | None:
        """Return a game; None while it is being played.

        Raises:
            UnknownNameError: there is no such game here.
            DicegymError: it could not be played.
        """
        path = self._path(number)
        if path.is_file():
            return load(path)
        with self._lock:
            future = self._begun.get(number)
        if future is None:
            raise UnknownNameError(f"there is no game {number} here any more: play another one")
        if future.done():
            future.result()
            return load(path)
        return None

    def _over(self, number: str) -> bool:
        try:
            return self.found(number) is not None
        except DicegymError:  # which the page itself will say
            return True

    def _path(self, number: str) -> Path:
        if not re.fullmatch("[0-9a-f]{16}", number, re.ASCII):
            raise UnknownNameError(f"{one_line(number, 40)!r} is no game that was played here: play another one")
        return self._folder / f"{number}.json"

    def _agent(self, table: Game, name: str) -> str:
        """Return the agent that a form names: one that comes with the game, or a model of a training."""
        return str(model_of(self._web, name)) if name.endswith(".zip") else rival_of(table, name)

    def _play(self, number: str, wanted: GameToWatch) -> None:
        table = dicegym.game(wanted.game, wanted.players)
        players = []
        for seat, name in enumerate(wanted.agents):
            with self._lock:
                guests = self._guests.setdefault(seat, Guests())
            players.append(guests.player(table, self._agent(table, name)))
        save(_played(table, players, wanted), self._path(number))
        every = sorted(self._folder.glob("*.json"), key=lambda one: one.stat().st_mtime)
        for old in every[:-MOST_KEPT]:
            old.unlink(missing_ok=True)


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


def _players(text: str | None, game: Game) -> int:
    low, high = game.spec.players
    if not text:
        return game.players
    if not (text.isascii() and text.isdecimal() and len(text) < 4 and low <= int(text) <= high):
        raise ParameterError(f"{one_line(text, 40)!r} is no number of players of {game.spec.title}: {low} to {high}")
    return int(text)


def _seed(given: str | int | None) -> int:
    if given is None or given == "":
        return draw_seed()
    try:
        seed = int(given)
    except ValueError:
        seed = -1
    if not 0 <= seed < LARGEST_SEED:
        raise ParameterError(f"{one_line(given, 40)!r} is no seed: write a whole number from 0, or leave it out")
    return seed
