"""How bots of Liar's Dice with "spot on" that draw choose, as probabilities."""
