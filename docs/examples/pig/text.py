"""Pig as text: the names of actions, and the scene of a state."""

from __future__ import annotations

from typing import Any

from dicegym.engine.scene import Line, Scene

from .rules import HOLD


def action_name(action: int) -> str:
    """Return the name of an action."""
    return "hold" if action == HOLD else "roll"


def scene(state: Any, seat: int | None) -> Scene:
    """Return the table, which all players see alike."""
    lines = []
    for player, score in enumerate(state["scores"].tolist()):
        active = not state["over"] and int(state["player"]) == player
        text = f"score {score:3d}" + (f"   turn total {int(state['total'])}" if active else "")
        dice = (int(state["face"]),) if active and state["rolls"] else ()
        lines.append(Line(f"player {player}" + (" (you)" if seat == player else ""), text, dice, active))
    footer = f"player {int(state['winner'])} wins" if state["over"] else ""
    return Scene(f"Pig to {int(state['goal'])}", tuple(lines), footer)
