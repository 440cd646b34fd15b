"""What is kept of a person's game on the pages: a small file of JSON, from which the table is laid again."""

from __future__ import annotations

import functools
import json
import re
import time
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import dicegym
from dicegym.engine.game import Game
from dicegym.errors import DamagedFileError, DicegymError
from dicegym.files import read_text, write_text
from dicegym.players.sitting import names_beside

KIND, VERSION = "dicegym game on a page", 1
ID = re.compile(r"[A-Za-z0-9_-]{16}")
"""What tables are called: nobody guesses it."""
INSTEAD = "begin another game: this one is lost"


@dataclass
class TableSheet:
    """The players, the game and its actions so far; all else follows from them."""

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
    """As they were asked for, in the order of their seats: strengths, agents, paths of models."""
    agents: list[str]
    """The same, as `dicegym.agent` takes it."""
    called: list[str]
    """What they are called."""
    tutor: str = ""
    """From which level on the person is warned; empty: never."""
    drawn: list[bool] = field(default_factory=lambda: [True, True])
    """Whether seed and seat were drawn, and are drawn anew for another game."""
    actions: list[int] = field(default_factory=list)
    """All that everybody has played, what was taken back left out."""
    marks: list[int] = field(default_factory=list)
    """How many actions there were each time the person decided."""
    waiting: list[int] = field(default_factory=list)
    """What the person has decided already and is still to be played."""
    taken_back: int = 0
    move: int = 0
    """Grows with each thing the person does: a request for another number comes too late."""
    asked: list[int] = field(default_factory=list)
    """Actions of which the tutor asks whether they are meant."""
    words: str = ""
    """What it says of them."""
    warned: list[int] = field(default_factory=list)
    """First actions of which it has asked in this move."""
    hints: int = 0
    """How many were asked for."""
    watch: str = ""
    """Secret part of the address by which others may watch; empty: nobody may."""
    over: bool = False
    fingerprint: str = ""
    """Of the rules that it was begun by."""
    began: float = field(default_factory=time.time)
    changed: float = field(default_factory=time.time)

    @property
    def names(self) -> list[str]:
        """What everybody is called, by seat; the person is "you"."""
        return names_beside(self.called, self.seat)

    def table(self) -> Game:
        """Return the game. Raises what `dicegym.game` does."""
        return _game(self.game, self.players, tuple(self.parameters.items()))

    def fresh(self, id: str, seed: int, seat: int) -> TableSheet:
        """Return another game among the same, in which nothing was done yet."""
        kept = (
            "visitor",
            "game",
            "players",
            "parameters",
            "rivals",
            "agents",
            "called",
            "tutor",
            "drawn",
            "fingerprint",
        )
        return TableSheet(id=id, seed=seed, seat=seat, **{name: getattr(self, name) for name in kept})

    def write(self, path: Path) -> None:
        """Keep it, whole or not at all."""
        self.changed = time.time()
        write_text(path, json.dumps({"kind": KIND, "version": VERSION, **vars(self)}))


def share_game(game: Game) -> Game:
    """Return the one of all games that are the same: what it finds out about itself once serves all tables."""
    return _game(game.name, game.players, tuple(game.parameters.items()))


@functools.lru_cache(64)
def _game(name: str, players: int, parameters: tuple[tuple[str, int], ...]) -> Game:
    """Return a game, the same one for all tables: what it finds out about itself stays."""
    return dicegym.game(name, players=players, **dict(parameters))


def read_sheet(path: Path) -> TableSheet:
    """Return what was kept. Raises DamagedFileError for any other file."""
    try:
        found: dict[str, Any] = json.loads(read_text(path, INSTEAD))
        if found.pop("kind") != KIND or found.pop("version") != VERSION:
            raise ValueError("of another kind or version")
        known = {one.name for one in fields(TableSheet)}
        return TableSheet(**{name: value for name, value in found.items() if name in known})
    except DicegymError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DamagedFileError(path, f"holds no game ({error})", INSTEAD) from None
