"""What is hidden in a round: orders, which everybody makes in secret."""

from __future__ import annotations

from typing import Any


def withdraw(state: Any, seat: int) -> None:
    """Take back what ``seat`` has ordered in this round."""
    state["order"][seat] = 0
    state["left"][seat] = state["money"][seat]
