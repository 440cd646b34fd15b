"""How bots of classic Liar's Dice that draw choose, as probabilities."""
