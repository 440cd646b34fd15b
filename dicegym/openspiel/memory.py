"""What a seat has known in the course of a game: OpenSpiel's information states, which forget nothing.

A seat learns what its view shows when it is to move and, where the game has a public event, when that has passed: the
very moments in which a `dicegym.Player` is asked or told. So whoever plays a policy at our tables can say in which
information state it is.
"""

from __future__ import annotations

import hashlib
from typing import Any

NOTHING = b""
"""The memory of one who has seen nothing yet."""
_SIZE = 12


def remembered(memory: bytes, view: Any, action: int | None) -> bytes:
    """Return the memory of one who then saw ``view``, and chose ``action`` if it was to move."""
    return hashlib.blake2b(memory + repr((view, action)).encode(), digest_size=_SIZE).digest()


def information_state(memory: bytes, view: Any) -> str:
    """Return the information state as text: what is seen now, and a hash of all that was seen and done before."""
    return f"{memory.hex()} {view!r}"
