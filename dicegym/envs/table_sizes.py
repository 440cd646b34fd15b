"""Tables of a game at which one learner can play: of different numbers of players, and the same to see and to do."""

from __future__ import annotations

from collections.abc import Sequence

from dicegym.engine.game import Game
from dicegym.errors import ParameterError


def tables_of(game: Game, numbers: Sequence[int]) -> tuple[Game, ...]:
    """Return ``game`` with each of these numbers of players, as often as it is given, in that order.

    Raises:
        ParameterError: the game has no such number of players, learners would see other things at one of the tables, or
            games alone, which are scored by points, are mixed with others, which are won.
    """
    found = tuple(Game(game.spec, players=number, **game.parameters) for number in numbers)
    if {1} < {table.players for table in found}:  # 1 and another one
        raise ParameterError(
            f"tables of {in_words(numbers)} players cannot be mixed: {game.spec.title} alone is scored in points, at "
            "a table by who is first; leave out the 1"
        )
    for table in found:
        if table.features != game.features:
            raise ParameterError(
                f"{table!r} shows a learner something else than {game!r}: one learner cannot play at both"
            )
    return found


def in_words(numbers: Sequence[int]) -> str:
    """Return numbers for a message."""
    return ", ".join(map(str, numbers))
