"""What entries did wrong in matches and the rules dealt with, for reports: who, when, what, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dicegym.errors import one_line

LONGEST_REASON = 400
"""Characters: a bid can be wrong by the whole history that it was made in."""
SHOWN = 3
"""Misplays of one entry that a report shows in words."""


class Misplay(NamedTuple):
    """One thing that an entry did wrong."""

    name: str
    opponents: tuple[str, ...]
    game: int
    """Number of the game in the match, from 1."""
    turn: int
    """Number of the entry's decision in that game, from 1; 0: while it sat down or watched."""
    reason: str
    more: int = 0
    """How many more there were of this entry, after this one, that are not kept in words."""

    def __str__(self) -> str:
        """Return it in words."""
        turn = f", turn {self.turn}" if self.turn else ""
        return f"{self.name}: game {self.game} against {', '.join(self.opponents)}{turn}: {self.reason}"


def misplays_of(names: Sequence[str], outcome: Mapping[str, Any]) -> list[Misplay]:
    """Return the misplays in the outcome of a `dicegym.arena.match.Match` between ``names``."""
    more = Counter(dict(enumerate(outcome.get("noted", ()))))
    more.subtract(player for player, *_ in outcome["incidents"])
    found = []
    for player, game, turn, reason in reversed(outcome["incidents"]):
        others = (*names[:player], *names[player + 1 :])
        left = max(0, more.pop(player, 0))  # told with the last one in words
        found.append(Misplay(names[player], others, int(game), int(turn), one_line(reason, LONGEST_REASON), left))
    return found[::-1]


class MisplayLog:
    """Keeps the first misplays of every entry, and counts the others with the last one that is kept.

    Args:
        most: how many of an entry are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[Misplay] = []
        self._places: dict[str, list[int]] = {}

    @property
    def kept(self) -> tuple[Misplay, ...]:
        """Those that are kept, in order."""
        return tuple(self._kept)

    def add(self, misplay: Misplay) -> None:
        """Keep it, or count it."""
        places = self._places.setdefault(misplay.name, [])
        if len(places) < self._most:
            places.append(len(self._kept))
            self._kept.append(misplay)
        else:
            last = self._kept[places[-1]]
            self._kept[places[-1]] = last._replace(more=last.more + 1 + misplay.more)


def misplay_counts(misplays: Iterable[Misplay]) -> dict[str, int]:
    """Return how many misplays there were of each entry that had any, those in words and the others, by name."""
    counts: Counter[str] = Counter()
    for misplay in misplays:
        counts[misplay.name] += 1 + misplay.more
    return dict(sorted(counts.items()))


def misplay_lines(misplays: Iterable[Misplay]) -> list[str]:
    """Return a line for each of the first misplays of every entry, by name, and how many more there were."""
    by_name: dict[str, list[Misplay]] = {}
    for misplay in misplays:
        by_name.setdefault(misplay.name, []).append(misplay)
    lines = []
    for name, own in sorted(by_name.items()):
        lines += [str(misplay) for misplay in own[:SHOWN]]
        more = misplay_counts(own)[name] - len(own[:SHOWN])
        if more:
            lines.append(f"{name}: and {more:,} more")
    return lines
