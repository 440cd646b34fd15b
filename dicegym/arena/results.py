"""What a contest came to: what every format's result offers, so that a format says only what is its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, TypeVar

from dicegym.analysis.less_luck import MOST_SAVED
from dicegym.arena.entries import Disqualified
from dicegym.arena.facts import facts_of
from dicegym.arena.incidents import Misplay, misplay_counts
from dicegym.arena.less_luck import LuckRow
from dicegym.arena.matrix import WIDTH, Matrix
from dicegym.arena.provenance import VERSION, Provenance
from dicegym.arena.ratings.places import MatchPlaces
from dicegym.arena.report import Report, ReportTable, percent, plain_text
from dicegym.arena.rows import MatchRow
from dicegym.arena.storage import Stored


@dataclass(frozen=True)
class Standing:
    """One row of a ranking, in every format.

    Attributes:
        place: 1 for the best; who is equal shares a place.
        name: the entry.
    """

    place: int
    name: str


Row_co = TypeVar("Row_co", bound=Standing, covariant=True)
"""The kind of rows of a ranking."""


@dataclass(frozen=True, kw_only=True)
class ContestResult(Generic[Row_co]):
    """The result of a contest; each format has a subclass, a frozen dataclass whose fields are its JSON.

    A subclass defines `heading` and `tables`, what else there is to say of them in `words`, and fields of its own.

    Attributes:
        game: name of the game.
        title: the game's title.
        seed: the contest's seed.
        format: name of the format, a key of `dicegym.arena.contest.FORMATS`; empty: none.
        options: the options that the format knows, as they were chosen (`dicegym.arena.options`).
        standings: the ranking, best first, a row per entry.
        matches: all that were played and count, in the order in which they were to be played.
        disqualified: by name.
        misplays: what entries did wrong and the rules dealt with.
        remarks: further lines of the report, such as how ties were broken.
        printed: the beginning of what entries printed, which cost them nothing; by name.
        less_luck: what luck did for each entry, if that was asked for, the best first by what is left.
        provenance: date, versions, rules and files that it comes from.
        stored: where it is kept, if it is. No part of the comparison, nor of the JSON.
    """

    game: str
    title: str
    seed: int
    format: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    standings: tuple[Row_co, ...]
    matches: tuple[MatchRow, ...] = ()
    disqualified: tuple[Disqualified, ...] = ()
    misplays: tuple[Misplay, ...] = ()
    remarks: tuple[str, ...] = ()
    printed: dict[str, str] = field(default_factory=dict)
    less_luck: tuple[LuckRow, ...] = ()
    provenance: Provenance | None = None
    stored: Stored | None = field(default=None, compare=False)

    @property
    def heading(self) -> str:
        """One line that says what was played."""
        raise NotImplementedError(f"{type(self).__name__} must define heading")

    def headline(self, *facts: str) -> str:
        """Return such a line of ``facts``: the game, how many were ranked, the format and the seed stand with them."""
        form, n = self.format.replace("_", " "), len(self.standings)
        return f"{self.title}: " + ", ".join(filter(None, [f"{n} {'entry' if n == 1 else 'entries'}", form, *facts]))

    def tables(self) -> Sequence[ReportTable | Matrix]:
        """Return the tables of the report: the ranking first, and what else there is to show."""
        raise NotImplementedError(f"{type(self).__name__} must define tables()")

    def words(self) -> Sequence[str]:
        """Return what the numbers mean and what to try next, in sentences."""
        return ()

    def match_places(self) -> list[MatchPlaces]:
        """Return what ratings are computed from: the places of all games between entries that were not struck."""
        ranked = {row.name for row in self.standings}
        return [MatchPlaces(row.entries, row.places) for row in self.matches if ranked.issuperset(row.entries)]

    def report(self) -> Report:
        """Return what there is to show."""
        heading, tables = self.heading, [*self.tables(), *self._luck()]
        facts = facts_of(self.title, self.format, self.seed, self.misplays, self.matches, self.provenance)
        return Report(heading, tables, self.disqualified, self.misplays, self.remarks, self.words(), facts)

    def _luck(self) -> list[ReportTable]:
        """Return what luck did for each entry, where that is known."""
        if not self.less_luck:
            return []
        titles = ["Entry", "Games", "Won", "Luck", "Less luck", "95 %", "Saved"]
        rows = []
        for row in self.less_luck:
            saved = "all" if row.saved is None or row.saved >= MOST_SAVED else f"{row.saved:,.1f}x"
            left = f"{100 * row.less_luck:.2f}%", f"± {100 * row.half:.2f}%", saved
            rows.append([row.name, f"{row.games:,}", percent(row.share), f"{100 * row.luck:+.1f}%", *left])
        return [("Results less luck", titles, rows)]

    def text(self, width: int = WIDTH) -> str:
        """Return the report as plain text for ``width`` columns."""
        return plain_text(self.report(), width)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values: the version of this form, where the result comes from, and the result.

        Contests that are equal write equal files if they are given a date, which is `DATE_VARIABLE` of
        `dicegym.arena.provenance`. Under ``faults`` is how many misplays there were of each entry; ``misplays`` holds
        the first ones.
        """
        own = asdict(self)
        del own["stored"]
        provenance = own.pop("provenance") or {}
        return {"version": VERSION, **provenance, **own, "faults": misplay_counts(self.misplays)}
