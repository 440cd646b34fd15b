"""Lucky & Co, the dice game in which everybody buys dice at once."""
