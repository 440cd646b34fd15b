"""What the files in a run's folder are called."""

SETTINGS_FILE = "settings.json"
"""The command and all settings."""
CURVE_FILE = "curve.csv"
"""Steps and score of every evaluation."""
LOCK_FILE = "run.lock"
"""Held by whoever writes into the folder, with a line on who that is; gone when nobody does."""
