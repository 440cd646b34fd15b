"""The words of the flawed game; which flaw it has shows in the states alone, so actions are misnamed on demand."""

from __future__ import annotations

from typing import Any

from dicegym.engine.scene import Line, Scene
from flawed.rules import FLAWS

NAMES = ["add 1", "add 2", "add 3"]


def action_name(action: int) -> str:
    return NAMES[action]


def scene(state: Any, seat: int | None) -> Any:
    flaw = FLAWS[state["flaw"]]
    if flaw == "scene is text":
        return "a total"
    if flaw == "scene changes the state":
        state["turn"] += 1
    shown = state["key"] if flaw == "scene shows the key" else state["total"]
    return Scene("Flawed", (Line("total", str(shown)),))
