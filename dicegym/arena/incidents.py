"""What entries did wrong in matches and the rules dealt with, for reports: who, when, what, and how often."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dicegym.errors import one_line

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

    def __str__(self) -> str:
        """Return it in words."""
        turn = f", turn {self.turn}" if self.turn else ""
        return f"{self.name}: game {self.game} against {', '.join(self.opponents)}{turn}: {self.reason}"


def misplays_of(names: Sequence[str], outcome: Mapping[str, Any]) -> list[Misplay]:
    """Return the misplays in the outcome of a `dicegym.arena.match.Match` between ``names``."""
    return [
        Misplay(names[player], (*names[:player], *names[player + 1 :]), int(game), int(turn), one_line(reason))
        for player, game, turn, reason in outcome["incidents"]
    ]


def misplay_lines(misplays: Iterable[Misplay]) -> list[str]:
    """Return a line for each of the first misplays of every entry, by name, and how many more there were."""
    by_name: dict[str, list[Misplay]] = {}
    for misplay in misplays:
        by_name.setdefault(misplay.name, []).append(misplay)
    lines = []
    for name, own in sorted(by_name.items()):
        lines += [str(misplay) for misplay in own[:SHOWN]]
        if len(own) > SHOWN:
            lines.append(f"{name}: and {len(own) - SHOWN} more")
    return lines
