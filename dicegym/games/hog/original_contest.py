"""The published results of the original contest: the matches of its 17 entries, and their ranking.

Each pair played nine games, and the entry with more wins won the match. Entries are ranked by matches won; the exact
win rate against ``always_roll(5)`` breaks ties.
"""

from __future__ import annotations

from typing import NamedTuple

GAMES = 9
"""Games of a match."""
ENTRIES = (59, 27, 7, 79, 51, 98, 47, 46, 74, 76, 86, 42, 6, 36, 20, 39, 43)
"""Numbers of the entries, in the order of `WINS`."""
WINS = (
    "3743362696454557",
    "756278497665446",
    "32132376554534",
    "6355256567643",
    "454276475134",
    "56495756777",
    "5396446434",
    "466463323",
    "94956454",
    "2221011",
    "555262",
    "34664",
    "4434",
    "775",
    "74",
    "3",
    "",
)
"""For each entry, the games it won against each later entry, one digit a match."""


class Published(NamedTuple):
    """A row of the published ranking, the best entry first."""

    entry: int
    wins: int
    losses: int
    rate: float
    """Exact win rate against ``always_roll(5)``, in percent."""


RANKING = (
    Published(98, 15, 1, 75.9),
    Published(27, 12, 4, 70.9),
    Published(74, 12, 4, 62.3),
    Published(43, 12, 4, 58.3),
    Published(79, 11, 5, 50.1),
    Published(36, 9, 7, 66.5),
    Published(20, 9, 7, 53.3),
    Published(59, 9, 7, 38.2),
    Published(39, 8, 8, 54.1),
    Published(51, 7, 9, 49.1),
    Published(42, 7, 9, 48.5),
    Published(46, 6, 10, 51.8),
    Published(86, 6, 10, 50.9),
    Published(7, 5, 11, 53.9),
    Published(47, 5, 11, 46.9),
    Published(6, 3, 13, 50.0),
    Published(76, 0, 16, 7.8),
)


def count_matches() -> dict[int, int]:
    """Return how many matches each entry won."""
    won = dict.fromkeys(ENTRIES, 0)
    for number, (entry, wins) in enumerate(zip(ENTRIES, WINS, strict=True), 1):
        for other, games in zip(ENTRIES[number:], map(int, wins), strict=True):
            won[entry if 2 * games > GAMES else other] += 1
    return won


def count_agreeing() -> int:
    """Return how many entries get their published place, wins and losses from the matches."""
    won, rates = count_matches(), {row.entry: row.rate for row in RANKING}
    ranked = sorted(ENTRIES, key=lambda entry: (-won[entry], -rates[entry]))
    return sum(
        row[:3] == (entry, won[entry], len(ENTRIES) - 1 - won[entry])
        for row, entry in zip(RANKING, ranked, strict=True)
    )
