"""A contest in shards: each of several commands, on whatever machines, plays its part of the matches and no other.

For batch queues, without a cluster. A match belongs to the shard that its key falls into, so shards need to agree on
nothing but the contest, its seed included. A shard whose store has all matches of the others continues like any
contest, to its table or to its next round.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dicegym.errors import DicegymError, ParameterError

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


WHOLE = Shard(1, 1)
"""All matches of a contest."""


class ShardEnd(DicegymError):  # noqa: N818 - nothing has gone wrong
    """A shard has played its matches, and the contest needs those of others. Not an error.

    Attributes:
        shard: which.
        played: matches that it has played now.
        left: matches that others have to play before the contest can continue.
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
