"""What a round robin came to, and what there is to show of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dicegym.arena.luck import Places, listed, verdict
from dicegym.arena.matrix import Matrix
from dicegym.arena.report import EVERYTHING, ReportTable, percent
from dicegym.arena.results import ContestResult, Standing
from dicegym.arena.rows import MatchRow

ONE_DRAW = "The rate of an entry that draws is that of one drawn table of its answers."
"""What win rates against the baseline and exact rankings are of: the contest asks each entry once."""


@dataclass(frozen=True)
class ExactStanding:
    """What an entry gets in the contest without luck.

    Attributes:
        wins: matches that it wins on average, if the contest is held again and again.
        win_rate: mean of its exact win rates against all others, 0..1.
        places: where 95 of 100 contests put it.
        first: how many of them it wins, 0..1; a shared first place is shared out.
    """

    wins: float
    win_rate: float
    places: Places
    first: float


@dataclass(frozen=True)
class RoundRobinStanding(Standing):
    """One row of the ranking.

    Attributes:
        place: 1 for the best; equal entries share a place.
        name: the entry.
        wins: matches won.
        losses: matches lost.
        share: share of all its games won, 0..1, a shared first place shared out.
        win_rate: exact win rate against the baseline, 0..1; None if the game has no exact values.
        could_be: the places that it may deserve, as far as the games tell (`dicegym.arena.luck`).
        played_place: its place by the games alone: ``place``, unless the ranking is by exact values; None if no games
            were played.
        exact: what it gets without luck; None if nobody asked.
        less_luck: share of its games won less what was luck of it; None if nobody asked.
    """

    wins: int
    losses: int
    share: float
    win_rate: float | None
    could_be: Places
    played_place: int | None
    exact: ExactStanding | None = None
    less_luck: float | None = None


@dataclass(frozen=True)
class PairRow:
    """The exact value of a pair.

    Attributes:
        entries: the two.
        win_rate: exact win rate of the first against the second, 0..1, who moves first being drawn by a fair coin.
    """

    entries: tuple[str, str]
    win_rate: float


@dataclass(frozen=True, kw_only=True)
class RoundRobinResult(ContestResult[RoundRobinStanding]):
    """What a round robin came to; `ContestResult` says what its other attributes are.

    Attributes:
        games_per_match: games of each match.
        baseline: the agent that win rates are against.
        standings: best first.
        pairs: exact values of all pairs, by name; empty if nobody asked.
    """

    games_per_match: int
    baseline: str
    pairs: tuple[PairRow, ...] = field(default=())

    @property
    def heading(self) -> str:
        """One line that says what was played."""
        matches, games = len(self.matches), self.games_per_match
        played = f"{matches} match{'es' * (matches != 1)} of {games} game{'s' * (games != 1)}, seed {self.seed}"
        if not self.matches and self.pairs:
            played = "no games"
        exact = ", ranked by exact win rates" if self.pairs else ", ranked less luck" if self.less_luck else ""
        return self.headline(f"{played}{exact}")

    def tables(self) -> list[ReportTable | Matrix]:
        """Return the ranking, and how often each wins against each: exactly, or as far as games tell."""
        return [self._exact_ranking(), self._exact_matrix()] if self.pairs else [self._ranking(), *self._matrix()]

    def _ranking(self) -> ReportTable:
        exact = any(row.win_rate is not None for row in self.standings)
        adjusted = any(row.less_luck is not None for row in self.standings)
        last = f"Winrate against `{self.baseline}`" if exact else "Games won"
        last = "Less luck" if adjusted else last
        titles = ["Ranking", "Entry", "Wins", "Losses", "Could be", last]
        return (
            "Rankings",
            titles,
            [
                [
                    *(str(row.place), row.name, str(row.wins), str(row.losses), str(row.could_be)),
                    percent(row.less_luck if adjusted else row.win_rate if exact else row.share),
                ]
                for row in self.standings
            ],
        )

    def _exact_ranking(self) -> ReportTable:
        played = ["Wins", "Came"] if self.matches else []
        titles = ["Ranking", "Entry", "Exact wins", "Win rate", *played, "Luck", "First"]
        rows = []
        for row in self.standings:
            if row.exact is not None:
                games = [str(row.wins), str(row.played_place or "-")] if self.matches else []
                exact = [f"{row.exact.wins:.2f}", percent(row.exact.win_rate)]
                rows.append([str(row.place), row.name, *exact, *games, str(row.exact.places), percent(row.exact.first)])
        return ("Rankings", titles, rows)

    def _exact_matrix(self) -> Matrix:
        names = [row.name for row in self.standings]
        rates = {one.entries: one.win_rate for one in self.pairs}
        rates |= {(b, a): 1 - rate for (a, b), rate in rates.items()}
        cells = [["." if a == b else f"{100 * rates[a, b]:.0f}" for b in names] for a in names]
        shades = [[None if a == b else round(2 * rates[a, b] - 1, 2) for b in names] for a in names]
        return Matrix("Exact win rates of the row against the column, in per cent", names, cells, shades)

    def _matrix(self) -> list[Matrix]:
        names = [row.name for row in self.standings]
        return [_matrix(names, self.matches, self.games_per_match)] if self.matches else []

    def words(self) -> list[str]:
        """Return what the ranking is worth, and what to try next."""
        names = [row.name for row in self.standings]
        if len(names) < 2:
            return ["There is nobody to compare with: a contest needs two entries that can play."]
        words = [*self._exact_words()] if self.pairs else [*self._played_words(names)]
        return [*words, EVERYTHING]

    def _played_words(self, names: Sequence[str]) -> Iterable[str]:
        yield "'Could be': the places that an entry may deserve; sure in 95 of 100 contests."
        yield verdict(names, [row.could_be for row in self.standings])
        if any(row.win_rate is not None for row in self.standings):
            yield f"--exact ranks without luck. {ONE_DRAW}"

    def _exact_words(self) -> Iterable[str]:
        yield (
            "'Exact wins': the expected number of matches won, by which entries are ranked. 'Luck': where 95 of "
            "100 such contests put an entry; 'First': how many of them it wins."
        )
        best = [row.name for row in self.standings if row.place == 1]
        came = [row.name for row in self.standings if row.played_place == 1]
        strongest = f"{best[0]} is the strongest, and comes"
        if len(best) > 1:
            strongest = f"{listed(best)} are equally strong, and one of them comes"
        yield ONE_DRAW
        chance = sum(row.exact.first for row in self.standings if row.place == 1 and row.exact is not None)
        yield f"{strongest} first in {100 * chance:.0f} of 100 contests."
        if came and set(came) != set(best):
            yield f"Here luck put {listed(came)} first."
        moved = sum(row.played_place not in (None, row.place) for row in self.standings)
        if self.matches:
            yield f"Luck moved {moved} of {len(self.standings)} entries away from the place that they deserve."


def _matrix(names: Sequence[str], matches: Sequence[MatchRow], games: int) -> Matrix:
    """Return who won how many games against whom; at larger tables, or in long matches, in per cent."""
    won: dict[tuple[str, str], int] = {}
    played: dict[tuple[str, str], int] = {}
    for match in matches:
        for name, wins in zip(match.entries, match.wins, strict=True):
            for other in match.entries:
                won[name, other] = won.get((name, other), 0) + wins
                played[name, other] = played.get((name, other), 0) + games
    met = games * (1 + max((match.number for match in matches), default=0))
    counted = met < 100 and all(len(match.entries) == 2 for match in matches)
    what = f"Games of {met} won by the row against the column"
    if not counted:
        what = "Games won by the row at tables with the column, in per cent"

    def cell(pair: tuple[str, str]) -> str:
        if pair[0] == pair[1]:
            return "."
        if pair not in played:
            return "-"
        return str(won[pair]) if counted else f"{100 * won[pair] / played[pair]:.0f}"

    return Matrix(what, names, [[cell((a, b)) for b in names] for a in names])
