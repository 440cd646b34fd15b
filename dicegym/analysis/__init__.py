"""Values of states, costs of decisions, and luck, for all games."""
