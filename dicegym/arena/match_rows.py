"""Matches in results and reports: a row for each, and misplays in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dicegym.arena.match import Match
from dicegym.arena.ratings.match_places import match_places
from dicegym.errors import one_line
from dicegym.play.player import Usage, total_usage

LONGEST_REASON = 400
"""Most characters of a reason: a bid can be illegal because of the whole history."""
REPORTED = ("incidents", "noted", "printed", "usages")
"""Fields of an outcome that reports read; empty ones are dropped."""
SHOWN, KEPT = 3, 100
"""How many misplays of one entry a report shows and a result keeps, first ones first."""


@dataclass(frozen=True)
class MatchRow:
    """One row of the table of matches; all tuples are by entry.

    Attributes:
        entries: the players.
        wins: games that each won alone.
        shares: games that each won; entries that share a first place share the game.
        faults: illegal and missing answers of each.
        places: (the place of each in a game, the number of such games), the best first.
        games: number of games.
        number: number among the matches of the same entries, from 0; each has different dice.
        seed: names the dice of its games.
    """

    entries: tuple[str, ...]
    wins: tuple[int, ...]
    shares: tuple[float, ...] = ()
    faults: tuple[int, ...] = ()
    places: tuple[tuple[tuple[int, ...], int], ...] = ()
    games: int = 0
    number: int = 0
    seed: int = 0


class Misplay(NamedTuple):
    """One thing that an entry did wrong and that the rules handled."""

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


class PlayedMatch(NamedTuple):
    """A match that was played to its end."""

    row: MatchRow
    outcome: Mapping[str, Any]
    """Plain values of its `dicegym.arena.match.MatchResult`: the fields `REPORTED` that are not empty, and ``returns``
    on request."""


def read_outcome(match: Match, outcome: Mapping[str, Any], returns: bool = False) -> PlayedMatch:
    """Return a played match; ``returns``: keep what each entry scored in each game."""
    names = tuple(entry.name for entry in match.entries)
    wins, shares, faults = (tuple(outcome[name]) for name in ("wins", "shares", "faults"))
    places = match_places(names, outcome["returns"]).places
    row = MatchRow(names, wins, shares, faults, places, match.games, match.number, match.seed)
    kept = (*REPORTED, "returns") if returns else REPORTED  # a contest may have a million matches
    return PlayedMatch(row, {name: outcome[name] for name in kept if outcome.get(name)})


def misplays_of(names: Sequence[str], outcome: Mapping[str, Any]) -> list[Misplay]:
    """Return the misplays in an outcome of a match between ``names``."""
    return [
        Misplay(names[player], (*names[:player], *names[player + 1 :]), game, turn, one_line(reason, LONGEST_REASON))
        for player, game, turn, reason in outcome.get("incidents", ())
    ]


def misplay_lines(misplays: Iterable[Misplay], counts: Mapping[str, int]) -> list[str]:
    """Return a line for each of the first misplays of every entry, by name, and one for the number of the others.

    ``counts``: all misplays of each entry.
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


def sum_up(played: Sequence[PlayedMatch]) -> dict[str, Any]:
    """Return the fields of a result that sum up the matches that count.

    ``details`` holds ``answers``: the counts of entries that count their answers, by name; empty if none does.
    """
    faults, kept = Counter[str](), Counter[str]()
    misplays: list[Misplay] = []
    printed: dict[str, str] = {}
    usages: dict[str, list[Usage]] = {}
    for row, outcome in played:
        faults.update(dict(zip(row.entries, outcome["noted"], strict=True)))
        for misplay in misplays_of(row.entries, outcome):
            kept[misplay.name] += 1
            if kept[misplay.name] <= KEPT:
                misplays.append(misplay)
        for name, usage in zip(row.entries, outcome.get("usages", ()), strict=False):
            if usage is not None:
                usages.setdefault(name, []).append(Usage(*usage))
    for row, outcome in sorted(played, key=lambda one: one.row.entries):
        for name, text in zip(row.entries, outcome.get("printed", ()), strict=False):
            if text:
                printed.setdefault(name, text)
    totals = {name: total_usage(own)._asdict() for name, own in sorted(usages.items())}
    # Requests and tokens are left out: a repeated contest finds its answers in the log and must have an equal result.
    counts = {name: {one: own[one] for one in ("decisions", "unreadable", "illegal")} for name, own in totals.items()}
    return {
        "matches": tuple(one.row for one in played),
        "misplays": tuple(misplays),
        "faults": {name: count for name, count in sorted(faults.items()) if count},
        "printed": printed,
        "details": {"answers": counts} if counts else {},
    }
