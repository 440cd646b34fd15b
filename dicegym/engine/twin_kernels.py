"""How a game declares compiled twins of its agents, and how the generic loops call them by number.

A game's ``twins.py`` declares each twin where it is written:

    @twin("bacon", file="37d719b43b8ff18d")
    @kernel
    def bacon(state): ...

The number of a twin is its place among the declarations and stands nowhere else.
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
    """A game's ``twins.py``: compiled twins of agents, so that a batch plays them without leaving its loop.

    Kernels in it are declared by `dicegym.engine.twin_kernels.twin`, and asked for by number in
    `dicegym.engine.loops.choose` wherever an agent of that name is seated whose file is the one declared.

    Where a player can know little, the module may number that with a kernel ``situation(state)``, which returns the
    number of what the player to move knows. What a pure opponent answers is then asked for once for each number.
    """

    @optional
    def situations(self, game: Any) -> np.ndarray | None:
        """Return as many records of a `dicegym.Game` as there are numbers, the k-th of which has the number k.

        None: there are too many, or nothing is numbered.
        """
        return None


TWINS: Part[Twins] = Part(Twins, "twins", "that plays agents compiled", "finished")


class Twin(NamedTuple):
    """A compiled agent."""

    names: tuple[str, ...]
    """What the roster calls it; one agent may have several names, as ``always_roll`` and ``always_roll(5)``."""
    file: str
    """The hash of the agent's source that it was made from: see `dicegym.players.batch_players.source_hash`."""
    kernel: Callable[..., Any]
    """(record) -> the action of the player to move."""


_DECLARED: dict[str, dict[str, Twin]] = {}
"""Module -> name of the function -> twin, in the order of declaration."""


def twin(*names: str, file: str) -> Callable[[K], K]:
    """Declare a kernel, record -> action of the player to move, as the compiled twin of an agent.

    Args:
        *names: the agent's names in the roster; one at least.
        file: first 16 hexadecimal digits of the hash of its source, as `dicegym.players.batch_players.source_hash` has
        it.

    Raises:
        TypeError: no name is given, or one that another twin of the module has. (A mistake of the game's author.)
    """

    def declare(kernel: K) -> K:
        declared = _DECLARED.setdefault(kernel.__module__, {})
        others = {name for key, other in declared.items() if key != kernel.__name__ for name in other.names}
        if not names or others & set(names):
            raise TypeError(f"twin {kernel.__name__} needs names of its own, not {names}: others have {sorted(others)}")
        declared[kernel.__name__] = Twin(names, file, kernel)  # again in its place if the module is loaded again
        return kernel

    return declare


def list_twins(rules_module: str) -> tuple[Twin, ...]:
    """Return the twins of the game with these rules by their numbers; none if it has no ``twins.py``."""
    TWINS.beside(rules_module)  # loaded: it uses the rules, so they cannot name it among their kernels
    return tuple(_DECLARED.get(sibling_name(rules_module, TWINS.file), {}).values())


def chain(twins: Sequence[Twin]) -> Callable[..., Any]:
    """Return the function (record, number) -> action that asks the twin of that number; numbers beyond ask the last.

    It is written out as source, an ``if`` for each twin: cached loops may call kernels by their names, and none that a
    closure or a table holds. Without twins each action is 0.
    """
    lines = ["def choose(state, bot):"]
    for number in range(len(twins) - 1):
        lines.append(f"    if bot == {number}:\n        return np.int64(twin_{number}(state))")
    lines.append(f"    return np.int64({f'twin_{len(twins) - 1}(state)' if twins else 0})")
    names: dict[str, Any] = {"np": np, **{f"twin_{number}": one.kernel for number, one in enumerate(twins)}}
    exec("\n".join(lines), names)  # of numbers alone
    return names["choose"]


def situation_kernel(rules_module: str) -> Callable[..., Any] | None:
    """Return the kernel that numbers what the player to move knows, or None if the game does not number it."""
    found: Callable[..., Any] | None = getattr(sibling(rules_module, TWINS.file), "situation", None)
    return found
