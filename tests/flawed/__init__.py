"""A small game with a switch for every mistake: what shows that `dicegym.checks` notices them."""
