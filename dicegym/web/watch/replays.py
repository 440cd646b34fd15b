"""Matches of contests and their games, those of servers too: result, scrubber, and what mistakes cost."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from dicegym.arena.replay import Replay
from dicegym.arena.replay.stored import SERVER, find_replay
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored import WholeMatch
from dicegym.errors import ParameterError
from dicegym.pictures.watched import told_apart
from dicegym.web.context import Web
from dicegym.web.watch.analyses import Analyses
from dicegym.web.watch.contests import number_of, there, title_of
from dicegym.web.watch.pages import shown
from dicegym.web.watch.shown import PageLink, moments_before, replay_page

GAMES_PAGE = 100
"""Games of a match that a page lists."""
HELD = (
    "This contest is still being held, or takes bots: its games are shown as one player after the other saw them, and "
    "nothing is told of their dice but what fell."
)
SERVED = "This server still runs: nothing is told of its dice but what fell."


def agent_address(game: str, name: str) -> str:
    """Return the page of an agent."""
    return f"/watch/agents/{game}?{urlencode({'name': name})}"


class Replays:
    """Pages of matches and games.

    Args:
        web: the server.
        analyses: what mistakes cost.
    """

    def __init__(self, web: Web, analyses: Analyses) -> None:
        self._web = web
        self.analyses = analyses

    def match(self, request: Request) -> Response:
        """Answer with a match and the list of its games."""
        number, first = request.path_params["match"], number_of(request, "first") or 0
        (match, rules, games, misplays), contests = self.match_found(number)
        return shown(
            request,
            "watch/match.html",
            match=match,
            contests=contests,
            misplays=misplays,
            games=games[first : first + GAMES_PAGE],
            more=first + GAMES_PAGE if first + GAMES_PAGE < len(games) else None,
            agent=lambda name: agent_address(rules.game, name),
        )

    def match_found(self, number: int) -> tuple[WholeMatch, list[tuple[int, bool]]]:
        """Return a match, and the contests that have it with whether each has ended.

        Raises UnknownNameError if there is none of this number.
        """
        with self._web.store() as reader:
            asked = there(reader)
            (whole,) = asked.whole([asked.match(number)])
            contests = [(one.id, one.ended is not None) for one in asked.contests(with_match=number)[::-1]]
            return whole, contests

    def game(self, request: Request) -> Response:
        """Answer with a game of a match."""
        match, game = request.path_params["match"], request.path_params["game"]
        replay, free = self.found(match, game)
        kept = self.analyses.ready(replay) if free else None
        replay.check_rules()
        notes = [] if free else [HELD]
        return replay_page(
            request,
            replay,
            title=f"{title_of(replay.game)}, game {replay.id}",
            back=f"/watch/matches/{match}",
            back_title=f"Match {match}: {', '.join(told_apart(replay.seats))}",
            all_seeing=free,
            notes=None if kept is None else kept.notes,
            note=" ".join(notes),
            links=[PageLink(f"/watch/games/{match}/{game}/analysis", "What mistakes cost")] if free else [],
        )

    def analysis(self, request: Request) -> Response:
        """Answer with what mistakes cost in a game of a match, or how far that is computed."""
        match, game = request.path_params["match"], request.path_params["game"]
        replay, free = self.found(match, game)
        if not free:
            raise ParameterError("its contest is not over: what mistakes cost is told when it has ended and is closed")
        return analysis_page(
            request,
            self.analyses,
            replay,
            title=f"{title_of(replay.game)}, game {replay.id}",
            back=f"/watch/games/{match}/{game}",
        )

    def served(self, request: Request) -> Response:
        """Answer with a game that a game server has held."""
        number = request.path_params["number"]
        with self._web.store() as reader:
            asked = there(reader)
            replay, running = find_replay(asked, f"{SERVER}{number}"), asked.find_served_game(number).running
        return replay_page(
            request,
            replay,
            all_seeing=not running,
            note=SERVED if running else "",
            title=f"{title_of(replay.game)}, game {number} of the server",
            back="/watch",
            back_title="Watch",
        )

    def found(self, match: int, game: int) -> tuple[Replay, bool]:
        """Return a game, and whether all of it may be seen: no contest that is still being held has its match."""
        with self._web.store() as reader:
            asked = there(reader)
            return find_replay(asked, f"{match}.{game}"), self._may_be_seen(asked, match)

    def _may_be_seen(self, reader: StoreReader, match: int) -> bool:
        """Return whether all contests that have a match are over."""
        return not any(self._web.is_secret(one) for one in reader.contests(with_match=match))


def analysis_page(request: Request, analyses: Analyses, replay: Replay, *, title: str, back: str) -> Response:
    """Return what mistakes cost in a game, or how far that is computed; asks for it if nobody has."""
    kept = analyses.ready(replay)
    words, goes_on = ("", False) if kept is not None else analyses.begin(replay, request.state.visitor)
    before = [] if kept is None else moments_before(replay)
    return shown(
        request,
        "watch/analysis.html",
        title=title,
        back=PageLink(back, "The game"),
        shown=None if kept is None else kept.shown,
        heading="" if kept is None else kept.heading,
        moments={number: f"{back}?move={move}" for number, move in enumerate(before, 1)},
        words=words,
        goes_on=goes_on,
        here=request.url.path,
    )
