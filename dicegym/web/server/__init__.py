"""The game server on pages: start it, stop it, and watch its scoreboard, whichever process it runs in."""
