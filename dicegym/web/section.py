"""A section of the pages: its name, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dicegym.web.context import Web
from dicegym.web.door import Door


class Section(NamedTuple):
    """A section of the pages."""

    path: str
    """Where it begins: ``/play``."""
    title: str
    """Its name in the menu."""
    about: str
    """What one does there, in a sentence."""
    door: Door
    """Its operations."""
    setup: Callable[[Web], object] = lambda web: None
    """Called once for each server, before it starts."""
