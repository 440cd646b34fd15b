"""Trainings, watched while they run: curves, speed, league, settings, and their models to play against."""
