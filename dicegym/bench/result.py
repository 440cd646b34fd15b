"""What a run of the bench gave, and its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.bench.figures import Figure, Skipped
from dicegym.bench.ratios import peer_ratios
from dicegym.errors import ParameterError


class BenchResult(NamedTuple):
    """All figures, with the machine and the versions that they were measured on."""

    machine: dict[str, str]
    options: dict[str, Any]
    """What was asked for: modes, games, seconds, repeats, threads."""
    figures: list[Figure]
    skipped: list[Skipped]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values, ratios included."""
        return {
            "machine": self.machine,
            "options": self.options,
            "figures": [figure.to_json() for figure in self.figures],
            "ratios": [ratio._asdict() for ratio in peer_ratios(self.figures)],
            "skipped": [skipped._asdict() for skipped in self.skipped],
        }

    @staticmethod
    def from_json(value: dict[str, Any]) -> BenchResult:
        """Return the result that `to_json` wrote."""
        figures = [Figure.from_json(figure) for figure in value["figures"]]
        return BenchResult(
            value["machine"], value["options"], figures, [Skipped(**entry) for entry in value["skipped"]]
        )

    @staticmethod
    def read(path: Path) -> BenchResult:
        """Return the result in a file. Raises ParameterError if the file holds none."""
        try:
            return BenchResult.from_json(json.loads(path.read_text(encoding="utf-8")))
        except (KeyError, TypeError, ValueError) as error:
            raise ParameterError(
                f"{path} holds no figures of the bench ({type(error).__name__}: {error}): name what --json wrote"
            ) from None
