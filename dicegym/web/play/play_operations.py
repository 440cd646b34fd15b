"""Operations of playing: start a game, move, take back, ask for a hint, review a finished game."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlencode

from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, ImmutableMultiDict
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from dicegym import games
from dicegym.analysis.valuers import MARKS
from dicegym.arena.replay import Replay, record_replay, to_json
from dicegym.errors import DicegymError, ParameterError
from dicegym.players.sitting import usual_rivals, usual_seats
from dicegym.registry import GAMES
from dicegym.web.learn.run_folders import MODEL_SUFFIX, model_of
from dicegym.web.pages import render_page, web_of
from dicegym.web.play.cards import list_cards
from dicegym.web.play.game_sessions import GAMES_PER_VISITOR, GameSessions, NewGame
from dicegym.web.play.person_table import PlayedTable
from dicegym.web.play.review import GAME_COST, render_review
from dicegym.web.play.rivals import list_rivals, make_table
from dicegym.web.play.table_view import describe_table
from dicegym.web.readiness import GettingReadyError
from dicegym.web.section import SEE_OTHER, QueryNumber, Section, text_in
from dicegym.web.watch.replay_view import render_replay

SECTION = Section(
    "/play",
    "Play",
    "Play against agents of every strength, take moves back, ask for hints, and see what your moves cost.",
    lambda web: web.get(GameSessions),
)
PATIENCE = 0.9
"""Seconds that an answer waits for agents before it says which one is thinking."""
HINT_COST = 75.0
PARAMETER = "parameters-"
"""The prefix of the fields of a game's parameters."""
TUTOR = "mistake"
"""The default level from which the tutor warns."""
TABLE = "/play/{id}"


class MoveNumber(BaseModel):
    """The number of the move for which a request was made."""

    move: int


def _sessions(request: Request) -> GameSessions:
    return web_of(request).get(GameSessions)


def _find(request: Request, id: str) -> PlayedTable:
    return _sessions(request).find(request.state.visitor, id)


async def _find_own(request: Request, id: str) -> PlayedTable:
    """Return a table of the visitor, read in a thread unless it is in memory."""
    if _sessions(request).is_open(request.state.visitor, id):
        return _find(request, id)
    return await run_in_threadpool(_find, request, id)


async def _find_finished(request: Request, id: str) -> PlayedTable:
    """Return a table whose game is over, so that all may be shown. Raises ParameterError for other games."""
    table = await wait_for_players(await _find_own(request, id))
    if not table.over or table.busy:
        raise ParameterError("this game is not over yet: its file, replay and review come at its end")
    return table


async def wait_for_players(table: PlayedTable) -> PlayedTable:
    """Wait at most `PATIENCE` for the agents; return the table."""
    if table.busy:
        await asyncio.wait([asyncio.wrap_future(table.job)], timeout=PATIENCE)
    if table.busy:
        await run_in_threadpool(table.keep)
    return table


@SECTION.get("/play", template="play/index.html")
def list_games_of_visitor(request: Request) -> dict[str, Any]:
    """Show all games, and the visitor's own."""
    cards = list_cards()
    titles = {game.name: game.title for game in cards}
    own = list(_sessions(request).of(request.state.visitor))
    return {"cards": cards, "own": own, "most": GAMES_PER_VISITOR, "titles": titles}


# --- a new game


def show_options(given: ImmutableMultiDict[str, Any], wrong: str = "") -> dict[str, Any]:
    """Return the values of the form of a new game, filled with unchecked fields, and what was ``wrong`` with them.

    Raises UnknownNameError for an unknown game.
    """
    spec = games.spec(text_in(given, "game") or GAMES[0])
    usual, named = usual_seats(make_table(spec.name, None, {})), text_in(given, "players")
    low, high = spec.players
    seats = int(named[:4]) if named.isascii() and named.isdecimal() and low <= int(named[:4]) <= high else usual
    table = make_table(spec.name, seats, {})
    asked = [name for name in given.getlist("against") if isinstance(name, str) and name][: seats - 1]
    more = asked or usual_rivals(table)
    chosen = [*asked, *(more[number % len(more)] for number in range(len(asked), seats - 1))]
    return {
        "spec": spec,
        "seats": seats,
        "seat": text_in(given, "seat"),
        "seed": text_in(given, "seed"),
        "chosen": chosen,
        "rivals": list_rivals(table),
        "models": [name for name in dict.fromkeys(chosen) if name.endswith(MODEL_SUFFIX)],
        "levels": MARKS,
        "tutor": text_in(given, "tutor") or ("" if wrong else TUTOR),
        "given": {name.removeprefix(PARAMETER): text_in(given, name) for name in given if name.startswith(PARAMETER)},
        "wrong": wrong,
    }


@SECTION.get("/play/new", template="play/new.html")
def choose_options(request: Request) -> dict[str, Any]:
    """Show the form of a new game."""
    return show_options(request.query_params)


def _ask_again(request: Request, form: FormData, error: DicegymError) -> Response:
    status = getattr(error, "status", 400)
    if isinstance(error, GettingReadyError):
        fields = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
        return render_page(
            request, "play/waiting.html", status, words=str(error), fields=fields, game=text_in(form, "game")
        )
    return render_page(request, "play/new.html", status, **show_options(form, str(error)))


@SECTION.post("/play/new", to="/play/{0.sheet.id}", again=_ask_again)
async def begin_game(request: Request, wanted: NewGame) -> PlayedTable:
    """Start a game."""
    web_of(request).limits.pay(request, GAME_COST)
    return await wait_for_players(await run_in_threadpool(_begin, request, wanted))


def _begin(request: Request, wanted: NewGame) -> PlayedTable:
    if wanted.players is not None:
        wanted.against = wanted.against[: max(0, wanted.players - 1)]
    models = {name: model_of(web_of(request), name) for name in wanted.against if name.endswith(MODEL_SUFFIX)}
    return _sessions(request).begin(request.state.visitor, wanted, models)


# --- a table


def _page_of(request: Request, table: PlayedTable, notice: str = "", status: int = 200) -> Response:
    """Return the page of a table, with a hint if the query asks for it."""
    hint = request.query_params.get("hint", "")
    wanted = hint == str(table.sheet.move)
    if wanted:
        web_of(request).limits.pay(request, HINT_COST)
    values = describe_table(table, _sessions(request).advice, hint=wanted, notice=notice)
    address = f"/play/{table.sheet.id}"
    again = f"{address}?{urlencode({'hint': hint})}" if wanted else address
    return render_page(request, "play/table.html", status, **values, address=address, refresh=again)


@SECTION.get(TABLE, view=_page_of)
async def show_table(request: Request, id: str) -> PlayedTable:
    """Show a game as its player may see it."""
    return await wait_for_players(await _find_own(request, id))


def _moved(request: Request, table: PlayedTable) -> Response:
    if "hx-request" in request.headers:
        return _page_of(request, table)
    return RedirectResponse(f"/play/{table.sheet.id}", SEE_OTHER)


def _refuse_move(request: Request, form: FormData, error: DicegymError) -> Response:
    """Show the table, and why nothing was played. htmx ignores answers with an error's status."""
    status = getattr(error, "status", 400)
    notice = f"{error}. This is the table now." if status == 409 else str(error)
    table = _find(request, request.path_params["id"])
    return _page_of(request, table, notice, 200 if "hx-request" in request.headers else status)


@SECTION.post(TABLE + "/move", view=_moved, again=_refuse_move)
async def play_form(request: Request, id: str, wanted: MoveNumber) -> PlayedTable:
    """Play the choice of a form."""
    table, form = await _find_own(request, id), request.state.form
    fields: dict[str, list[str]] = {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            fields.setdefault(name, []).append(value)
    table.choose(wanted.move, text_in(form, "form"), fields)
    return await wait_for_players(table)


@SECTION.post(TABLE + "/undo", view=_moved, again=_refuse_move)
async def undo(request: Request, id: str, wanted: MoveNumber) -> PlayedTable:
    """Take back the last move."""
    table = await _find_own(request, id)
    table.undo(wanted.move)
    return await wait_for_players(table)


@SECTION.post(TABLE + "/insist", view=_moved, again=_refuse_move)
async def insist(request: Request, id: str, wanted: MoveNumber) -> PlayedTable:
    """Play the move that the tutor asks about."""
    table = await _find_own(request, id)
    table.insist(wanted.move)
    return await wait_for_players(table)


@SECTION.post(TABLE + "/reconsider", view=_moved, again=_refuse_move)
def reconsider(request: Request, id: str, wanted: MoveNumber) -> PlayedTable:
    """Drop the move that the tutor asks about."""
    table = _find(request, id)
    table.reconsider(wanted.move)
    return table


@SECTION.post(TABLE + "/again", to="/play/{0.sheet.id}")
def play_again(request: Request, id: str) -> PlayedTable:
    """Start another game with the same players."""
    web_of(request).limits.pay(request, GAME_COST)
    return _sessions(request).another(_find(request, id).sheet)


# --- a game that is over


def replay_of_table(table: PlayedTable) -> Replay:
    """Return a finished game as a replay."""
    return record_replay(table.game, table.place.names, table.sheet.seed, table.sheet.actions)


@SECTION.get(TABLE + "/review")
async def review_game(request: Request, id: str, at: QueryNumber = None) -> Response:
    """Show the regret of each of the visitor's decisions in a finished game, and luck."""
    table = await _find_finished(request, id)
    title, back = f"How you played: {table.game.spec.title}", f"/play/{table.sheet.id}"
    outcome = (table.words().strip().splitlines() or [""])[-1]

    def make_page() -> Response:
        replay, seat = replay_of_table(table), table.sheet.seat
        return render_review(request, replay, seat, at, title=title, back=back, own=True, outcome=outcome)

    return await run_in_threadpool(make_page)


@SECTION.get(TABLE + "/game.json")
async def download_game(request: Request, id: str) -> Response:
    """Return a game's file, for `dicegym arena replay` and `dicegym values analyse`."""
    table = await _find_finished(request, id)
    values = await run_in_threadpool(lambda: to_json(replay_of_table(table)))
    name = f"{table.sheet.game}-{table.sheet.seed}.json"
    return JSONResponse(values, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@SECTION.get(TABLE + "/replay")
async def replay_game(request: Request, id: str) -> Response:
    """Show a game move by move, with all hidden information."""
    table = await _find_finished(request, id)
    title, address = f"{table.game.spec.title}, seen again", f"/play/{table.sheet.id}"
    back, links = (address, "Back to the table"), [(f"{address}/game.json", "Download")]
    return await run_in_threadpool(
        lambda: render_replay(request, replay_of_table(table), title=title, back=back, links=links)
    )
