"""The result of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dicegym.arena.compare.estimate import LEVEL, Interval
from dicegym.arena.compare.sequential import Claims, elo_of
from dicegym.arena.ratings.match_places import MatchPlaces
from dicegym.arena.report import Report, ReportTable, percent
from dicegym.arena.results import ContestResult

FORMAT = "compare"
"""Name of comparisons as a format in stores."""


class Decision(StrEnum):
    """The result of the test."""

    BETTER = "better"
    """The second claim is accepted: the candidate is better by more than ``margin0``."""
    NOT_BETTER = "not better"
    """The first claim is accepted: the candidate is not better by as much as ``margin1``."""
    UNDECIDED = "undecided"
    """The games ran out first."""
    DISQUALIFIED = "disqualified"
    """An entry failed, and the game cannot continue without it; nothing is compared."""


@dataclass(frozen=True, kw_only=True)
class Comparison(ContestResult):
    """Whether one player is better than another; see `ContestResult` for the other attributes.

    Figures of a standing: ``score``, the mean score of a game, from 0 to 1; ``games``; ``faults``, its misplays. Both
    have place 1 unless the candidate is better.

    Attributes:
        matches: of the counted blocks; some games of the last one may not count.
        first: name of the present player.
        second: name of the candidate: is it better than the first?
        others: the others at the table; empty: the two played each other.
        players: seats at a table.
        claims: the tested claims.
        elo: whether the margins are shown as Elo, which has a meaning where the two meet.
        decision: the result of the test.
        ratio: the log-likelihood ratio of the second claim to the first at the end.
        pairs: number of counted pairs of games.
        games: number of counted games.
        most_games: the most games allowed.
        counts: number of pairs by difference of scores: (difference, number).
        difference: how much higher the candidate's score per game is, with its interval, which accounts for early
            stopping; None if no pair was played.
        luck_taken_out: whether scores are luck-adjusted.

    Example:
        >>> from dicegym.contest import compare
        >>> result = compare("hog", "always_roll(0)", "bacon", seed=1, workers=1)
        >>> result.second, result.games == 2 * result.pairs
        ('bacon', True)
    """

    first: str
    second: str
    others: tuple[str, ...]
    players: int
    claims: Claims
    elo: bool
    decision: Decision
    ratio: float
    pairs: int
    games: int
    most_games: int
    counts: tuple[tuple[float, int], ...] = ()
    difference: Interval | None = None
    luck_taken_out: bool = False

    @property
    def heading(self) -> str:
        """One line that says what was played."""
        company = f" among {', '.join(self.others)}" if self.others else ""
        return f"{self.title}: is {self.second} better than {self.first}{company}? Seed {self.seed}"

    def tables(self) -> list[ReportTable]:
        """Return the scores of both, the candidate first."""
        rows = [[row.name, percent(row["score"]), f"{row['games']:,}", f"{row['faults']:,}"] for row in self.standings]
        score = "Less luck" if self.luck_taken_out else "Games won"
        heading = f"{self.pairs:,} pairs of games on the same dice"
        return [(heading, ["Player", score, "Games", "Faults"], rows)] if rows else []

    def match_places(self) -> list[MatchPlaces]:
        """Return nothing: ratings do not account for pairs on the same dice and for early stopping."""
        return []

    def report(self) -> Report:
        """Return the report."""
        found = super().report()
        counted = "" if self.games == sum(row.games for row in self.matches) else f"{self.games:,} counted of "
        facts = [(name, counted + value if name == "games" else value) for name, value in found.facts]
        return found._replace(facts=facts)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values, see `ContestResult.to_json`; with the difference as Elo if it is one."""
        size = self.difference
        return super().to_json() | {
            "decision": str(self.decision),
            "claims": self.claims._asdict() | {"lower": self.claims.lower, "upper": self.claims.upper},
            "difference": None if size is None else size._asdict(),
            "difference_elo": None if size is None or self.others else self._elo_of(size)._asdict(),
        }

    def claim(self, number: int) -> str:
        """Return a claim as the end of "NAME is ... better"."""
        margin = self.claims[number]
        if self.elo:
            return f"{elo_of(margin):+.4g} Elo"
        return f"{100 * margin:+.4g} points"

    def words(self) -> Sequence[str]:
        """Return the decision, the size of the difference, and the number of games."""
        if self.decision is Decision.DISQUALIFIED:
            return ["Nothing is compared: a player failed, and the game cannot continue without it."]
        return [self._verdict(), *self._size(), f"It took {self.games:,} games."]

    def _verdict(self) -> str:
        lower, upper = self.claims.lower, self.claims.upper
        ratio = f"log-likelihood ratio {self.ratio:+.2f}, bounds {lower:+.2f} and {upper:+.2f}"
        versus = f"{self.claim(1)} against {self.claim(0)}"
        if self.decision is Decision.UNDECIDED:
            more = "More games may decide, and so may claims that are further apart."
            return f"Undecided after {self.games:,} games ({versus}: {ratio}). {more}"
        better = self.decision is Decision.BETTER
        if better:
            level = "better" if self.claims.margin0 >= 0 else "not worse"
        else:
            level = "not better" if self.claims.margin1 >= 0 else "worse"
        wrong = f"{100 * (self.claims.alpha if better else self.claims.beta):.3g}"
        number = int(not better)
        by = f" by {self.claim(number).lstrip('+-')}" if round(self.claims[number], 9) else ""
        found = f"{self.second} is {level} than {self.first}{by}"
        return f"{found} ({versus}: {ratio}; wrong in about {wrong} % of such tests)."

    def _elo_of(self, size: Interval) -> Interval:
        """Return a difference as Elo; infinite values are replaced by what one more game would give."""
        most = 1 - 1 / (self.games + 1)
        return Interval(*(elo_of(min(most, max(-most, one))) for one in size))

    def _size(self) -> list[str]:
        if self.difference is None:
            return []
        low, high = (f"{100 * one:+.1f}" for one in self.difference[1:])
        value = f"{100 * abs(self.difference.value):.1f}"
        more = " more" if self.difference.value > 0 else " less" if self.difference.value < 0 else ""
        level = f"{100 * LEVEL:.0f} %"
        scores = f"scores {value} percentage points{more}" if more else "scores the same"
        found = f"It {scores} ({level} interval {low} to {high}"
        if self.others:
            return [f"{found}; it accounts for early stopping)."]
        value, low, high = (f"{one:+.0f}" for one in self._elo_of(self.difference))
        return [f"{found}), or {value} Elo ({low} to {high}); both account for early stopping."]
