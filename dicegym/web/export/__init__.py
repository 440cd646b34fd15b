"""A demo that needs no server: static pages, on which a game is played by its own rules, in JavaScript."""
