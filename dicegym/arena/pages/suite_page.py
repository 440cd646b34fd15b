"""The page of a suite of language models: one table, without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dicegym.analysis.grades import SuiteGrade, suite_table
from dicegym.arena.pages.template import render
from dicegym.files import write_text

TITLE = "Language models, graded"
HEADING = (
    "A score of 100 is the best known play, 0 is random play. Intervals are of 95 %. Regret is of answers that are "
    "actions; unreadable and illegal answers are counted apart."
)


def page(grades: Sequence[SuiteGrade]) -> str:
    """Return the page. Raises DependencyError without Jinja2."""
    titles, rows = suite_table(grades)
    facts = dict.fromkeys((one.game, f"values of source {one.values}") for one in grades)
    styles = ("page.css", "parts.css")
    return render("suite.html", styles, title=TITLE, heading=HEADING, facts=facts, titles=titles, rows=rows)


def write_page(grades: Sequence[SuiteGrade], path: str | Path) -> None:
    """Write the page, whole or not at all."""
    write_text(path, page(grades))
