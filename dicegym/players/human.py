"""A person at the keyboard."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dicegym.engine.game import Game
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn

MOST_LISTED = 24
"""Actions that are shown unasked; where more are legal, ``?`` shows them all."""


class HumanPlayer(Player):
    """Shows the table and asks for an action, by its number or its name, until it gets a legal one.

    Args:
        name: how reports call the person.
        ask: called with the question, returns the answer (default: ``input``).
        show: called with text to show (default: ``print``).
    """

    def __init__(
        self, name: str = "you", ask: Callable[[str], str] = input, show: Callable[[str], None] = print
    ) -> None:
        self.name = name
        self._ask = ask
        self._show = show

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; EOFError and KeyboardInterrupt from the keyboard pass through."""

        def act(turn: Turn) -> int:
            names = {int(action): game.action_name(int(action)) for action in np.flatnonzero(turn.mask)}
            self._show(turn.scene.text())
            self._show(self._listed(names, MOST_LISTED))
            while True:
                answer = self._ask("your action: ").strip()
                if answer == "?":
                    self._show(self._listed(names, len(names)))
                elif (action := _meant(answer, names)) is not None:
                    return action
                else:
                    self._show(f"{answer!r} is none of the actions above: type a number in brackets, or a name")

        return act

    @staticmethod
    def _listed(names: dict[int, str], most: int) -> str:
        shown = [f"[{action}] {name}" for action, name in names.items()]
        if len(shown) > most:
            left_out = len(shown) - most
            shown[most // 2 : len(shown) - most // 2] = [f"... {left_out} more (? shows all) ..."]
        return "  ".join(shown)


def _meant(answer: str, names: dict[int, str]) -> int | None:
    """Return the action whose number or name ``answer`` is, or the only one whose name begins so; else None."""
    if answer.isdecimal() and int(answer) in names:
        return int(answer)
    words = " ".join(answer.lower().split())
    exact = [action for action, name in names.items() if name.lower() == words]
    begun = [action for action, name in names.items() if words and name.lower().startswith(words)]
    found = exact or begun
    return found[0] if len(found) == 1 else None
