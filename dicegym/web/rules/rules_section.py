"""Pages of the rules of each game, with its agents and environments."""

from __future__ import annotations

import functools
from typing import Any

from starlette.requests import Request

import dicegym
from dicegym.games.parts import INTERFACE, part
from dicegym.games.rules_page import apart, rules_page, sections
from dicegym.players.agent_info import describe_agent
from dicegym.registry import ENVIRONMENTS
from dicegym.web.markdown import plain_as_html
from dicegym.web.play.cards import list_cards, make_card
from dicegym.web.section import Section

SECTION = Section("/rules", "Rules", "Read how each game is played, and find its agents and environments.")


@functools.cache
def rules_of(name: str) -> dict[str, Any]:
    """Return the content of a game's page, which is cached."""
    game, text = dicegym.game(name), rules_page(name)
    intro = text.strip().partition("\n\n")[0].partition("\n")[2]  # the rest of the first paragraph
    interface = part(game, INTERFACE)
    rows = []
    for one in ENVIRONMENTS:
        if one.game == name:
            table = dicegym.game(name, **one.settings)
            parameters = ", ".join(f"{key}={value}" for key, value in table.all_parameters.items()) or "none"
            rows.append((one.full_id, table.n_actions, table.observation_size, parameters))
    return {
        "card": make_card(name),
        "intro": plain_as_html(intro, "Introduction: table") if intro else "",
        "sections": [(title, plain_as_html(apart(body), f"{title}: table")) for title, body in sections(text)],
        "environments": rows,
        "agents": [(agent, describe_agent(game, agent)) for agent in dicegym.agent_names(game)],
        "bot_file": interface.ENTRY_FILES[0] if interface else "",
    }


@SECTION.get("/rules", template="rules/list.html")
def list_games(request: Request) -> dict[str, Any]:
    """List the games."""
    return {"games": list_cards()}


@SECTION.get("/rules/{game}", template="rules/game.html")
def show_rules(request: Request, game: str) -> dict[str, Any]:
    """Show the rules of a game. Raises UnknownNameError."""
    return {"rules": rules_of(game)}
