"""The multi-agent environments by PettingZoo's convention: ``from dicegym.pettingzoo import hog_v0``.

Each name holds ``env(**kwargs)`` and ``raw_env(**kwargs)``, which are the same, as a `dicegym.envs.multi.TurnEnv`
checks order and actions itself, and ``parallel_env(**kwargs)``. The names follow from `dicegym.registry.ENVIRONMENTS`.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

from dicegym.registry import ENVIRONMENTS

_BY_NAME = {environment.module_name: environment for environment in ENVIRONMENTS if environment.multi}

__all__ = list(_BY_NAME)  # made from the registry, so that no name is typed twice


def __getattr__(name: str) -> SimpleNamespace:
    """Make the namespace of one environment when it is first asked for."""
    if name not in _BY_NAME:
        raise AttributeError(f"no environment {name!r}; there are {', '.join(_BY_NAME)}")
    from dicegym.envs.multi import TurnEnv, parallel_env

    environment = _BY_NAME[name]
    make = partial(TurnEnv, environment.game, **environment.settings)
    parallel = partial(parallel_env, environment.game, **environment.settings)
    return SimpleNamespace(env=make, raw_env=make, parallel_env=parallel, environment_id=environment.full_id)
