"""How every environment is learned with nothing tuned: curves of each by a few plain ways, put on one page."""
