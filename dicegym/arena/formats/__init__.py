"""The formats of contests: who plays whom, and what the results come to."""
