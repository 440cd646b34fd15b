"""Compiled twins: agents that live beside the rules too, so that a batch plays them without leaving its loop.

A game's ``twins.py`` has

    HOUSE: dict[str, str]   names of agents of the roster, and the hash of each one's file (see `text_hash`)
    choose(state, bot)      kernel: the action of bot number ``bot`` (its place in HOUSE) for the player to move
    situation(state)        kernel, optional: the number of what the player to move knows, where that is little
    situations(game)        optional: as many records, the k-th of which is situation k; None if there are too many

A twin chooses as its file does, move for move; one that draws chooses with the same probabilities. It stands in
for the file wherever the name of a shipped agent is given and its file is the one that it was made of: an edited
file, or one of the same name in another folder, plays itself.
"""

from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np

from dicegym.bots.source import Source
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn
from dicegym.players.roster import agent, resolve


def text_hash(path: Path) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of a text file, the same whatever ends its lines."""
    return hashlib.sha256(path.read_text(encoding="utf-8").encode()).hexdigest()[:16]


class TwinPlayer(Player):
    """The compiled twin of an agent. One that draws does so by the game's key, as dice are rolled.

    Args:
        game: the game.
        name: the agent's name, a key of ``HOUSE``.
        pure: whether it remembers and draws nothing.
    """

    at_once = True

    def __init__(self, game: Game, name: str, pure: bool) -> None:
        self.name = name
        self.pure = pure
        self._module = game.spec.kernels.step.__module__
        self.number = list(_house(self._module)).index(name)

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; see `Player.join`."""
        house = loops.twins_module(self._module)
        choose, number = house.choose, self.number  # type: ignore[union-attr]  # it was there on construction

        def act(turn: Turn) -> int:
            return int(choose(turn.record, number))

        return act

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action for each row; see `Player.act_rows`."""
        actions = np.empty(len(rows), np.int64)
        loops.choose_rows(states, rows, self.number, actions)
        return actions


def _house(rules_module: str) -> dict[str, str]:
    """Return name -> hash of the compiled bots of a game."""
    return getattr(loops.twins_module(rules_module), "HOUSE", {})


@functools.cache
def _unchanged(path: Path, changed: int, expected: str) -> bool:
    return text_hash(path) == expected


@functools.cache
def _says_pure(path: Path, changed: int) -> bool:
    return re.search(r"^PURE = True\b", path.read_text(encoding="utf-8"), re.MULTILINE) is not None


def opponent(game: Game, spec: Any) -> Player:
    """Return the player that ``spec`` names, as `dicegym.agent` does, but its compiled twin if it has one.

    Raises:
        UnknownNameError, ParameterError, AgentError, ModelError, DependencyError: see `dicegym.agent`.
    """
    name = spec.strip() if isinstance(spec, str) else ""
    expected = _house(game.spec.kernels.step.__module__).get(name)
    if expected is not None:
        origin = resolve(game, name)
        if isinstance(origin, Source):
            file, changed = origin.file, origin.file.stat().st_mtime_ns
            if _unchanged(file, changed, expected):
                return TwinPlayer(game, name, _says_pure(file, changed))
    return agent(game, spec)
