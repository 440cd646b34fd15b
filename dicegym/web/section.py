"""A part of the pages: what it is called, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from starlette.routing import BaseRoute

from dicegym.web.api import Operation
from dicegym.web.context import Web
from dicegym.web.door import Door


class Section(NamedTuple):
    """A part of the pages."""

    path: str
    """Where it begins: ``/play``."""
    title: str
    """What it is called in the menu."""
    about: str
    """What one does there, in a sentence."""
    routes: Callable[[Web], Sequence[BaseRoute]] = lambda web: ()
    """Its pages."""
    operations: Callable[[Web], Sequence[Operation]] = lambda web: ()
    """What it offers to programs."""
    door: Door | None = None
    """What it answers people and programs."""
    setup: Callable[[Web], object] = lambda web: None
    """Called once for each server, before it starts."""
