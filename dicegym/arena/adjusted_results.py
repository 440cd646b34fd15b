"""Luck-adjusted results of a contest, by entry.

Luck is computed from the actions of a match after it has been played
(`dicegym.analysis.variance_reduction.luck_of`). Stored matches stay as they are.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dicegym.analysis.variance_reduction import NO_SPREAD, check_meter, luck_of, scale_luck
from dicegym.arena.match import Match
from dicegym.arena.match_rows import MatchRow
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.errors import UnknownNameError
from dicegym.games.parts import Z_95
from dicegym.games.worth import first_place_shares
from dicegym.play.player import Player
from dicegym.players import batch_players
from dicegym.players.roster import load, opponent, resolve
from dicegym.sandbox.jobs import Entry, Failure


@dataclass(frozen=True)
class LuckRow:
    """The luck-adjusted result of an entry, in the mean of its games.

    Attributes:
        name: the entry.
        games: number of games.
        share: its share of the games won; a shared first place is shared.
        luck: the part of ``share`` that was luck.
        less_luck: ``share`` less ``luck``: the same mean with less variance.
        half: half the width of its 95 % interval.
        saved: without the adjustment this many times as many games would be needed; None: more than can be computed.
    """

    name: str
    games: int
    share: float
    luck: float
    less_luck: float
    half: float
    saved: float | None


class LuckLedger:
    """Computes and keeps the luck in matches; tables may have other sizes than ``game``.

    Raises ParameterError if luck cannot be computed in this game.
    """

    def __init__(self, game: Game) -> None:
        check_meter(game)
        self._found: dict[tuple[object, ...], tuple[np.ndarray, np.ndarray]] = {}
        self._player_of = functools.cache(player_of)

    def note(self, match: Match, outcome: Any) -> None:
        """Compute a played match; ``outcome`` is a failure, or a `MatchResult` as plain values."""
        if not isinstance(outcome, Failure):
            names = tuple(entry.name for entry in match.entries)
            self._found[match.seed, names] = self.luck_of_match(match, outcome)

    def luck_of_match(self, match: Match, outcome: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Return each player's score in each game of a match, and its luck: two float64[games, players]."""
        game, seats = match.game, np.asarray(outcome["seats"], np.int64).reshape(-1, match.game.players)
        players = [self._player_of(game, entry) for entry in match.entries]
        by_seat = luck_of(game, players, seats, match.seed, range(len(seats)), outcome["actions"])
        luck = np.empty_like(by_seat)
        np.put_along_axis(luck, seats, by_seat, axis=1)
        shares = first_place_shares(np.asarray(outcome["returns"], np.float64).reshape(-1, game.players))
        return shares, scale_luck(shares, luck)

    def rows(self, matches: Iterable[MatchRow], names: Sequence[str]) -> tuple[LuckRow, ...]:
        """Return the luck-adjusted results of ``names`` in ``matches``, best first."""
        own: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {name: [] for name in names}
        for row in matches:
            shares, luck = self._found[row.seed, row.entries]
            for column, name in enumerate(row.entries):
                if name in own:
                    own[name].append((shares[:, column], luck[:, column]))
        rows = [_row(name, parts) for name, parts in own.items() if parts]
        return tuple(sorted(rows, key=lambda row: (-row.less_luck, row.name)))


def _row(name: str, parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> LuckRow:
    shares, luck = (np.concatenate(one) for one in zip(*parts, strict=True))
    games = len(shares)
    left = shares - luck
    # Opponents are fixed, not drawn: games vary about the mean of their match, if a match has several games.
    spread = sum(((part - drawn).var() if len(part) > 1 else left.var()) * len(part) for part, drawn in parts) / games
    raw = sum((part.var() if len(part) > 1 else shares.var()) * len(part) for part, _ in parts) / games
    means = len({number if len(part) > 1 else -1 for number, (part, _) in enumerate(parts)})  # matches of one share one
    half = Z_95 * float(spread / max(1, games - means)) ** 0.5
    saved = float(raw / spread) if spread > NO_SPREAD**2 else None
    return LuckRow(name, games, float(shares.mean()), float(luck.mean()), float(left.mean()), half, saved)


def player_of(game: Game, entry: Entry) -> Player | None:
    """Return the player of an entry, its compiled twin if there is one; None for an untrusted or a costly one."""
    if not entry.trusted:
        return None
    if isinstance(entry.origin, Source):
        for name in batch_players.twin_numbers(game):
            try:
                if resolve(game, name) == entry.origin:
                    return opponent(game, name)
            except UnknownNameError:
                continue
        return load(game, entry.origin, entry.name)
    player = entry.load(game, 0)
    return None if player.costly else player
