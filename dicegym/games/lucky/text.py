"""How Lucky & Co reads on a screen: names of actions, and one screen of a state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.scene import Line, Scene
from dicegym.games.lucky.catalogue import DONE, INVALID, MOST_PLAYERS, N_ACTIONS, N_DICE, PRICES, STOCK
from dicegym.games.lucky.scoring import MOST

EFFECTS = (
    "rolls a 1",
    "likely low",
    "unlikely high",
    "even chances",
    "unlikely low",
    "likely high",
    "rolls a 6",
    "times r/3",
    "times r/2",
    "times r",
    "times 2r",
    "times 3r",
    "all others -r",
    "somebody -10",
    "steals 10",
    "somebody -25",
    "steals 25",
    "shield",
    "basics again",
    "basics and multipliers again",
    "square",
    "cube",
)
"""The effect of each die, in short."""
SHOWN = 10
"""The most rolled dice to draw: the highest ones."""


def action_name(action: int) -> str:
    """Return what an action means, in words."""
    if action == DONE:
        return "order is complete"
    if action == INVALID:
        return "malformed order"
    if not 0 <= action < INVALID:
        return f"unknown action {action}"
    more, kind = divmod(action - N_ACTIONS, N_DICE) if action >= N_ACTIONS else (-1, action)
    return f"add {more + 2} x die {kind} ({EFFECTS[kind]}, {PRICES[kind]} each)"


def list_dice(counts: Sequence[int], numbers: bool = False) -> str:
    """Return how many dice of each kind there are, by their effects and, if asked for, ``numbers``."""
    names = [f"{kind} {effect}" if numbers else effect for kind, effect in enumerate(EFFECTS)]
    return ", ".join(f"{count} x {name}" for name, count in zip(names, counts, strict=True) if count)


def faces_rolled(state: Any, player: int) -> list[int]:
    """Return the faces of a player's basic dice and multipliers in the last round, highest first."""
    return [face for face, count in enumerate(state["rolled"][player].tolist(), 1) for _ in range(count)][::-1]


def scene(state: Any, seat: int | None) -> Scene:
    """Return the table as ``seat`` sees it (only its own order), or all of it for None."""
    lines = []
    for player in range(int(state["players"])):
        text = f"money {int(state['money'][player]):4d}"
        if state["played"]:
            text += f"   scored {int(state['points'][player])}"
        text += f"   {list_dice(state['dice'][player].tolist(), numbers=True) or 'no dice'}"
        if seat in (None, player) and state["order"][player].any():
            text += f"   orders {list_dice(state['order'][player].tolist(), numbers=True)}"
        faces = faces_rolled(state, player) if seat in (None, player) else []
        text += f"   and so on, {len(faces)} dice" if len(faces) > SHOWN else ""
        label = f"player {player}" + (" (you)" if seat == player else "")
        lines.append(Line(label, text, tuple(faces[:SHOWN]), not state["over"] and int(state["player"]) == player))
    shop = " ".join(f"{kind}:{count}" for kind, count in enumerate(state["shop"].tolist()) if count)
    lines.append(Line("shop", shop or "sold out"))
    footer = ""
    if state["over"]:
        money = state["money"][: int(state["players"])]
        first = [str(player) for player, amount in enumerate(money.tolist()) if amount == money.max()]
        footer = f"player {first[0]} wins" if len(first) == 1 else f"players {' and '.join(first)} tie for first"
    title = f"Lucky & Co, {int(state['played'])} of at most {int(state['rounds'])} rounds played"
    return Scene(f"{title}, to a lead of {int(state['lead'])}", tuple(lines), footer)


def limits(game: Game) -> dict[str, tuple[Any, Any]]:
    """Return the least and the largest value of each field; see `dicegym.games.positions.FieldLimits`."""
    seated = np.arange(MOST_PLAYERS) < game.players
    stocked, rich = seated[:, None] * STOCK, seated * int(MOST)
    return {
        "played": (0, game.parameters["rounds"]),
        "money": (0, rich),
        "points": (0, rich),
        "dice": (0, stocked),
        "shop": (0, STOCK),
        "order": (0, stocked),
        "left": (0, rich),
        "rolled": (0, seated[:, None] * 32_767),
    }


def impossible(game: Game, state: Any, seat: int | None) -> str:
    """Return why a record cannot occur, or the part of it that ``seat`` knows; empty if compiled code can play it on.

    Tables have a row for each number of dice up to the stock, and for each small amount of money, which is never
    negative. Everything else that cannot occur is harmless.
    """
    if (state["dice"].sum(axis=0, dtype=np.int64) + state["shop"] != STOCK).any():
        return "there are more or fewer dice of a kind than the shop had at first"
    for one in range(game.players) if seat is None else [seat]:
        order = state["order"][one].astype(np.int64)
        if (order > state["shop"]).any() or state["left"][one] != state["money"][one] - (order * PRICES).sum():
            return f"seat {one} has ordered what it cannot have or pay"
    return ""
