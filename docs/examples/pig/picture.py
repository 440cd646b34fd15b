"""Draw Pig: score and progress of each player, and the die and turn total of the player to move."""

from __future__ import annotations

from typing import Any

from dicegym.pictures.drawing import Viewpoint
from dicegym.pictures.palette import ACTIVE, GOLD, HIDDEN, PANEL
from dicegym.pictures.sheet import HEAD, LARGE, MARGIN, SMALL, WIDTH, Sheet, line_height
from dicegym.pictures.svg import Drawing

PLAYERS = 2
ROW, GAP, DIE = 120, 10, 60
WORDS = MARGIN + 34
"""The left edge of names, right of the marker."""
FIGURES = 90
"""The largest width of a score."""


def picture(state: Any, view: Viewpoint) -> Drawing:
    """Return a drawing of a state, which all players see alike."""
    title = f"Pig to {int(state['goal'])}"
    foot = HEAD + PLAYERS * (ROW + GAP)
    sheet = Sheet(foot + line_height(LARGE) + GAP, title)
    sheet.head(title)
    for player in range(PLAYERS):
        _player(sheet, state, view, player, HEAD + player * (ROW + GAP))
    if state["over"]:
        sheet.words(f"{view.names[int(state['winner'])]} won", MARGIN, foot, WIDTH - 2 * MARGIN, size=LARGE, bold=True)
    return sheet.drawing()


def _player(sheet: Sheet, state: Any, view: Viewpoint, player: int, top: int) -> None:
    moves = not state["over"] and int(state["player"]) == player
    score, room = int(state["scores"][player]), WIDTH - WORDS - 2 * MARGIN
    sheet.panel(MARGIN // 2, top, WIDTH - MARGIN, ROW, ACTIVE if moves else PANEL)
    sheet.words(view.names[player], WORDS, top + 10, room - FIGURES, size=LARGE, least=SMALL, bold=True)
    sheet.words(str(score), WORDS + room - FIGURES, top + 10, FIGURES, size=LARGE, bold=True, ink=GOLD, anchor="end")
    if moves:
        sheet.marker(MARGIN, top + 14, 26)
    if moves and state["rolls"]:
        sheet.die(int(state["face"]), WORDS, top + 50, DIE)
        sheet.words(f"turn total {int(state['total'])}", WORDS + DIE + MARGIN, top + 66, room - DIE - MARGIN)
    else:
        sheet.bar(WORDS, top + 72, room, 14, score / int(state["goal"]), ground=HIDDEN)
