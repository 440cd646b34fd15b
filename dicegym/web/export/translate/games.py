"""A game's rules as a script: its five kernels, the key of a game, and compiled twins of agents."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine import dice
from dicegym.engine.game import Game
from dicegym.engine.twins import declared
from dicegym.errors import TranslationError
from dicegym.web.export.translate.program import KernelProgram, Script
from dicegym.web.export.translate.types import INT, UINT, RecordOf, array_of


class TranslatedGame(NamedTuple):
    """A game's rules in JavaScript."""

    script: Script
    """Offers ``reset``, ``step``, ``legal``, ``observe``, ``returns``, ``key_of`` and ``twin 0``, ``twin 1`` ..."""
    twins: dict[str, str]
    """Name of an agent -> what its compiled twin is called in the script."""
    refused: dict[str, str]
    """Names of the agents whose twins cannot be translated -> why."""


def translated(game: Game) -> TranslatedGame:
    """Return a game's kernels, and of the twins of its agents as many as can be translated.

    Raises TranslationError, which names the file and the line, if the rules themselves cannot be.
    """
    program, state = KernelProgram(), RecordOf(game.spec.state)
    observation, mask = array_of(np.dtype(np.float32), (None,)), array_of(np.dtype(np.bool_), (None,))
    takes: dict[str, tuple[Any, ...]] = {
        "reset": (state,),
        "step": (state, INT),
        "legal": (state, mask),
        "observe": (state, INT, observation),
        "returns": (state, observation),
    }
    kernels = {name: getattr(game.spec.kernels, name) for name in takes}
    takes["key_of"], kernels["key_of"] = (UINT, UINT), dice.key_of
    functions = {name: program.call(_plain(kernels[name]), kinds)[0] for name, kinds in takes.items()}
    twins, refused = {}, {}
    for number, twin in enumerate(declared(game.spec.module)):
        try:
            functions[f"twin {number}"] = program.call(_plain(twin.kernel), (state,))[0]
            twins[twin.names[0]] = f"twin {number}"
        except TranslationError as error:
            program.forget_unfinished()
            refused[twin.names[0]] = str(error)
    return TranslatedGame(program.script(functions, game.spec.state), twins, refused)


def _plain(kernel: Any) -> Any:
    return inspect.unwrap(getattr(kernel, "py_func", kernel))
