"""Pages of contests: single HTML files that need neither a network nor a server."""
