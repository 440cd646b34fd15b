"""Matches of contests and their games, those of servers too: result, scrubber, and what mistakes cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from dicegym.arena.replay import Replay, to_json
from dicegym.arena.replay.stored_replays import find_replay
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored_rows import PlayedGame, StoredMatch
from dicegym.errors import ParameterError
from dicegym.pictures.watched import tell_apart
from dicegym.web.context import Web
from dicegym.web.door import PathNumber, QueryNumber, for_programs
from dicegym.web.pages import page, web_of
from dicegym.web.watch.analyses import Analyses
from dicegym.web.watch.listed_rows import DOOR, ListedMatch, RowObject, check_store, title_of
from dicegym.web.watch.replay_view import PageLink, moments_before, replay_page

GAMES_PAGE = 100
"""Games of a match that a page lists."""
RUNNING = (
    "This contest is still running, or takes bots: its games are shown as one player after the other saw them, and "
    "nothing is told of their dice but what fell."
)


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
    misplays: list[RowObject]


class GameReplay(BaseModel):
    """A game that can be played again: `dicegym.arena.replay.from_json` takes ``replay``."""

    replay: dict[str, Any]


class SeenGame(NamedTuple):
    """A game of a match, and what may be seen of it."""

    game: Replay
    match: int
    number: int
    free: bool
    """Whether everything may be seen: all contests that have its match are closed."""

    @property
    def replay(self) -> dict[str, Any]:
        """The game as plain values."""
        return to_json(self.game)

    @property
    def title(self) -> str:
        """What pages call it."""
        return f"{title_of(self.game.game)}, game {self.game.id}"


def _view_match(request: Request, found: dict[str, Any]) -> dict[str, Any]:
    first, played = found["first"], found["played"]
    return found | {
        "contests": found["states"],
        "games": played[first : first + GAMES_PAGE],
        "more": first + GAMES_PAGE if first + GAMES_PAGE < len(played) else None,
    }


@DOOR.get(
    "/watch/matches/{match:number}",
    api="/matches/{match:number}",
    template="watch/match.html",
    view=_view_match,
    returns=MatchGames,
)
def show_match(request: Request, match: PathNumber, first: QueryNumber = None) -> dict[str, Any]:
    """Show a match and its games."""
    with web_of(request).store() as reader:
        store = check_store(reader)
        ((found, rules, played, misplays),) = store.whole([store.match(match)])
        states = [(one.id, one.ended is not None) for one in store.contests(with_match=match)[::-1]]
        return {
            "match": found,
            "contests": [contest for contest, _ in states],
            "states": states,
            "games": _list_games(found, played),
            "played": played,
            "misplays": misplays,
            "game": rules.game,
            "first": first or 0,
        }


def _list_games(match: StoredMatch, games: Sequence[PlayedGame]) -> list[dict[str, Any]]:
    return [
        {
            "number": one.number + 1,
            "seats": [match.entries[player] for player in one.seats],
            "returns": [one.returns[player] for player in one.seats],
            "actions": len(one.actions),
        }
        for one in games
    ]


def _view_game(request: Request, seen: SeenGame) -> Response:
    analyses, (replay, match, game, free) = web_of(request).get(Analyses), seen
    kept = analyses.ready(replay) if free else None
    replay.check_rules()
    return replay_page(
        request,
        replay,
        title=seen.title,
        back=f"/watch/matches/{match}",
        back_title=f"Match {match}: {', '.join(tell_apart(replay.seats))}",
        all_seeing=free,
        notes=None if kept is None else kept.notes,
        note="" if free else RUNNING,
        links=[PageLink(f"/watch/games/{match}/{game}/analysis", "What mistakes cost")] if free else [],
    )


@DOOR.get(
    "/watch/games/{match:number}/{game:number}",
    api="/matches/{match:number}/games/{game:number}",
    view=_view_game,
    returns=GameReplay,
)
def show_game(request: Request, match: PathNumber, game: PathNumber) -> SeenGame:
    """Show a game; programs get it only when its contest has ended and is closed."""
    found = _find(web_of(request), match, game)
    if for_programs(request):
        _check_free(found)
    return found


@DOOR.get("/watch/games/{match:number}/{game:number}/analysis")
def analyse_game(request: Request, match: PathNumber, game: PathNumber) -> Response:
    """Show what mistakes cost in a game of a match, or how far that is computed."""
    found = _find(web_of(request), match, game)
    _check_free(found)
    return analysis_page(request, found.game, title=found.title, back=f"/watch/games/{match}/{game}")


def _find(web: Web, match: int, game: int) -> SeenGame:
    """Return a game and what may be seen of it."""
    with web.store() as reader:
        store: StoreReader = check_store(reader)
        free = not any(web.is_secret(one) for one in store.contests(with_match=match))
        return SeenGame(find_replay(store, f"{match}.{game}"), match, game, free)


def _check_free(seen: SeenGame) -> None:
    if not seen.free:
        raise ParameterError("its contest is not over: all of this game is shown when it has ended and is closed")


def analysis_page(request: Request, replay: Replay, *, title: str, back: str) -> Response:
    """Return what mistakes cost in a game, or how far that is computed; asks for it if nobody has."""
    analyses = web_of(request).get(Analyses)
    kept = analyses.ready(replay)
    words, goes_on = ("", False) if kept is not None else analyses.begin(replay, request.state.visitor)
    before = [] if kept is None else moments_before(replay)
    return page(
        request,
        "watch/analysis.html",
        title=title,
        back=PageLink(back, "The game"),
        shown=None if kept is None else kept.shown,
        heading="" if kept is None else kept.heading,
        moments={number: f"{back}?move={move}" for number, move in enumerate(before, 1)},
        words=words,
        goes_on=goes_on,
    )
