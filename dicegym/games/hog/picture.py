"""How Hog looks: two tracks to the goal, and what each player rolled last."""

from __future__ import annotations

from typing import Any

from dicegym.games.hog.rules import FIRST_NUMBER, swaps
from dicegym.games.hog.text import dice_now
from dicegym.pictures.drawing import Drawing, Viewpoint
from dicegym.pictures.palette import ACTIVE, FELT, GOLD, PANEL, SOFT
from dicegym.pictures.sheet import HEAD, LARGE, MARGIN, NORMAL, SMALL, WIDTH, Sheet

SEAT = 150
"""Height of what is one player's."""
FOOT = 40
DIE, NAME, SCORE = 48, 400, 60


def picture(state: Any, view: Viewpoint) -> Drawing:
    """Return the table; of a seat's own turns what may be seen (`dicegym.pictures.drawing.Picture`)."""
    goal, over, mover = int(state["goal"]), bool(state["over"]), int(state["player"])
    scores = state["scores"].tolist()
    now = f"winner: {view.names[int(state['winner'])]}" if over else f"to move: {view.names[mover]}"
    points = ", ".join(f"{name} {score}" for name, score in zip(view.names, scores, strict=True))
    sheet = Sheet(HEAD + 2 * (SEAT + 8) + FOOT, f"Hog to {goal}: {points}. {now}.")
    sheet.head("Hog", f"first to {goal}")
    for seat in (0, 1):
        _player(sheet, state, view, seat, HEAD + seat * (SEAT + 8))
    sheet.words(_remark(state, view), MARGIN, sheet.height - FOOT, WIDTH - 2 * MARGIN, least=SMALL, ink=SOFT)
    return sheet.drawing()


def _player(sheet: Sheet, state: Any, view: Viewpoint, seat: int, top: int) -> None:
    over = bool(state["over"])
    to_move = not over and int(state["player"]) == seat
    score, goal = int(state["scores"][seat]), int(state["goal"])
    sheet.panel(MARGIN // 2, top, WIDTH - MARGIN, SEAT, ACTIVE if to_move else PANEL, edge=GOLD if to_move else None)
    if to_move:
        sheet.marker(MARGIN, top + 14, 24)
    elif over and int(state["winner"]) == seat:
        sheet.crown(MARGIN, top + 14, 26)
    left, room = MARGIN + 32, WIDTH - 2 * MARGIN - 40
    sheet.words(view.names[seat], left, top + 10, NAME, size=LARGE - 2, least=SMALL, bold=True)
    sheet.words(str(score), left, top + 6, room, size=36, bold=True, anchor="end")
    sheet.bar(left, top + 52, room, 14, score / goal, ground=FELT if not to_move else PANEL)
    if not view.sees(seat, "rolled") or not view.sees(seat, "chosen"):
        sheet.words("its dice are its own to see", left, top + 92, room, size=SMALL, ink=SOFT)
    elif not state["turns"][seat]:
        sheet.words("has not moved yet", left, top + 92, room, size=SMALL, ink=SOFT)
    else:
        _turn(sheet, state, seat, left, top + 76, room)


def _turn(sheet: Sheet, state: Any, seat: int, left: int, top: int, room: int) -> None:
    """Put what a player did last, and what it came to."""
    faces = [int(face) for face in state["rolled"][seat] if face]
    run = int(state["runs"][seat])
    if faces:
        said = "Pig out" + (f", run of {run}" if run > 1 else "") if 1 in faces else f"{sum(faces)}"
        taken = room - 150 if 1 in faces else room - 70
        side = min(DIE, taken // len(faces) - 4)
        sheet.dice(faces, left, top + 9 + (DIE - side) // 2, taken, side)
        if 1 in faces:
            sheet.lines(said, left + taken + 10, top + 10, room - taken - 10, 2, size=SMALL)
        else:
            sheet.words(f"= {said}", left, top + 18, room, size=NORMAL, bold=True, anchor="end")
        return
    chosen = int(state["chosen"][seat])
    said = (
        "exchanged the dice" if chosen == FIRST_NUMBER else "Free bacon" if chosen == 0 else f"asked for {chosen} dice"
    )
    sheet.words(said, left, top + 18, room, size=NORMAL)


def _remark(state: Any, view: Viewpoint) -> str:
    """Return what there is to say below."""
    if state["over"]:
        return f"winner: {view.names[int(state['winner'])]}"
    own, other = (int(score) for score in state["scores"])
    said = ["after a Swine Swap"] if (own or other) and swaps(own, other) else []
    if view.seat is None or "exchanges" in view.opened:
        said.insert(0, dice_now(state))
    return ", ".join(said)
