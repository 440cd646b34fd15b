"""Floors under the choice of a model (``run.best_floor``): what it must come to, whatever else it is chosen by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dicegym.errors import ParameterError, one_line, unknown_name
from dicegym.learning.evaluate import LEFT, Score


def check_floors(floors: Mapping[str, float], opponents: Sequence[str], players: int) -> None:
    """Raise for floors that nothing can be measured by, or that nobody can reach.

    Args:
        floors: score by opponent.
        opponents: what evaluations call theirs.
        players: at the table; alone there is no most that a score can be.

    Raises UnknownNameError and ParameterError.
    """
    for name, least in floors.items():
        if LEFT.get(name, name) not in opponents:
            raise unknown_name("opponent in run.best_floor", name, [*LEFT, *opponents])
        if players > 1 and not 0 <= least <= 1:
            raise ParameterError(
                f"run.best_floor asks for {least:g} against {name}, which is no share of games: give one from 0 to 1"
            )


def missed(scores: Sequence[Score], floors: Mapping[str, float]) -> float:
    """Return how far scores are below the floors, where they are furthest; 0: they reach all.

    Raises KeyError if there is no score against one of their opponents.
    """
    values = {score.opponent: score.value for score in scores}
    return max([0.0, *(least - values[LEFT.get(name, name)] for name, least in floors.items())])


def in_words(floors: Mapping[str, float]) -> str:
    """Return what the floors ask for."""
    return " and ".join(f"{least:g} against {LEFT.get(name, name)}" for name, least in floors.items())


def said_in(facts: Mapping[str, Any]) -> tuple[dict[str, float], float]:
    """Return the floors under the training of a model, and how far the model is below them, by its file's facts.

    Raises ParameterError if the file does not tell what a training writes.
    """
    try:
        floors = {str(name): float(least) for name, least in facts["settings"]["run"].get("best_floor", {}).items()}
        return floors, missed([Score.from_json(one) for one in facts["scores"]], floors) if floors else 0.0
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ParameterError(f"the model does not say how it stands to run.best_floor ({one_line(error)})") from None
