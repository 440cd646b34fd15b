"""Numbers as people type them."""

from __future__ import annotations

import typer


def decisions(typed: str | int) -> int:
    """Return how many decisions are meant: 1000000, 1_000_000 or 1e6. Raises typer.BadParameter."""
    from dicegym.engine.validate import MOST  # which loads NumPy

    try:
        number = float(typed)  # which reads all three; whole numbers up to `MOST` are exact
    except ValueError:
        number = 0.0
    if not (1 <= number <= MOST and number.is_integer()):
        raise typer.BadParameter(f"{typed!r} is no whole number from 1 to {MOST:,}: give one, such as 1000000 or 1e6")
    return int(number)
