"""What stands in a store, as plain values: contests, entries, matches, games, misplays and rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class StoredContest(NamedTuple):
    """A contest."""

    id: int
    label: str
    game: str
    players: int
    """Seats at a table."""
    parameters: Mapping[str, int]
    fingerprint: str
    format: str
    options: Mapping[str, Any]
    limits: Mapping[str, float | None]
    seed: int
    began: str
    """UTC, as ISO 8601 has it, as all times."""
    ended: str | None
    """None: it is being held, or was stopped."""
    version: str
    """Of dicegym, which was last at it."""
    run: int
    """How many times it has been begun or gone on with."""
    entries: int
    """Who takes part, those who were struck included."""
    played: int
    """Matches that are stored of it."""
    planned: int
    """Matches that it has, as far as that was known; 0: nobody knew."""


class StoredEntry(NamedTuple):
    """Who takes part in a contest, or did."""

    name: str
    identity: str
    """SHA-256 of what it is made of."""
    kind: str
    given: str
    """How it was named."""
    files: Mapping[str, str]
    """File -> SHA-256."""
    withdrawn: bool
    """Whether it took part in an earlier run alone: its matches are in no standings."""
    reason: str | None
    """Why it was struck; None if it was not."""


class StoredMatch(NamedTuple):
    """A match; all sequences are by player, in the order of the match."""

    id: int
    key: str
    number: int
    """Among the matches of the same entries."""
    seed: int
    """``game.new_game(seed, n)`` is the beginning of its game n, from 0."""
    games: int
    entries: tuple[str, ...]
    identities: tuple[str, ...]
    wins: tuple[int, ...]
    """Games won alone."""
    shares: tuple[float, ...]
    """Games won, a shared first place shared out."""
    faults: tuple[int, ...]
    failed: str | None
    """Who ended it by failing; then no game of it counts."""
    reason: str | None
    """How."""


class PlayedGame(NamedTuple):
    """A game of a match."""

    match: int
    number: int
    """From 0."""
    seats: tuple[int, ...]
    """Which player of the match sat where."""
    returns: tuple[float, ...]
    """By player of the match."""
    actions: tuple[int, ...]
    """In the order in which they were played."""


class StoredMisplay(NamedTuple):
    """What an entry did wrong."""

    match: int
    name: str
    game: int
    """From 1."""
    turn: int
    """Number of the entry's decision in the game, from 1; 0: while it sat down or watched."""
    reason: str


class StoredRules(NamedTuple):
    """By which rules a match was played."""

    game: str
    players: int
    parameters: Mapping[str, int]
    described: Mapping[str, Any]
    """``fingerprint``, and ``dicegym``, the version: see `dicegym.arena.replay.describe_rules`."""


class EntryFigures(NamedTuple):
    """What the matches of an entry come to."""

    name: str
    matches: int
    games: int
    """Those of matches that somebody ended by failing left out."""
    wins: int
    """Games won alone."""
    shares: float
    """Games won, a shared first place shared out."""
    faults: int
    """What it did wrong: answers that the rules do not allow, and none at all."""
