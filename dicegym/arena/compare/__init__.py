"""Is one player better than another? Paired games and a test that stops as soon as they tell."""
