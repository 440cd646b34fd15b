"""Agents: those that come with a game and those that took part in contests, with card, ratings, record and matches."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

import dicegym
from dicegym import games
from dicegym.arena.pages.template import trust
from dicegym.arena.ratings.rating_tables import clip_bounds, interval
from dicegym.arena.store.stored_rows import StoredEntry, StoredMatch
from dicegym.errors import DicegymError, UnknownNameError, one_line, unknown_name
from dicegym.learning.curve_pictures import draw_learned
from dicegym.pictures.charts import Axis, ChartLine, chart, swatch
from dicegym.players.agent_info import agent_card, describe_agent
from dicegym.players.model_file import facts
from dicegym.players.roster import agent_names, resolve
from dicegym.web.context import Web
from dicegym.web.door import Finite, QueryNumber
from dicegym.web.markdown import as_html
from dicegym.web.pages import web_of
from dicegym.web.watch.contest_boards import PATIENCE, Board, Boards
from dicegym.web.watch.listed_rows import DOOR, ListedMatch, RowCount, list_titles, rows_of, title_of

MOST_CONTESTS = 30
"""The newest ones of an agent from which its ratings and its record are."""
MATCHES_PAGE = 20
MOST_LISTED = 500
"""Agents of a store that a list names."""

_PICTURE = re.compile(r"^!\[.*\n+", re.MULTILINE)
"""A line of a card that shows a picture: the page draws the curve itself."""


class AgentRow(BaseModel):
    """An agent in a list."""

    name: str
    about: str = Field(description="what it is, in a sentence; empty: not known")
    shipped: bool = Field(description="whether it comes with the game")
    contests: int


class ListedAgents(BaseModel):
    """The agents of a game."""

    game: str
    agents: list[AgentRow]


class AgentContest(BaseModel):
    """An agent's part in a contest."""

    contest: int
    began: str
    state: str
    place: int | None = Field(description="null: not rated, with too few games")
    entries: int
    rating: float | None
    low: Finite
    high: Finite
    interval: str = Field(description="the 95 % interval of the rating in words; empty: not rated")
    games: int
    struck: str = Field(description="why it was disqualified; empty: it was not")


class AgentOpponent(BaseModel):
    """An agent's record against another one."""

    name: str
    ahead: float = Field(description="games in which it came in before the other, a shared place as half of one")
    behind: float

    @property
    def share(self) -> float:
        """Of the games of both, 0 to 1."""
        return self.ahead / max(1e-9, self.ahead + self.behind)


class AgentPage(BaseModel):
    """What is known of an agent."""

    game: str
    name: str
    about: str
    card: str
    contests: list[AgentContest] = Field(description="the newest first")
    record: list[AgentOpponent] = Field(description="the opponent of most games first")
    matches: list[ListedMatch] = Field(description="the newest first")
    next: int | None


@DOOR.get("/watch/agents", template="watch/agents.html")
def list_all_agents(request: Request) -> dict[str, Any]:
    """List the agents of all games."""
    titles = list_titles()
    lists = [(title, name, _list_agents(web_of(request), name)) for name, title in titles]
    return {"lists": lists, "games": titles, "game": None}


def _view_agents(request: Request, found: dict[str, Any]) -> dict[str, Any]:
    game = found["game"]
    return {"lists": [(title_of(game), game, found["agents"])], "games": list_titles(), "game": game}


@DOOR.get(
    "/watch/agents/{game}", api="/agents/{game}", template="watch/agents.html", view=_view_agents, returns=ListedAgents
)
def list_agents(request: Request, game: str) -> dict[str, Any] | Response:
    """List the agents of a game."""
    games.spec(game)
    if name := request.query_params.get("name"):  # an address of an agent's page as it was
        return RedirectResponse(f"/watch/agents/{game}/agent?{urlencode({'name': name})}", 308)
    return {"game": game, "agents": _list_agents(web_of(request), game)}


def _list_agents(web: Web, game: str) -> list[AgentRow]:
    """Return the agents of a game: those that come with it, then those that only a store knows."""
    with web.store() as reader:
        parts = [] if reader is None else reader.participations(game)
    stored: dict[str, set[int]] = {}
    for one in parts:
        stored.setdefault(one.name, set()).add(one.contest)
    own = describe_shipped(game)
    names = [*own, *[name for name in sorted(stored) if name not in own][:MOST_LISTED]]
    return [
        AgentRow(name=name, about=own.get(name, ""), shipped=name in own, contests=len(stored.get(name, ())))
        for name in names
    ]


def _view_agent(request: Request, found: dict[str, Any]) -> dict[str, Any]:
    game, name, is_shipped = found["game"], found["name"], found["shipped"]
    return found | {
        "agent": found,
        "title": title_of(game),
        "card": as_html(_PICTURE.sub("", found["card"]), 2, "Table of its card"),
        "history": _draw_ratings(found["contests"]),
        "learned": _learned(game, name) if is_shipped else None,
        "rows": rows_of(found["matches"]),
        "older": found["next"],
    }


@DOOR.get(
    "/watch/agents/{game}/agent",
    api="/agents/{game}/agent",
    template="watch/agent.html",
    view=_view_agent,
    returns=AgentPage,
)
def show_agent(
    request: Request, game: str, name: str, before: QueryNumber = None, count: RowCount = MATCHES_PAGE
) -> dict[str, Any]:
    """Show an agent with its card, ratings, record and matches."""
    games.spec(game)
    web, own = web_of(request), describe_shipped(game)
    contests: list[AgentContest] = []
    record: list[AgentOpponent] = []
    matches: list[StoredMatch] = []
    parts: list[StoredEntry] = []
    with web.store() as reader:
        if reader is not None:
            parts = reader.participations(game, name)
            contests, record = _find_career(web.get(Boards), request.state.visitor, name, parts)
            matches = list(reader.matches(entry=name, last=count, game=game, before=before))[::-1] if parts else []
    if name not in own and not parts:
        raise unknown_name("agent", one_line(name, 80), list(own), f"Those of {title_of(game)} are meant.")
    return {
        "game": game,
        "name": name,
        "about": own.get(name, ""),
        "card": agent_card(dicegym.game(game), name) if name in own else "",
        "shipped": name in own,
        "contests": contests,
        "versions": len({one.identity for one in parts}),
        "record": record,
        "matches": matches,
        "next": matches[-1].id if len(matches) == count else None,
        "waiting": min(len({one.contest for one in parts}), MOST_CONTESTS) - len(contests),
    }


def _find_career(
    boards: Boards, owner: str, name: str, parts: Sequence[StoredEntry]
) -> tuple[list[AgentContest], list[AgentOpponent]]:
    """Return an agent's part in its newest contests, as far as their ratings are known, and its record in them."""
    struck = {one.contest: one.reason or "" for one in parts}
    ahead: dict[str, float] = {}
    behind: dict[str, float] = {}
    lines = []
    newest = sorted(struck, reverse=True)[:MOST_CONTESTS]
    boards.prepare(owner, newest).wait(PATIENCE)
    for number in newest:
        board = boards.find(number)
        if board is None or not board.rated:
            continue  # it is being computed
        lines.append(_line(board, name, struck[number]))
        for (one, other), games_won in board.against.items():
            if one == name:
                ahead[other] = ahead.get(other, 0.0) + games_won
            elif other == name:
                behind[one] = behind.get(one, 0.0) + games_won
    record = [AgentOpponent(name=other, ahead=ahead[other], behind=behind.get(other, 0.0)) for other in ahead]
    return lines, sorted(record, key=lambda line: (-line.ahead - line.behind, line.name))


def describe_shipped(game: str) -> dict[str, str]:
    """Return the agents that come with a game, each with what it says of itself in a sentence."""
    table = dicegym.game(game)
    return {name: _described(game, name) for name in agent_names(table)}


@functools.lru_cache(maxsize=1024)
def _described(game: str, name: str) -> str:
    try:
        return describe_agent(dicegym.game(game), name)
    except DicegymError as error:
        if isinstance(error, UnknownNameError):
            raise
        return f"cannot be read: {error}"


class LearnedChart(NamedTuple):
    """How a model was learned, for a page."""

    svg: object
    legend: list[tuple[object, str]]
    """Signs and names of the lines."""
    remarks: list[str]


@functools.lru_cache(maxsize=256)
def _learned(game: str, name: str) -> LearnedChart | None:
    """Return how an agent was learned; None for bots, and for models whose files do not say."""
    try:
        found = resolve(dicegym.game(game), name)
        picture = draw_learned(facts(found)) if isinstance(found, Path) else None
    except DicegymError:
        return None
    if picture is None:
        return None
    signs = [trust(swatch(number).svg()) for number in range(len(picture.names))]
    return LearnedChart(trust(picture.chart.svg()), list(zip(signs, picture.names, strict=True)), picture.remarks)


def _line(board: Board, name: str, struck: str) -> AgentContest:
    row, contest = board.ratings.get(name), board.contest
    low, high = (None, None) if row is None else clip_bounds(row)
    return AgentContest(
        contest=contest.id,
        began=contest.began,
        state=board.status,
        place=None if row is None else row.place,
        entries=contest.entries,
        rating=None if row is None else row.rating,
        low=low,
        high=high,
        interval="" if row is None else interval(row),
        games=0 if row is None else row.games,
        struck=struck,
    )


def _draw_ratings(contests: Sequence[AgentContest]) -> object:
    """Return ratings with intervals that have two ends over contests as SVG; None for fewer than two."""
    rated = [line for line in contests[::-1] if line.rating is not None and None not in (line.low, line.high)]
    if len(rated) < 2:
        return None
    points = [(float(at), line.rating or 0.0) for at, line in enumerate(rated, 1)]
    band = [(line.low or 0.0, line.high or 0.0) for line in rated]
    drawn = chart(
        "Rating by contest, with its interval",
        [ChartLine("rating", points, band)],
        Axis("contests, the newest to the right", "{:.0f}".format),
        Axis("rating", "{:.0f}".format),
    )
    return trust(drawn.svg())
