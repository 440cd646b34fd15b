"""Scenes with the players' names, and scenes as sentences for screen readers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dicegym.engine.scene import Scene

SEATS = re.compile(r"\bplayers? (\d+(?:(?:, | and )\d+)*)\b")
"""References to seats in the text of scenes."""
_NUMBER = re.compile(r"\d+")
YOU = re.compile(r"\b(you (?:lose|gain|win))s\b", re.IGNORECASE)
"""Verbs of scenes, which are in the third person."""


def with_names(text: str, names: Sequence[str]) -> str:
    """Return a text with names instead of the numbers of seats."""

    def put(found: re.Match[str]) -> str:
        if not all(int(number) < len(names) for number in _NUMBER.findall(found[1])):
            return found[0]
        return _NUMBER.sub(lambda seat: names[int(seat[0])], found[1])

    return YOU.sub(r"\1", SEATS.sub(put, text))


def name_players(scene: Scene, names: Sequence[str]) -> Scene:
    """Return a scene with names instead of the numbers of seats."""

    def put(text: str) -> str:
        return with_names(text, names).replace("you (you)", "you")

    lines = tuple(line._replace(label=put(line.label), text=put(line.text)) for line in scene.lines)
    return Scene(put(scene.title), lines, put(scene.footer))


def in_words(scene: Scene, names: Sequence[str]) -> str:
    """Return a scene as sentences, with players by name and dice by number."""
    scene = name_players(scene, [re.sub(r"^player (\d+)", r"seat \1", name).removesuffix(" (you)") for name in names])
    sentences = [scene.title]
    heads: tuple[str, ...] = ()
    for line in scene.lines:
        if line.cells and not line.label:
            heads = line.cells
            continue
        dice = " ".join(str(face) if face else "hidden" for face in line.dice)
        cells = ", ".join(f"{head} {cell}" for head, cell in zip(heads, line.cells, strict=False) if cell.strip("- "))
        told = ", ".join(filter(None, (re.sub(r"  +", ", ", line.text.strip()), cells, dice and f"dice {dice}")))
        if told:
            mover = " to move" if line.active else ""
            sentences.append(f"{line.label.strip()}{mover}: {' '.join(told.split())}" if line.label.strip() else told)
    return ". ".join(filter(None, (*sentences, scene.footer))) + "."
