"""Pages of matches and their games: results, replays, and the regret of each decision."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from dicegym.arena.replay import Replay, to_json
from dicegym.arena.replay.stored_replays import find_replay
from dicegym.errors import ParameterError
from dicegym.pictures.watched import tell_apart
from dicegym.web.pages import web_of
from dicegym.web.play.review import render_review
from dicegym.web.section import PathNumber, QueryNumber, for_programs
from dicegym.web.watch.contest_pages import SECTION, ListedMatch, RowObject, check_store, title_of
from dicegym.web.watch.replay_view import render_replay

MOST_GAMES_LISTED = 200
GAME = "/watch/games/{match:number}/{game:number}"
RUNNING = (
    "This contest is still running, or still accepts bots. Until it is closed, a game is shown as one player saw it, "
    "without its seed."
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
    """A game; `dicegym.arena.replay.from_json` reads ``replay``."""

    replay: dict[str, Any]


class SeenGame(NamedTuple):
    """A game of a match, and whether all of it may be shown."""

    game: Replay
    match: int
    number: int
    free: bool
    """Whether everything may be shown: all contests with this match are closed."""

    @property
    def replay(self) -> dict[str, Any]:
        """The game as plain values."""
        return to_json(self.game)

    @property
    def title(self) -> str:
        """Its title on pages."""
        return f"{title_of(self.game.game)}, game {self.game.id}"

    @property
    def address(self) -> str:
        """The address of its page."""
        return f"/watch/games/{self.match}/{self.number}"


def _view_match(request: Request, found: dict[str, Any]) -> dict[str, Any]:
    games = found["games"]
    return found | {
        "contests": found["states"],
        "games": games[:MOST_GAMES_LISTED],
        "more": len(games) - MOST_GAMES_LISTED,
    }


@SECTION.get(
    "/watch/matches/{match:number}",
    api="/matches/{match:number}",
    template="watch/match.html",
    view=_view_match,
    returns=MatchGames,
)
def show_match(request: Request, match: PathNumber) -> dict[str, Any]:
    """Show a match and its games."""
    with web_of(request).store() as reader:
        store = check_store(reader)
        ((found, rules, played, misplays),) = store.whole([store.match(match)])
        states = [(one.id, one.ended is not None) for one in store.contests(with_match=match)[::-1]]
    games = [
        ListedGame(
            number=one.number + 1,
            seats=[found.entries[player] for player in one.seats],
            returns=[one.returns[player] for player in one.seats],
            actions=len(one.actions),
        )
        for one in played
    ]
    contests = [contest for contest, _ in states]
    about = {"match": found, "game": rules.game, "games": games, "misplays": misplays}
    return about | {"contests": contests, "states": states}


def _view_game(request: Request, seen: SeenGame) -> Response:
    seen.game.check_rules()
    file = f"/api/matches/{seen.match}/games/{seen.number}"
    links = [(f"{seen.address}/review", "What mistakes cost"), (file, "As JSON")]
    return render_replay(
        request,
        seen.game,
        title=seen.title,
        back=(f"/watch/matches/{seen.match}", f"Match {seen.match}: {', '.join(tell_apart(seen.game.seats))}"),
        all_seeing=seen.free,
        note="" if seen.free else RUNNING,
        links=links if seen.free else [],
    )


@SECTION.get(GAME, api="/matches/{match:number}/games/{game:number}", view=_view_game, returns=GameReplay)
def show_game(request: Request, match: PathNumber, game: PathNumber) -> SeenGame:
    """Show a game. Programs get it only after its contest has ended and is closed."""
    web = web_of(request)
    with web.store() as reader:
        store = check_store(reader)
        free = not any(web.is_secret(one) for one in store.contests(with_match=match))
        found = SeenGame(find_replay(store, f"{match}.{game}"), match, game, free)
    if for_programs(request):
        _check_free(found)
    return found


@SECTION.get(GAME + "/review")
def review_stored_game(
    request: Request, match: PathNumber, game: PathNumber, seat: QueryNumber = None, at: QueryNumber = None
) -> Response:
    """Show the regret of each decision in a game of a match, or the progress of computing it."""
    seen = show_game(request, match, game)
    _check_free(seen)
    return render_review(request, seen.game, seat or 0, at, title=seen.title, back=seen.address)


def _check_free(seen: SeenGame) -> None:
    if not seen.free:
        raise ParameterError("this game is secret until its contest has ended and is closed")
