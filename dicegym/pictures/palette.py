"""The colours of pictures: those of ink and what it stands on differ by 4.5 to 1 or more (WCAG AA); a test says so."""

from __future__ import annotations

FELT = "#0b5d3b"
"""The table."""
PANEL = "#094a2f"
"""A darker place on it."""
ACTIVE = "#0f7048"
"""The place of the player to move, which a marker shows too."""
INK = "#ffffff"
"""Words on the table."""
SOFT = "#d3e8dc"
"""Words on the table that matter less."""
GOLD = "#ffd257"
"""What is to be noticed on the table."""

PAPER = "#fdfcf5"
"""Dice, and cards that are written on."""
STRIPE = "#eeeadb"
"""Every other line of a card."""
CHOSEN = "#ffe9a8"
"""A place on a card that is to be noticed."""
WRITING = "#1b1f24"
"""Words and pips on paper."""
PENCIL = "#5a5546"
"""Words on paper that matter less."""
EDGE = "#b9b29b"
"""The edge of paper; nothing is written in it."""
HIDDEN = "#2f4f43"
"""A die that is not seen."""

SEAT_COLOURS = ("#4cc2ff", "#ff9f6b", "#c7a6ff", "#ffd257", "#7fe3a1", "#ff9ec4", "#d6d6d6")
"""Of players, by seat, on the table; never the only thing that tells them apart."""
