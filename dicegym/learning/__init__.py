"""Training, and measuring what was trained."""
