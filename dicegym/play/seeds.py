"""Unpredictable seeds, for games with other people's bots."""

from __future__ import annotations

import secrets

DRAWN_BITS = 53
"""Too many for a bot to try, and exact in every JSON reader."""


def draw_seed() -> int:
    """Return a seed from the system's randomness. Print it, as it repeats the games."""
    return secrets.randbits(DRAWN_BITS)
