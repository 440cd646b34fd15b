"""Agents: those that come with a game and those that took part in contests, with card, ratings, record and matches."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

import dicegym
from dicegym import games
from dicegym.arena.pages.contests import moment
from dicegym.arena.pages.template import trust
from dicegym.arena.ratings.shown import clip_bounds
from dicegym.arena.store.stored import StoredEntry, StoredMatch
from dicegym.errors import DicegymError, UnknownNameError, one_line, unknown_name
from dicegym.learning.curve_pictures import draw_learned
from dicegym.pictures.charts import Axis, ChartLine, chart, swatch
from dicegym.players.model_file import facts
from dicegym.players.roster import agent_names, card, describe, resolve
from dicegym.web.context import Web
from dicegym.web.markdown import as_html
from dicegym.web.watch.boards import Board, Boards, status_of
from dicegym.web.watch.contests import number_of, rows_of, title_of
from dicegym.web.watch.pages import shown
from dicegym.web.watch.replays import agent_address

MOST_CONTESTS = 30
"""The newest ones of an agent from which its ratings and its record are."""
MATCHES_PAGE = 20
MOST_LISTED = 500
"""Agents of a store that a list names."""

_PICTURE = re.compile(r"^!\[.*\n+", re.MULTILINE)
"""A line of a card that shows a picture: the page draws the curve itself."""


class AgentLine(NamedTuple):
    """An agent in a list."""

    name: str
    about: str
    """What it is, in a sentence; empty if nobody says."""
    shipped: bool
    contests: int


class ContestLine(NamedTuple):
    """An agent's part in a contest."""

    contest: int
    began: str
    status: str
    place: int | None
    """None: not rated, as there are too few games."""
    entries: int
    rating: float | None
    low: float | None
    high: float | None
    games: int
    struck: str
    """Why it was struck from it; empty if it was not."""


class RecordLine(NamedTuple):
    """How an agent did against another one."""

    name: str
    ahead: float
    """Games in which it came in before the other, a shared place as half of one."""
    behind: float

    @property
    def share(self) -> float:
        """Of the games of both, 0 to 1."""
        return self.ahead / max(1e-9, self.ahead + self.behind)


class AgentFacts(NamedTuple):
    """What is known of an agent."""

    game: str
    name: str
    about: str
    card: str
    shipped: bool
    contests: list[ContestLine]
    """The newest first."""
    versions: int
    """How many different contents took part under this name."""
    record: list[RecordLine]
    """Against whom it played most first."""
    matches: list[StoredMatch]
    """The newest first."""
    waiting: int
    """Contests that are not told of, as their ratings are being computed."""


class Agents:
    """Pages of agents.

    Args:
        web: the server.
        boards: of contests, which know ratings.
    """

    def __init__(self, web: Web, boards: Boards) -> None:
        self._web = web
        self._boards = boards

    def index(self, request: Request) -> Response:
        """Answer with the agents of all games, or of the one that the path names."""
        wanted = request.path_params.get("game")
        if wanted is not None and request.query_params.get("name"):
            return self._agent(request, wanted, request.query_params["name"])
        names = [wanted] if wanted is not None else games.loadable()
        lists = [(games.spec(name), self.known(name)) for name in names]
        return shown(
            request,
            "watch/agents.html",
            lists=lists,
            games=[(name, title_of(name)) for name in games.loadable()],
            game=wanted,
            address=agent_address,
        )

    def known(self, game: str) -> list[AgentLine]:
        """Return the agents of a game: those that come with it, then those that only a store knows."""
        with self._web.store() as reader:
            parts = [] if reader is None else reader.participations(game)
        stored: dict[str, set[int]] = {}
        for one in parts:
            stored.setdefault(one.name, set()).add(one.contest)
        own = shipped(game)
        lines = [AgentLine(name, about, True, len(stored.get(name, ()))) for name, about in own.items()]
        others = [AgentLine(name, "", False, len(stored[name])) for name in sorted(stored) if name not in own]
        return [*lines, *others[:MOST_LISTED]]

    def facts(
        self, owner: str, game: str, name: str, before: int | None = None, most: int = MATCHES_PAGE
    ) -> AgentFacts:
        """Return what is known of an agent.

        Args:
            owner: who asks.
            game: of which it plays.
            name: what it is called.
            before: matches with lower numbers alone.
            most: matches at most.

        Raises UnknownNameError if nobody is called that.
        """
        games.spec(game)
        own = shipped(game)
        contests: list[ContestLine] = []
        record: list[RecordLine] = []
        matches: list[StoredMatch] = []
        parts: list[StoredEntry] = []
        with self._web.store() as reader:
            if reader is not None:
                parts = reader.participations(game, name)
                contests, record = self._career(owner, name, parts)
                matches = list(reader.matches(entry=name, last=most, game=game, before=before))[::-1] if parts else []
        if name not in own and not parts:
            raise unknown_name("agent", one_line(name, 80), list(own), f"Those of {title_of(game)} are meant.")
        text = ""
        if name in own:
            text = card(dicegym.game(game), name)
        versions = len({one.identity for one in parts})
        waiting = min(len({one.contest for one in parts}), MOST_CONTESTS) - len(contests)
        about = own.get(name, "")
        return AgentFacts(game, name, about, text, name in own, contests, versions, record, matches, waiting)

    def _career(
        self, owner: str, name: str, parts: Sequence[StoredEntry]
    ) -> tuple[list[ContestLine], list[RecordLine]]:
        struck = {one.contest: one.reason or "" for one in parts}
        ahead: dict[str, float] = {}
        behind: dict[str, float] = {}
        lines = []
        newest = sorted(struck, reverse=True)[:MOST_CONTESTS]
        self._boards.prepare(owner, newest)
        for number in newest:
            board = self._boards.kept(number)
            if board is None or not board.rated:
                continue  # it is being computed
            lines.append(_line(board, name, struck[number]))
            for (one, other), games_won in board.against.items():
                if one == name:
                    ahead[other] = ahead.get(other, 0.0) + games_won
                elif other == name:
                    behind[one] = behind.get(one, 0.0) + games_won
        record = [RecordLine(other, ahead[other], behind.get(other, 0.0)) for other in ahead]
        return lines, sorted(record, key=lambda line: (-line.ahead - line.behind, line.name))

    def _agent(self, request: Request, game: str, name: str) -> Response:
        before = number_of(request, "before")
        found = self.facts(request.state.visitor, game, name, before)
        return shown(
            request,
            "watch/agent.html",
            agent=found,
            title=title_of(game),
            card=as_html(_PICTURE.sub("", found.card), 2, "Table of its card"),
            history=_history(found),
            learned=_learned(game, name) if found.shipped else None,
            moment=moment,
            rows=rows_of(found.matches),
            older=found.matches[-1].id if len(found.matches) == MATCHES_PAGE else None,
            before=before,
            address=agent_address,
        )


def shipped(game: str) -> dict[str, str]:
    """Return the agents that come with a game, each with what it says of itself in a sentence."""
    table = dicegym.game(game)
    return {name: _described(game, name) for name in agent_names(table)}


@functools.lru_cache(maxsize=1024)
def _described(game: str, name: str) -> str:
    try:
        return describe(dicegym.game(game), name)
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


def _line(board: Board, name: str, struck: str) -> ContestLine:
    row = board.ratings.get(name)
    return ContestLine(
        board.contest.id,
        board.contest.began,
        status_of(board.contest.ended, board.held),
        None if row is None else row.place,
        board.contest.entries,
        None if row is None else row.rating,
        None if row is None else clip_bounds(row)[0],
        None if row is None else clip_bounds(row)[1],
        0 if row is None else row.games,
        struck,
    )


def _history(agent: AgentFacts) -> object:
    """Return ratings over contests as SVG; None where there are none to be compared."""
    rated = [line for line in agent.contests[::-1] if line.rating is not None]
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
