"""The environments; each works with every game. `SB3VecEnv` needs the extra ``train``.

``gymnasium.make``, ``gymnasium.make_vec`` and `dicegym.pettingzoo` make the others by an environment's id.

Example:
    >>> from dicegym.envs import BatchEnv
    >>> envs = BatchEnv("yatzy", num_envs=1000, opponent="gather")
    >>> observations, infos = envs.reset(seed=0)
    >>> infos["action_mask"].shape[0]
    1000
"""

from dicegym import lazy

__getattr__, __dir__, __all__ = lazy.attach(__name__, __file__)
