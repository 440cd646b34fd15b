"""Scenes: what a state looks like, for the terminal and for pictures. A game's ``text.py`` returns a `Scene`."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from dicegym.engine.part import Part

FACES = "⚀⚁⚂⚃⚄⚅"


class Line(NamedTuple):
    """One line of a scene: a label, a text, and dice."""

    label: str
    text: str = ""
    dice: tuple[int, ...] = ()
    """Faces; 0 is a hidden die."""
    active: bool = False
    """True for the line of the player to move."""
    cells: tuple[str, ...] = ()
    """Short texts after ``text``, in right-aligned columns over all lines."""


class Scene(NamedTuple):
    """A screen of text: a title, lines for seats or parts of the table, and a footer.

    All scenes of a game have the same number of lines, as their pictures are frames of a film.
    """

    title: str
    lines: tuple[Line, ...]
    footer: str = ""

    def text(self) -> str:
        """Return the scene as plain text, with dice as Unicode faces and numbers."""
        width = max((len(line.label) for line in self.lines), default=0)
        column = max((len(cell) for line in self.lines for cell in line.cells), default=0)
        rows = [self.title]
        for line in self.lines:
            dice = " ".join(f"{FACES[f - 1]}{f}" if 1 <= f <= len(FACES) else "▢" for f in line.dice)
            marker = ">" if line.active else " "
            cells = " ".join(f"{cell:>{column}}" for cell in line.cells)
            parts = "  ".join(part for part in (line.text, cells, dice) if part)
            rows.append(f"{marker} {line.label:<{width}}  {parts}".rstrip())
        if self.footer:
            rows.append(self.footer)
        return "\n".join(rows)


class Text(Protocol):
    """A game's ``text.py``: how it reads on a screen, in games of people, pictures, checks and error messages."""

    def action_name(self, action: int) -> str:
        """Return what an action means, in words; each action 0..n_actions - 1 has a unique name."""

    def scene(self, state: Any, seat: int | None) -> Scene:
        """Return the scene of a state as ``seat`` sees it (None: everything)."""


TEXT: Part[Text] = Part(Text, "text", "that says how it reads on a screen", demanded="all")
