"""The formats of contests: who plays whom, and how the results are ranked."""
