"""Liar's Dice with wild sixes and "spot on"."""
