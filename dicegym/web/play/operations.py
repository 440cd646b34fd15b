"""What programs may do at a table: begin a game, look, play, take back, ask for a hint and for a review."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from dicegym.pictures.watched import action_in
from dicegym.players.human import legal_names
from dicegym.web.api import Operation, body_of
from dicegym.web.context import Web
from dicegym.web.pages import web_of
from dicegym.web.play.asked import AskedGame
from dicegym.web.play.hall import PlayHall, hall_of
from dicegym.web.play.pages import BEGUN, HINTS, patience, whole_game
from dicegym.web.play.review import asked_review, describe_analysis
from dicegym.web.play.tables import PlayedTable

WORST = 3
"""Decisions that a review names as the worst."""
KEY = "Authorization: Bearer KEY, which was told when the game was begun; a browser's cookie does too."


class NewGame(BaseModel):
    """What is to be played, and with whom."""

    model_config = ConfigDict(extra="forbid")

    game: str
    players: int | None = Field(None, description="seats, yours included (default: as suits the others)")
    against: list[str] = Field([], description="easy, normal, hard or agents, for the other seats in turn")
    seat: int | None = Field(None, description="yours, from 0 (default: drawn by the seed)")
    seed: int | None = Field(None, description="of the dice (default: drawn)")
    tutor: str = Field("", description="doubtful, mistake or bad: it asks before what is so or worse")
    parameters: dict[str, int] = {}


class LegalAction(BaseModel):
    """Something that is allowed now."""

    action: int
    name: str


class ToldAction(BaseModel):
    """Something that was done, as you may know it."""

    number: int = Field(description="actions that were played before it")
    seat: int
    told: list[str]


class TableState(BaseModel):
    """A game as you may know it."""

    id: str
    key: str = Field("", description="told once, when the game is begun: who has it may play")
    game: str
    players: int
    parameters: dict[str, int]
    seat: int = Field(description="yours")
    names: list[str] = Field(description="by seat; you are 'you'")
    move: int = Field(description="goes with whatever you do next: what is made for another number is refused")
    state: str = Field(description="yours, busy (others move: ask again soon), asked (the tutor does), over or broken")
    about: str = Field(description="who is waited for, what the tutor asks, how it ended, or what is broken")
    scene: str = Field(description="the table as text")
    observation: list[float] = Field(description="the same as a learner gets it; empty until the table is laid")
    legal: list[LegalAction] = Field(description="what you may play now")
    since: list[ToldAction] = Field(description="what was done since you moved")
    actions: list[int] = Field(description="all that was played; told when the game is over")
    returns: list[float] = Field(description="by seat; told when the game is over")


class MoveOf(BaseModel):
    """Which state of the table something is done in."""

    model_config = ConfigDict(extra="forbid")

    move: int


class ChosenActions(MoveOf):
    """What is played."""

    actions: list[int] = Field(
        min_length=1, max_length=1000, description="one, or a whole choice where all choose at once"
    )
    insist: bool = Field(False, description="do not let the tutor ask")


class HintedAction(BaseModel):
    """An action, and what it is worth to you."""

    action: int
    name: str
    value: float | None
    behind: float | None
    error: float = Field(description="standard error of value; 0 if it is computed")


class TableHint(BaseModel):
    """What is best now."""

    ready: bool = Field(description="if not, ask again in a second")
    words: str
    sure: str = Field(description="whose values they are, and how sure")
    unit: str
    choices: list[HintedAction] = Field(description="the best first")


class WorstChoice(BaseModel):
    """A decision that gave much away."""

    before: int = Field(description="actions that were played before it")
    chosen: str
    better: str
    lost: str
    mark: str


class TableReview(BaseModel):
    """How you have played a game that is over."""

    ready: bool = Field(description="if not, ask again in some seconds")
    done: int = Field(description="decisions that are judged, of `of`")
    of: int
    given_away: str
    luck: str
    without_luck: str
    sure: str
    worst: list[WorstChoice]
    analysis: dict[str, Any] = Field(description="all of it, as `dicegym values analyse -o FILE.json` writes it")


def operations(web: Web) -> Sequence[Operation]:
    """Return what programs may ask for."""
    hall = hall_of(web)

    def own(request: Request) -> PlayedTable:
        given = request.headers.get("authorization", "")
        key = given.removeprefix("Bearer ") if given.startswith("Bearer ") else ""
        return hall.own(request.path_params["id"], request.state.visitor, key)

    async def begin(request: Request) -> TableState:
        web_of(request).limits.pay(request, BEGUN)
        asked = body_of(request, NewGame)
        text = AskedGame(
            asked.game,
            "" if asked.players is None else str(asked.players),
            tuple(asked.against),
            "" if asked.seat is None else str(asked.seat),
            "" if asked.seed is None else str(asked.seed),
            asked.tutor,
            tuple((name, str(value)) for name, value in asked.parameters.items()),
        )
        table = await run_in_threadpool(lambda: hall.begin(request.state.visitor, **text.wanted(web)))
        await patience(table)
        found = await run_in_threadpool(_state, table)
        return found.model_copy(update={"key": hall.key(table.sheet)})

    async def show(request: Request) -> TableState:
        table = await run_in_threadpool(own, request)
        await patience(table)
        return await run_in_threadpool(_state, table)

    def doing(do: Callable[[PlayedTable, Any], None], takes: type[BaseModel]) -> Any:
        async def answer(request: Request) -> TableState:
            table = await run_in_threadpool(own, request)
            await run_in_threadpool(do, table, body_of(request, takes))
            await patience(table)
            return await run_in_threadpool(_state, table)

        return answer

    def play(table: PlayedTable, asked: ChosenActions) -> None:
        table.act(asked.move, asked.actions, insist=asked.insist)

    def undo(table: PlayedTable, asked: MoveOf) -> None:
        table.undo(asked.move)

    async def hint(request: Request) -> TableHint:
        web_of(request).limits.pay(request, HINTS)
        table = await run_in_threadpool(own, request)
        return await run_in_threadpool(_hint, hall, table)

    async def review(request: Request) -> TableReview:
        table = await run_in_threadpool(own, request)
        whole_game(table)
        return await run_in_threadpool(_review, hall, table)

    one, errors = "/play/tables/{id}", (400, 403, 404)
    example = {"game": "hog", "against": ["normal"], "seed": 3}
    return (
        Operation("POST", "/play/tables", "begin a game", begin, TableState, NewGame, status=201, example=example),
        Operation("GET", one, f"a game as you may know it. {KEY}", show, TableState, errors=errors),
        Operation(
            "POST",
            f"{one}/actions",
            "play; 409 if it was made for another state of the table",
            doing(play, ChosenActions),
            TableState,
            ChosenActions,
            errors=(*errors, 409),
            example={"move": 0, "actions": [6]},
        ),
        Operation(
            "POST",
            f"{one}/undo",
            "take your last move back",
            doing(undo, MoveOf),
            TableState,
            MoveOf,
            errors=(*errors, 409),
            example={"move": 1},
        ),
        Operation("GET", f"{one}/hint", "what is best now", hint, TableHint, errors=(*errors, 409)),
        Operation(
            "GET", f"{one}/review", "how you have played a game that is over", review, TableReview, errors=errors
        ),
    )


def _state(table: PlayedTable) -> TableState:
    with table.lock:
        sheet, game, state = table.sheet, table.game, table.state
        word, about = "yours", ""
        if table.busy:
            word, about = "busy", table.busy
        elif table.broken:
            word, about = "broken", table.broken
        elif table.over:
            word, about = "over", table.words()
        elif sheet.asked:
            word, about = "asked", sheet.words
        legal = legal_names(table.place, state) if table.yours else {}
        return TableState(
            id=sheet.id,
            key="",
            game=sheet.game,
            players=sheet.players,
            parameters=sheet.parameters,
            seat=sheet.seat,
            names=list(table.place.names),
            move=sheet.move,
            state=word,
            about=about,
            scene="" if state is None else game.scene(state, sheet.seat).text(),
            observation=[] if state is None else game.observe(state, sheet.seat).tolist(),
            legal=[LegalAction(action=action, name=name) for action, name in legal.items()],
            since=[ToldAction(number=one.number, seat=one.seat, told=list(one.lines)) for one in table.since()],
            actions=list(sheet.actions) if table.over else [],
            returns=game.returns(state).tolist() if table.over else [],
        )


def _hint(hall: PlayHall, table: PlayedTable) -> TableHint:
    with table.lock:
        turn = table.turn()
        answer = hall.advice.hint((table.sheet.id, table.sheet.move), turn)
    if answer.error is not None:
        raise answer.error
    found = answer.found
    if found is None:
        return TableHint(ready=False, words="", sure="", unit="", choices=[])
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
    return TableHint(ready=True, words=found.words, sure=found.sure, unit=unit, choices=choices)


def _review(hall: PlayHall, table: PlayedTable) -> TableReview:
    answer = asked_review(table, hall.advice)
    if answer.error is not None:
        raise answer.error
    analysis = answer.found
    values: dict[str, Any] = {"ready": analysis is not None, "done": answer.done, "of": answer.of, "worst": []}
    if analysis is None:
        return TableReview(**values, given_away="", luck="", without_luck="", sure="", analysis={})
    found = describe_analysis(analysis, table.sheet.seat)
    values["worst"] = [
        WorstChoice(before=one.number, chosen=one.chosen, better=one.better, lost=one.lost, mark=one.mark)
        for one in found["worst"][:WORST]
    ]
    return TableReview(
        **values,
        given_away=found["lost"],
        luck=found["luck"],
        without_luck=found["adjusted"],
        sure=found["sure"],
        analysis=analysis.to_json(),
    )
