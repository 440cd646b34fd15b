"""Enter: submit bots, follow their checks, and enter contests."""
