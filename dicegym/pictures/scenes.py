"""The picture of a scene, line by line: for games that draw none of their own."""

from __future__ import annotations

from dicegym.engine.scene import Scene
from dicegym.pictures.svg import Drawing, element, text

WIDTH, ROW = 768, 40


def scene_drawing(scene: Scene) -> Drawing:
    """Return a scene as a picture."""
    rows = scene.text().split("\n")
    height = ROW * (len(rows) + 1)
    body = element("rect", width=WIDTH, height=height, fill="#0b5d3b")
    body += "".join(text(row, 20, ROW * (number + 1), fill="#ffffff", font_size=16) for number, row in enumerate(rows))
    return Drawing(WIDTH, height, body, scene.title)
