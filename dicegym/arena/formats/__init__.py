"""The formats of contests: who plays whom, and how results become places."""
