"""Trainings, watched while they run: curves, how fast they go, league, settings, and their models to play against."""

from dicegym.web.learn.section import SECTION

__all__ = ["SECTION"]
