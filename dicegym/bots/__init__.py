"""Programs in original interfaces: where they are, what surrounds them, and how a player is written as one."""
