"""What states of Liar's Dice are worth: where it is known from, in both games."""

from __future__ import annotations

from collections.abc import Sequence

from dicegym.engine.game import Game
from dicegym.games.bidding.solving import solution
from dicegym.games.worth import Progress, Valuer, ValueSource


def sources(game: Game) -> Sequence[ValueSource]:
    """Return where values of ``game`` come from, the best first."""
    found: list[ValueSource] = []
    if solution.at_once(game):

        def load(progress: Progress | None) -> Valuer:
            return solution.values_at_once(game)

        doc = "how likely who is to move wins between two who play an equilibrium"
        found.append(ValueSource(solution.NAME, "equilibrium", doc, lambda: True, load))
    return tuple(found)
