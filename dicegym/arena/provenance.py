"""Where a result comes from: when it was made, by which versions, of which rules, and of which files."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dicegym.arena.work_keys import write_limits
from dicegym.bots.scan import BadFileError
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.players.roster import Origin
from dicegym.sandbox.jobs import Seal, digest_of, seal_files
from dicegym.sandbox.limits import Limits

VERSION = 1
"""Of the form of JSON files: raised when a key goes or means something else, not when one is added."""
DATE_VARIABLE = "SOURCE_DATE_EPOCH"
"""Environment variable with the seconds since 1970 that results are dated instead of now, so that equal contests write
equal files; see https://reproducible-builds.org/specs/source-date-epoch/."""


@dataclass(frozen=True)
class EntryRecord:
    """What took part under a name.

    Attributes:
        name: what reports call it.
        given: how the organiser of the contest named it.
        kind: "bot", "model", "player", or "missing" if there was nothing.
        files: file -> SHA-256 of its bytes, as ``sha256sum`` prints it; a bot's own file comes first, helpers that it
            imports follow by their paths from there. Empty for a player that was handed over as it is.
        beside_referee: whether it plays in the referee's own process: agents that ship with the package, unchanged,
            models, and players that were handed over.
    """

    name: str
    given: str
    kind: str
    files: dict[str, str]
    beside_referee: bool = False


def record_of(name: str, given: object, origin: Origin, seal: Seal = ()) -> EntryRecord:
    """Return the record of an entry.

    Args:
        name: what reports call it.
        given: how it was named.
        origin: what `dicegym.players.roster.resolve` found.
        seal: what the files of a bot are, if somebody has looked; else they are looked at now.
    """
    if isinstance(origin, Source):
        with contextlib.suppress(BadFileError):  # loading it says so
            seal = seal or seal_files(origin)[0]
        return EntryRecord(name, str(given), "bot", dict(seal))
    if isinstance(origin, Path):
        return EntryRecord(name, str(given), "model", {origin.name: digest_of(origin)})
    named = given if isinstance(given, str) else getattr(given, "__name__", type(given).__name__)
    return EntryRecord(name, named, "player", {})


@dataclass(frozen=True)
class Provenance:
    """Where a result comes from.

    Two results are equal whenever they were made: the date is not compared.

    Attributes:
        date: when it was made, in UTC, as ISO 8601 has it; see `DATE_VARIABLE`.
        dicegym: version of the package.
        python: version of Python.
        numpy: version of NumPy.
        fingerprint: of the game's rules, see `dicegym.Game.fingerprint`.
        players: seats at a table.
        parameters: of the game.
        limits: what an entry might use, by name: seconds, and bytes of memory.
        entries: by name, disqualified ones included.
        isolation: what kept untrusted bots apart; empty if there were none. No part of the comparison: it decides
            nothing.
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
    """Return a game with its parameters, in words."""
    values = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return f"{title} ({values})" if values else title


def limits_in_words(limits: Mapping[str, float | None]) -> str:
    """Return what an entry might use, in words."""
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
    return str(vars(sys.modules["dicegym"])["__version__"])  # the package itself, which stands above its parts


def make_provenance(game: Game, limits: Limits, entries: tuple[EntryRecord, ...], isolation: str) -> Provenance:
    """Return where a result of ``game`` that is made now comes from; see `Provenance` for the arguments."""
    given = os.environ.get(DATE_VARIABLE, "")
    moment: Any = time.gmtime(int(given)) if given.isdecimal() and len(given) < 12 else time.gmtime()
    return Provenance(
        time.strftime("%Y-%m-%dT%H:%M:%SZ", moment),
        package_version(),
        platform.python_version(),
        np.__version__,
        game.fingerprint,
        game.players,
        dict(game.parameters),
        write_limits(limits),
        entries,
        isolation,
    )
