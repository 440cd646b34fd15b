"""What programs send to a table and get from it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from dicegym.players.human import legal_names
from dicegym.web.play.person_table import PlayedTable


class NewGame(BaseModel):
    """A game to be played, and its players."""

    model_config = ConfigDict(extra="forbid")

    game: str
    players: int | None = Field(None, description="seats, yours included (default: as suits the others)")
    against: list[str] = Field([], description="easy, normal, hard or agents, for the other seats in turn")
    seat: int | None = Field(None, description="yours, from 0 (default: drawn by the seed)")
    seed: int | None = Field(None, description="of the dice (default: drawn)")
    tutor: str = Field("", description="doubtful, mistake or bad: the tutor asks before such a move or a worse one")
    parameters: dict[str, int] = {}


class LegalAction(BaseModel):
    """An action that is allowed now."""

    action: int
    name: str


class ToldAction(BaseModel):
    """An action that was played, as you may know it."""

    number: int = Field(description="actions that were played before it")
    seat: int
    told: list[str] = Field(validation_alias="lines")


class TableState(BaseModel):
    """A game as you may know it."""

    id: str
    key: str = Field("", description="given once, when the game is begun: a program that sends it may play")
    game: str
    players: int
    parameters: dict[str, int]
    seat: int = Field(description="yours")
    names: list[str] = Field(description="by seat; you are 'you'")
    move: int = Field(description="send it with your next request: one for another number is refused")
    state: str = Field(description="yours, busy (others move: ask again soon), asked (the tutor does), over or broken")
    about: str = Field(description="what is waited for, what the tutor asks, how it ended, or what is broken")
    scene: str = Field(description="the table as text")
    observation: list[float] = Field(description="that of a learner; empty until the table is set up")
    legal: list[LegalAction] = Field(description="what you may play now")
    since: list[ToldAction] = Field(description="what was played since you moved")
    actions: list[int] = Field(description="all that was played; given when the game is over")
    returns: list[float] = Field(description="by seat; given when the game is over")

    @model_validator(mode="before")
    @classmethod
    def _read(cls, given: Any) -> Any:
        return describe_state(given) if isinstance(given, PlayedTable) else given


class MoveOf(BaseModel):
    """Which state of the table something is done in."""

    model_config = ConfigDict(extra="forbid")

    move: int


class ChosenActions(MoveOf):
    """The actions to play."""

    actions: list[int] = Field(
        min_length=1, max_length=1000, description="one, or a whole choice where all choose at once"
    )
    insist: bool = Field(False, description="do not let the tutor ask")


class HintedAction(BaseModel):
    """An action and its value to you."""

    action: int
    name: str
    value: float | None
    behind: float | None
    error: float = Field(description="standard error of value; 0 if it is computed")


class TableHint(BaseModel):
    """The best actions now."""

    ready: bool = Field(description="if not, ask again in a second")
    words: str
    sure: str = Field(description="the source of the values, and how sure it is")
    unit: str
    choices: list[HintedAction] = Field(description="the best first")


class WorstChoice(BaseModel):
    """A decision that cost much."""

    before: int = Field(description="actions that were played before it", validation_alias="number")
    chosen: str
    better: str
    lost: str
    mark: str


class TableReview(BaseModel):
    """Your decisions in a game that is over."""

    ready: bool = Field(description="if not, ask again in some seconds")
    done: int = Field(description="decisions that are judged, of `of`")
    of: int
    given_away: str = Field(description="what your decisions lost")
    luck: str
    without_luck: str
    sure: str
    worst: list[WorstChoice]
    analysis: Annotated[dict[str, Any], BeforeValidator(lambda found: found.to_json() if found else {})] = Field(
        description="all of it, as `dicegym values analyse -o FILE.json` writes it"
    )


def describe_state(table: PlayedTable) -> dict[str, Any]:
    """Return a table for programs, all of it read in one moment."""
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
        since = table.since()
        return {
            "id": sheet.id,
            "game": sheet.game,
            "players": sheet.players,
            "parameters": sheet.parameters,
            "seat": sheet.seat,
            "names": list(table.place.names),
            "move": sheet.move,
            "state": word,
            "about": about,
            "scene": "" if state is None else game.scene(state, sheet.seat).text(),
            "observation": [] if state is None else game.observe(state, sheet.seat).tolist(),
            "legal": [{"action": action, "name": name} for action, name in legal.items()],
            "since": [{"number": one.number, "seat": one.seat, "lines": list(one.lines)} for one in since],
            "actions": list(sheet.actions) if table.over else [],
            "returns": game.returns(state).tolist() if table.over else [],
        }
