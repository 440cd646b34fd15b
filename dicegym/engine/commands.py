"""The commands that a game adds to the command line.

They are declared apart from the parts of `dicegym.games.parts`, which load the games: ``dicegym --help`` only looks for
the files.
"""

from __future__ import annotations

from typing import Any, Protocol

from dicegym.engine.part import Part


class Commands(Protocol):
    """A game's ``commands.py``: commands of its own, which ``dicegym <game>`` offers."""

    app: Any
    """A ``typer.Typer`` with a help text."""


COMMANDS: Part[Commands] = Part(Commands, "commands", "that adds commands of its own", place="cli")
