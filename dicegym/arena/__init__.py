"""The arena: contests of isolated bots, comparisons of players, and checks of bots."""

from __future__ import annotations

from dicegym.arena.check import CheckReport, check
from dicegym.arena.compare.comparing import compare
from dicegym.arena.compare.comparison import Comparison, Decision
from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.entries import Named
from dicegym.arena.match import play_match
from dicegym.arena.match_rows import MatchRow
from dicegym.arena.results import ContestResult, Standing
from dicegym.arena.running import contest
from dicegym.sandbox.limits import Limits

__all__ = [
    "CheckReport",
    "Comparison",
    "ContestOptions",
    "ContestResult",
    "Decision",
    "Limits",
    "MatchRow",
    "Named",
    "Standing",
    "check",
    "compare",
    "contest",
    "play_match",
]
