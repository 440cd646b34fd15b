"""The multi-agent environments by PettingZoo's convention: ``from dicegym.pettingzoo import hog_v0``.

Each name is a module with ``env(**kwargs)``, ``raw_env(**kwargs)`` and ``parallel_env(**kwargs)``. The first two are
equal, because a `dicegym.envs.multi.TurnEnv` checks order and actions itself. The modules have no files: they are made
here from `dicegym.registry.ENVIRONMENTS`, and ``import dicegym.pettingzoo.hog_v0`` works, too.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any

from dicegym.registry import ENVIRONMENTS, Environment

_BY_NAME = {environment.module_name: environment for environment in ENVIRONMENTS if environment.multi}

__all__ = list(_BY_NAME)


def _module(name: str, environment: Environment) -> ModuleType:
    """Return the module of one environment; its functions are made on first use."""

    def make_function(wanted: str) -> Any:
        if wanted not in ("env", "raw_env", "parallel_env"):
            raise AttributeError(f"{made.__name__} has no {wanted!r}: it has env, raw_env and parallel_env")
        from dicegym.envs.multi import TurnEnv, parallel_env

        make: Any = parallel_env if wanted == "parallel_env" else TurnEnv
        return partial(make, environment.game, **environment.settings)

    made = module_from_spec(ModuleSpec(f"{__name__}.{name}", loader=None))
    made.__doc__ = f"The environment {environment.full_id}; the caller plays every seat."
    vars(made).update(environment_id=environment.full_id, __getattr__=make_function)
    return made


for _name, _environment in _BY_NAME.items():
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _module(_name, _environment)


def __getattr__(name: str) -> Any:
    """Raise AttributeError, which names the environments."""
    raise AttributeError(f"no environment {name!r}; there are {', '.join(_BY_NAME)}")
