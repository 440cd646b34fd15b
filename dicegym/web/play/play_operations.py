"""Playing: begin a game, look, play, take back, ask for a hint, and look back at a game that is over."""

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
from dicegym.web.door import SEEN, Door, QueryNumber, text_in
from dicegym.web.learn.run_folders import MODEL_SUFFIX, model_of
from dicegym.web.pages import page, web_of
from dicegym.web.play.cards import list_cards
from dicegym.web.play.hall import OF_A_VISITOR, NewGame, PlayHall
from dicegym.web.play.person_table import PlayedTable
from dicegym.web.play.review import BEGUN, review_page
from dicegym.web.play.rivals import list_rivals, make_table
from dicegym.web.play.table_view import describe_table
from dicegym.web.readiness import GettingReadyError
from dicegym.web.watch.replay_view import replay_page

DOOR = Door(
    "/play",
    "Play",
    "Sit down against agents of every strength, take moves back, ask for hints, and see what your moves cost.",
    lambda web: web.get(PlayHall),
)
PATIENCE = 0.9
"""Seconds that an answer waits for other players before it names the one that thinks."""
HINTS = 75.0
"""As many requests as a hint counts for."""
PARAMETER = "parameters-"
"""The prefix of the fields of a game's own parameters."""
TUTOR = "mistake"
"""The level from which the tutor asks, unless another one is chosen."""
TABLE = "/play/{id}"


class MoveOf(BaseModel):
    """Which state of the table something is done in."""

    move: int


def _hall(request: Request) -> PlayHall:
    return web_of(request).get(PlayHall)


def _find(request: Request, id: str) -> PlayedTable:
    return _hall(request).find(request.state.visitor, id)


async def _own(request: Request, id: str) -> PlayedTable:
    """Return a table of the visitor; only one that is not in memory costs a thread."""
    if _hall(request).is_open(request.state.visitor, id):
        return _find(request, id)
    return await run_in_threadpool(_find, request, id)


async def _whole(request: Request, id: str) -> PlayedTable:
    """Return a table whose game is over, for what shows hidden things. Raises ParameterError otherwise."""
    table = await wait_for_others(await _own(request, id))
    if not table.over or table.busy:
        raise ParameterError("this game is not over yet: all of it is shown when it is")
    return table


async def wait_for_others(table: PlayedTable) -> PlayedTable:
    """Wait for other players, if they take no longer than an answer may; return the table."""
    if table.busy:
        await asyncio.wait([asyncio.wrap_future(table.job)], timeout=PATIENCE)
    if table.busy:
        await run_in_threadpool(table.keep)
    return table


@DOOR.get("/play", template="play/index.html")
def list_games_of_visitor(request: Request) -> dict[str, Any]:
    """Show all games, and those that the visitor has begun."""
    cards = list_cards()
    titles = {game.name: game.title for game in cards}
    own = list(_hall(request).of(request.state.visitor))
    return {"cards": cards, "own": own, "most": OF_A_VISITOR, "titles": titles}


# --- a new game


def show_options(given: ImmutableMultiDict[str, Any], wrong: str = "") -> dict[str, Any]:
    """Return the form of a new game, filled in by unchecked fields, and what was wrong with them.

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


@DOOR.get("/play/new", template="play/new.html")
def choose_options(request: Request) -> dict[str, Any]:
    """Show how a game is to be played."""
    return show_options(request.query_params)


def _ask_again(request: Request, form: FormData, error: DicegymError) -> Response:
    status = getattr(error, "status", 400)
    if isinstance(error, GettingReadyError):
        fields = [(name, value) for name, value in form.multi_items() if isinstance(value, str) and name != "form_key"]
        return page(request, "play/waiting.html", status, words=str(error), fields=fields, game=text_in(form, "game"))
    return page(request, "play/new.html", status, **show_options(form, str(error)))


@DOOR.post("/play/new", to="/play/{0.sheet.id}", again=_ask_again)
async def begin_game(request: Request, wanted: NewGame) -> PlayedTable:
    """Begin a game."""
    web_of(request).limits.pay(request, BEGUN)
    return await wait_for_others(await run_in_threadpool(_begin, request, wanted))


def _begin(request: Request, wanted: NewGame) -> PlayedTable:
    if wanted.players is not None:
        wanted.against = wanted.against[: max(0, wanted.players - 1)]
    models = {name: model_of(web_of(request), name) for name in wanted.against if name.endswith(MODEL_SUFFIX)}
    return _hall(request).begin(request.state.visitor, wanted, models)


# --- a table


def _page_of(request: Request, table: PlayedTable, notice: str = "", status: int = 200) -> Response:
    """Return the page of a table, with the hint that the address asks for."""
    hint = request.query_params.get("hint", "")
    wanted = hint == str(table.sheet.move)
    if wanted:
        web_of(request).limits.pay(request, HINTS)
    values = describe_table(table, _hall(request).advice, hint=wanted, notice=notice)
    address = f"/play/{table.sheet.id}"
    again = f"{address}?{urlencode({'hint': hint})}" if wanted else address
    return page(request, "play/table.html", status, **values, address=address, refresh=again)


@DOOR.get(TABLE, view=_page_of)
async def show_table(request: Request, id: str) -> PlayedTable:
    """Show a game as its player may know it."""
    return await wait_for_others(await _own(request, id))


def _moved(request: Request, table: PlayedTable) -> Response:
    if "hx-request" in request.headers:
        return _page_of(request, table)
    return RedirectResponse(f"/play/{table.sheet.id}", SEEN)


def _refuse_move(request: Request, form: FormData, error: DicegymError) -> Response:
    """Show the table, and why nothing was played; htmx shows no answer that is called an error."""
    status = getattr(error, "status", 400)
    notice = f"{error}. This is the table now." if status == 409 else str(error)
    table = _find(request, request.path_params["id"])
    return _page_of(request, table, notice, 200 if "hx-request" in request.headers else status)


@DOOR.post(TABLE + "/move", view=_moved, again=_refuse_move)
async def play_form(request: Request, id: str, wanted: MoveOf) -> PlayedTable:
    """Play what a form on the board says."""
    table, form = await _own(request, id), request.state.form
    fields: dict[str, list[str]] = {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            fields.setdefault(name, []).append(value)
    table.choose(wanted.move, text_in(form, "form"), fields)
    return await wait_for_others(table)


@DOOR.post(TABLE + "/undo", view=_moved, again=_refuse_move)
async def undo(request: Request, id: str, wanted: MoveOf) -> PlayedTable:
    """Take the last move back."""
    table = await _own(request, id)
    table.undo(wanted.move)
    return await wait_for_others(table)


@DOOR.post(TABLE + "/insist", view=_moved, again=_refuse_move)
async def insist(request: Request, id: str, wanted: MoveOf) -> PlayedTable:
    """Play what the tutor has asked about."""
    table = await _own(request, id)
    table.insist(wanted.move)
    return await wait_for_others(table)


@DOOR.post(TABLE + "/reconsider", view=_moved, again=_refuse_move)
def reconsider(request: Request, id: str, wanted: MoveOf) -> PlayedTable:
    """Choose again after the tutor has asked."""
    table = _find(request, id)
    table.reconsider(wanted.move)
    return table


@DOOR.post(TABLE + "/again", to="/play/{0.sheet.id}")
def play_again(request: Request, id: str) -> PlayedTable:
    """Begin another game among the same."""
    web_of(request).limits.pay(request, BEGUN)
    return _hall(request).another(_find(request, id).sheet)


# --- a game that is over


def replay_of_table(table: PlayedTable) -> Replay:
    """Return a game that is over as a replay."""
    return record_replay(table.game, table.place.names, table.sheet.seed, table.sheet.actions)


@DOOR.get(TABLE + "/review")
async def review_game(request: Request, id: str, at: QueryNumber = None) -> Response:
    """Show how the visitor played a game that is over: what each decision lost, and luck."""
    table = await _whole(request, id)
    title, back = f"How you played: {table.game.spec.title}", f"/play/{table.sheet.id}"
    outcome = (table.words().strip().splitlines() or [""])[-1]

    def make_page() -> Response:
        replay, seat = replay_of_table(table), table.sheet.seat
        return review_page(request, replay, seat, at, title=title, back=back, own=True, outcome=outcome)

    return await run_in_threadpool(make_page)


@DOOR.get(TABLE + "/game.json")
async def download_game(request: Request, id: str) -> Response:
    """Hand out a game as a file, for `dicegym arena replay` and `dicegym values analyse`."""
    table = await _whole(request, id)
    values = await run_in_threadpool(lambda: to_json(replay_of_table(table)))
    name = f"{table.sheet.game}-{table.sheet.seed}.json"
    return JSONResponse(values, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@DOOR.get(TABLE + "/replay")
async def replay_game(request: Request, id: str) -> Response:
    """Show a game, moment by moment, all hidden things too."""
    table = await _whole(request, id)
    title, back = f"{table.game.spec.title}, seen again", (f"/play/{table.sheet.id}", "Back to the table")
    return await run_in_threadpool(lambda: replay_page(request, replay_of_table(table), title=title, back=back))
