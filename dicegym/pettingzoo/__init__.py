"""The multi-agent environments by PettingZoo's convention: ``from dicegym.pettingzoo import hog_v0``.

Each name is a module that holds ``env(**kwargs)`` and ``raw_env(**kwargs)``, which are the same, as a
`dicegym.envs.multi.TurnEnv` checks order and actions itself, and ``parallel_env(**kwargs)``. The names follow from
`dicegym.registry.ENVIRONMENTS`, so the modules have no files: they are made here, and ``import
dicegym.pettingzoo.hog_v0`` finds them too.
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

__all__ = list(_BY_NAME)  # made from the registry, so that no name is typed twice


def _module(name: str, environment: Environment) -> ModuleType:
    """Return the module of one environment, whose functions are made when they are first asked for."""

    def make_function(wanted: str) -> Any:
        if wanted not in ("env", "raw_env", "parallel_env"):
            raise AttributeError(f"{made.__name__} has no {wanted!r}: it has env, raw_env and parallel_env")
        from dicegym.envs.multi import TurnEnv, parallel_env

        make: Any = parallel_env if wanted == "parallel_env" else TurnEnv
        return partial(make, environment.game, **environment.settings)

    made = module_from_spec(ModuleSpec(f"{__name__}.{name}", loader=None))
    made.__doc__ = f"The environment {environment.full_id} with every seat yours."
    vars(made).update(environment_id=environment.full_id, __getattr__=make_function)
    return made


for _name, _environment in _BY_NAME.items():
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _module(_name, _environment)


def __getattr__(name: str) -> Any:
    """Say which environments there are."""
    raise AttributeError(f"no environment {name!r}; there are {', '.join(_BY_NAME)}")
