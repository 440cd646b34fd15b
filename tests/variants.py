"""Every registered game in every form that the generic suites try: what each of them is parametrised over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from dicegym import games
from dicegym.checks import forms
from dicegym.engine.dice import draw, turn_stream
from dicegym.engine.game import Game
from dicegym.registry import GAMES

VARIANTS: list[Game] = [form for name in GAMES for form in forms(games.spec(name))]

FINISHED: list[str] = [name for name in GAMES if games.spec(name).stage == "finished"]
"""The games of which models, twins, exporters and configurations of trainings are demanded; others may have them."""

each_game = pytest.mark.parametrize("name", GAMES)
each_variant = pytest.mark.parametrize(
    "game",
    [  # without compilation the default forms have to do
        pytest.param(game, id=repr(game), marks=[pytest.mark.nojit] if game == games.game(game.name) else [])
        for game in VARIANTS
    ],
)


def one_always(values: Iterable[Any], always: int = 1) -> list[Any]:
    """Return the parameters of a test of what all of ``values`` share: the first ``always``, and others marked slow.

    What breaks it breaks the first of them too; `make test-all` tries them all.
    """
    found = list(values)
    return [*found[:always], *(pytest.param(value, marks=pytest.mark.slow) for value in found[always:])]


def covering(first: Sequence[Any], *others: Sequence[Any]) -> list[Any]:
    """Return the parameters of a test of all combinations, of which a few are quick and the others slow.

    Each of the ``first`` values is among the quick ones, and each combination of the ``others``.
    """
    together = list(product(*others))
    quick = {(number % len(first), number % len(together)) for number in range(max(len(first), len(together)))}
    return [
        pytest.param(one, *rest, marks=[] if (place, number) in quick else pytest.mark.slow)
        for place, one in enumerate(first)
        for number, rest in enumerate(together)
    ]


def default_forms_always() -> list[Any]:
    """Return `VARIANTS` as parameters of a test, those slow that are not how a game is by default."""
    default = [games.game(name) for name in GAMES]
    return [pytest.param(game, marks=pytest.mark.nojit if game in default else pytest.mark.slow) for game in VARIANTS]


def pick(mask: np.ndarray, seed: int, time: int) -> int:
    """A random legal action: a function of its arguments alone."""
    choices = np.flatnonzero(mask)
    stream = np.uint64(turn_stream(np.uint64(seed), 0, time))
    return int(choices[draw(stream, 0, len(choices))])


def play(game: Game, seed: int, decisions: int, visit: Callable[[Any], None] = lambda state: None) -> Any:
    """Play random legal ``decisions`` (fewer if the game ends first), showing each state to ``visit``."""
    state = game.new_game(seed)[0]
    visit(state)
    for time in range(decisions):
        if state["over"]:
            break
        game.step(state, pick(game.legal(state), seed, time))
        visit(state)
    return state


@lru_cache(maxsize=64)
def states_of(game: Game, seed: int = 0, decisions: int = 60) -> list[Any]:
    """States along one random game; not to be changed by those who ask."""
    found: list[Any] = []
    play(game, seed, decisions, lambda state: found.append(state.copy()))
    return found


def forget(game: Game, state: Any, seat: int, source: Any) -> Any:
    """Return ``state`` with all that ``seat`` may not know taken from another game."""
    other = state.copy()
    other["key"] = source["key"]
    for name in game.spec.secret:
        other[name] = source[name]
    for name in game.spec.private:
        kept = state[name][seat].copy()
        other[name] = source[name]
        other[name][seat] = kept
    return other


def part(game: Game, state: Any, seat: int, name: str) -> np.ndarray:
    """Return one part of what ``seat`` observes, by the name that the rules page gives it."""
    sizes = list(game.features.values())
    begin = sum(sizes[: list(game.features).index(name)])
    return game.observe(state, seat)[begin : begin + game.features[name]]
