"""How games of hidden dice and rising bids read on a screen; what calls are named and cost is for each game to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.scene import Line, Scene
from dicegym.games.bidding.table import FACES, MOST_PLAYERS, NOBODY, SEATS
from dicegym.games.bidding.view import Bid, bid_of, faces_of

FACE_NAMES = ("one", "two", "three", "four", "five", "six")
SHOWN_BIDS = 6
"""How many of the latest bids a scene lists."""


def bid_text(quantity: int, face: int) -> str:
    """Return a bid in words: ``3 fours``."""
    return f"{quantity} {FACE_NAMES[face - 1] if quantity == 1 else face_plural(face)}"


def face_plural(face: int) -> str:
    """Return what several dice of a face are called: ``fours``."""
    return f"{FACE_NAMES[face - 1]}{'es' if face == FACES else 's'}"


def bid_name(action: int) -> str:
    """Return what an ordinary action that bids means."""
    return bid_text(action // FACES + 1, action % FACES + 1)


def dice_text(number: int) -> str:
    """Return a number of dice in words."""
    return f"{number} {'die' if number == 1 else 'dice'}"


Least = Callable[[int, int, int], int]
"""Returns the least quantity of a face (the third number) that may follow a bid (quantity, face); quantity 0: none."""


class TableText(NamedTuple):
    """What each of the games calls things on its screens and pictures, and what can be bid in it."""

    title: Callable[[Any], str]
    """By a record."""
    name_call: Callable[[int], str]
    """Names the action that ended a hand: ``called liar``."""
    wild: bool
    """Whether dice of the highest face count for every bid."""
    least: Callable[[Any], Least]
    """By a record."""
    most: Callable[[Game], int]
    """The largest quantity that can be bid in a game."""
    calls: tuple[int, ...]
    """The actions that end a hand."""

    def last_hand(self, state: Any) -> str:
        """Return how the last hand ended, in words."""
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
        """Return the table as ``seat`` sees it, or all of it for None: cups, bids, and how the last hand ended."""
        players, n_bids, over = int(state["players"]), int(state["n_bids"]), bool(state["over"])
        bids = tuple(map(bid_of, state["bids"][:n_bids].tolist()))
        lines = [_cup(state, player, seat, bids) for player in range(players)]
        latest = ", ".join(f"{bid_text(bid.quantity, bid.face)} ({bid.seat})" for bid in bids[-SHOWN_BIDS:])
        lines.append(Line("bids", ("... " if n_bids > SHOWN_BIDS else "") + latest or "none yet"))
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
        """Return why nobody can have played to a record, of which ``seat`` knows its part; empty if somebody may."""
        left, rolled = state["left"][: game.players], state["rolled"][: game.players]
        alive = int((left > 0).sum())
        if not alive or bool(state["over"]) != (alive == 1):
            return f"{alive} seats have dice, and the game is {'' if state['over'] else 'not '}over"
        if not left[state["player"]]:
            return f"seat {state['player']} has no dice, and is to move"
        for one in range(game.players):
            known = seat in (None, one)
            if state["hands"][one].sum() != (rolled[one] if known else 0) or left[one] > rolled[one]:
                return f"seat {one} has not as many dice as it rolled"
        if (state["shown"].sum(axis=1) > game.parameters["dice"]).any():
            return "more dice were shown than a seat can have"
        begun = int(state["n_bids"])
        bids = [bid_of(int(kept)) for kept in state["bids"]]
        if any(bidder >= game.players for bidder, _, _ in (*bids, bid_of(max(0, int(state["shown_bid"]))))):
            return "a bid was made by a seat that the game does not have"
        if begun and not left[bids[begun - 1].seat]:
            return "the last bid was made by a seat without dice"
        if any(face > state["faces"] for _, _, face in (*bids, bid_of(max(0, int(state["shown_bid"]))))):
            return "somebody bid a face that dice do not have"
        for before, bid in zip(bids[: begun - 1] if begun else [], bids[1:begun], strict=True):
            if bid[1] < self.least(state)(before[1], before[2], bid[2]):
                return "a bid was not higher than the one before"
        ended = state["finished"] > 0
        if not ended == (state["caller"] != NOBODY) == (state["changed"] != NOBODY) or (state["shown_bid"] < 0) != (
            state["shown_bids"] == 0
        ):
            return "the hand before ended in two ways"
        if state["caller"] != NOBODY and int(state["call"]) not in self.calls:
            return "the hand before was ended by what ends none"
        return ""


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
