"""Solvers of Liar's Dice for two: trees of public bids with vectors over rolls, for any rules of bids and calls."""
