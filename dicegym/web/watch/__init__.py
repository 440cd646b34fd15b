"""Watching: contests as they are held, their matches and games, agents, and games that are played to be watched."""

from __future__ import annotations

from dicegym.web.watch.section import SECTION

__all__ = ["SECTION"]
