"""A line of what `dicegym.doctor` says."""

from __future__ import annotations

from typing import NamedTuple

OK, LACKING, BROKEN = "ok", "lacking", "broken"
"""There; not there, and whoever does not need it is not worse off; there, and does not work."""


class Diagnosis(NamedTuple):
    """A thing that is there, or not."""

    topic: str
    name: str
    state: str
    """`OK`, `LACKING` or `BROKEN`."""
    words: str
    """What was found."""
    advice: str = ""
    """What to do about it, if there is something."""
