"""Numbers as people type them, and the time that work still takes."""

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


def estimate_left(seconds: float, before: int, done: int, total: int) -> float | None:
    """Estimate the remaining seconds from the ``seconds`` that the work from ``before`` to ``done`` took.

    Interruptions, such as the evaluations of a training, are assumed to take the same share of the time as so far.
    Returns None before any work is done, and after the last of it.
    """
    return seconds * (total - done) / (done - before) if before < done < total else None
