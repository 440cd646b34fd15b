"""Finds who can say what states of a game are worth."""

from __future__ import annotations

from collections.abc import Sequence

from dicegym.engine.game import Game
from dicegym.errors import ParameterError, unknown_name
from dicegym.games.parts import VALUES, Progress, part
from dicegym.games.worth import Valuer, ValueSource


def sources(game: Game) -> Sequence[ValueSource]:
    """Return where values of ``game`` come from, the best first; nothing if there are none."""
    found = part(game, VALUES)
    return () if found is None else found.sources(game)


def valuer(game: Game, name: str | None = None, *, progress: Progress | None = None) -> Valuer:
    """Return who says what states of ``game`` are worth.

    Args:
        game: the game, with its parameters.
        name: of one of its `sources`; default: the best of those that are ready.
        progress: told of what takes long.

    Raises:
        ParameterError: the game has no values, none is ready, or what the named one needs is not solved yet.
        UnknownNameError: it has no source of this name.
    """
    found = {source.name: source for source in sources(game)}
    if not found:
        raise ParameterError(f"{game!r} has no values: write values.py beside its rules, or ask another game")
    if name is not None:
        if name not in found:
            raise unknown_name("source of values", name, list(found))
        return found[name].load(progress)
    ready = [source for source in found.values() if source.ready()]
    best = ready[0] if ready else next(iter(found.values()))
    return best.load(progress)
