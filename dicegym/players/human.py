"""A person at the keyboard."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dicegym.core import Game
from dicegym.players import Act, Player, Turn


class HumanPlayer(Player):
    """Shows the table and asks for the number of an action until it gets a legal one.

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
            legal = [int(action) for action in np.flatnonzero(turn.mask)]
            self._show(turn.scene.text())
            self._show("  ".join(f"[{action}] {game.action_name(action)}" for action in legal))
            while True:
                answer = self._ask("your action: ").strip()
                if answer.isdecimal() and int(answer) in legal:
                    return int(answer)
                self._show(f"{answer!r} is none of the actions above: type the number in brackets")

        return act
