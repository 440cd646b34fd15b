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
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

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


def tables_folder(game: Game, name: str) -> Path:
    """Return the folder of the solution ``name`` of ``game``; it may not exist yet."""
    settings = "".join(f"-{key}{value}" for key, value in {"players": game.players, **game.parameters}.items())
    return tables_root() / f"{game.name}{settings}-{game.fingerprint}" / name


def how_to_solve(game: Game, name: str) -> str:
    """Return the command that solves ``name`` of ``game``."""
    return shlex.join(["dicegym", "values", "solve", game.name, name, *settings_options(game)])


def report_unsolved(game: Game, name: str) -> ParameterError:
    """Return the error for tables that are missing on this machine; it names the command that makes them."""
    command = how_to_solve(game, name)
    return ParameterError(f"{name!r} of {game!r} is not solved on this machine yet: `{command}` does it")


def report_damage(file: Path, reason: str, game: Game, name: str) -> DamagedFileError:
    """Return the error for an unusable file of tables; ``reason`` follows its name: ``is broken off``."""
    remedy = f"remove the folder {file.parent}; `{how_to_solve(game, name)}` then solves it again"
    return DamagedFileError(file, reason, remedy)


def write_arrays(file: Path, **arrays: np.ndarray) -> None:
    """Write arrays to a file ``.npz``, completely or not at all; make its folder if it is missing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with writing(file) as unfinished, unfinished.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def read_arrays(file: Path, game: Game, name: str, like: Mapping[str, tuple[Any, Any]]) -> dict[str, np.ndarray]:
    """Return arrays that `write_arrays` wrote. Raises DamagedFileError if the file is incomplete, changed or another.

    ``like`` is {array: (shape, dtype)}; a shape of None allows any shape, None in a shape any length. ``game`` and
    ``name`` are for errors.
    """
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            found = {key: archive[key] for key in like}
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError) as error:
        raise report_damage(file, f"cannot be read ({error})", game, name) from None
    for key, (shape, dtype) in like.items():
        array = found[key]
        fits = shape is None or (
            len(shape) == array.ndim and all(want in (None, got) for want, got in zip(shape, array.shape, strict=True))
        )
        if not fits or array.dtype != dtype:
            raise report_damage(file, f"holds {key} of shape {array.shape} and dtype {array.dtype}", game, name)
    return found


class Solution(Protocol):
    """A solution of one game, with its parameters, that can be computed and stored."""

    name: str
    """Its name, such as ``equilibrium``."""
    doc: str
    """A description of one line."""
    measure: str
    """The measure of its quality, in words: ``exploitability, in win rate``; empty if it is just done or not."""
    goal: float
    """The default target quality: lower is better; 0 if ``measure`` is empty."""

    def memory(self) -> int:
        """Return the most bytes of memory that solving takes."""

    def disk(self) -> int:
        """Return the most bytes on disk, while new tables replace old ones."""

    def minutes(self) -> float:
        """Return the approximate minutes on two cores to reach ``goal``, as measured once."""

    def quality(self, folder: Path) -> float | None:
        """Return the quality of the tables in a folder, 0 if there is no measure; None without tables.

        Raises DamagedFileError (`report_damage`) if the tables cannot be used.
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
