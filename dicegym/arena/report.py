"""Results as text: plain when piped, tables on a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dicegym.arena.entries import Disqualified
from dicegym.arena.incidents import Misplay, misplay_lines
from dicegym.arena.matrix import WIDTH, Matrix
from dicegym.columns import is_number, plain_table
from dicegym.escape import harmless, one_line

if TYPE_CHECKING:
    from rich.console import Console

LONGEST_NOTE = 4000
"""Characters of a line below the tables that are shown."""
OPTION = re.compile(r"(?<!\S)-(?:o |-[a-z])")
EVERYTHING = "-o FILE.json writes everything."
"""The last sentence of a report, on the command line."""
OPTION_IN_BRACKETS = re.compile(r" \(--[^)]*\)")
SAID_ABOVE = ("seed",)
"""Facts that a report's heading says."""
ReportTable = tuple[str, list[str], list[list[str]]]
"""Heading, column titles, rows."""


class Report(NamedTuple):
    """What a contest has to show, whatever its format, in the order in which it is shown."""

    heading: str
    """One line that says what was played."""
    tables: Sequence[ReportTable | Matrix]
    """The ranking first."""
    disqualified: Sequence[Disqualified] = ()
    """Shown below the first table, where they would stand."""
    misplays: Sequence[Misplay] = ()
    remarks: Sequence[str] = ()
    """Further lines, such as how ties were broken."""
    words: Sequence[str] = ()
    """Sentences below: what the numbers mean, and what to try next."""
    facts: Sequence[tuple[str, str]] = ()
    """What was held, by what rules, where and with what: (what, its value), shown at the end."""

    def struck(self) -> list[tuple[str, str]]:
        """Return what stands below the first table: (kind, line)."""
        return [("disqualified: ", _note(f"{bad.name}: {bad.reason}")) for bad in self.disqualified]

    def notes(self) -> list[tuple[str, str]]:
        """Return what stands below all tables: (kind, line)."""
        return [
            *(("", _note(remark)) for remark in self.remarks),
            *(("fault: ", _note(line)) for line in misplay_lines(self.misplays)),
        ]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, of which `from_json` makes it again."""
        tables = [
            {"matrix": list(table)} if isinstance(table, Matrix) else {"table": list(table)} for table in self.tables
        ]
        struck = [[bad.name, bad.reason] for bad in self.disqualified]
        return self._asdict() | {"tables": tables, "disqualified": struck}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Report:
        """Return the report that was made plain. Raises ValueError, TypeError or LookupError: it was none."""
        tables: list[ReportTable | Matrix] = []
        for one in plain["tables"]:
            if "matrix" in one:
                heading, names, cells, shades = one["matrix"]
                names, cells = _texts(names), [_texts(row) for row in cells]
                shades = [[None if shade is None else float(shade) for shade in row] for row in shades]
                if any(len(part) != len(names) for part in (cells, *cells, *([shades, *shades] if shades else []))):
                    raise ValueError("a matrix that is no square")
                tables.append(Matrix(_text(heading), names, cells, shades))
            else:
                heading, titles, rows = one["table"]
                titles, rows = _texts(titles), [_texts(row) for row in rows]
                if any(len(row) != len(titles) for row in rows):
                    raise ValueError("a table whose rows are of other lengths than its titles")
                tables.append((_text(heading), titles, rows))
        return cls(
            _text(plain["heading"]),
            tables,
            [Disqualified(*_texts(one)) for one in plain["disqualified"]],
            [
                Misplay(_text(name), tuple(_texts(others)), int(game), int(turn), _text(reason), int(more))
                for name, others, game, turn, reason, more in plain["misplays"]
            ],
            _texts(plain["remarks"]),
            _texts(plain["words"]),
            [(name, value) for name, value in map(_texts, plain["facts"])],
        )

    def told_facts(self) -> list[str]:
        """Return the facts as one sentence, as far as the heading does not say them anyway."""
        said = [f"{name}: {value}" for name, value in self.facts if name not in SAID_ABOVE]
        return ["; ".join(said)] if said else []


def _text(value: Any) -> str:
    """Return ``value``. Raises TypeError unless it is a text."""
    return _texts([value])[0]


def _texts(values: Any) -> list[str]:
    """Return ``values``. Raises TypeError unless it is a list of texts."""
    if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
        raise TypeError("no list of texts")
    return values


def without_options(words: Sequence[str]) -> list[str]:
    """Return sentences without options of the command that held the contest, which mislead elsewhere.

    An option in brackets is left out of its sentence, and a sentence that names another one is left out whole.
    """
    bare = (OPTION_IN_BRACKETS.sub("", sentence) for sentence in words)
    return [sentence for sentence in bare if not OPTION.search(sentence)]


def _note(text: str) -> str:
    return one_line(text, LONGEST_NOTE)


def percent(rate: float | None) -> str:
    """Return a rate with one decimal, or a dash for None."""
    return "-" if rate is None else f"{100 * rate:.1f}%"


def _paragraphs(report: Report, width: int) -> Iterator[list[str]]:
    """Yield the parts of a report, between which a line is left free."""
    yield [harmless(report.heading)]
    for number, table in enumerate(report.tables):
        if isinstance(table, Matrix):
            heading, lines = table.heading, list(table.lines(width))
        else:
            heading, titles, rows = table
            lines = plain_table(titles, rows)
        yield [harmless(heading)]
        yield lines
        if not number:
            yield [kind + line for kind, line in report.struck()]
    if not report.tables:
        yield [kind + line for kind, line in report.struck()]
    yield [kind + line for kind, line in report.notes()]
    yield _wrapped(report.words, width)
    yield _wrapped(report.told_facts(), width)


def _wrapped(words: Sequence[str], width: int) -> list[str]:
    return [
        line
        for sentence in words
        for line in textwrap.wrap(harmless(sentence), width, break_long_words=False, break_on_hyphens=False)
    ]


def plain_text(report: Report, width: int = WIDTH) -> str:
    """Return the whole report as plain text; sentences and matrices keep to ``width`` where they can."""
    return "\n\n".join("\n".join(lines) for lines in _paragraphs(report, width) if lines)


def show(report: Report, console: Console) -> None:
    """Print the report: tables on a terminal, plain text into a pipe."""
    if not console.is_terminal:
        console.file.write(plain_text(report, console.width) + "\n")
        return
    from rich.table import Table
    from rich.text import Text

    def tell(text: str, kind: str = "", style: str = "") -> None:
        console.print(Text.assemble((kind, "red"), (text, style)), highlight=False, soft_wrap=True)

    tell(harmless(report.heading))
    for number, part in enumerate(report.tables):
        if isinstance(part, Matrix):
            tell("")
            tell(harmless(part.heading), style="italic")
            for line in part.lines(console.width):
                tell(line)
        else:
            heading, titles, rows = part
            table = Table(title=Text(harmless(heading), "table.title"), title_justify="left")
            for index, title in enumerate(titles):
                numeric = bool(rows) and all(is_number(row[index]) for row in rows)
                table.add_column(Text(harmless(title)), justify="right" if numeric else "left")
            for row in rows:
                table.add_row(*(Text(harmless(cell)) for cell in row))
            console.print(table)
        for kind, line in report.struck() if not number else ():
            tell(line, kind)
    if not report.tables:
        for kind, line in report.struck():
            tell(line, kind)
    if notes := report.notes():
        tell("")
        for kind, line in notes:
            tell(line, kind)
    for sentences in (report.words, report.told_facts()):
        if sentences:
            tell("")
        for line in _wrapped(sentences, console.width):
            tell(line)
