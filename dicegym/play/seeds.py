"""Seeds that nobody can foresee, for games with bots of others where none is given."""

from __future__ import annotations

import secrets

DRAWN_BITS = 53
"""Of seeds that are drawn: no bot tries them all in its time, and every program that reads JSON keeps them exact."""


def draw_seed() -> int:
    """Return a seed from the system's randomness, which is to be told: the same seed, the same games."""
    return secrets.randbits(DRAWN_BITS)
