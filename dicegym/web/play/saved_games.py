"""What is kept of a person's game on the pages: a small file of JSON, from which the table is laid again."""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

import dicegym
from dicegym.engine.game import Game
from dicegym.errors import DamagedFileError
from dicegym.files import read_text, write_text
from dicegym.players.sitting import names_beside

INSTEAD = "begin another game: this one is lost"


class TableSheet(BaseModel):
    """The players, the game and its actions so far; all else follows from them."""

    kind: Literal["dicegym game on a page"] = "dicegym game on a page"
    version: Literal[1] = 1
    id: str
    visitor: str
    """The visitor who began it, and may move."""
    game: str
    players: int
    parameters: dict[str, int]
    seed: int
    seat: int
    """The person's."""
    rivals: list[str]
    """As they were asked for, in the order of their seats: strengths, agents, models of trainings."""
    agents: list[str]
    """The same, as `dicegym.agent` takes it."""
    called: list[str]
    """What they are called."""
    tutor: str = ""
    """From which level on the person is warned; empty: never."""
    drawn: list[bool] = [True, True]
    """Whether seed and seat were drawn, and are drawn anew for another game."""
    fingerprint: str = ""
    """Of the rules that it was begun by."""
    actions: list[int] = []
    """All that everybody has played, what was taken back left out."""
    marks: list[int] = []
    """How many actions there were each time the person decided."""
    waiting: list[int] = []
    """What the person has decided already and is still to be played."""
    taken_back: int = 0
    move: int = 0
    """Grows with each thing the person does: a request for another number comes too late."""
    asked: list[int] = []
    """Actions of which the tutor asks whether they are meant."""
    words: str = ""
    """What it says of them."""
    warned: list[int] = []
    """First actions of which it has asked in this move."""
    over: bool = False
    changed: float = Field(default_factory=time.time)

    @property
    def names(self) -> list[str]:
        """What everybody is called, by seat; the person is "you"."""
        return names_beside(self.called, self.seat)

    def table(self) -> Game:
        """Return the game. Raises what `dicegym.game` does."""
        return _game(self.game, self.players, tuple(self.parameters.items()))

    def fresh(self, id: str, seed: int, seat: int) -> TableSheet:
        """Return another game among the same, in which nothing was done yet."""
        kept = {"visitor", "game", "players", "parameters", "rivals", "agents", "called", "tutor", "drawn"}
        return TableSheet(id=id, seed=seed, seat=seat, **self.model_dump(include=kept | {"fingerprint"}))

    def write(self, path: Path) -> None:
        """Keep it, whole or not at all."""
        self.changed = time.time()
        write_text(path, self.model_dump_json())


def share_game(game: Game) -> Game:
    """Return the one of all games that are the same: what it finds out about itself once serves all tables."""
    return _game(game.name, game.players, tuple(game.parameters.items()))


@functools.lru_cache(64)
def _game(name: str, players: int, parameters: tuple[tuple[str, int], ...]) -> Game:
    return dicegym.game(name, players=players, **dict(parameters))


def read_sheet(path: Path) -> TableSheet:
    """Return what was kept. Raises DamagedFileError for any other file."""
    try:
        return TableSheet.model_validate_json(read_text(path, INSTEAD))
    except ValidationError as error:
        raise DamagedFileError(path, f"holds no game ({error.error_count()} errors)", INSTEAD) from None
