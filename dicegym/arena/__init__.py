"""The arena: contests of bots, isolated from each other, and how good a player is."""

from __future__ import annotations

from dicegym.arena.check import check
from dicegym.arena.check_report import CheckReport
from dicegym.arena.contest import contest
from dicegym.arena.match import play_match
from dicegym.arena.results import ContestResult
from dicegym.sandbox.limits import Limits

__all__ = ["CheckReport", "ContestResult", "Limits", "check", "contest", "play_match"]
