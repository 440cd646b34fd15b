"""Play: a person's games against agents in a browser."""
