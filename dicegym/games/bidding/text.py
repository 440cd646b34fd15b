"""How games of hidden dice and rising bids read on a screen. Each game's ``text.py`` names its calls."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.scene import Line, Scene
from dicegym.games.bidding.table import FACES, MOST_PLAYERS, NOBODY, SEATS
from dicegym.games.bidding.view import Bid, bid_of, faces_of

FACE_NAMES = ("one", "two", "three", "four", "five", "six")
SHOWN_BIDS = 6
"""How many of the latest bids a scene lists."""


def bids_of(state: Any) -> list[Bid]:
    """Return the bids of the present hand, the first one first."""
    return [bid_of(kept) for kept in state["bids"][: int(state["n_bids"])].tolist()]


def bid_text(quantity: int, face: int) -> str:
    """Return a bid in words: ``3 fours``."""
    return f"{quantity} {FACE_NAMES[face - 1] if quantity == 1 else face_plural(face)}"


def face_plural(face: int) -> str:
    """Return the plural of a face: ``fours``."""
    return f"{FACE_NAMES[face - 1]}{'es' if face == FACES else 's'}"


def bid_name(action: int) -> str:
    """Return the name of an ordinary bid by its action."""
    return bid_text(action // FACES + 1, action % FACES + 1)


def dice_text(number: int) -> str:
    """Return a number of dice in words."""
    return f"{number} {'die' if number == 1 else 'dice'}"


Least = Callable[[int, int, int], int]
"""(quantity, face, raised) -> the least quantity of face ``raised`` that may follow a bid; quantity 0: no bid yet."""


class TableText(NamedTuple):
    """The words of one of the games on screens and pictures, and the limits of its bids."""

    title: Callable[[Any], str]
    """Returns the title of a record."""
    name_call: Callable[[int], str]
    """Names the action that ended a hand: ``called liar``."""
    wild: bool
    """Whether the highest face is wild."""
    least: Callable[[Any], Least]
    """Returns the lowest raises of a record."""
    most: Callable[[Game], int]
    """Returns the largest quantity that can be bid in a game."""

    def last_hand(self, state: Any) -> str:
        """Return the end of the last hand in words."""
        caller, changed, change = (int(state[name]) for name in ("caller", "changed", "change"))
        text = f"player {caller} {self.name_call(int(state['call']))}"
        if state["shown_bids"]:
            bidder, quantity, face = bid_of(int(state["shown_bid"]))
            faces = {face, int(state["faces"])} if self.wild else {face}
            found = sum(int(state["shown"][:, one - 1].sum()) for one in faces)
            are = "was" if found == 1 else "were"
            text += f" on {bid_text(quantity, face)} of player {bidder}: there {are} {found}"
        else:
            text += " before any bid"
        return f"{text}; player {changed} {'gains' if change > 0 else 'loses'} {dice_text(abs(change))}"

    def scene(self, state: Any, seat: int | None) -> Scene:
        """Return the table as ``seat`` sees it, or all of it for None: cups, bids, and the end of the last hand."""
        players, over, bids = int(state["players"]), bool(state["over"]), bids_of(state)
        lines = [_cup(state, player, seat, bids) for player in range(players)]
        latest = ", ".join(f"{bid_text(bid.quantity, bid.face)} ({bid.seat})" for bid in bids[-SHOWN_BIDS:])
        lines.append(Line("bids", ("... " if len(bids) > SHOWN_BIDS else "") + latest or "none yet"))
        lines.append(Line("last hand", self.last_hand(state) if state["finished"] else "none yet"))
        for player, counts in enumerate(state["shown"][:players].tolist()):  # always: pictures keep their size
            lines.append(Line(f"  player {player}", "had" if any(counts) else "", faces_of(tuple(counts))))
        winner = int(state["left"].argmax())
        rolled = int(state["rolled"].sum())
        footer = f"player {winner} wins" if over else f"{dice_text(rolled)} on the table"
        return Scene(f"{self.title(state)}, hand {int(state['finished']) + (not over)}", tuple(lines), footer)

    def limits(self, game: Game) -> dict[str, tuple[Any, Any]]:
        """Return the least and the largest value of each field; see `dicegym.games.positions.FieldLimits`."""
        seated = (np.arange(MOST_PLAYERS) < game.players).astype(int)
        dice = game.parameters["dice"]
        hands = seated[:, None] * dice * (np.arange(FACES) < game.all_parameters["faces"])
        bids, last = game.spec.state["bids"].shape[0], (self.most(game) * FACES - 1) * SEATS + game.players - 1
        return {
            "left": (0, seated * dice),
            "rolled": (0, seated * dice),
            "hands": (0, hands),
            "finished": (0, 2_000_000_000),
            "n_bids": (0, bids),
            "bids": (0, last),
            "shown": (0, hands),
            "shown_bids": (0, bids),
            "shown_bid": (-1, last),
            "caller": (NOBODY, game.players - 1),
            "call": (0, game.n_actions - 1),
            "changed": (NOBODY, game.players - 1),
            "change": (-2, 1),
        }

    def impossible(self, game: Game, state: Any, seat: int | None) -> str:
        """Return why a record cannot occur, as ``seat`` knows it (None: all of it); empty if compiled code can play it.

        Compiled code looks for the next seat with dice until it finds one. Seats of bids are places in arrays, and a
        sequence of rising bids is a place in the table of a strategy. Everything else that cannot occur is harmless.
        """
        left = state["left"][: game.players]
        alive = int((left > 0).sum())
        if not alive or bool(state["over"]) != (alive == 1):
            return f"{alive} seats have dice, and the game is {'' if state['over'] else 'not '}over"
        if not left[state["player"]]:
            return f"seat {state['player']} has no dice, and is to move"
        bids = bids_of(state)
        every = [*map(bid_of, state["bids"].tolist()), bid_of(max(0, int(state["shown_bid"])))]
        if any(bid.seat >= game.players for bid in every):
            return "a bid was made by a seat that the game does not have"
        if bids and not left[bids[-1].seat]:
            return "the last bid was made by a seat without dice"
        for before, bid in pairwise(bids):
            if bid.quantity < self.least(state)(before.quantity, before.face, bid.face):
                return "a bid was not higher than the one before"
        return ""


def _cup(state: Any, player: int, seat: int | None, bids: list[Bid]) -> Line:
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
