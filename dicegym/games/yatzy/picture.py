"""How Yatzy looks: the dice with what they are worth now, and everybody's score card."""

from __future__ import annotations

from typing import Any

from dicegym.games.yatzy.rules import bonus, total
from dicegym.games.yatzy.tables import BOX_NAMES, BOXES, UPPER
from dicegym.games.yatzy.text import worth_now
from dicegym.pictures.drawing import Drawing, Viewpoint
from dicegym.pictures.palette import CHOSEN, EDGE, PAPER, PENCIL, STRIPE, WRITING
from dicegym.pictures.sheet import HEAD, MARGIN, NORMAL, SMALL, WIDTH, Sheet
from dicegym.pictures.svg import element

DIE, DICE_HEIGHT = 68, 84
ROW, NAMES, HEADS = 30, 176, 34
"""Height of a row of the card, width of the names of its boxes, height of the names of players."""
NOW = 64
"""Width of the column that says what the dice are worth now."""
ROWS = (*BOX_NAMES[:UPPER], "Bonus", *BOX_NAMES[UPPER:], "Sum")
"""What the card lists, from the top."""
SUMS = {UPPER, len(ROWS) - 1}
"""Rows that are made of others."""
LEFT, RIGHT = MARGIN // 2, WIDTH - MARGIN // 2


def picture(state: Any, view: Viewpoint) -> Drawing:
    """Return the table; nothing is hidden in it (`dicegym.pictures.drawing.Picture`)."""
    over, mover, players = bool(state["over"]), int(state["player"]), int(state["players"])
    totals = [int(total(state, seat)) for seat in range(players)]
    first = [seat for seat in range(players) if totals[seat] == max(totals)]
    left = int(state["rolls_left"])
    now = f"winner: {view.listed(first)}" if over else f"to move: {view.names[mover]}"
    points = ", ".join(f"{name} {sum_}" for name, sum_ in zip(view.names, totals, strict=True))
    dice = tuple(state["dice"].tolist())
    shown = " ".join(map(str, dice))
    sheet = Sheet(HEAD + DICE_HEIGHT + HEADS + ROW * len(ROWS) + MARGIN, f"Yatzy: {points}. {now}. Dice: {shown}.")
    sheet.head("Yatzy", "game over" if over else f"round {int(state['round_number'])} of {BOXES}")
    sheet.dice(dice, MARGIN, HEAD, 5 * (DIE + 8), DIE)
    room = WIDTH - 5 * (DIE + 8) - 3 * MARGIN
    words = MARGIN * 2 + 5 * (DIE + 8)
    sheet.words(f"{'winner' if over else 'to move'}:", words, HEAD - 2, room, size=SMALL)
    sheet.words(view.listed(first) if over else view.names[mover], words, HEAD + 20, room, least=SMALL, bold=True)
    rolls = "last dice" if over else f"{left} roll{'' if left == 1 else 's'} left"
    sheet.words(rolls, words, HEAD + 48, room, size=SMALL)
    _card(sheet, state, view, HEAD + DICE_HEIGHT)
    return sheet.drawing()


def _card(sheet: Sheet, state: Any, view: Viewpoint, top: int) -> None:
    players, over, mover = int(state["players"]), bool(state["over"]), int(state["player"])
    sheet.put(LEFT, top, RIGHT - LEFT, HEADS + ROW * len(ROWS), _paper())
    first = LEFT + NAMES + NOW
    width = (RIGHT - first - 6) // players
    for number, name in enumerate(ROWS):
        y = top + HEADS + number * ROW + 3
        ink = PENCIL if number in SUMS else WRITING
        sheet.words(name, LEFT + 10, y, NAMES - 12, size=SMALL, least=16, bold=number in SUMS, ink=ink)
    sheet.words("" if over else "now", LEFT + NAMES, top + 6, NOW - 10, size=SMALL, ink=PENCIL, anchor="end")
    for box, points in enumerate([] if over else worth_now(state)):
        if points is not None:
            y = top + HEADS + _row(box) * ROW + 3
            sheet.words(str(points), LEFT + NAMES, y, NOW - 10, size=SMALL, ink=PENCIL, anchor="end")
    for seat in range(players):
        x = first + seat * width
        to_move = seat == mover and not over
        if to_move:
            sheet.panel(x, top + 2, width, HEADS + ROW * len(ROWS) - 4, CHOSEN, radius=6)
        room = width - 8
        sheet.words(
            view.names[seat], x + 4, top + 6, room, size=SMALL, least=13, bold=to_move, ink=WRITING, anchor="end"
        )
        row = state["scores"][seat].tolist()
        extra = int(bonus(state["upper"][seat]))
        cells = [(_row(box), str(points)) for box, points in enumerate(row) if points >= 0]
        cells += [(UPPER, str(extra))] if extra else []
        cells += [(len(ROWS) - 1, str(int(total(state, seat))))]
        for number, words in cells:
            y, bold = top + HEADS + number * ROW + 1, number in SUMS
            sheet.words(words, x + 4, y, room - 4, size=NORMAL, bold=bold, ink=WRITING, anchor="end")


def _row(box: int) -> int:
    """Return the row of a box: below the upper ones stands the bonus."""
    return box + (box >= UPPER)


def _paper() -> str:
    """Return the empty card."""
    width, height = RIGHT - LEFT, HEADS + ROW * len(ROWS)
    body = element("rect", width=width, height=height, rx=8, fill=PAPER)
    for number in range(0, len(ROWS), 2):
        body += element("rect", y=HEADS + number * ROW, width=width, height=ROW, fill=STRIPE)
    lines = "".join(f"M0 {HEADS + ROW * number}H{width}" for number in (0, UPPER + 1, len(ROWS) - 1))
    return body + element("path", d=lines, stroke=EDGE, stroke_width=2)
