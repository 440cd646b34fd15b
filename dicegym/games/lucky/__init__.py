"""Lucky & Co, a game in which all players buy dice at once."""
