"""A part that a game's folder may hold beside its rules, and how it is asked for.

Which parts there are stands in `dicegym.games.parts`. Those that are asked for below it are declared where that is
done: `dicegym.engine.scene`, `dicegym.engine.twins` and, as a list of all verbs must not load the games,
`dicegym.engine.commands`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, Literal, TypeVar, cast

from dicegym.engine.siblings import folder_of, sibling, sibling_name
from dicegym.errors import PartError

P = TypeVar("P")

Demand = Literal["all", "finished", "none"]
"""Games of which a part is demanded: all, those of stage ``finished``, or none."""


@dataclass(frozen=True)
class Part(Generic[P]):
    """A module that may stand beside a game's rules, and what it offers.

    Several parts may share a file when each game has one of them at the most: who offers what tells them apart.
    """

    protocol: Any
    """The Protocol ``P``: the names that the module offers. What is not implemented there, it need not have."""
    file: str
    """The module's name, without ``.py``."""
    purpose: str
    """What it is for, in a few words that go on from "which ..."."""
    demanded: Demand = "none"
    place: str = "games"
    """Where it stands in the order of imports: the room of the package whose modules it may use."""

    @property
    def name(self) -> str:
        """The name of the protocol."""
        return str(self.protocol.__name__)

    @property
    def offers(self) -> tuple[str, ...]:
        """The names that the module must have."""
        own = {**inspect.get_annotations(self.protocol), **vars(self.protocol)}
        return tuple(name for name in own if not name.startswith("_"))

    def missing(self, module: ModuleType) -> list[str]:
        """Return which of the names a module lacks."""
        return [name for name in self.offers if not hasattr(module, name)]

    def beside(self, rules_module: str) -> P | None:
        """Return the part of the game with these rules if its folder holds the file and it offers all names."""
        module = sibling(rules_module, self.file)
        return None if module is None or self.missing(module) else cast(P, module)

    def file_beside(self, rules_module: str) -> Path | None:
        """Return the file that would be the part of the game with these rules, if it is there; nothing is loaded."""
        path = folder_of(rules_module) / f"{self.file}.py"
        return path if path.is_file() else None

    def demand(self, rules_module: str, title: str) -> P:
        """Return the part, as `beside` does. Raises PartError, which says what to write, if there is none."""
        found = self.beside(rules_module)
        if found is None:
            raise self.lack(rules_module, title)
        return found

    def lack(self, rules_module: str, title: str) -> PartError:
        """Return the error for a game without this part: what is missing, and what to write."""
        module = sibling(rules_module, self.file)
        names = ", ".join(self.offers if module is None else self.missing(module))
        name = sibling_name(rules_module, self.file)
        seen = f"there is no module {name}" if module is None else f"{name} does not define {names}"
        return PartError(
            f"{title} has nothing {self.purpose}: {seen}; write {self.file}.py with {names} beside its rules, "
            f"as the protocol {self.name} of dicegym.games.parts says"
        )
