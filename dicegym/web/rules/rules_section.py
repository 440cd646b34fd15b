"""What the pages on rules answer."""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, Field
from starlette.requests import Request
from starlette.responses import Response

import dicegym
from dicegym.engine.game import Game
from dicegym.errors import UnknownNameError
from dicegym.escape import one_line
from dicegym.games import loadable
from dicegym.games.parts import ADAPTER, INTERFACE, part
from dicegym.games.rules_page import apart, rules_page, sections, title_of
from dicegym.players.agent_info import describe_agent
from dicegym.registry import ENVIRONMENTS
from dicegym.sandbox.limits import customs
from dicegym.web.door import Door
from dicegym.web.markdown import plain_as_html
from dicegym.web.pages import web_of
from dicegym.web.play.cards import cover_of
from dicegym.web.rules.midway import picture_of
from dicegym.web.section import Section

DOOR = Door("rules")
_DRAWING, _OWN = threading.Lock(), dict[str, threading.Lock]()
ABOUT_LEARNERS = ("Actions", "Observation", "Rewards", "Version history")
"""Sections of a rules page for learners alone."""


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
    parameters: dict[str, int]
    rules: str
    """The page as plain text."""

    @property
    def name(self) -> str:
        """The game's name."""
        return self.card.name

    @property
    def title(self) -> str:
        """The game's title."""
        return self.card.title

    @property
    def seats(self) -> str:
        """How many may play, in words."""
        return self.card.seats


Firsts = Annotated[list[str], BeforeValidator(lambda rows: [row[0] for row in rows])]


class GameInfo(BaseModel):
    """A game, for programs."""

    name: str
    title: str
    seats: str
    environments: Firsts = Field(description="ids for gymnasium.make")
    agents: Firsts = Field(description="opponents that one can play against")
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
    with own:  # others wait for this one, and do not draw it again
        return str(picture_of(dicegym.game(name)))


@functools.cache
def rules_of(name: str) -> GameRules:
    """Return all that the page of a game tells; it is made once."""
    game, text = dicegym.game(name), rules_page(name)
    intro = text.strip().partition("\n\n")[0].partition("\n")[2]  # the rest of the first paragraph
    shown = [RulesSection(title, plain_as_html(apart(body), 4, f"{title}: table")) for title, body in sections(text)]
    starter, interface = part(game, ADAPTER), part(game, INTERFACE)
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
        [(agent, describe_agent(game, agent)) for agent in dicegym.agent_names(game)],
        starter.INTERFACE if starter else "",
        customs() if starter else "",
        interface.ENTRY_FILES[0] if interface else "",
        game.all_parameters,
        text,
    )


def _known(name: str) -> str:
    known = loadable()
    if name not in known:
        raise UnknownNameError(f"unknown game {one_line(name, 60)!r}: use one of {', '.join(known)}")
    return name


def _view_list(request: Request, found: Mapping[str, Any]) -> dict[str, Any]:
    return {"games": [rules.card for rules in found["games"]]}


@DOOR.get("/rules", api="/games", template="rules/list.html", view=_view_list, returns=GameInfoList)
def list_games(request: Request) -> dict[str, Any]:
    """List the games with their rules, environments and agents."""
    return {"games": [rules_of(name) for name in loadable()]}


@DOOR.get("/rules/{game}", template="rules/game.html")
def show_rules(request: Request, game: str) -> dict[str, Any]:
    """Show the rules of a game."""
    return {"rules": rules_of(_known(game))}


@DOOR.get("/rules/{game}/picture.svg")
def show_picture(request: Request, game: str) -> Response:
    """Show a picture of a game, half played."""
    name = _known(game)
    web_of(request).readiness.check(name)
    return Response(picture(name), media_type="image/svg+xml", headers={"Cache-Control": "max-age=3600"})


SECTION = Section(
    "/rules",
    "Rules",
    "How each game is played, what its bots are asked, and what its environments are called.",
    door=DOOR,
)
