"""What the folder of several seeds says of them: ``seeds.json``, sealed like the settings of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from dicegym.errors import DamagedFileError, ParameterError
from dicegym.escape import one_line
from dicegym.files import read_text, write_text
from dicegym.learning.settings import LARGEST_TRAINING_SEED
from dicegym.players.seal import is_sealed, write_seal
from dicegym.players.unpickling import TRUST

SEEDS_FILE = "seeds.json"
MOST_SEEDS = 1_000
"""Of one folder."""
_LARGEST = 1 << 20


class SeedsRecord(NamedTuple):
    """What several seeds were begun with, and how each ended."""

    game: str
    seeds: tuple[int, ...]
    config: str
    """Path of the configuration; empty: the game's own."""
    overrides: tuple[str, ...]
    """Without seed and threads."""
    ended: dict[int, str]
    """Of seeds that were begun: how it ended last, as `dicegym.learning.seeds.task` has it."""
    failures: dict[int, str]
    """Why, of those that failed."""

    def write(self, folder: Path) -> None:
        """Write ``seeds.json``, and the user's seal beside it."""
        path = folder / SEEDS_FILE
        write_text(path, json.dumps(self._asdict(), indent=1) + "\n")
        write_seal(path)


def holds_seeds(folder: Path) -> bool:
    """Return whether a folder is one of several seeds."""
    return (folder / SEEDS_FILE).is_file()


def folder_of(folder: Path, seed: int) -> Path:
    """Return the folder of one seed's run."""
    return folder / f"seed-{seed}"


def read_record(folder: Path, trust: bool = False) -> SeedsRecord:
    """Return what ``seeds.json`` in a folder says.

    Raises:
        DamagedFileError: there is none, or it is none that a training writes.
        ParameterError: somebody else wrote it, it names settings, which can name programs, and there is no ``trust``.
    """
    path = folder / SEEDS_FILE
    instead = "name the folder of a training with --seeds, or begin a new one"
    text = read_text(path, instead, _LARGEST)
    try:
        plain = json.loads(text)
        seeds = tuple(_seed(one) for one in plain["seeds"])
        ended = {_seed(int(one)): str(how) for one, how in plain["ended"].items()}
        failures = {_seed(int(one)): str(why) for one, why in plain["failures"].items()}
        overrides = tuple(map(str, plain["overrides"]))
        found = SeedsRecord(str(plain["game"]), seeds, str(plain["config"]), overrides, ended, failures)
        if not seeds or len(seeds) > MOST_SEEDS or len(set(seeds)) < len(seeds):
            raise ValueError("its seeds are none")
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise DamagedFileError(path, f"is not what a training writes ({one_line(error, 120)})", instead) from None
    if not trust and (found.overrides or found.config) and not is_sealed(path):
        raise ParameterError(
            f"{path} was not written by your own trainings here, and names settings that seeds would begin with. If "
            f"you trust whoever made the folder, say so by {TRUST}"
        )
    return found


def _seed(said: object) -> int:
    if type(said) is not int or not 0 <= said <= LARGEST_TRAINING_SEED:
        raise ValueError(f"{one_line(said, 40)} is no seed")
    return said
