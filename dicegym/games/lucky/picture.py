"""The picture of Lucky & Co: a panel for each player, and the shop with its prices and stock."""

from __future__ import annotations

from typing import Any

from dicegym.games.lucky.catalogue import N_DICE, PRICES
from dicegym.games.lucky.text import EFFECTS, SHOWN, faces_rolled, list_dice
from dicegym.pictures import pieces
from dicegym.pictures.drawing import Viewpoint
from dicegym.pictures.palette import ACTIVE, GOLD, INK, PANEL, SOFT
from dicegym.pictures.sheet import HEAD, MARGIN, NORMAL, SMALL, WIDTH, Sheet, line_height
from dicegym.pictures.svg import Drawing

ROW, GAP = 112, 8
DIE = 30
MORE = 56
"""Width of the number of dice that are not drawn."""
COIN = 24
ACROSS = 2
"""Dice of the shop side by side."""
CELL = 30
SHOP = -(-N_DICE // ACROSS) * CELL


def picture(state: Any, view: Viewpoint) -> Drawing:
    """Return a drawing of a state."""
    players, over = int(state["players"]), bool(state["over"])
    sheet = Sheet(HEAD + players * (ROW + GAP) + line_height(NORMAL) + 12 + SHOP + MARGIN, "Lucky & Co")
    rounds = f"{int(state['played'])} round{'' if state['played'] == 1 else 's'} played"
    sheet.head("Lucky & Co", f"{rounds}; a lead of {int(state['lead'])} wins")
    first = int(state["money"][:players].max())
    for player in range(players):
        crowned = over and int(state["money"][player]) == first
        _player(sheet, state, view, player, crowned, HEAD + player * (ROW + GAP))
    _shop(sheet, state, HEAD + players * (ROW + GAP))
    return sheet.drawing()


def _player(sheet: Sheet, state: Any, view: Viewpoint, player: int, crowned: bool, top: int) -> None:
    moves = not state["over"] and int(state["player"]) == player
    sheet.panel(MARGIN // 2, top, WIDTH - MARGIN, ROW, ACTIVE if moves else PANEL)
    if moves:
        sheet.marker(MARGIN, top + 8, 24)
    elif crowned:
        sheet.crown(MARGIN - 2, top + 6, 28)
    begin = MARGIN + 32
    room = WIDTH - MARGIN - begin - 6
    sheet.words(view.names[player], begin, top + 6, 230, bold=True, least=SMALL)
    sheet.put(begin + 240, top + 8, COIN, COIN, pieces.coin(COIN))
    sheet.words(str(int(state["money"][player])), begin + 270, top + 6, 120, bold=True, ink=GOLD)
    if state["played"]:
        scored = f"scored {int(state['points'][player])}"
        sheet.words(scored, begin + 370, top + 8, room - 370, size=SMALL, least=14, ink=SOFT, anchor="end")
    owned = list_dice(state["dice"][player].tolist()) or "no dice"
    sheet.words(owned, begin, top + 38, room, size=SMALL, least=14)
    below, left = top + 70, room // 2
    faces = faces_rolled(state, player) if view.sees(player, "rolled") else []
    more = MORE if len(faces) > SHOWN else 0  # a hundred dice would be unreadable: count the rest
    if view.sees(player, "order") and state["order"][player].any():
        ordered = f"orders {list_dice(state['order'][player].tolist())}"
        sheet.words(ordered, begin, below + 4, left - more - 8, size=SMALL, least=14, ink=GOLD)
    sheet.dice(faces[:SHOWN], begin + left - more, below, room - left, DIE, gap=4, anchor="end")
    if more:
        sheet.words(f"+{len(faces) - SHOWN}", begin, below + 4, room, size=SMALL, ink=SOFT, anchor="end")


def _shop(sheet: Sheet, state: Any, top: int) -> None:
    """Draw the shop: number, effect, price and stock of each die."""
    sheet.words("Shop: price and stock", MARGIN, top, WIDTH - 2 * MARGIN, size=SMALL, bold=True)
    top += line_height(NORMAL) + 2
    width = (WIDTH - MARGIN) // ACROSS
    rows = -(-N_DICE // ACROSS)
    sheet.panel(MARGIN // 2, top, WIDTH - MARGIN, SHOP + 8, PANEL)
    for kind in range(N_DICE):
        column, row = divmod(kind, rows)
        x, y = MARGIN // 2 + column * width, top + 4 + row * CELL
        stock = int(state["shop"][kind])
        ink = INK if stock else SOFT
        sheet.words(str(kind), x + 6, y + 3, 26, size=SMALL, bold=True, ink=SOFT, anchor="end")
        sheet.words(EFFECTS[kind], x + 40, y + 3, width - 150, size=SMALL, least=13, ink=ink)
        sheet.put(x + width - 108, y + 6, 18, 18, pieces.coin(18))
        sheet.words(str(int(PRICES[kind])), x + width - 86, y + 3, 44, size=SMALL, ink=ink)
        sheet.words(
            f"x {stock}" if stock else "none", x + width - 60, y + 3, 50, size=SMALL, least=13, ink=SOFT, anchor="end"
        )
