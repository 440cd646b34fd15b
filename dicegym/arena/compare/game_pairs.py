"""Pairs of games on the same dice, in which two players change places.

Where two meet each other, the second game of a pair has them in each other's seats. Where they meet others, the first
game has the one at the table and the second game the other one, in the same seat among the same others. The dice of a
game are those of its key, seat and turn, so both have the same luck, and what is left of it in the difference of their
scores is what the two of them make of it.

Pairs come in blocks, and a block is two matches (`PairedMatch`): all first games, and all second games. Entries are
loaded afresh for each match, as in a contest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dicegym.arena.compare.sequential import GRAIN
from dicegym.arena.match import Match
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.sandbox.jobs import Entry

BLOCK = 50
"""Pairs of a block: enough games in a match that starting its bots costs little beside them."""


@dataclass(frozen=True)
class PairedMatch(Match):
    """Half of a block of pairs. Its dice follow from the seed and the number of the block alone, not from the players.

    Who sits where is drawn from the game's key as in each match, by the order in which the entries are given: with two
    of them exchanged, they sit in each other's seats.
    """

    @property
    def seed(self) -> int:
        """The seed of the games, the same for both halves of a block and all players."""
        return named_seed("pairs", self.game.name, self.contest_seed, self.number)

    @property
    def facts(self) -> dict[str, Any]:
        """What decides the outcome, apart from game, entries in their order and limits; see `Job.facts`."""
        return super().facts | {"kind": "pairs"}


class Lineup(NamedTuple):
    """The players that are compared, and the others at their table; empty: the two meet each other."""

    first: Entry
    second: Entry
    others: tuple[Entry, ...] = ()

    def halves(self, number: int, seats: int) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
        """Return the entries of both matches of block ``number`` at a table with ``seats`` seats.

        The others take turns, so that all of them play equally often in the long run.
        """
        if not self.others:
            return (self.first, self.second), (self.second, self.first)
        start = number * (seats - 1)
        company = tuple(self.others[(start + i) % len(self.others)] for i in range(seats - 1))
        return (self.first, *company), (self.second, *company)


class Pairs(NamedTuple):
    """The scores of both in the games of some pairs, from 0 to 1: float64[pairs, games of a pair that one plays]."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]

    @property
    def differences(self) -> NDArray[np.float64]:
        """How much more the second scored in each pair, from -1 to 1: float64[pairs]."""
        found: NDArray[np.float64] = self.second.mean(axis=1) - self.first.mean(axis=1)
        return np.round(found, GRAIN)  # sums of thirds, in whatever order, are the same

    def up_to(self, number: int) -> Pairs:
        """Return the first ``number`` of the pairs."""
        return Pairs(self.first[:number], self.second[:number])


def block_of(lineup: Lineup, game: Game, seed: int, number: int, pairs: int) -> Iterator[PairedMatch]:
    """Yield both matches of block ``number``, from 0, with some ``pairs``; ``seed`` is the comparison's."""
    for entries in lineup.halves(number, game.players):
        yield PairedMatch(game, entries, seed, pairs, number=number)


def pairs_of(lineup: Lineup, halves: Sequence[NDArray[np.float64]]) -> Pairs:
    """Return the pairs of a block by what each player scored in its two matches: float64[games, players] of each."""
    one, two = halves
    if lineup.others:
        return Pairs(one[:, :1], two[:, :1])
    return Pairs(np.stack([one[:, 0], two[:, 1]], axis=1), np.stack([one[:, 1], two[:, 0]], axis=1))
