"""Declaration of compiled twins of a game's agents, which the generic loops call by number.

A game's ``twins.py`` declares each twin:

    @twin("bacon", file="37d719b43b8ff18d")
    @kernel
    def bacon(state): ...

A twin's number is its place among the declarations.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from dicegym.engine.part import Part, optional, sibling, sibling_name

K = TypeVar("K", bound=Callable[..., Any])


class Twins(Protocol):
    """A game's ``twins.py``: compiled twins of agents, which batches play without leaving their loop.

    `dicegym.engine.twin_kernels.twin` declares the kernels in it. `dicegym.engine.loops.choose` calls them by number
    for agents of that name whose file is the declared one.

    If there are few situations, the module may have a kernel ``situation(state)``, which returns the number of what the
    player to move knows. A pure opponent is then asked only once for each number.
    """

    @optional
    def situations(self, game: Any) -> np.ndarray | None:
        """Return a record of a `dicegym.Game` for each situation, in the order of their numbers.

        None: there are too many, or they are not numbered.
        """
        return None


TWINS: Part[Twins] = Part(Twins, "twins", "that plays agents compiled", "finished")


class Twin(NamedTuple):
    """A compiled agent."""

    names: tuple[str, ...]
    """Its names in the roster, such as ``always_roll`` and ``always_roll(5)``."""
    file: str
    """The hash of the agent's source: see `dicegym.players.batch_players.source_hash`."""
    kernel: Callable[..., Any]
    """(record) -> the action of the player to move."""


_DECLARED: dict[str, dict[str, Twin]] = {}
"""Module -> name of the function -> twin, in the order of declaration."""


def twin(*names: str, file: str) -> Callable[[K], K]:
    """Declare a kernel, record -> action of the player to move, as the compiled twin of an agent.

    Args:
        *names: the agent's names in the roster, at least one.
        file: the hash of its source, by `dicegym.players.batch_players.source_hash`.

    Raises:
        TypeError: no name is given, or another twin of the module has it.
    """

    def declare(kernel: K) -> K:
        declared = _DECLARED.setdefault(kernel.__module__, {})
        others = {name for key, other in declared.items() if key != kernel.__name__ for name in other.names}
        if not names or others & set(names):
            raise TypeError(f"twin {kernel.__name__} needs unique names, not {names}: others have {sorted(others)}")
        declared[kernel.__name__] = Twin(names, file, kernel)  # a reloaded module keeps the order
        return kernel

    return declare


def list_twins(rules_module: str) -> tuple[Twin, ...]:
    """Return the twins of the game with these rules in the order of their numbers."""
    TWINS.beside(rules_module)  # loads it: the rules cannot import it, as it imports them
    return tuple(_DECLARED.get(sibling_name(rules_module, TWINS.file), {}).values())


def chain(twins: Sequence[Twin]) -> Callable[..., Any]:
    """Return the function (record, number) -> action that calls the twin of that number, or the last for larger ones.

    It is generated as source with an ``if`` for each twin: cached loops can call kernels by name, but not from a
    closure or a table. Without twins each action is 0.
    """
    lines = ["def choose(state, bot):"]
    for number in range(len(twins) - 1):
        lines.append(f"    if bot == {number}:\n        return np.int64(twin_{number}(state))")
    lines.append(f"    return np.int64({f'twin_{len(twins) - 1}(state)' if twins else 0})")
    names: dict[str, Any] = {"np": np, **{f"twin_{number}": one.kernel for number, one in enumerate(twins)}}
    exec("\n".join(lines), names)  # made only of numbers
    return names["choose"]


def situation_kernel(rules_module: str) -> Callable[..., Any] | None:
    """Return the kernel that numbers situations, or None if the game has none."""
    found: Callable[..., Any] | None = getattr(sibling(rules_module, TWINS.file), "situation", None)
    return found
