"""Where a result comes from: date, versions, rules and files."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dicegym.arena.storage import write_limits
from dicegym.engine.game import Game
from dicegym.sandbox.limits import Limits

VERSION = 1
"""Version of the form of JSON files: raised when a key goes or changes its meaning, not when one is added."""
DATE_VARIABLE = "SOURCE_DATE_EPOCH"
"""Environment variable with the date of results in seconds since 1970, so that equal contests write equal files; see
https://reproducible-builds.org/specs/source-date-epoch/."""


@dataclass(frozen=True)
class EntryRecord:
    """What took part under a name.

    Attributes:
        name: what reports call it.
        given: how the organiser of the contest named it.
        kind: "bot", "model", "player", or "missing" if there was nothing.
        files: file -> SHA-256 of its bytes, as ``sha256sum`` prints it; a bot's own file comes first, then the helpers
            that it imports, by their paths from there. Empty for a player object.
        beside_referee: whether it plays in the referee's process: unchanged agents of the package, models, and player
            objects.
    """

    name: str
    given: str
    kind: str
    files: dict[str, str]
    beside_referee: bool = False


@dataclass(frozen=True)
class Provenance:
    """Where a result comes from.

    The date and the isolation are not compared: neither changes a result.

    Attributes:
        date: when it was made, in UTC, in ISO 8601; see `DATE_VARIABLE`.
        dicegym: version of the package.
        python: version of Python.
        numpy: version of NumPy.
        fingerprint: of the game's rules, see `dicegym.Game.fingerprint`.
        players: seats at a table.
        parameters: of the game.
        limits: of each entry, by name: seconds, and bytes of memory.
        entries: by name, disqualified ones included.
        isolation: how untrusted bots were isolated; empty if there were none.
    """

    date: str = field(compare=False)
    dicegym: str
    python: str
    numpy: str
    fingerprint: str
    players: int
    parameters: dict[str, int]
    limits: dict[str, float | None] = field(default_factory=dict)
    entries: tuple[EntryRecord, ...] = ()
    isolation: str = field(default="", compare=False)


def name_game(title: str, parameters: Mapping[str, int]) -> str:
    """Return a game with its parameters as text."""
    values = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return f"{title} ({values})" if values else title


def limits_in_words(limits: Mapping[str, float | None]) -> str:
    """Return limits as text."""
    words = []
    for name, value in limits.items():
        if name == "memory":
            words.append("any memory" if value is None else f"{value / (1 << 20):,.0f} MiB")
        elif value is not None:
            seconds = f"{value:,.0f} s" if value >= 100 else f"{value:.3g} s"
            words.append(seconds if name == "seconds" else f"{seconds} to {name}")
        elif name == "seconds":
            words.append("any time")
    return ", ".join(words) or "none"


def package_version() -> str:
    """Return the version of the package."""
    return str(vars(sys.modules["dicegym"])["__version__"])  # imports go one way: the package imports this module


def make_provenance(game: Game, limits: Limits, entries: tuple[EntryRecord, ...], isolation: str) -> Provenance:
    """Return the provenance of a result of ``game`` that is made now; see `Provenance` for the arguments."""
    given = os.environ.get(DATE_VARIABLE, "")
    moment: Any = time.gmtime(int(given)) if given.isdecimal() and len(given) < 12 else time.gmtime()
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", moment)
    versions = package_version(), platform.python_version(), np.__version__
    rules = game.fingerprint, game.players, dict(game.parameters)
    return Provenance(date, *versions, *rules, write_limits(limits), entries, isolation)
