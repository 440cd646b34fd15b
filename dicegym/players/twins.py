"""Compiled twins: agents that live beside the rules too, so that a batch plays them without leaving its loop.

A game's ``twins.py`` declares them (`dicegym.engine.twins.twin`). A twin chooses as its file does, move for move; one
that draws chooses with the same probabilities. It stands in for the file wherever the name of a shipped agent is given
and its source is what it was made of: an edited file, or one of the same name in another folder, plays itself.
"""

from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np

from dicegym.bots.source import Source, files_of
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.engine.twins import declared
from dicegym.errors import unknown_name
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn
from dicegym.players.roster import agent, resolve


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
def _says_pure(path: Path, changed: int) -> bool:
    return re.search(r"^PURE = True\b", path.read_text(encoding="utf-8"), re.MULTILINE) is not None


def opponent(game: Game, spec: Any, trust: bool = False) -> Player:
    """Return the player that ``spec`` names, as `dicegym.agent` does, but its compiled twin if it has one.

    ``trust`` is as for `dicegym.agent`.

    Raises:
        UnknownNameError, ParameterError, AgentError, ModelError, DependencyError: see `dicegym.agent`.
    """
    name = spec.strip() if isinstance(spec, str) else ""
    number = twin_numbers(game).get(name)
    if number is not None:
        origin = resolve(game, name)
        if isinstance(origin, Source) and source_hash(origin.file) == declared(game.spec.module)[number].file:
            return TwinPlayer(game, name, _says_pure(origin.file, origin.file.stat().st_mtime_ns))
    return agent(game, spec, trust=trust)
