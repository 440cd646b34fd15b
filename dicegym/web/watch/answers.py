"""What programs may ask this section, and what they are answered."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from dicegym.web.numbers import LARGEST

MOST = 200
"""Rows of an answer at most."""


class PageAsked(BaseModel):
    """Where a list goes on."""

    before: int | None = Field(
        None, ge=0, le=LARGEST, description="only what has a lower number: `next` of the answer before"
    )
    count: int = Field(50, ge=1, le=MOST, description="rows at most")


class ContestsAsked(PageAsked):
    """Which contests."""

    game: str | None = Field(None, description="of this game alone")


class MatchesAsked(PageAsked):
    """Which matches."""

    entry: str | None = Field(None, description="of this entry alone")


class AgentAsked(PageAsked):
    """Which agent."""

    name: str = Field(description="what it is called")


class ContestRow(BaseModel):
    """A contest."""

    id: int
    game: str
    label: str
    format: str
    parameters: dict[str, int]
    state: str = Field(description="ended, running, or stopped before its end")
    entries: int
    played: int
    planned: int = Field(description="matches; 0: not known")
    began: str
    ended: str | None


class ContestRows(BaseModel):
    """Contests, the newest first."""

    contests: list[ContestRow]
    next: int | None = Field(description="`before` of the next page; null: there is none")


class RatingRow(BaseModel):
    """The rating of an entry."""

    name: str
    place: int
    rating: float
    low: float | None = Field(description="of its 95 % interval; null: no bound")
    high: float | None
    games: int
    matches: int


class StruckRow(BaseModel):
    """Somebody who was struck."""

    name: str
    reason: str


class ContestBoard(BaseModel):
    """A contest with its standings."""

    contest: ContestRow
    facts: dict[str, str]
    standings: list[dict[str, Any]] = Field(description="as the format ranks them; empty until it has ended")
    ratings: list[RatingRow]
    struck: list[StruckRow]
    remarks: list[str] = Field(description="sentences on what it is worth, faults and remarks")


class ListedMatch(BaseModel):
    """A match; all lists by player."""

    id: int
    key: str
    number: int
    games: int
    entries: list[str]
    wins: list[int] = Field(description="games won alone")
    shares: list[float] = Field(description="games won, a shared first place shared out")
    faults: list[int]
    failed: str | None = Field(description="who ended it by failing")
    reason: str | None


class MatchRows(BaseModel):
    """Matches, the newest first."""

    matches: list[ListedMatch]
    next: int | None


class ListedGame(BaseModel):
    """A game of a match."""

    number: int = Field(description="from 1")
    seats: list[str]
    returns: list[float] = Field(description="by seat")
    actions: int


class MatchGames(BaseModel):
    """A match with its games."""

    match: ListedMatch
    contests: list[int]
    games: list[ListedGame]
    misplays: list[dict[str, Any]]


class GameReplay(BaseModel):
    """A game that can be played again: `dicegym.arena.replay.from_json` takes ``replay``."""

    replay: dict[str, Any]


class AgentRow(BaseModel):
    """An agent."""

    name: str
    about: str
    shipped: bool = Field(description="whether it comes with the game")
    contests: int


class AgentRows(BaseModel):
    """The agents of a game."""

    game: str
    agents: list[AgentRow]


class AgentContest(BaseModel):
    """An agent's part in a contest."""

    contest: int
    began: str
    state: str
    place: int | None
    entries: int
    rating: float | None
    low: float | None
    high: float | None
    games: int
    struck: str


class AgentOpponent(BaseModel):
    """How an agent did against another one."""

    name: str
    ahead: float
    behind: float


class AgentPage(BaseModel):
    """What is known of an agent."""

    game: str
    name: str
    about: str
    card: str
    contests: list[AgentContest]
    record: list[AgentOpponent]
    matches: list[ListedMatch]
    next: int | None


class GameWanted(BaseModel):
    """A game to be played and watched."""

    game: str
    agents: list[str] = Field(min_length=1, max_length=32, description="by seat")
    seed: int | None = Field(None, ge=0, description="of the dice; a new one if left out")


class GameBegun(BaseModel):
    """A game that is being played."""

    id: str
    page: str
    api: str


class SeenGame(BaseModel):
    """A game that was asked for."""

    over: bool
    replay: dict[str, Any] | None
