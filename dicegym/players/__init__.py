"""The kinds of players, and how they are named."""
