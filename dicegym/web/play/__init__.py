"""Play: a person at a table against agents, in a browser."""
