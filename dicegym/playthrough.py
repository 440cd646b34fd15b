"""Where golden playthroughs were once written from: says what writes them now."""

from __future__ import annotations

if __name__ == "__main__":
    raise SystemExit("playthroughs are written by the command line: dicegym playthrough --write tests/playthroughs")
