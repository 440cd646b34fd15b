"""The page of a suite of language models: one table, which sorts by nothing and runs no script."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dicegym.analysis.model_suite import SuiteGrade, suite_table
from dicegym.arena.pages.template import render
from dicegym.files import write_text


def page(grades: Sequence[SuiteGrade]) -> str:
    """Return the page. Raises DependencyError without Jinja2."""
    titles, rows = suite_table(grades)
    sources = dict.fromkeys((one.game, one.values) for one in grades)
    return render("suite.html", ("page.css",), titles=titles, rows=rows, sources=sources)


def write_page(grades: Sequence[SuiteGrade], path: str | Path) -> None:
    """Write the page, whole or not at all."""
    write_text(path, page(grades))
