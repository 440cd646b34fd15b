"""Pages of agents: description, card, learning curve, and contests in the store."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from starlette.requests import Request

import dicegym
from dicegym import games
from dicegym.arena.pages.template import trust
from dicegym.errors import DicegymError, one_line, unknown_name
from dicegym.learning.curve_pictures import draw_learned
from dicegym.pictures.charts import swatch
from dicegym.players.agent_info import agent_card, describe_agent
from dicegym.players.model_file import facts
from dicegym.players.roster import agent_names, resolve
from dicegym.web.markdown import render_card
from dicegym.web.pages import web_of
from dicegym.web.watch import replays, shown_games
from dicegym.web.watch.contest_pages import SECTION, list_titles, title_of

__all__ = ["SECTION", "replays", "shown_games"]


@SECTION.get("/watch/agents", template="watch/agents.html")
def list_agents(request: Request, game: str = "") -> dict[str, Any]:
    """List the agents of all games, or of one."""
    titles = list_titles()
    wanted = [games.spec(game).name] if game else [name for name, _ in titles]
    lists = [(title_of(name), name, describe_shipped(name)) for name in wanted]
    return {"lists": lists, "games": titles, "game": game}


@SECTION.get("/watch/agents/{game}/agent", template="watch/agent.html")
def show_agent(request: Request, game: str, name: str) -> dict[str, Any]:
    """Show an agent with its card, learning curve and contests."""
    own = describe_shipped(games.spec(game).name)
    with web_of(request).store() as reader:
        parts = [] if reader is None else reader.participations(game, name)
    if name not in own and not parts:
        raise unknown_name("agent", one_line(name, 80), list(own), f"These are the agents of {title_of(game)}.")
    card = agent_card(dicegym.game(game), name) if name in own else ""
    return {
        "game": game,
        "name": name,
        "title": title_of(game),
        "about": own.get(name, ""),
        "shipped": name in own,
        "card": render_card(card) if card else "",
        "learned": _learned(game, name) if name in own else None,
        "parts": {one.contest: one.reason or "" for one in reversed(parts)},
    }


def describe_shipped(game: str) -> dict[str, str]:
    """Return the shipped agents of a game, each with its description."""
    return {name: _described(game, name) for name in agent_names(dicegym.game(game))}


@functools.lru_cache(maxsize=1024)
def _described(game: str, name: str) -> str:
    try:
        return describe_agent(dicegym.game(game), name)
    except DicegymError as error:
        return f"cannot be read: {error}"


@functools.lru_cache(maxsize=256)
def _learned(game: str, name: str) -> dict[str, Any] | None:
    """Return an agent's learning curve, its legend and remarks; None for bots, and models without a curve."""
    try:
        found = resolve(dicegym.game(game), name)
        picture = draw_learned(facts(found)) if isinstance(found, Path) else None
    except DicegymError:
        return None
    if picture is None:
        return None
    legend = [(trust(swatch(number).svg()), line) for number, line in enumerate(picture.names)]
    return {"svg": trust(picture.chart.svg()), "legend": legend, "remarks": picture.remarks}
