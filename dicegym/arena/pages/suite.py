"""The page of a suite of language models: one table, which sorts by nothing and runs no script."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dicegym.analysis.model_suite import SuiteGrade, suite_table
from dicegym.arena.pages.template import asset, digest, environment, trusted
from dicegym.files import write_text


def page(grades: Sequence[SuiteGrade]) -> str:
    """Return the page. Raises DependencyError without Jinja2."""
    titles, rows = suite_table(grades)
    style = asset("page.css")
    sources = dict.fromkeys((one.game, one.values) for one in grades)
    text: str = (
        environment()
        .get_template("suite.html")
        .render(style=trusted(style), style_hash=digest(style), titles=titles, rows=rows, sources=sources)
    )
    return text


def write_page(grades: Sequence[SuiteGrade], path: str | Path) -> None:
    """Write the page, whole or not at all."""
    write_text(path, page(grades))
