"""The picture of Yatzy: the dice, the rolls left, and the card with a column for each player."""

from __future__ import annotations

from typing import Any

from dicegym.games.keyboard import count
from dicegym.games.yatzy.rules import BONUS, BONUS_FROM, BOX_NAMES, BOXES, ROLLS, UPPER, bonus
from dicegym.games.yatzy.text import points_now, totals_of
from dicegym.pictures.drawing import Viewpoint
from dicegym.pictures.palette import CHOSEN, GOLD, HIDDEN, PAPER, PENCIL, SOFT, STRIPE, WRITING
from dicegym.pictures.sheet import HEAD, MARGIN, NORMAL, SMALL, WIDTH, Sheet
from dicegym.pictures.svg import Drawing, element

DIE = 68
DICE_ROW = DIE + 2 * MARGIN
ROW = 31
HEADING = 40
LABEL = 212
"""Width of the column of box names."""
NOW = 66
"""Width of the column with the present points of the dice."""
SUMS = 3
"""Further rows: the upper sum, the bonus, and the total."""


def picture(state: Any, view: Viewpoint) -> Drawing:
    """Return a drawing of a state; nothing is hidden."""
    over, players = bool(state["over"]), int(state["players"])
    sheet = Sheet(HEAD + DICE_ROW + HEADING + (BOXES + SUMS) * ROW + MARGIN, "Yatzy")
    sheet.head("Yatzy", "over" if over else f"round {int(state['round_number'])} of {BOXES}")
    _dice(sheet, state, view, players)
    _card(sheet, state, view, players, HEAD + DICE_ROW)
    return sheet.drawing()


def _dice(sheet: Sheet, state: Any, view: Viewpoint, players: int) -> None:
    faces = tuple(state["dice"].tolist())
    taken = len(faces) * (DIE + 10)
    sheet.dice(faces, MARGIN, HEAD, taken, DIE, gap=10)
    left, room = MARGIN + taken + 12, WIDTH - 2 * MARGIN - taken - 12
    if state["over"]:
        totals = totals_of(state)
        first = [player for player, points in enumerate(totals) if points == max(totals)]
        sheet.lines(f"{view.list_names(first)}: {max(totals)} points", left, HEAD, room, 3)
        return
    rolls = int(state["rolls_left"])
    sheet.lines(view.names[int(state["player"])], left, HEAD, room, 1)
    sheet.lines(f"{count(rolls, 'roll')} left", left, HEAD + 32, room, 1, size=SMALL, ink=SOFT)
    for number in range(ROLLS):
        dot = element("rect", width=16, height=10, rx=5, fill=GOLD if number < rolls else HIDDEN)
        sheet.put(left + number * 22, HEAD + 58, 16, 10, dot)


def _card(sheet: Sheet, state: Any, view: Viewpoint, players: int, top: int) -> None:
    """Draw the card: a row for each box, a column for each player, and the present points in each open box."""
    over, mover = bool(state["over"]), int(state["player"])
    left, room = MARGIN // 2, WIDTH - MARGIN
    column = (room - LABEL - NOW) // players
    height = HEADING + (BOXES + SUMS) * ROW
    sheet.panel(left, top, room, height, PAPER, radius=6)
    size = NORMAL if players <= 3 else SMALL
    worth = points_now(state)
    for number in range(1, BOXES + SUMS, 2):
        sheet.panel(left, top + HEADING + number * ROW, room, ROW, STRIPE, radius=0)
    if not over:
        sheet.panel(left + LABEL + mover * column, top, column, height, CHOSEN, radius=0)
    for player in range(players):
        x = left + LABEL + player * column
        bold = not over and player == mover
        sheet.words(
            view.names[player], x, top + 8, column - 8, size=SMALL, least=14, bold=bold, ink=WRITING, anchor="end"
        )
    if not over:
        sheet.words("now", left + room - NOW, top + 8, NOW - 10, size=SMALL, ink=PENCIL, anchor="end")
    for box, name in enumerate(BOX_NAMES):
        y = top + HEADING + (box + 2 * (box >= UPPER)) * ROW + 2
        sheet.words(name, left + 10, y, LABEL - 14, size=SMALL, ink=WRITING)
        for player in range(players):
            points = int(state["scores"][player, box])
            if points >= 0:
                x = left + LABEL + player * column
                sheet.words(str(points), x, y, column - 12, size=size, ink=WRITING, anchor="end")
        if not over and state["scores"][mover, box] < 0:
            ink = WRITING if worth[box] else PENCIL
            sheet.words(
                str(worth[box]), left + room - NOW, y, NOW - 10, size=SMALL, bold=worth[box] > 0, ink=ink, anchor="end"
            )
    sums = (
        (UPPER, f"sum, bonus from {BONUS_FROM}", [int(state["upper"][player]) for player in range(players)], False),
        (UPPER + 1, f"bonus of {BONUS}", [int(bonus(state["upper"][player])) for player in range(players)], False),
        (BOXES + 2, "total", totals_of(state), True),
    )
    for line, name, values, bold in sums:
        y = top + HEADING + line * ROW + 2
        ink = WRITING if bold else PENCIL
        sheet.words(name, left + 10, y, LABEL - 14, size=SMALL, least=14, bold=bold, ink=ink)
        for player, value in enumerate(values):
            x = left + LABEL + player * column
            sheet.words(str(value), x, y, column - 12, size=size, bold=bold, ink=ink, anchor="end")
