"""What several operations of this section take and give: rows of contests and of matches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, BeforeValidator, Field

from dicegym import games
from dicegym.arena.pages.contest_page import ShownMatch, winners
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored_rows import StoredContest, StoredMatch
from dicegym.errors import UnknownNameError
from dicegym.web.door import Door

DOOR = Door("watch")
MOST = 200
"""Rows of an answer at most."""
RowCount = Annotated[int, Query(ge=1, le=MOST, description="rows at most")]
RowObject = Annotated[dict[str, Any], BeforeValidator(lambda row: row._asdict())]
"""A named tuple as an object."""


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

    @classmethod
    def of(cls, contest: StoredContest, held: bool) -> ContestRow:
        """Return the row of a contest; ``held``: whether some process runs it now."""
        return cls(**contest._asdict() | {"state": status_of(contest.ended, held)})

    @property
    def title(self) -> str:
        """What people call the game."""
        return title_of(self.game)


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
    failed: str | None = Field(description="the entry that ended it by failing")
    reason: str | None


def status_of(ended: str | None, held: bool) -> str:
    """Return the state of a contest: ended, running or stopped."""
    return "ended" if ended else "running" if held else "stopped"


def check_store(reader: StoreReader | None) -> StoreReader:
    """Return a store. Raises UnknownNameError if it does not exist yet."""
    if reader is None:
        raise UnknownNameError("no contests yet: `dicegym tournament` runs one and stores it")
    return reader


def title_of(game: str) -> str:
    """Return what people call a game; of one that is not registered here, its name."""
    try:
        return games.spec(game).title
    except UnknownNameError:
        return game


def list_titles() -> list[tuple[str, str]]:
    """Return all games by name, each with its title."""
    return [(name, title_of(name)) for name in games.loadable()]


def rows_of(matches: Sequence[StoredMatch]) -> list[ShownMatch]:
    """Return matches as rows of a page."""
    return [
        ShownMatch(
            str(match.id),
            match.entries,
            tuple("failed" if name == match.failed else "" for name in match.entries)
            if match.failed is not None
            else tuple(map(str, match.wins)),
            winners(match.wins),
            0 if match.failed is not None else match.games,
            sum(match.faults),
        )
        for match in matches
    ]
