"""The pages that contests are shown on: one file of HTML that needs nothing else, neither a network nor a server."""
