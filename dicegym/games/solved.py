"""Solutions of a game that take minutes and are stored: their protocol, and where their tables are.

Tables are in the user's cache folder, in a folder for each game, its parameters and the fingerprint of its rules: other
rules never find them.

Environment variable:
    DICEGYM_TABLES: folder for solved tables (default: ``dicegym/tables`` in the user's cache folder).
"""

from __future__ import annotations

import os
import shlex
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from dicegym.errors import DamagedFileError, ParameterError
from dicegym.files import writing
from dicegym.games.worth import Progress, settings_options

if TYPE_CHECKING:
    from dicegym.engine.game import Game

FOLDER_VARIABLE = "DICEGYM_TABLES"


def tables_root() -> Path:
    """Return the folder of all solved tables; it may not exist yet."""
    from platformdirs import user_cache_path  # takes 10 ms

    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else user_cache_path("dicegym", appauthor=False) / "tables"


def tables_folder(game: Game) -> Path:
    """Return the folder of the tables of ``game``; it may not exist yet."""
    settings = "".join(f"-{key}{value}" for key, value in {"players": game.players, **game.parameters}.items())
    return tables_root() / f"{game.name}{settings}-{game.fingerprint}"


def how_to_solve(game: Game) -> str:
    """Return the command that solves ``game``."""
    return shlex.join(["dicegym", "values", "solve", game.name, *settings_options(game)])


def report_unsolved(game: Game) -> ParameterError:
    """Return the error for tables that are missing on this machine; it names the command that makes them."""
    return ParameterError(f"{game!r} is not solved on this machine yet: `{how_to_solve(game)}` does it")


def write_arrays(file: Path, **arrays: np.ndarray) -> None:
    """Write arrays to a file ``.npz``, completely or not at all; make its folder if it is missing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with writing(file) as unfinished, unfinished.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def read_arrays(file: Path, game: Game, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Return arrays that `write_arrays` wrote. Raises DamagedFileError if the file is incomplete or changed.

    Shapes are not checked: a solver whose tables get other shapes gives its file another name.
    """
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            return {name: archive[name] for name in names}
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError) as error:
        remedy = f"remove the folder {file.parent}; `{how_to_solve(game)}` then solves it again"
        raise DamagedFileError(file, f"cannot be read ({error})", remedy) from None


class Solution(Protocol):
    """A solution of one game, with its parameters, that can be computed and stored."""

    doc: str
    """A description of one line."""
    measure: str
    """The measure of its quality, in words: ``exploitability, in win rate``."""
    goal: float
    """The default target quality: lower is better."""
    needs: str
    """The memory, disk space and time on two cores to reach ``goal``, as measured once."""

    def quality(self, folder: Path) -> float | None:
        """Return the quality of the tables in a folder; None without tables.

        Raises DamagedFileError (`read_arrays`) if the tables cannot be used.
        """

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        """Solve until ``goal`` is reached or ``seconds`` are over; return the quality of the tables in ``folder``.

        Calls ``progress`` about once a second with (steps done, steps in all, the quality so far in words). Writes
        complete tables (`dicegym.files`) whenever they are better than before, so KeyboardInterrupt leaves the last
        ones. May start anew each time. The result depends only on the number of steps done.
        """


class Claim(NamedTuple):
    """A published value, and how to compute it again."""

    what: str
    value: float
    tolerance: float
    """Largest allowed difference: rounding, or the width of the bounds that a solver stops at."""
    source: str
    """Who published it, or how it was proved."""
    compute: Callable[[], float | None]
    """Returns None if it needs tables that are not on this machine."""
    needs: str = ""
    """The command that makes these tables."""
    at_most: bool = False
    """Whether the value is an upper bound."""
