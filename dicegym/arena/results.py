"""What a contest came to: what every format's result offers, so that a format says only what is its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from dicegym.arena.entries import Disqualified
from dicegym.arena.incidents import Misplay, misplay_counts
from dicegym.arena.report import Report, ReportTable, plain_text


class ContestResult:
    """The result of a contest; each format has a subclass, a frozen dataclass whose fields are its JSON.

    A subclass defines `heading` and `tables`, and the attributes below as fields. A field that is written under another
    key than its name says so: ``field(metadata={"json": "key"})``.

    Attributes:
        standings: the ranking, best first, a row per entry.
        disqualified: by name.
        misplays: what entries did wrong and the rules dealt with.
        remarks: further lines of the report, such as how ties were broken.
    """

    standings: Sequence[Any]
    disqualified: tuple[Disqualified, ...]
    misplays: tuple[Misplay, ...]
    remarks: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """One line that says what was played."""
        raise NotImplementedError(f"{type(self).__name__} must define heading")

    def tables(self) -> Sequence[ReportTable]:
        """Return the tables of the report: the ranking, and what else there is to show."""
        raise NotImplementedError(f"{type(self).__name__} must define tables()")

    def report(self) -> Report:
        """Return what there is to show."""
        return Report(self.heading, self.tables(), self.disqualified, self.misplays, self.remarks)

    def text(self) -> str:
        """Return the report as plain text."""
        return plain_text(self.report())

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values, and under ``faults`` how many misplays there were of each entry."""
        own: Any = self
        values = asdict(own)
        named = {field.metadata.get("json", field.name): values[field.name] for field in fields(own)}
        return {**named, "faults": misplay_counts(self.misplays)}
