"""What this section offers to programs: contests, standings, matches, games and agents, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from dicegym import games
from dicegym.arena.incidents import misplay_lines
from dicegym.arena.replay import to_json
from dicegym.arena.store.stored import StoredMatch
from dicegym.errors import ParameterError
from dicegym.web.api import Operation, body_of, query_of
from dicegym.web.context import Web
from dicegym.web.watch.answers import (
    AgentAsked,
    AgentContest,
    AgentOpponent,
    AgentPage,
    AgentRow,
    AgentRows,
    ContestBoard,
    ContestRow,
    ContestRows,
    ContestsAsked,
    GameBegun,
    GameReplay,
    GameWanted,
    ListedGame,
    ListedMatch,
    MatchesAsked,
    MatchGames,
    MatchRows,
    RatingRow,
    SeenGame,
    StruckRow,
)
from dicegym.web.watch.boards import status_of
from dicegym.web.watch.contests import there
from dicegym.web.watch.rooms import Rooms, rooms_of


def operations(web: Web) -> Sequence[Operation]:
    """Return what programs may ask for."""
    asked = _Answers(web, rooms_of(web))
    get = "GET"
    return [
        Operation(
            get,
            "/contests",
            "Contests, the newest first",
            asked.contests,
            ContestRows,
            query=ContestsAsked,
            tag="watch",
        ),
        Operation(
            get,
            "/contests/{contest:number}",
            "A contest with its standings, ratings and faults",
            asked.contest,
            ContestBoard,
            tag="watch",
            errors=(404,),
        ),
        Operation(
            get,
            "/contests/{contest:number}/matches",
            "Matches of a contest, the newest first",
            asked.matches,
            MatchRows,
            query=MatchesAsked,
            tag="watch",
            errors=(404,),
        ),
        Operation(
            get,
            "/matches/{match:number}",
            "A match and its games",
            asked.match,
            MatchGames,
            tag="watch",
            errors=(404,),
        ),
        Operation(
            get,
            "/matches/{match:number}/games/{game:number}",
            "A game, to be played again; only when its contest has ended and is closed",
            asked.game,
            GameReplay,
            tag="watch",
            errors=(400, 404),
        ),
        Operation(get, "/agents/{game}", "The agents of a game", asked.agents, AgentRows, tag="watch", errors=(404,)),
        Operation(
            get,
            "/agents/{game}/agent",
            "An agent with its card, ratings, record and matches",
            asked.agent,
            AgentPage,
            query=AgentAsked,
            tag="watch",
            errors=(404,),
        ),
        Operation(
            "POST",
            "/watch/games",
            "Let agents play a game, to be watched",
            asked.begin,
            GameBegun,
            takes=GameWanted,
            status=201,
            tag="watch",
            errors=(400, 404),
            example={"game": "hog", "agents": ["ham", "bacon"], "seed": 7},
        ),
        Operation(
            get, "/watch/games/{number}", "A game that was asked for", asked.seen, SeenGame, tag="watch", errors=(404,)
        ),
    ]


class _Answers:
    def __init__(self, web: Web, rooms: Rooms) -> None:
        self._web, self._rooms = web, rooms

    async def contests(self, request: Request) -> ContestRows:
        asked = query_of(request, ContestsAsked)

        def found() -> ContestRows:
            if asked.game is not None:
                games.spec(asked.game)
            with self._web.store() as reader:
                every = [] if reader is None else reader.contests(asked.game)[::-1]
                some = [one for one in every if asked.before is None or one.id < asked.before]
                page = some[: asked.count]
                rows = [_contest(one, reader is not None and reader.is_held(one.id)) for one in page]
            return ContestRows(contests=rows, next=page[-1].id if len(some) > len(page) else None)

        return await run_in_threadpool(found)

    async def contest(self, request: Request) -> ContestBoard:
        number = request.path_params["contest"]

        def found() -> ContestBoard:
            with self._web.store() as reader:
                store = there(reader)
                board = self._rooms.contests.boards.board(store, number)
                standings = store.standings(number)
            said = board.page.report
            return ContestBoard(
                contest=_contest(board.contest, board.held),
                facts=dict(board.facts),
                standings=standings,
                ratings=[
                    RatingRow(
                        name=row.name,
                        place=row.place,
                        rating=row.rating,
                        low=_finite(row.low),
                        high=_finite(row.high),
                        games=row.games,
                        matches=row.matches,
                    )
                    for row in board.ratings.values()
                ],
                struck=[StruckRow(name=bad.name, reason=bad.reason) for bad in said.disqualified],
                remarks=[*said.words, *misplay_lines(said.misplays), *said.remarks],
            )

        return await self._web.work.run(request.state.visitor, found)

    async def matches(self, request: Request) -> MatchRows:
        number, asked = request.path_params["contest"], query_of(request, MatchesAsked)

        def found() -> MatchRows:
            with self._web.store() as reader:
                store = there(reader)
                store.contest(number)
                every = list(store.matches(number, asked.entry, asked.count + 1, before=asked.before))[::-1]
            rows = [_match(one) for one in every[: asked.count]]
            return MatchRows(matches=rows, next=rows[-1].id if len(every) > len(rows) else None)

        return await run_in_threadpool(found)

    async def match(self, request: Request) -> MatchGames:
        number = request.path_params["match"]

        def found() -> MatchGames:
            (match, _, played, misplays), contests = self._rooms.replays.match_found(number)
            return MatchGames(
                match=_match(match),
                contests=[contest for contest, _ in contests],
                games=[
                    ListedGame(
                        number=one.number + 1,
                        seats=[match.entries[player] for player in one.seats],
                        returns=[one.returns[player] for player in one.seats],
                        actions=len(one.actions),
                    )
                    for one in played
                ],
                misplays=[one._asdict() for one in misplays],
            )

        return await run_in_threadpool(found)

    async def game(self, request: Request) -> GameReplay:
        match, game = request.path_params["match"], request.path_params["game"]

        def found() -> GameReplay:
            replay, free = self._rooms.replays.found(match, game)
            if not free:
                raise ParameterError("its contest is not over: its games are told when it has ended and is closed")
            return GameReplay(replay=to_json(replay))

        return await run_in_threadpool(found)

    async def agents(self, request: Request) -> AgentRows:
        game = request.path_params["game"]

        def found() -> AgentRows:
            games.spec(game)
            return AgentRows(game=game, agents=[AgentRow(**one._asdict()) for one in self._rooms.agents.known(game)])

        return await run_in_threadpool(found)

    async def agent(self, request: Request) -> AgentPage:
        game, asked = request.path_params["game"], query_of(request, AgentAsked)

        def found() -> AgentPage:
            known = self._rooms.agents.facts(request.state.visitor, game, asked.name, asked.before, asked.count)
            return AgentPage(
                game=known.game,
                name=known.name,
                about=known.about,
                card=known.card,
                contests=[
                    AgentContest(
                        contest=line.contest,
                        began=line.began,
                        state=line.status,
                        place=line.place,
                        entries=line.entries,
                        rating=line.rating,
                        low=_finite(line.low),
                        high=_finite(line.high),
                        games=line.games,
                        struck=line.struck,
                    )
                    for line in known.contests
                ],
                record=[AgentOpponent(name=line.name, ahead=line.ahead, behind=line.behind) for line in known.record],
                matches=[_match(one) for one in known.matches],
                next=known.matches[-1].id if len(known.matches) == asked.count else None,
            )

        return await run_in_threadpool(found)

    async def begin(self, request: Request) -> GameBegun:
        wanted = body_of(request, GameWanted)
        number = await run_in_threadpool(
            self._rooms.new_games.play, request, wanted.game, tuple(wanted.agents), wanted.seed
        )
        return GameBegun(id=number, page=f"/watch/seen/{number}", api=f"/api/watch/games/{number}")

    async def seen(self, request: Request) -> SeenGame:
        replay = await run_in_threadpool(self._rooms.new_games.found, request.path_params["number"])
        return SeenGame(over=replay is not None, replay=None if replay is None else to_json(replay))


def _contest(one: Any, held: bool) -> ContestRow:
    return ContestRow(
        id=one.id,
        game=one.game,
        label=one.label,
        format=one.format,
        parameters=dict(one.parameters),
        state=status_of(one.ended, held),
        entries=one.entries,
        played=one.played,
        planned=one.planned,
        began=one.began,
        ended=one.ended,
    )


def _match(one: StoredMatch) -> ListedMatch:
    return ListedMatch(
        id=one.id,
        key=one.key,
        number=one.number,
        games=one.games,
        entries=list(one.entries),
        wins=list(one.wins),
        shares=list(one.shares),
        faults=list(one.faults),
        failed=one.failed,
        reason=one.reason,
    )


def _finite(value: float | None) -> float | None:
    return None if value is None or abs(value) == float("inf") else value
