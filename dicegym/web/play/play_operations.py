"""Playing: begin a game, look, play, take back, ask for a hint and for a review, for people and for programs."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, ImmutableMultiDict
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from dicegym import games
from dicegym.analysis.valuers import MARKS
from dicegym.arena.replay import Replay, record_replay, to_json
from dicegym.errors import DicegymError, ParameterError
from dicegym.pictures.watched import action_in
from dicegym.players.sitting import usual_rivals, usual_seats
from dicegym.registry import GAMES
from dicegym.web.door import SEEN, Door, QueryNumber, for_programs, text_in
from dicegym.web.learn.run_folders import MODEL_SUFFIX, model_of
from dicegym.web.pages import page, web_of
from dicegym.web.play.cards import list_cards
from dicegym.web.play.hall import OF_A_VISITOR, PlayHall
from dicegym.web.play.models import (
    ChosenActions,
    HintedAction,
    MoveOf,
    NewGame,
    TableHint,
    TableReview,
    TableState,
)
from dicegym.web.play.person_table import PlayedTable
from dicegym.web.play.review import describe_review
from dicegym.web.play.rivals import list_rivals, make_table
from dicegym.web.play.table_view import describe_table
from dicegym.web.readiness import GettingReadyError
from dicegym.web.watch.replay_view import moments_before, replay_page

DOOR = Door("play")
PATIENCE = 0.9
"""Seconds that an answer waits for other players before it names the one that thinks."""
STEP = 0.04
BEGUN, HINTS = 250.0, 75.0
"""As many requests as a game that begins, and a hint, count for."""
WORST = 3
"""Decisions that a review for programs names as the worst."""
PARAMETER = "parameters-"
"""The prefix of the fields of a game's own parameters."""
TUTOR = "mistake"
"""The level from which the tutor asks, unless another one is chosen."""
TABLE, API = "/play/{id}", "/play/tables/{id}"


def _hall(request: Request) -> PlayHall:
    return web_of(request).get(PlayHall)


def _find(request: Request, id: str) -> PlayedTable:
    """Return a table of the visitor, or of the key that a program sends."""
    given = request.headers.get("authorization", "")
    key = given.removeprefix("Bearer ") if given.startswith("Bearer ") else ""
    return _hall(request).own(id, request.state.visitor, key)


async def _own(request: Request, id: str) -> PlayedTable:
    return await run_in_threadpool(_find, request, id)


async def _whole(request: Request, id: str) -> PlayedTable:
    """Return a table whose game is over, for what shows hidden things. Raises ParameterError otherwise."""
    table = await _own(request, id)
    await wait_for_others(table)
    if not table.over or table.busy:
        raise ParameterError("this game is not over yet: all of it is shown when it is")
    return table


async def wait_for_others(table: PlayedTable) -> PlayedTable:
    """Wait for other players, if they take no longer than an answer may; return the table."""
    until, pause = time.monotonic() + PATIENCE, STEP / 8
    while table.busy and time.monotonic() < until:
        await asyncio.sleep(pause)
        pause = min(2 * pause, STEP)
    if table.busy:
        await run_in_threadpool(table.keep)
    return table


@DOOR.get("/play", template="play/index.html")
def list_games_of_visitor(request: Request) -> dict[str, Any]:
    """Show all games, and those that the visitor has begun."""
    cards = list_cards()
    titles = {game.name: game.title for game in cards}
    return {"cards": cards, "own": _hall(request).of(request.state.visitor), "most": OF_A_VISITOR, "titles": titles}


# --- a new game


def show_options(given: ImmutableMultiDict[str, Any], wrong: str = "") -> dict[str, Any]:
    """Return the form of a new game, filled in.

    Args:
        given: the fields of a form or of an address, unchecked.
        wrong: what was wrong with them.

    Raises UnknownNameError: an unknown game.
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


@DOOR.post(
    "/play/new",
    api="/play/tables",
    to="/play/{0.id}",
    again=_ask_again,
    returns=TableState,
    status=201,
    extra={"x-example": {"game": "hog", "against": ["normal"], "seed": 3}},
)
async def begin_game(request: Request, wanted: NewGame) -> TableState:
    """Begin a game."""
    web_of(request).limits.pay(request, BEGUN)
    hall = _hall(request)
    table = await wait_for_others(await run_in_threadpool(_begin, request, wanted))
    found = await run_in_threadpool(TableState.model_validate, table)
    return found.model_copy(update={"key": hall.key(table.sheet)})


def _begin(request: Request, wanted: NewGame) -> PlayedTable:
    names = wanted.against if wanted.players is None else wanted.against[: max(0, wanted.players - 1)]
    return _hall(request).begin(
        request.state.visitor,
        wanted.game,
        players=wanted.players,
        rivals=names,
        seat=wanted.seat,
        seed=wanted.seed,
        tutor=wanted.tutor,
        parameters=wanted.parameters,
        models={name: model_of(web_of(request), name) for name in names if name.endswith(MODEL_SUFFIX)},
    )


# --- a table


def _page_of(request: Request, table: PlayedTable, notice: str = "", status: int = 200) -> Response:
    """Return the page of a table, with the hint that the address asks for."""
    hint, advice = request.query_params.get("hint", ""), _hall(request).advice
    wanted = hint == str(table.sheet.move)
    values = describe_table(table, advice, hint=wanted, notice=notice)
    if wanted and values["hint"] is not None:
        table.note_hint()
    address = f"/play/{table.sheet.id}"
    again = f"{address}?{urlencode({'hint': hint})}" if wanted else address
    return page(request, "play/table.html", status, **values, address=address, refresh=again)


@DOOR.get(TABLE, api=API, view=_page_of, returns=TableState)
async def show_table(request: Request, id: str) -> PlayedTable:
    """Show a game as you may know it; send `Authorization: Bearer KEY`, or the cookie of the browser that began it."""
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


@DOOR.post(
    api=API + "/actions",
    returns=TableState,
    extra={"x-example": {"move": 0, "actions": [6]}},
)
async def play_actions(request: Request, id: str, wanted: ChosenActions) -> PlayedTable:
    """Play; 409 if it was sent for another state of the table."""
    table = await _own(request, id)
    await run_in_threadpool(table.act, wanted.move, wanted.actions, insist=wanted.insist)
    return await wait_for_others(table)


@DOOR.post(TABLE + "/move", view=_moved, again=_refuse_move)
async def play_form(request: Request, id: str, wanted: MoveOf) -> PlayedTable:
    """Play what a form on the board says."""
    table, form = await _own(request, id), request.state.form
    fields: dict[str, list[str]] = {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            fields.setdefault(name, []).append(value)
    await run_in_threadpool(table.choose, wanted.move, text_in(form, "form"), fields)
    return await wait_for_others(table)


@DOOR.post(
    TABLE + "/undo",
    api=API + "/undo",
    view=_moved,
    again=_refuse_move,
    returns=TableState,
    extra={"x-example": {"move": 1}},
)
async def undo(request: Request, id: str, wanted: MoveOf) -> PlayedTable:
    """Take your last move back."""
    table = await _own(request, id)
    await run_in_threadpool(table.undo, wanted.move)
    return await wait_for_others(table)


@DOOR.post(TABLE + "/insist", view=_moved, again=_refuse_move)
async def insist(request: Request, id: str, wanted: MoveOf) -> PlayedTable:
    """Play what the tutor has asked about."""
    table = await _own(request, id)
    await run_in_threadpool(table.insist, wanted.move)
    return await wait_for_others(table)


@DOOR.post(TABLE + "/reconsider", view=_moved, again=_refuse_move)
def reconsider(request: Request, id: str, wanted: MoveOf) -> PlayedTable:
    """Choose again after the tutor has asked."""
    table = _find(request, id)
    table.reconsider(wanted.move)
    return table


@DOOR.get(api=API + "/hint", returns=TableHint)
def show_hint(request: Request, id: str) -> dict[str, Any]:
    """Show the best actions now."""
    web_of(request).limits.pay(request, HINTS)
    table, advice = _find(request, id), _hall(request).advice
    with table.lock:
        turn = table.turn()
        answer = advice.hint(table.sheet.visitor, (table.sheet.id, table.sheet.move), turn)
    if answer.error is not None:
        raise answer.error
    found = answer.found
    if found is None:
        return {"ready": False, "words": "", "sure": "", "unit": "", "choices": []}
    choices = [
        HintedAction(
            action=one.action,
            name=action_in(turn.game, turn.record, one.action),
            value=one.value if one.value == one.value else None,
            behind=one.behind if one.behind == one.behind else None,
            error=one.error if one.error == one.error else 0.0,
        )
        for one in found.hint.choices
    ]
    unit = found.hint.valuer.unit
    return {"ready": True, "words": found.words, "sure": found.sure, "unit": unit, "choices": choices}


@DOOR.get(TABLE + "/review", api=API + "/review", template="play/review.html", returns=TableReview)
async def review_game(request: Request, id: str, at: QueryNumber = None) -> Mapping[str, Any]:
    """Show how you played a game that is over: what each decision lost, and your luck."""
    table = await _whole(request, id)
    found = await run_in_threadpool(describe_review, table, _hall(request).advice, at)
    if for_programs(request) and found["failure"]:
        raise DicegymError(found["failure"])
    return found | {"worst": found["worst"][:WORST]}


@DOOR.get(TABLE + "/watch/{key}", template="play/watched.html")
async def watch_table(request: Request, id: str, key: str) -> Mapping[str, Any]:
    """Show a table to those whom its player lets watch."""
    hall = _hall(request)
    table = await wait_for_others(await run_in_threadpool(hall.find_watched, id, key))
    return await run_in_threadpool(describe_table, table, hall.advice, owner=False)


@DOOR.get(TABLE + "/game.json")
async def download_game(request: Request, id: str) -> Response:
    """Hand out a game as a file, for `dicegym arena replay` and `dicegym values analyse`."""
    table = await _whole(request, id)
    values = await run_in_threadpool(lambda: to_json(replay_of_table(table)))
    name = f"{table.sheet.game}-{table.sheet.seed}.json"
    return JSONResponse(values, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@DOOR.get(TABLE + "/replay")
async def replay_game(request: Request, id: str, before: QueryNumber = None) -> Response:
    """Show a game, moment by moment, all hidden things too."""
    return await run_in_threadpool(_replay, request, await _whole(request, id), before)


def _replay(request: Request, table: PlayedTable, before: int | None) -> Response:
    replay, address = replay_of_table(table), f"/play/{table.sheet.id}"
    if before is not None and before < len(replay.actions):
        return RedirectResponse(f"{address}/replay?move={moments_before(replay)[before]}", SEEN)
    title = f"{table.game.spec.title}, seen again"
    return replay_page(request, replay, title=title, back=address, back_title="Back to the table")


@DOOR.post(TABLE + "/again", to="/play/{0.sheet.id}")
def play_again(request: Request, id: str) -> PlayedTable:
    """Begin another game among the same."""
    web_of(request).limits.pay(request, BEGUN)
    return _hall(request).another(_find(request, id).sheet)


@DOOR.post(TABLE + "/away", to="/play")
def leave_table(request: Request, id: str) -> None:
    """Take a game out of the visitor's list."""
    _hall(request).put_away(_find(request, id))


@DOOR.post(TABLE + "/share", to="/play/{0.sheet.id}#share")
def share_table(request: Request, id: str) -> PlayedTable:
    """Let others watch by a link, or no longer."""
    table = _find(request, id)
    table.share(secrets.token_urlsafe(12) if text_in(request.state.form, "on") else "")
    return table


def replay_of_table(table: PlayedTable) -> Replay:
    """Return a game that is over as a replay."""
    return record_replay(table.game, table.place.names, table.sheet.seed, table.sheet.actions)
