"""The key of a piece of work: a digest of all that its outcome follows from.

Equal keys, equal outcomes: an outcome that is stored under its key need not be played again, on whatever machine it was
played, and in whatever contest.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from dataclasses import asdict
from typing import Any

from dicegym.engine.game import Game
from dicegym.sandbox.jobs import Job
from dicegym.sandbox.limits import Limits

VERSION = 2
"""Of what is digested, and of how games follow from it: raised when either changes."""


def key_of(job: Job, limits: Limits) -> str:
    """Return the key of ``job``: SHA-256, hexadecimal.

    It follows from the game's name, seats, parameters and fingerprint, the names and contents of the entries in their
    order, what they may use, and the job's own `facts`: not from how bots are kept apart, nor from where it is done.
    """
    who = [[entry.name, entry.identity] for entry in job.entries]
    return digest([VERSION, rules_of(job.game), write_limits(limits), who, job.facts])


def digest(plain: Any) -> str:
    """Return the SHA-256 of plain values, hexadecimal."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


@functools.cache
def rules_of(game: Game) -> tuple[str, int, dict[str, int], str]:
    """Return what names the rules of a game: its name, players, parameters and fingerprint."""
    return game.name, game.players, dict(game.parameters), game.fingerprint


@functools.cache
def write_limits(limits: Limits) -> dict[str, float | None]:
    """Return limits for a file: JSON knows no endless time, and has null for it. Contests ask for each match."""
    return {name: None if value == math.inf else value for name, value in asdict(limits).items()}
