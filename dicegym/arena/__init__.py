"""The arena: contests of bots, isolated from each other, and how good a player is."""

from __future__ import annotations

from dicegym.arena.check import CheckReport, check
from dicegym.arena.contests import contest
from dicegym.arena.jobs import Limits
from dicegym.arena.match import play_match
from dicegym.arena.round_robin import ContestResult

__all__ = ["CheckReport", "ContestResult", "Limits", "check", "contest", "play_match"]
