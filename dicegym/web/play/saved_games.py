"""A person's game as a small JSON file, from which its table is restored."""

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

INSTEAD = "start another game: this one is lost"


class TableSheet(BaseModel):
    """The game, its players and its actions so far, which determine everything else."""

    kind: Literal["dicegym game on a page"] = "dicegym game on a page"
    version: Literal[1] = 1
    id: str
    visitor: str
    """The visitor who started the game."""
    game: str
    players: int
    parameters: dict[str, int]
    seed: int
    seat: int
    """The person's seat."""
    rivals: list[str]
    """Opponents in the order of seats, as chosen: strengths, agents, models of trainings."""
    agents: list[str]
    """The opponents' names for `dicegym.agent`."""
    called: list[str]
    """The opponents' names for people."""
    tutor: str = ""
    """The level of mistakes from which the tutor warns; empty: no tutor."""
    drawn: list[bool] = [True, True]
    """Whether seed and seat were drawn; then another game draws them again."""
    fingerprint: str = ""
    """The fingerprint of the rules at the start."""
    actions: list[int] = []
    """All actions of all players, without those taken back."""
    marks: list[int] = []
    """The number of actions before each decision of the person."""
    waiting: list[int] = []
    """Actions that the person has chosen and the referee has not played yet."""
    taken_back: int = 0
    move: int = 0
    """Rises with each decision; requests for other numbers are stale."""
    asked: list[int] = []
    """Actions that the tutor asks about."""
    words: str = ""
    """The tutor's words about them."""
    warned: list[int] = []
    """First actions that the tutor has asked about in this move."""
    over: bool = False
    changed: float = Field(default_factory=time.time)

    @property
    def names(self) -> list[str]:
        """The names of all players by seat; the person is "you"."""
        return names_beside(self.called, self.seat)

    def table(self) -> Game:
        """Return the game. Raises what `dicegym.game` does."""
        return _game(self.game, self.players, tuple(self.parameters.items()))

    def fresh(self, id: str, seed: int, seat: int) -> TableSheet:
        """Return a new game with the same players and settings."""
        kept = {"visitor", "game", "players", "parameters", "rivals", "agents", "called", "tutor", "drawn"}
        return TableSheet(id=id, seed=seed, seat=seat, **self.model_dump(include=kept | {"fingerprint"}))

    def write(self, path: Path) -> None:
        """Write the file atomically."""
        self.changed = time.time()
        write_text(path, self.model_dump_json())


def share_game(game: Game) -> Game:
    """Return the shared instance of equal games, which cache what they compute about themselves."""
    return _game(game.name, game.players, tuple(game.parameters.items()))


@functools.lru_cache(64)
def _game(name: str, players: int, parameters: tuple[tuple[str, int], ...]) -> Game:
    return dicegym.game(name, players=players, **dict(parameters))


def read_sheet(path: Path) -> TableSheet:
    """Return the game in a file. Raises DamagedFileError for any other content."""
    try:
        return TableSheet.model_validate_json(read_text(path, INSTEAD))
    except ValidationError as error:
        raise DamagedFileError(path, f"contains no game ({error.error_count()} errors)", INSTEAD) from None
