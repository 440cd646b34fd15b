"""What a state is worth, what a decision cost and how lucky the dice were, once for all games.

A game's ``values.py`` says where values come from (`dicegym.games.worth`); here they are asked for.
"""

from __future__ import annotations

from dicegym.analysis.decisions import Analysis, PricedDecision, SeatTotal, analyse
from dicegym.analysis.exploitability import best_reply, exploitability
from dicegym.analysis.grades import Grade, grade
from dicegym.analysis.hints import Hint, hint
from dicegym.analysis.mcts import SearchResult, search
from dicegym.analysis.playing_on import fork
from dicegym.analysis.rollouts import RolloutValuer
from dicegym.analysis.valuers import MARKS, Mark, sources, valuer
from dicegym.games.positions import Position, position, position_id

__all__ = [
    "MARKS",
    "Analysis",
    "Grade",
    "Hint",
    "Mark",
    "Position",
    "PricedDecision",
    "RolloutValuer",
    "SearchResult",
    "SeatTotal",
    "analyse",
    "best_reply",
    "exploitability",
    "fork",
    "grade",
    "hint",
    "position",
    "position_id",
    "search",
    "sources",
    "valuer",
]
