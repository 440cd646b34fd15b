"""Pictures of games of hidden dice and rising bids: a panel for each player, the bids, and the end of the last hand."""

from __future__ import annotations

from typing import Any

from dicegym.games.bidding.text import TableText, bid_text, bids_of, dice_text
from dicegym.games.bidding.view import Bid, faces_of
from dicegym.pictures.drawing import Viewpoint
from dicegym.pictures.naming import with_names
from dicegym.pictures.palette import ACTIVE, GOLD, PANEL, SOFT
from dicegym.pictures.sheet import HEAD, LARGE, MARGIN, NORMAL, SMALL, WIDTH, Sheet, line_height
from dicegym.pictures.svg import Drawing

ROW, GAP = 104, 8
SEATED = 236
"""Width of a player's text, left of its dice."""
DIE, SHOWN = 46, 30
"""Sizes of the dice of this hand, and of those shown at the end of the last one."""
BIDS = 5
"""The number of latest bids listed."""
FOOT = 2 * line_height(NORMAL) + 3 * line_height(SMALL) + MARGIN


def draw_table(table: TableText, state: Any, view: Viewpoint) -> Drawing:
    """Return the picture of a table."""
    title = table.title(state)
    players, over = int(state["players"]), bool(state["over"])
    bids = bids_of(state)
    sheet = Sheet(HEAD + players * (ROW + GAP) + FOOT, title)
    sheet.head(title, "over" if over else f"hand {int(state['finished']) + 1}")
    for player in range(players):
        _player(sheet, state, view, player, bids, HEAD + player * (ROW + GAP))
    _bottom(sheet, table, state, view, bids, HEAD + players * (ROW + GAP))
    return sheet.drawing()


def _player(sheet: Sheet, state: Any, view: Viewpoint, player: int, bids: list[Bid], top: int) -> None:
    over, left, rolled = bool(state["over"]), int(state["left"][player]), int(state["rolled"][player])
    moves = not over and int(state["player"]) == player
    sheet.panel(MARGIN // 2, top, WIDTH - MARGIN, ROW, ACTIVE if moves else PANEL)
    if moves:
        sheet.marker(MARGIN, top + 8, 24)
    elif over and left:
        sheet.crown(MARGIN - 2, top + 6, 28)
    begin = MARGIN + 32
    sheet.words(view.names[player], begin, top + 6, SEATED, size=NORMAL, least=SMALL, bold=True)
    text = dice_text(left) if left else "out" + (f", {dice_text(rolled)} still count" if rolled and not over else "")
    sheet.words(text, begin, top + 38, SEATED, size=SMALL, least=SMALL - 4, ink=SOFT)
    own = [bid for bid in bids if bid.seat == player]
    if own and not over:
        latest = own[-1] is bids[-1]
        said = f"bids {bid_text(own[-1].quantity, own[-1].face)}"
        sheet.words(said, begin, top + 66, SEATED, size=NORMAL, least=SMALL, bold=latest, ink=GOLD if latest else SOFT)
    right = begin + SEATED + MARGIN
    room = WIDTH - MARGIN - right
    if not over:
        seen = view.sees(player, "hands")
        faces = faces_of(tuple(state["hands"][player].tolist())) if seen else (0,) * rolled
        sheet.dice(faces, right, top + 8, room, DIE, anchor="end")
    shown = faces_of(tuple(state["shown"][player].tolist()))
    if shown:
        taken = min(len(shown) * (SHOWN + 4), room - 60)
        sheet.words("had", right, top + 72, room - taken - 10, size=SMALL, ink=SOFT, anchor="end")
        sheet.dice(shown, right, top + ROW - SHOWN - 6, room, SHOWN, gap=4, anchor="end")


def _bottom(sheet: Sheet, table: TableText, state: Any, view: Viewpoint, bids: list[Bid], top: int) -> None:
    room = WIDTH - 2 * MARGIN
    if state["over"]:
        winner = with_names(f"player {int(state['left'].argmax())} wins", view.names)
        sheet.words(winner, MARGIN, top + 4, room, size=LARGE, bold=True)
    else:
        latest = ", ".join(f"{bid_text(bid.quantity, bid.face)} ({view.names[bid.seat]})" for bid in bids[-BIDS:])
        told = ("... " if len(bids) > BIDS else "") + (latest or "none yet")
        sheet.lines(f"Bids: {told}", MARGIN, top + 4, room, 2)
    text = table.last_hand(state) if state["finished"] else ""
    plain = [name.removesuffix(" (you)") for name in view.names]
    below = top + 2 * line_height(NORMAL) + 6
    told = (
        f"Last hand: {with_names(text, plain)}." if text else f"{dice_text(int(state['rolled'].sum()))} on the table."
    )
    sheet.lines(told, MARGIN, below, room, 3, size=SMALL, ink=SOFT)
