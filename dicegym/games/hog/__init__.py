"""Hog, the dice game of a programming contest."""
