"""A contest in shards: each of several commands, on whatever machines, plays its part of the matches and no other.

For batch queues, where nobody runs a cluster. A match belongs to the shard that its key falls into, so shards need to
agree on nothing but the contest, and none plays what another does. What is stored already is nobody's work any more:
whoever finds all others' matches in its store goes on like any contest, to its table or to its next round.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dicegym.arena.executors import Executor, Executors
from dicegym.arena.keys import key_of
from dicegym.arena.match import Match
from dicegym.engine.game import Game
from dicegym.errors import DicegymError, ParameterError
from dicegym.sandbox.jail import Choice
from dicegym.sandbox.jobs import Job
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import JobOutcome

MOST = 1 << 20


class Shard(NamedTuple):
    """A part of a contest's matches."""

    number: int
    """From 1."""
    of: int
    """How many there are."""

    @classmethod
    def of_text(cls, text: str) -> Shard:
        """Return the shard that ``text`` names, such as "2/8". Raises ParameterError."""
        match = re.fullmatch(r"\s*(\d{1,7})\s*/\s*(\d{1,7})\s*", text, re.ASCII)
        shard = cls(int(match[1]), int(match[2])) if match else cls(0, 0)
        if not 1 <= shard.number <= shard.of <= MOST:
            raise ParameterError(f"{text!r} is no shard: write which of how many, from 1/8 to 8/8")
        return shard

    def holds(self, key: str) -> bool:
        """Return whether work with this key (hexadecimal) is this shard's."""
        return int(key, 16) % self.of == self.number - 1


class ShardEnd(DicegymError):  # noqa: N818 - nothing has gone wrong
    """A shard has played its matches, and the contest cannot go on without those of others. Not a mistake.

    Attributes:
        shard: which.
        played: matches that it has played now.
        left: matches that others have to play before the contest goes on.
    """

    def __init__(self, shard: Shard, played: int, left: int) -> None:
        matches = "1 match is" if left == 1 else f"{left:,} matches are"
        super().__init__(
            f"shard {shard.number} of {shard.of} has played {played:,} of the matches that the contest needs now; "
            f"{matches} left to other shards. With their results in the same store, the same command goes on: to the "
            "table, or to the next round"
        )
        self.shard, self.played, self.left = shard, played, left

    def __reduce__(self) -> tuple[type[ShardEnd], tuple[Shard, int, int]]:
        """Pickle by the three arguments."""
        return type(self), (self.shard, self.played, self.left)


class _Part:
    """An executor that leaves other shards' matches out, and ends with `ShardEnd` if there were any."""

    def __init__(self, executor: Executor, shard: Shard) -> None:
        self._executor, self._shard = executor, shard

    @property
    def limits(self) -> Limits:
        return self._executor.limits

    @property
    def isolation(self) -> Choice:
        return self._executor.isolation

    def __enter__(self) -> _Part:
        self._executor.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.__exit__(*_)

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, JobOutcome]]:
        """Do what is no match, as a check, in every shard; of matches those of this one."""
        played = left = 0

        def ours() -> Iterator[Job]:
            nonlocal left
            for job in jobs:
                if isinstance(job, Match) and not self._shard.holds(key_of(job, self.limits)):
                    left += 1
                else:
                    yield job

        for job, outcome in self._executor.run(ours()):
            played += isinstance(job, Match)
            yield job, outcome
        if left:
            raise ShardEnd(self._shard, played, left)


def sharded(executors: Executors, shard: Shard | str) -> Executors:
    """Return executors that play one shard of the matches alone, for `dicegym.arena.contest`.

    A contest held by them raises `ShardEnd` where it needs matches of other shards that its store does not have. All
    shards have to name the same seed.

    Args:
        executors: do the work.
        shard: which of how many, such as "2/8".

    Raises:
        ParameterError: there is no such shard.
    """
    part = Shard.of_text(shard) if isinstance(shard, str) else shard

    def make(game: Game, limits: Limits | None, isolation: str) -> Executor:
        return _Part(executors(game, limits, isolation), part)

    return make
