"""Rows of a store as plain values: contests, entries, matches and games."""

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
    """Times are UTC, in ISO 8601."""
    ended: str | None
    """None: it runs, or was stopped."""
    version: str
    """Version of dicegym that ran it last."""
    run: int
    """How many times it has been begun or continued."""
    entries: int
    """Number of entries, disqualified ones included."""
    played: int
    """Number of stored matches."""
    planned: int
    """Number of planned matches; 0: unknown."""


class StoredEntry(NamedTuple):
    """An entry of a contest, now or in an earlier run."""

    name: str
    identity: str
    """SHA-256 of its content."""
    kind: str
    """"bot", "model" or "player"."""
    given: str
    """How it was named."""
    files: Mapping[str, str]
    """File -> SHA-256."""
    withdrawn: bool
    """Whether it took part only in an earlier run: its matches are in no standings."""
    reason: str | None
    """Why it was disqualified; None if it was not."""
    contest: int
    """The contest's number."""


class StoredMatch(NamedTuple):
    """A match; all sequences are by player, in the order of the match."""

    id: int
    key: str
    number: int
    """Number among the matches of the same entries."""
    seed: int
    """``game.new_game(seed, n)`` is the beginning of game n, from 0."""
    games: int
    entries: tuple[str, ...]
    identities: tuple[str, ...]
    wins: tuple[int, ...]
    """Games won alone."""
    shares: tuple[float, ...]
    """Games won; players that share a first place share the game."""
    faults: tuple[int, ...]
    failed: str | None
    """The entry that ended it by failing; then no game of it counts."""
    reason: str | None
    """Why that failed."""

    @property
    def best(self) -> tuple[bool, ...]:
        """Whether each entry won more games than any other."""
        most = max(self.wins, default=0)
        return tuple(won == most and self.wins.count(most) == 1 for won in self.wins)

    @property
    def scores(self) -> tuple[str, ...]:
        """The score of each entry as text."""
        if self.failed is None:
            return tuple(map(str, self.wins))
        return tuple("failed" if name == self.failed else "" for name in self.entries)


class PlayedGame(NamedTuple):
    """A game of a match, numbered from 0.

    ``seats`` tells which player of the match sat where, ``returns`` are by player, ``actions`` in the order played.
    """

    number: int
    seats: tuple[int, ...]
    returns: tuple[float, ...]
    actions: tuple[int, ...]


class RunningMatch(NamedTuple):
    """A running match: game number ``game`` of ``games``, from 1; 0: its entries are being loaded.

    ``wins`` are games won alone so far, by player.
    """

    entries: list[str]
    wins: list[int]
    game: int
    games: int


class StoredMisplay(NamedTuple):
    """A misplay of an entry, in a game from 1, at its decision ``turn`` from 1; 0: while it sat down or watched."""

    match: int
    name: str
    game: int
    turn: int
    reason: str


class StoredRules(NamedTuple):
    """The rules of a match."""

    game: str
    players: int
    parameters: Mapping[str, int]
    described: Mapping[str, Any]
    """``fingerprint`` and ``dicegym`` (the version), see `dicegym.arena.replay.replay.describe_rules`."""


class WholeMatch(NamedTuple):
    """A match with its rules, games and misplays; no games if a failure ended it."""

    match: StoredMatch
    rules: StoredRules
    games: list[PlayedGame]
    misplays: list[StoredMisplay]


class EntryFigures(NamedTuple):
    """The totals of an entry's matches; wins and shares as in `StoredMatch`.

    Games of matches that a failure ended are left out. Faults are illegal and missing answers.
    """

    name: str
    matches: int
    games: int
    wins: int
    shares: float
    faults: int
