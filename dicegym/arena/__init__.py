"""The arena: contests of bots, isolated from each other, and how good a player is."""

from __future__ import annotations

from dicegym.arena.check import check
from dicegym.arena.check_report import CheckReport
from dicegym.arena.compare.comparing import compare
from dicegym.arena.compare.comparison import Comparison, Decision
from dicegym.arena.contest import contest
from dicegym.arena.entries import Named
from dicegym.arena.formats.groups_result import GroupsResult, GroupStanding
from dicegym.arena.formats.one_table import OneTableResult, TableStanding
from dicegym.arena.formats.round_robin_result import RoundRobinResult, RoundRobinStanding
from dicegym.arena.formats.rounds_result import RoundsResult, RoundsStanding
from dicegym.arena.formats.swiss import SwissResult, SwissStanding
from dicegym.arena.match import play_match
from dicegym.arena.results import ContestResult, Standing
from dicegym.arena.rows import MatchRow
from dicegym.sandbox.limits import Limits

__all__ = [
    "CheckReport",
    "Comparison",
    "ContestResult",
    "Decision",
    "GroupStanding",
    "GroupsResult",
    "Limits",
    "MatchRow",
    "Named",
    "OneTableResult",
    "RoundRobinResult",
    "RoundRobinStanding",
    "RoundsResult",
    "RoundsStanding",
    "Standing",
    "SwissResult",
    "SwissStanding",
    "TableStanding",
    "check",
    "compare",
    "contest",
    "play_match",
]
