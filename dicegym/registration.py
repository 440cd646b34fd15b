"""Registration of the environments with Gymnasium and PettingZoo.

Loading these libraries, and NumPy with them, takes longer than everything else that ``dicegym --help`` does. So
``import dicegym`` does not load them: it registers with those that are loaded, and with the others on their import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from dicegym.registry import ENVIRONMENTS


def register_gymnasium() -> None:
    """Register every environment with Gymnasium, single and batch."""
    import gymnasium

    for environment in ENVIRONMENTS:
        if environment.full_id not in gymnasium.registry:
            gymnasium.register(
                environment.full_id,
                entry_point="dicegym.envs.single:SingleAgentEnv",
                vector_entry_point="dicegym.envs.vector:BatchEnv",
                kwargs={"game": environment.game, **environment.settings},
                disable_env_checker=True,  # our tests run it; it takes 5 % of a step
                order_enforce=False,  # the environments check it themselves
            )


def register_pettingzoo() -> None:
    """Register every multi-agent environment with PettingZoo."""
    import pettingzoo

    forms = (
        ("aec", pettingzoo.aec_registry, "dicegym.envs.multi:TurnEnv"),
        ("parallel", pettingzoo.parallel_registry, "dicegym.envs.multi:parallel_env"),
    )
    for environment in ENVIRONMENTS:
        for form, registry, entry_point in forms:
            if environment.multi and environment.full_id not in registry:
                kwargs = {"game": environment.game, **environment.settings}
                pettingzoo.register(form, environment.full_id, entry_point, kwargs=kwargs)


REGISTER: dict[str, Callable[[], None]] = {"gymnasium": register_gymnasium, "pettingzoo": register_pettingzoo}
"""Library -> the function that adds our environments to its registry, each at most once."""


class ImportHook:
    """An import finder that registers the environments when one of the libraries is imported.

    It delegates to the finders after it, and wraps the library's loader to register once the library has run.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a library with its loader wrapped; None for all other modules."""
        if name not in REGISTER:
            return None
        after = sys.meta_path[sys.meta_path.index(self) + 1 :]
        found = (finder.find_spec(name, path, target) for finder in after if hasattr(finder, "find_spec"))
        spec = next((one for one in found if one is not None), None)
        if spec is None or spec.loader is None:  # it is not installed
            return spec
        execute = spec.loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            REGISTER[name]()

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


def register() -> None:
    """Register the environments with each library, now or when it is imported."""
    for name, register_with in REGISTER.items():
        if sys.modules.get(name) is not None:
            register_with()
    if not any(isinstance(finder, ImportHook) for finder in sys.meta_path):
        sys.meta_path.insert(0, ImportHook())
