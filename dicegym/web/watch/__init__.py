"""Watch: contests while they run, their matches and games, agents, and games played for a visitor."""
