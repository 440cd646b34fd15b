"""Enter: hand a bot in, see what becomes of it, and give it a place in a contest."""
