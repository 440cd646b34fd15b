"""What a run of the bench gave, and its file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.figures import Figure, Skipped
from benchmarks.ratios import peer_ratios
from dicegym.errors import DamagedFileError
from dicegym.escape import one_line
from dicegym.files import read_text


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
        """Return the result in a file. Raises DamagedFileError if the file holds none."""
        instead = "name what `dicegym doctor --bench --json` wrote"
        text = read_text(path, instead)
        try:
            result = BenchResult.from_json(json.loads(text))
            _check(result)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            reason = f"holds no figures of the bench ({type(error).__name__}: {one_line(error, 120)})"
            raise DamagedFileError(path, reason, instead) from None
        return result


def _check(result: BenchResult) -> None:
    """Raise TypeError or ValueError for what no run of the bench gives."""
    options = result.options
    texts = [*result.machine, *result.machine.values(), *options["modes"], *options["games"]]
    texts += [text for skipped in result.skipped for text in skipped]
    texts += [text for one in result.figures for text in (one.section, one.subject, one.what, one.unit, one.mode)]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("something else where a text is expected")
    numbers = [options["seconds"], options["repeats"], *options["threads"]]
    numbers += [number for one in result.figures for number in one.values]
    numbers += [one.goal[1] for one in result.figures if one.goal]
    if not all(type(number) in (int, float) and math.isfinite(number) for number in numbers):
        raise TypeError("something else where a number is expected")
    if not all(one.values and (one.median > 0 or not one.peer) for one in result.figures):
        raise ValueError("a figure that was not measured")
