"""Environments: each written once, for every game. Needs the extra ``train`` where a name says SB3 or VecEnv.

``gymnasium.make``, ``gymnasium.make_vec`` and `dicegym.pettingzoo` make the first three by an environment's id.
"""

from dicegym import lazy

__getattr__, __dir__, __all__ = lazy.attach(__name__, __file__)
