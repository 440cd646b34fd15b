"""How games of hidden dice and rising bids read on a screen; what calls are named and cost is for each game to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dicegym.engine.scene import Line, Scene
from dicegym.games.bidding.table import FACES
from dicegym.games.bidding.view import Bid, bid_of, faces_of

FACE_NAMES = ("one", "two", "three", "four", "five", "six")
SHOWN_BIDS = 6
"""How many of the latest bids a scene lists."""


def bid_text(quantity: int, face: int) -> str:
    """Return a bid in words: ``3 fours``."""
    plural = "" if quantity == 1 else "es" if face == FACES else "s"
    return f"{quantity} {FACE_NAMES[face - 1]}{plural}"


def bid_name(action: int) -> str:
    """Return what an ordinary action that bids means."""
    return bid_text(action // FACES + 1, action % FACES + 1)


def dice_text(number: int) -> str:
    """Return a number of dice in words."""
    return f"{number} {'die' if number == 1 else 'dice'}"


def last_hand(state: Any, called: Callable[[int], str], wild: bool) -> str:
    """Return how the last hand ended, in words; ``called`` is what the ending action is called."""
    caller, changed, change = (int(state[name]) for name in ("caller", "changed", "change"))
    text = f"player {caller} {called(int(state['call']))}"
    if state["shown_bids"]:
        bidder, quantity, face = bid_of(int(state["shown_bid"]))
        faces = {face, FACES} if wild else {face}
        found = sum(int(state["shown"][:, one - 1].sum()) for one in faces)
        text += f" on {bid_text(quantity, face)} of player {bidder}: there {'was' if found == 1 else 'were'} {found}"
    else:
        text += " before any bid"
    return f"{text}; player {changed} {'gains' if change > 0 else 'loses'} {dice_text(abs(change))}"


def table_scene(state: Any, seat: int | None, title: str, called: Callable[[int], str], wild: bool) -> Scene:
    """Return the table as ``seat`` sees it, or all of it for None: cups, bids, and how the last hand ended."""
    players, n_bids, over = int(state["players"]), int(state["n_bids"]), bool(state["over"])
    bids = tuple(map(bid_of, state["bids"][:n_bids].tolist()))
    lines = [_cup(state, player, seat, bids) for player in range(players)]
    latest = ", ".join(f"{bid_text(bid.quantity, bid.face)} ({bid.seat})" for bid in bids[-SHOWN_BIDS:])
    lines.append(Line("bids", ("... " if n_bids > SHOWN_BIDS else "") + latest or "none yet"))
    lines.append(Line("last hand", last_hand(state, called, wild) if state["finished"] else "none yet"))
    for player, counts in enumerate(state["shown"][:players].tolist()):  # a line each always: pictures keep their size
        lines.append(Line(f"  player {player}", "had" if any(counts) else "", faces_of(tuple(counts))))
    winner = int(state["left"].argmax())
    rolled = int(state["rolled"].sum())
    footer = f"player {winner} wins" if over else f"{dice_text(rolled)} on the table"
    return Scene(f"{title}, hand {int(state['finished']) + (not over)}", tuple(lines), footer)


def _cup(state: Any, player: int, seat: int | None, bids: tuple[Bid, ...]) -> Line:
    """Return the line of one player."""
    left, rolled = int(state["left"][player]), int(state["rolled"][player])
    label = f"player {player}" + (" (you)" if seat == player else "")
    if state["over"]:
        return Line(label, dice_text(left) if left else "out")
    own = [bid for bid in bids if bid.seat == player]
    said = f"  bid {bid_text(own[-1].quantity, own[-1].face)}" if own else ""
    dice = faces_of(tuple(state["hands"][player].tolist())) if seat in (None, player) else (0,) * rolled
    text = dice_text(left) if left else "out" + (f", its {dice_text(rolled)} still count" if rolled else "")
    return Line(label, text + said, dice, int(state["player"]) == player)
