"""The result of a contest of any format: the ranking, the matches, and the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from dicegym.analysis.variance_reduction import MOST_SAVED
from dicegym.arena.adjusted_results import LuckRow
from dicegym.arena.entries import Disqualified
from dicegym.arena.match_rows import MatchRow, Misplay, misplay_lines
from dicegym.arena.provenance import VERSION, Provenance, limits_in_words, name_game
from dicegym.arena.ratings.match_places import MatchPlaces
from dicegym.arena.report import WIDTH, Matrix, Report, ReportTable, percent, plain_text
from dicegym.arena.storage import Stored
from dicegym.columns import write_count

MOST_NAMED = 12
"""Names of entries in the referee's process that a report lists."""
NOBODY = "There is nothing to compare: a contest needs two entries that can play."


@dataclass(frozen=True)
class Standing:
    """One row of a ranking, in every format. ``row["wins"]`` is the figure of that name.

    Attributes:
        place: 1 for the best; equal entries share a place.
        name: the entry.
        figures: the format's plain values, by name.
    """

    place: int
    name: str
    figures: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, figure: str) -> Any:
        """Return a figure or a field by its name in JSON. Raises KeyError."""
        return self.to_json()[figure]

    def to_json(self) -> dict[str, Any]:
        """Return the row as plain values: place, name and figures."""
        return {"place": self.place, "name": self.name, **self.figures}


def ranking(merits: Mapping[str, Any], figures: Mapping[str, Mapping[str, Any]]) -> tuple[Standing, ...]:
    """Return entries ranked by merit; equal ones share a place and are listed by name.

    Args:
        merits: by name; more is better.
        figures: the figures of each standing, by name.
    """
    places: dict[Any, int] = {}
    order = sorted(sorted(merits), key=merits.__getitem__, reverse=True)
    for position, name in enumerate(order, 1):
        places.setdefault(merits[name], position)
    return tuple(Standing(places[merits[name]], name, figures[name]) for name in order)


class Presentation(NamedTuple):
    """What a format shows of its result; not in the JSON, as it follows from the result."""

    facts: Sequence[str] = ()
    """Parts of the heading, such as "seed 7"."""
    tables: Sequence[ReportTable | Matrix] = ()
    """The ranking first."""
    words: Sequence[str] = ()
    """Sentences: what the numbers mean, and what to try next."""


NOTHING_SHOWN = Presentation()


@dataclass(frozen=True, kw_only=True)
class ContestResult:
    """The result of a contest.

    Attributes:
        game: name of the game.
        title: the game's title.
        seed: the contest's seed.
        format: name of the format, a key of `dicegym.arena.running.FORMATS`; empty: none.
        options: the values of the options that the format knows (`dicegym.arena.contest_options`).
        standings: the ranking, best first, a row per entry.
        matches: all that count, in the order in which the format asked for them.
        disqualified: by name.
        misplays: what entries did wrong and the rules handled; the first ones of each entry.
        faults: the number of misplays of each entry that had any, by name.
        remarks: further lines of the report, such as how ties were broken.
        printed: the beginning of what entries printed, by name.
        less_luck: luck-adjusted results if requested, best first.
        details: the format's own plain values by name, such as the ``rounds`` of a Swiss tournament; and ``answers``,
            counts of language models' answers (`dicegym.play.player.Usage`) by entry. In JSON they are at top level.
        provenance: date, versions, rules and files.
        shown: what the report shows.
        stored: where it is stored, if it is. Not compared, and not in the JSON.

    Example:
        >>> from dicegym.contest import contest
        >>> result = contest("hog", ["always_roll(0)", "bacon"], seed=1, workers=1, games=3)
        >>> result.standings[0].name, result.matches[0].wins
        ('bacon', (0, 3))
    """

    game: str
    title: str
    seed: int
    format: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    standings: tuple[Standing, ...]
    matches: tuple[MatchRow, ...] = ()
    disqualified: tuple[Disqualified, ...] = ()
    misplays: tuple[Misplay, ...] = ()
    faults: dict[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    printed: dict[str, str] = field(default_factory=dict)
    less_luck: tuple[LuckRow, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)
    provenance: Provenance | None = None
    shown: Presentation = field(default=NOTHING_SHOWN, repr=False)
    stored: Stored | None = field(default=None, compare=False)

    @property
    def heading(self) -> str:
        """One line that says what was played."""
        n = len(self.standings)
        facts = [write_count(n, "entry"), self.format.replace("_", " "), *self.shown.facts]
        return f"{self.title}: " + ", ".join(filter(None, facts))

    def tables(self) -> Sequence[ReportTable | Matrix]:
        """Return the tables of the report, the ranking first."""
        return self.shown.tables

    def words(self) -> Sequence[str]:
        """Return sentences: what the numbers mean and what to try next."""
        return self.shown.words if len(self.standings) > 1 else [NOBODY]

    def match_places(self) -> list[MatchPlaces]:
        """Return the places of all games between entries that were not disqualified, for ratings."""
        ranked = {row.name for row in self.standings}
        return [MatchPlaces(row.entries, row.places) for row in self.matches if ranked.issuperset(row.entries)]

    def report(self) -> Report:
        """Return the report."""
        heading, tables = self.heading, [*self.tables(), *self._luck(), *self._answers()]
        faults = misplay_lines(self.misplays, self.faults)
        return Report(heading, tables, self.disqualified, faults, self.remarks, self.words(), self._facts())

    def _luck(self) -> list[ReportTable]:
        """Return the table of luck-adjusted results, if there are any."""
        titles = ["Entry", "Games", "Won", "Luck", "Less luck", "95 %", "Saved"]
        rows = []
        for row in self.less_luck:
            saved = "all" if row.saved is None or row.saved >= MOST_SAVED else f"{row.saved:,.1f}x"
            left = f"{100 * row.less_luck:.2f}%", f"± {100 * row.half:.2f}%", saved
            rows.append([row.name, f"{row.games:,}", percent(row.share), f"{100 * row.luck:+.1f}%", *left])
        return [("Luck-adjusted results", titles, rows)] if rows else []

    def _answers(self) -> list[ReportTable]:
        """Return the table of language models' answers, if there are any."""
        titles = {"decisions": "Decisions", "unreadable": "Unreadable", "illegal": "Illegal"}
        rows = [[name, *(f"{own[one]:,}" for one in titles)] for name, own in self.details.get("answers", {}).items()]
        return [("Answers of language models", ["Entry", *titles.values()], rows)] if rows else []

    def _facts(self) -> list[tuple[str, str]]:
        """Return what was played, by which rules and with what; no date: equal contests have equal reports."""
        made = self.provenance
        if made is None:
            return []
        beside = [entry.name for entry in made.entries if entry.beside_referee]
        more = f" and {len(beside) - MOST_NAMED:,} more" if len(beside) > MOST_NAMED else ""
        games = f"{sum(match.games for match in self.matches):,} in {write_count(len(self.matches), 'match')}"
        return [
            ("game", name_game(self.title, made.parameters)),
            ("seats", str(made.players)),
            *([("format", self.format.replace("_", "-"))] if self.format else []),
            ("seed", str(self.seed)),
            ("games", games),
            ("faults", f"{sum(self.faults.values()):,}"),
            ("rules", made.fingerprint),
            ("isolation", made.isolation or "none was needed: no entry runs an untrusted program"),
            *([("beside the referee", ", ".join(beside[:MOST_NAMED]) + more)] if beside else []),
            ("limits", limits_in_words(made.limits)),
            ("versions", f"dicegym {made.dicegym}, Python {made.python}, NumPy {made.numpy}"),
        ]

    def text(self, width: int = WIDTH) -> str:
        """Return the report as plain text for ``width`` columns."""
        return plain_text(self.report(), width)

    def to_json(self) -> dict[str, Any]:
        """Return the result and its provenance as plain values.

        Equal contests write equal files if `DATE_VARIABLE` of `dicegym.arena.provenance` gives them a date.
        """
        own = asdict(replace(self, shown=NOTHING_SHOWN, stored=None))
        provenance, details, faults = own.pop("provenance") or {}, own.pop("details"), own.pop("faults")
        del own["stored"], own["shown"]
        own["standings"] = [row.to_json() for row in self.standings]
        return {"version": VERSION, **provenance, **own, **details, "faults": faults}


Columns = Mapping[str, str | Callable[[Standing], object]]
"""Columns of a ranking: title -> the name of a figure, or a function of the row."""


def ranking_table(standings: Sequence[Standing], columns: Columns) -> ReportTable:
    """Return a ranking as a table of a report; a float is shown as a percentage, None as a dash."""

    def cell(value: object) -> str:
        return percent(value) if value is None or isinstance(value, float) else str(value)

    rows = [
        [str(row.place), row.name, *(cell(of(row) if callable(of) else row[of]) for of in columns.values())]
        for row in standings
    ]
    return "Rankings", ["Ranking", "Entry", *columns], rows
