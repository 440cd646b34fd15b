"""What of a game can be solved in minutes and kept: the protocol of a game's ``solutions.py``, and where tables lie.

Tables that a computation of minutes made are kept in the user's cache folder, in a folder for each game, its
parameters and its rules (the fingerprint): other rules never find them.

Environment variable:
    DICEGYM_TABLES: folder for solved tables (default: ``dicegym/tables`` in the user's cache folder).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from dicegym.engine.game import Game
from dicegym.games.worth import Progress

FOLDER_VARIABLE = "DICEGYM_TABLES"


def tables_root() -> Path:
    """Return the folder of all solved tables; it need not exist."""
    from platformdirs import user_cache_path  # 10 ms that nobody else needs

    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else user_cache_path("dicegym", appauthor=False) / "tables"


def tables_folder(game: Game, name: str) -> Path:
    """Return the folder where the solution ``name`` of ``game`` is kept; it need not exist."""
    settings = "".join(f"-{key}{value}" for key, value in {"players": game.players, **game.parameters}.items())
    return tables_root() / f"{game.name}{settings}-{game.fingerprint}" / name


class Solution(Protocol):
    """Something of one game, with its parameters, that can be solved and kept."""

    name: str
    """What it is called: ``equilibrium``."""
    doc: str
    """What it is, in a line."""
    measure: str
    """What its quality is, in words: ``exploitability, in win rate``; empty if it is simply done or not."""
    goal: float
    """The quality that it is solved to unless told otherwise: lower is better; 0 if ``measure`` is empty."""

    def memory(self) -> int:
        """Return the bytes of memory that solving takes at most."""

    def disk(self) -> int:
        """Return the bytes on disk that its tables take, and what is kept for going on."""

    def minutes(self) -> float:
        """Return about how many minutes of two cores it takes to reach ``goal``, as measured once."""

    def quality(self, folder: Path) -> float | None:
        """Return what ``measure`` says of the tables in a folder; None if there are none that can be used."""

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        """Solve it, or go on with what lies in ``folder``; return its quality.

        It ends when ``goal`` is reached or ``seconds`` are over. Tables, and what is needed for going on, are written
        whole (`dicegym.files`), every minute or so and at the end, on KeyboardInterrupt too, which is raised again.
        The result depends on nothing but how many steps have been done, in however many runs.
        """


class Solutions(Protocol):
    """A game's ``solutions.py``: what of it can be solved and kept."""

    def solutions(self, game: Game) -> Sequence[Solution]:
        """Return what can be solved of ``game`` with its parameters; nothing if nothing can."""
