"""A store: contests that last, and games of servers, in one database."""
