"""What the pages on rules answer."""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

import dicegym
from dicegym.engine.game import Game
from dicegym.errors import UnknownNameError
from dicegym.escape import one_line
from dicegym.games import loadable
from dicegym.games.parts import BOT_WRITER, INTERFACE, part
from dicegym.games.rules_page import apart, rules_page, sections, title_of
from dicegym.players.roster import describe
from dicegym.registry import ENVIRONMENTS
from dicegym.sandbox.customs import customs
from dicegym.web.api import Operation
from dicegym.web.context import Web
from dicegym.web.markdown import plain_as_html
from dicegym.web.pages import page, web_of
from dicegym.web.play.cards import cover_of
from dicegym.web.rules.midway import picture_of
from dicegym.web.section import Section

_DRAWING, _OWN = threading.Lock(), dict[str, threading.Lock]()
ABOUT_LEARNERS = ("Actions", "Observation", "Rewards", "Version history")
"""Sections of a rules page that people who only play need not read."""


class RulesSection(NamedTuple):
    """A part of a rules page."""

    title: str
    html: Any


class GameCard(NamedTuple):
    """A game in short."""

    name: str
    title: str
    kind: str
    seats: str
    cover: str


class GameRules(NamedTuple):
    """All that the page of a game tells."""

    card: GameCard
    intro: Any
    to_play: Sequence[RulesSection]
    to_learn: Sequence[RulesSection]
    environments: Sequence[tuple[str, ...]]
    agents: Sequence[tuple[str, str]]
    interface: str
    customs: str
    bot_file: str


class GameInfo(BaseModel):
    """A game, for programs."""

    name: str
    title: str
    seats: str
    environments: list[str] = Field(description="ids for gymnasium.make")
    agents: list[str] = Field(description="who can be played against")
    parameters: dict[str, int]
    rules: str = Field(description="as plain text")


class GameInfoList(BaseModel):
    """All games."""

    games: list[GameInfo]


def seats_of(game: Game) -> str:
    """Return how many may play: ``2`` or ``2 to 6``."""
    low, high = game.spec.players
    return f"{low} to {high}" if low < high else str(low)


@functools.cache
def card_of(name: str) -> GameCard:
    """Return a game in short."""
    title, kind = title_of(rules_page(name))
    return GameCard(name, title, kind, seats_of(dicegym.game(name)), cover_of(name))


def picture(name: str) -> str:
    """Return the picture of a game as SVG; half a game is played for it, once."""
    with _DRAWING:
        own = _OWN.setdefault(name, threading.Lock())
    with own:  # who asks for it meanwhile waits for this one, and does not have it drawn again
        return str(picture_of(dicegym.game(name)))


@functools.cache
def rules_of(name: str) -> GameRules:
    """Return all that the page of a game tells; it is made once."""
    game, text = dicegym.game(name), rules_page(name)
    intro = text.strip().partition("\n\n")[0].partition("\n")[2]  # the rest of the first paragraph
    shown = [RulesSection(title, plain_as_html(apart(body), 4, f"{title}: table")) for title, body in sections(text)]
    starter, interface = part(game, BOT_WRITER), part(game, INTERFACE)
    rows = []
    for one in ENVIRONMENTS:
        if one.game == name:
            table = dicegym.game(name, **one.settings)
            parameters = ", ".join(f"{key}={value}" for key, value in table.all_parameters.items()) or "none"
            rows.append((one.full_id, str(table.n_actions), str(table.observation_size), parameters))
    return GameRules(
        card_of(name),
        plain_as_html(intro, 4, "Introduction: table") if intro else "",
        [one for one in shown if one.title not in ABOUT_LEARNERS],
        [one for one in shown if one.title in ABOUT_LEARNERS],
        rows,
        [(agent, describe(game, agent)) for agent in dicegym.agent_names(game)],
        starter.INTERFACE if starter else "",
        customs() if starter else "",
        interface.ENTRY_FILES[0] if interface else "",
    )


def _known(name: str) -> str:
    known = loadable()
    if name not in known:
        raise UnknownNameError(f"there is no game {one_line(name, 60)!r}: there are {', '.join(known)}")
    return name


def _all(request: Request) -> Response:
    return page(request, "rules/list.html", games=[card_of(name) for name in loadable()])


def _one(request: Request) -> Response:
    return page(request, "rules/game.html", rules=rules_of(_known(request.path_params["game"])))


def _picture(request: Request) -> Response:
    name = _known(request.path_params["game"])
    web_of(request).readiness.check(name)
    return Response(picture(name), media_type="image/svg+xml", headers={"Cache-Control": "max-age=3600"})


def _routes(web: Web) -> list[BaseRoute]:
    return [Route("/rules", _all), Route("/rules/{game}", _one), Route("/rules/{game}/picture.svg", _picture)]


async def _told(request: Request) -> BaseModel:
    def told() -> BaseModel:
        found = []
        for name in loadable():
            rules = rules_of(name)
            found.append(
                GameInfo(
                    name=name,
                    title=rules.card.title,
                    seats=rules.card.seats,
                    environments=[row[0] for row in rules.environments],
                    agents=[agent for agent, _ in rules.agents],
                    parameters=dicegym.game(name).all_parameters,
                    rules=rules_page(name),
                )
            )
        return GameInfoList(games=found)

    return await run_in_threadpool(told)


SECTION = Section(
    "/rules",
    "Rules",
    "How each game is played, what its bots are asked, and what its environments are called.",
    _routes,
    lambda web: (
        Operation("GET", "/games", "Games, their rules, environments and agents", _told, GameInfoList, tag="rules"),
    ),
)
