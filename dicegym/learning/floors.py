"""Floors under the choice of a model (``run.best_floor``): what it must come to, whatever else it is chosen by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dicegym.engine.game import Game
from dicegym.errors import ParameterError, one_line, unknown_name
from dicegym.learning.evaluate import BY_EXPLOITABILITY, LEFT, Score
from dicegym.players.roster import agent_names


def check_floors(floors: Mapping[str, float], known: Sequence[str], game: Game) -> None:
    """Raise for floors that nothing can be measured by, or that nobody can reach.

    Args:
        floors: score by opponent.
        known: what floors may be about: what evaluations call their opponents, and keys of `LEFT`.
        game: what is played; alone there is no most that a score can be.

    Raises UnknownNameError and ParameterError.
    """
    for name, least in floors.items():
        if name not in known:
            raise unknown_name("opponent in run.best_floor", name, list(known), how_to_name(game, name))
        if game.players > 1 and not 0 <= least <= 1:
            raise ParameterError(
                f"run.best_floor asks for {least:g} against {name}, which is no share of games: give one from 0 to 1"
            )
        if name == BY_EXPLOITABILITY and least > 1 / 2:
            raise ParameterError(
                f"run.best_floor asks for {least:g} against the best reply, which wins half of the games of everybody: "
                "give one from 0 to 0.5"
            )


def how_to_name(game: Game, name: str) -> str:
    """Return how settings may name an agent of ``game`` that evaluations do not meet; empty: there is none."""
    return f"Evaluations meet {name} if run.evaluate_against has it." if name in agent_names(game) else ""


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
