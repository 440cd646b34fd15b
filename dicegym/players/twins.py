"""Compiled twins: agents that live beside the rules too, so that a batch plays them without leaving its loop.

A game's ``twins.py`` declares them (`dicegym.engine.twins.twin`). A twin chooses as its file does, move for move; one
that draws chooses with the same probabilities. It stands in for the file wherever the name of a shipped agent is given
and its source is what it was made of: an edited file, or one of the same name in another folder, plays itself
(`dicegym.players.roster.opponent`).
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np

from dicegym.bots.files import gather
from dicegym.bots.scan import text_of
from dicegym.bots.source import Source
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.engine.twins import declared
from dicegym.errors import unknown_name
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn

_SAYS_PURE = re.compile(r"^PURE = True\b", re.MULTILINE)


def source_hash(path: Path) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of a bot's source, the same whatever ends its lines.

    That is the text of its file, and of the files of its folder that it imports (`dicegym.bots.files.gather`).
    """
    return _hash_of(_texts(path))


def _texts(path: Path) -> list[str]:
    return [text_of(data) for data in gather(path).values()]


def _hash_of(texts: list[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


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


def twin_of(game: Game, source: Source, name: str) -> TwinPlayer | None:
    """Return the compiled twin of a file, under ``name`` if it is declared with that.

    Returns None if it has none, or is not what its twin was made of.
    """
    twins = declared(game.spec.module)
    if not twins or source.arguments is not None:
        return None
    texts = _texts(source.file)
    made_of = _hash_of(texts)
    for twin in twins:
        if twin.file == made_of:
            called = name if name in twin.names else twin.names[0]
            return TwinPlayer(game, called, _SAYS_PURE.search(texts[0]) is not None)
    return None
