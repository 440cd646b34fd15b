"""Liar's Dice, classic: no wild dice, and only "liar" ends the bidding."""
