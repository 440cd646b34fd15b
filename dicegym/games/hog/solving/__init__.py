"""Solvers of Hog beyond win rates of tables: both players with full sight, and equilibria of tables."""
