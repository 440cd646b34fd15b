"""Games between agents that a visitor chooses, played in a thread.

The address of a game names its agents and seed, so the game can be played again at any time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

import dicegym
from dicegym import games
from dicegym.arena.replay import Replay, record_replay
from dicegym.columns import write_count
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.play.drive import Referee
from dicegym.play.seeds import draw_seed
from dicegym.web.context import Web
from dicegym.web.learn.run_folders import MODEL_SUFFIX, model_of
from dicegym.web.pages import render_page, web_of
from dicegym.web.play.game_sessions import LONGEST_SEED, GameSessions
from dicegym.web.play.review import GAME_COST, render_review
from dicegym.web.play.rivals import list_rivals, rival_of
from dicegym.web.section import EMPTY, SEE_OTHER, QueryNumber
from dicegym.web.watch.contest_pages import SECTION, list_titles, title_of
from dicegym.web.watch.replay_view import render_replay
from dicegym.web.workers import Answer

GAME_SECONDS = 120.0
ShownSeed = Annotated[Annotated[int, Field(ge=0, le=LONGEST_SEED)] | None, EMPTY, Query()]
"""The seed of the dice; drawn if missing or empty."""
SeatedAgents = Annotated[list[str], Query(min_length=1, max_length=32, description="by seat")]


def play_game(web: Web, table: Game, agents: Sequence[str], seed: int) -> Replay:
    """Play a game and return it. Raises ParameterError if it takes longer than `GAME_SECONDS`."""
    guests = web.get(GameSessions).shared_players
    players = [guests.player(table, agent_named(web, table, name)) for name in agents]
    end = time.monotonic() + GAME_SECONDS
    referee = Referee(table, table.new_game(seed), players)
    for _ in referee.moves():
        if time.monotonic() > end:
            raise ParameterError(f"the game was not over after {GAME_SECONDS:.0f} seconds: choose faster agents")
    return record_replay(table, agents, seed, referee.actions)


def agent_named(web: Web, table: Game, name: str) -> str:
    """Return the agent that a form names: a shipped one, or a model of a training."""
    return str(model_of(web, name)) if name.endswith(MODEL_SUFFIX) else rival_of(table, name)


@SECTION.get("/watch/new", template="watch/new.html")
def choose_agents(
    request: Request,
    game: str = "",
    players: QueryNumber = None,
    agent: Annotated[list[str], Query()] = [],  # noqa: B006
) -> dict[str, Any]:
    """Show the form to choose agents for all seats."""
    game = game or games.loadable()[0]
    low, high = games.spec(game).players
    table = dicegym.game(game, players)
    seats = table.players
    offered = {one.name: one.about for one in list_rivals(table) if not one.is_strength}
    strong = [one.agent for one in list_rivals(table) if one.is_strength][::-1] or list(offered)
    given = [one for one in agent if one][:seats]
    for name in [*strong, *given]:
        agent_named(web_of(request), table, name)  # raises for an unknown name
        offered.setdefault(name, "from a training here" if name in given else "an opponent of people")
    return {
        "games": list_titles(),
        "game": game,
        "players": seats,
        "most": range(low, high + 1),
        "offered": list(offered.items()),
        "chosen": [given[seat] if seat < len(given) else strong[seat % len(strong)] for seat in range(seats)],
    }


def _play(request: Request, game: str, agents: Sequence[str], seed: int) -> Answer[Replay]:
    """Return a game, now or later. Raises ParameterError or UnknownNameError for wrong agents."""
    low, high = games.spec(game).players
    if not low <= len(agents) <= high:
        given, wanted = write_count(len(agents), "agent"), f"{low} to {high}" if low < high else low
        raise ParameterError(f"{given} cannot play {games.spec(game).title}: choose {wanted} agents")
    web, table = web_of(request), dicegym.game(game, len(agents))
    for name in agents:
        agent_named(web, table, name)
    key, pay = ("shown", game, tuple(agents), seed), lambda: web.limits.pay(request, GAME_COST)
    return web.slow.answer(request.state.visitor, key, lambda answer: play_game(web, table, agents, seed), pay=pay)


@SECTION.get("/watch/game")
def show_game_of_agents(request: Request, game: str, agent: SeatedAgents, seed: ShownSeed = None) -> Response:
    """Show a game between agents as soon as it is over."""
    if seed is None:
        drawn = urlencode({"game": game, "agent": agent, "seed": draw_seed()}, doseq=True)
        return RedirectResponse(f"/watch/game?{drawn}", SEE_OTHER)
    played = _play(request, game, agent, seed)
    polls = "hx-request" in request.headers
    if played.error is not None and not polls:
        raise played.error
    if polls:  # the waiting page asks every second
        return Response(status_code=204, headers={"HX-Refresh": "true"} if played.ready else {})
    if played.found is None:
        return render_page(request, "watch/wait.html")
    query = urlencode({"game": game, "agent": agent, "seed": seed}, doseq=True)
    return render_replay(
        request,
        played.found,
        title=f"{title_of(game)}: {', '.join(played.found.seats)}",
        back=("/watch", "Watch"),
        links=[
            (f"/watch/game/review?{query}", "What mistakes cost"),
            (f"/watch/new?{urlencode({'game': game, 'players': len(agent)})}", "Another game"),
        ],
    )


@SECTION.get("/watch/game/review")
def review_game_of_agents(
    request: Request,
    game: str,
    agent: SeatedAgents,
    seed: Annotated[int, Query(ge=0, le=LONGEST_SEED)],
    seat: QueryNumber = None,
    at: QueryNumber = None,
) -> Response:
    """Show the regret of each decision in a game between agents."""
    query = urlencode({"game": game, "agent": agent, "seed": seed}, doseq=True)
    played = _play(request, game, agent, seed)
    if played.found is None:
        return RedirectResponse(f"/watch/game?{query}", SEE_OTHER)
    return render_review(
        request, played.found, seat or 0, at, title=f"A game of {title_of(game)}", back=f"/watch/game?{query}"
    )
