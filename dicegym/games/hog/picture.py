"""The picture of Hog: each player's progress to the goal, and the dice of its last turn."""

from __future__ import annotations

from typing import Any

from dicegym.games.hog.rules import sides
from dicegym.games.hog.text import tell_last_turn
from dicegym.pictures.drawing import Viewpoint
from dicegym.pictures.naming import with_names
from dicegym.pictures.palette import ACTIVE, GOLD, HIDDEN, PANEL, SOFT
from dicegym.pictures.sheet import HEAD, LARGE, MARGIN, NORMAL, SMALL, WIDTH, Sheet, line_height
from dicegym.pictures.svg import Drawing

PLAYERS = 2
ROW, GAP = 172, 10
SCORE = 52
"""Font size of a score."""
DIE = 46
FOOT = line_height(NORMAL) + MARGIN


def picture(state: Any, view: Viewpoint) -> Drawing:
    """Return a drawing of a state."""
    over, goal = bool(state["over"]), int(state["goal"])
    title = f"Hog to {goal}"
    sheet = Sheet(HEAD + PLAYERS * (ROW + GAP) + FOOT, title)
    sheet.head(title)
    for player in range(PLAYERS):
        _player(sheet, state, view, player, HEAD + player * (ROW + GAP))
    said = with_names(f"player {int(state['winner'])} wins", view.names) if over else _dice_on_the_table(state, view)
    sheet.words(said, MARGIN, HEAD + PLAYERS * (ROW + GAP), WIDTH - 2 * MARGIN, bold=over)
    return sheet.drawing()


def _player(sheet: Sheet, state: Any, view: Viewpoint, player: int, top: int) -> None:
    moves = not state["over"] and int(state["player"]) == player
    sheet.panel(MARGIN // 2, top, WIDTH - MARGIN, ROW, ACTIVE if moves else PANEL)
    if moves:
        sheet.marker(MARGIN, top + 10, 26)
    elif state["over"] and int(state["winner"]) == player:
        sheet.crown(MARGIN - 2, top + 8, 30)
    begin, score = MARGIN + 34, int(state["scores"][player])
    room = WIDTH - MARGIN - begin - 8
    sheet.words(view.names[player], begin, top + 8, room - 130, size=LARGE, least=SMALL, bold=True)
    sheet.words(str(score), begin + room - 130, top + 2, 130, size=SCORE, bold=True, ink=GOLD, anchor="end")
    sheet.bar(begin, top + 66, room, 14, score / max(1, int(state["goal"])), ground=HIDDEN)
    sheet.words(_last_turn(state, view, player), begin, top + 86, room, size=SMALL, ink=SOFT)
    if view.sees(player, "rolled"):
        faces = [int(face) for face in state["rolled"][player] if face]
        sheet.dice(faces, begin, top + 116, room, DIE)


def _last_turn(state: Any, view: Viewpoint, player: int) -> str:
    """Return the text on a player's last turn, as far as the viewer may know it."""
    if not view.sees(player, "turns") or not state["turns"][player] or not view.sees(player, "chosen"):
        return ""
    run = int(state["runs"][player]) if view.sees(player, "runs") else 0
    return tell_last_turn(state, player, run, rolled=True)


def _dice_on_the_table(state: Any, view: Viewpoint) -> str:
    """Return which dice are rolled next, if the viewer may know whether they are exchanged."""
    if not all(view.sees(player, "exchanges") for player in range(PLAYERS)):
        return ""
    own, other = (int(score) for score in state["scores"])
    return f"The dice have {sides(own, other, int(state['exchanges'].sum()))} sides."
