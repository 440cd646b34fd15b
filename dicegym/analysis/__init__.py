"""What a state is worth, what a decision cost and how lucky the dice were, once for all games.

A game's ``values.py`` says where values come from (`dicegym.games.worth`); here they are asked for.
"""

from __future__ import annotations

from dicegym.analysis.decisions import Analysis, analyse
from dicegym.analysis.exploitability import exploitability
from dicegym.analysis.findings import PricedDecision, SeatTotal
from dicegym.analysis.grades import Grade, grade
from dicegym.analysis.marks import MARKS, Mark
from dicegym.analysis.valuers import sources, valuer

__all__ = [
    "MARKS",
    "Analysis",
    "Grade",
    "Mark",
    "PricedDecision",
    "SeatTotal",
    "analyse",
    "exploitability",
    "grade",
    "sources",
    "valuer",
]
