"""Finds who can say what states of a game are worth."""

from __future__ import annotations

from collections.abc import Sequence

from dicegym.analysis.estimates import rollout_source
from dicegym.engine.game import Game
from dicegym.errors import unknown_name
from dicegym.games.parts import VALUES, Progress, part
from dicegym.games.worth import Valuer, ValueSource


def sources(game: Game) -> Sequence[ValueSource]:
    """Return where values of ``game`` come from, the best first: its own, then rollouts."""
    found = part(game, VALUES)
    own = () if found is None else found.sources(game)
    return [*own, rollout_source(game)]


def valuer(game: Game, name: str | None = None, *, progress: Progress | None = None) -> Valuer:
    """Return who says what states of ``game`` are worth.

    Args:
        game: the game, with its parameters.
        name: of one of its `sources`; default: the best of those that are ready.
        progress: told of what takes long.

    Raises:
        ParameterError: what the named one needs is not solved yet.
        UnknownNameError: it has no source of this name.
    """
    found = {source.name: source for source in sources(game)}
    if name is not None:
        if name not in found:
            raise unknown_name("source of values", name, list(found), f"These are for {game!r}.")
        return found[name].load(progress)
    best = next(source for source in found.values() if source.ready())  # rollouts always are
    return best.load(progress)


def better_sources(game: Game, asked: Valuer) -> list[ValueSource]:
    """Return the sources that are better than ``asked`` and take long to be had, or have to be solved first."""
    found = []
    for source in sources(game):
        if source.name == asked.name:
            break
        if not source.ready():
            found.append(source)
    return found
