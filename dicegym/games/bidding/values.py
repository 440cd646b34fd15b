"""What states of Liar's Dice are worth: where it is known from, in both games."""

from __future__ import annotations

from collections.abc import Sequence

from dicegym.engine.game import Game
from dicegym.games.bidding.solving import recall_values, solution
from dicegym.games.parts import SOLUTIONS, part
from dicegym.games.worth import ValueSource


def sources(game: Game) -> Sequence[ValueSource]:
    """Return where values of ``game`` come from, the best first."""
    found: list[ValueSource] = []
    doc = "how likely who is to move wins between two who play an equilibrium"
    if solution.at_once(game):
        found.append(
            ValueSource(solution.NAME, "equilibrium", doc, lambda: True, lambda _: solution.values_at_once(game))
        )
    elif _is_solved_by_command(game):
        found.append(
            ValueSource(
                solution.NAME, "equilibrium", doc, lambda: solution.is_kept(game), lambda _: solution.kept_values(game)
            )
        )
    return (*found, *recall_values.recall_sources(game, recall_values.BESIDE_EXACT if found else solution.NAME))


def _is_solved_by_command(game: Game) -> bool:
    found = part(game, SOLUTIONS)
    return found is not None and any(isinstance(one, solution.EquilibriumSolution) for one in found.solutions(game))
