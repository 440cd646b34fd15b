"""What entries did wrong in matches and the rules dealt with, for reports: who, when, what, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dicegym.errors import one_line

LONGEST_REASON = 400
"""Characters: a bid can be wrong by the whole history that it was made in."""
SHOWN, KEPT = 3, 100
"""Misplays of one entry that a report shows in words, and those that a result has, the first ones."""


class Misplay(NamedTuple):
    """One thing that an entry did wrong."""

    name: str
    opponents: tuple[str, ...]
    game: int
    """Number of the game in the match, from 1."""
    turn: int
    """Number of the entry's decision in that game, from 1; 0: while it sat down or watched."""
    reason: str

    def __str__(self) -> str:
        """Return it in words."""
        turn = f", turn {self.turn}" if self.turn else ""
        return f"{self.name}: game {self.game} against {', '.join(self.opponents)}{turn}: {self.reason}"


def misplays_of(names: Sequence[str], outcome: Mapping[str, Any]) -> list[Misplay]:
    """Return the misplays in the outcome of a `dicegym.arena.match.Match` between ``names``, those in words."""
    found = []
    for player, game, turn, reason in outcome["incidents"]:
        others = (*names[:player], *names[player + 1 :])
        found.append(Misplay(names[player], others, int(game), int(turn), one_line(reason, LONGEST_REASON)))
    return found


def first_misplays(misplays: Iterable[Misplay], most: int = KEPT) -> tuple[Misplay, ...]:
    """Return the first ``most`` misplays of every entry, in their order."""
    kept, counts = [], Counter[str]()
    for misplay in misplays:
        counts[misplay.name] += 1
        if counts[misplay.name] <= most:
            kept.append(misplay)
    return tuple(kept)


def misplay_lines(misplays: Iterable[Misplay], counts: Mapping[str, int]) -> list[str]:
    """Return a line for each of the first misplays of every entry, by name, and how many more there were.

    ``counts`` is how many there were of each.
    """
    by_name: dict[str, list[Misplay]] = {}
    for misplay in misplays:
        by_name.setdefault(misplay.name, []).append(misplay)
    lines = []
    for name, own in sorted(by_name.items()):
        shown = [str(misplay) for misplay in own[:SHOWN]]
        more = counts[name] - len(shown)
        lines += [*shown, *([f"{name}: and {more:,} more"] if more > 0 else [])]
    return lines
