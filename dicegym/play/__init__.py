"""How a game is played: a turn, the player who is asked, and the loop that drives a game to its end."""
