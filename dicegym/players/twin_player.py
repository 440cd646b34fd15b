"""Compiled twins as players: bots of a game's ``twins.py`` in the place of the files that they were made of."""

from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path

import numpy as np

from dicegym.bots.source import Source, files_of
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.engine.twins import declared
from dicegym.errors import unknown_name
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn


def source_hash(path: Path) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of a bot's source, the same whatever ends its lines.

    That is the text of its file, and of the files of its folder that it imports (`dicegym.bots.source.files_of`).
    """
    return _text_hash(tuple((file, file.stat().st_mtime_ns) for file in files_of(path)))


@functools.lru_cache(maxsize=512)
def _text_hash(files: tuple[tuple[Path, int], ...]) -> str:
    return hashlib.sha256(b"\0".join(file.read_text(encoding="utf-8").encode() for file, _ in files)).hexdigest()[:16]


class TwinPlayer(Player):
    """The compiled twin of an agent. One that draws does so by the game's key, as dice are rolled.

    Args:
        game: the game.
        name: one of the names that the twin was declared with.
        pure: whether it remembers and draws nothing.

    Raises:
        UnknownNameError: no twin has this name.
    """

    at_once = True

    def __init__(self, game: Game, name: str, pure: bool) -> None:
        self.name = name
        self.pure = pure
        numbers = twin_numbers(game)
        if name not in numbers:
            raise unknown_name(f"compiled twin in {game.spec.title}", name, list(numbers))
        self.number = numbers[name]

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; see `Player.join`."""
        chosen_by = declared(game.spec.module)[self.number].kernel

        def act(turn: Turn) -> int:
            return int(chosen_by(turn.record))

        return act

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action for each row; see `Player.act_rows`."""
        actions = np.empty(len(rows), np.int64)
        loops.choose_rows(states, rows, self.number, actions)
        return actions


def twin_numbers(game: Game) -> dict[str, int]:
    """Return name -> number of the compiled twins of a game."""
    return {name: number for number, twin in enumerate(declared(game.spec.module)) for name in twin.names}


@functools.cache
def says_pure(path: Path, changed: int) -> bool:
    """Return whether a bot's file says so of itself; ``changed`` tells versions of it apart."""
    return re.search(r"^PURE = True\b", path.read_text(encoding="utf-8"), re.MULTILINE) is not None


def twin_of(game: Game, source: Source, name: str) -> TwinPlayer | None:
    """Return the compiled twin of a file, under ``name`` if it is declared with that.

    Returns None if it has none, or is not what its twin was made of.
    """
    made_of = source_hash(source.file)
    for twin in declared(game.spec.module):
        if twin.file == made_of and source.arguments is None:
            called = name if name in twin.names else twin.names[0]
            return TwinPlayer(game, called, says_pure(source.file, source.file.stat().st_mtime_ns))
    return None
