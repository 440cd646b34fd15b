"""What of a game can be solved in minutes and kept: the protocol of a game's ``values.py``, and where tables lie.

Solved tables are kept in the user's cache folder, in a folder for each game, its parameters and its rules (the
fingerprint): other rules never find them.

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
    """Return the folder of all solved tables; it need not exist."""
    from platformdirs import user_cache_path  # 10 ms that nobody else needs

    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else user_cache_path("dicegym", appauthor=False) / "tables"


def tables_folder(game: Game, name: str) -> Path:
    """Return the folder where the solution ``name`` of ``game`` is kept; it need not exist."""
    settings = "".join(f"-{key}{value}" for key, value in {"players": game.players, **game.parameters}.items())
    return tables_root() / f"{game.name}{settings}-{game.fingerprint}" / name


def how_to_solve(game: Game, name: str) -> str:
    """Return the command that solves ``name`` of ``game``, as one types it."""
    return shlex.join(["dicegym", "values", "solve", game.name, name, *settings_options(game)])


def report_unsolved(game: Game, name: str) -> ParameterError:
    """Return the error for tables that are not solved on this machine; it names the command."""
    command = how_to_solve(game, name)
    return ParameterError(f"{name!r} of {game!r} is not solved on this machine yet: `{command}` does it")


def report_damage(file: Path, reason: str, game: Game, name: str) -> DamagedFileError:
    """Return the error for a file of tables that cannot be used: ``reason`` continues its name: ``is broken off``."""
    command = how_to_solve(game, name)
    return DamagedFileError(file, reason, f"remove the folder {file.parent}; `{command}` then solves it again")


def write_arrays(file: Path, **arrays: np.ndarray) -> None:
    """Write arrays to a file ``.npz``, whole or not at all; its folder is made if it is missing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with writing(file) as unfinished, unfinished.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def read_arrays(file: Path, game: Game, name: str, like: Mapping[str, tuple[Any, Any]]) -> dict[str, np.ndarray]:
    """Return arrays that `write_arrays` wrote. Raises DamagedFileError if the file is broken off, changed, or another.

    ``like`` has (shape, dtype) by array; None in a shape is any length, a shape None any shape. ``game`` and ``name``
    of the tables are for errors.
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
        """Return the bytes on disk that it takes at most, while tables replace others."""

    def minutes(self) -> float:
        """Return about how many minutes of two cores it takes to reach ``goal``, as measured once."""

    def quality(self, folder: Path) -> float | None:
        """Return what ``measure`` says of the tables in a folder, 0 if it says nothing; None without tables.

        Raises DamagedFileError (`report_damage`) if what is there cannot be used.
        """

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        """Solve it; return the quality of what ``folder`` then holds: better tables than before, or those.

        ``progress`` is told (steps done, of how many, in words: the quality so far) about once a second. It ends when
        ``goal`` is reached or ``seconds`` are over. Tables are written whole (`dicegym.files`) whenever they are better
        than before, so KeyboardInterrupt leaves the last ones. A solution may begin anew each time. The result depends
        on nothing but how many steps have been done.
        """


class Claim(NamedTuple):
    """A published value, and how it is computed anew."""

    what: str
    value: float
    tolerance: float
    """How far the computed value may be away: rounding, or the width of the bounds that a solver stops at."""
    source: str
    """Who published it, or how it was proved."""
    compute: Callable[[], float | None]
    """Returns None where the value rests on tables that are not on this machine."""
    needs: str = ""
    """The command that makes such tables."""
    at_most: bool = False
    """Whether the value is an upper bound, and anything below it holds."""
