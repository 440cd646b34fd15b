"""What states of Yatzy are worth: where it is known from."""

from __future__ import annotations

from collections.abc import Sequence

from dicegym.engine.game import Game
from dicegym.games.worth import ValueSource
from dicegym.games.yatzy.solving import alone_values, winning_values


def sources(game: Game) -> Sequence[ValueSource]:
    """Return where values of ``game`` come from, the best first."""
    return (*alone_values.sources(game), *winning_values.sources(game))
