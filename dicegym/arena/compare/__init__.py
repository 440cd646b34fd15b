"""Compare two players: is one better? Paired games, and a test that stops as soon as they decide."""
