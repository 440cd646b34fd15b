"""What a state looks like, described once for the terminal and for pictures.

A game's ``text.py`` returns a `Scene`; `Scene.text` and the picture drawing of the environments show it.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from dicegym.engine.part import Part

FACES = "⚀⚁⚂⚃⚄⚅"


class Line(NamedTuple):
    """One line of a scene: a label, a text, and dice that are drawn as dice."""

    label: str
    text: str = ""
    dice: tuple[int, ...] = ()
    """Faces; 0 is a die that is hidden."""
    active: bool = False
    """True for the line of the player to move."""
    cells: tuple[str, ...] = ()
    """Short texts in columns, which stand right-aligned below those of the scene's other lines; after ``text``."""


class Scene(NamedTuple):
    """A screenful: a headline, a line per seat or part of the table, and a closing remark.

    All scenes of a game have as many lines as the first one: its pictures are frames of a film.
    """

    title: str
    lines: tuple[Line, ...]
    footer: str = ""

    def text(self) -> str:
        """Return the scene as plain text, dice as Unicode faces with their numbers."""
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
    """A game's ``text.py``: how it reads on a screen. Asked by people's games, pictures, checks and error messages."""

    def action_name(self, action: int) -> str:
        """Return what an action means, in words; each action 0..n_actions - 1 has a name of its own."""

    def scene(self, state: Any, seat: int | None) -> Scene:
        """Return one screen of a state: the table as ``seat`` may see it, or all of it for None."""


TEXT: Part[Text] = Part(Text, "text", "that says how it reads on a screen", demanded="all")
