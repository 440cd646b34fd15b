"""dicegym: five real dice games as reinforcement-learning environments.

``import dicegym`` registers every environment with Gymnasium and PettingZoo, whether they are imported before or after
it. It loads nothing heavy: public names are loaded when they are first used. They are here and in the modules `agents`,
`contest`, `envs`, `errors`, `pettingzoo`, `text`, `training`, `values` and `wrappers`, and in the adapters `openenv`,
`openspiel`, `textarena` and `verifiers`. All other modules are private: their names may change in any release.

Example:
    >>> import gymnasium as gym
    >>> import dicegym
    >>> env = gym.make("dicegym/Hog-v0", opponent="always_roll(5)")
    >>> observation, info = env.reset(seed=0)
    >>> observation, reward, terminated, truncated, info = env.step(info["action_mask"].argmax())
    >>> dicegym.game("hog").new_state(seed=0).legal_actions()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
"""

from __future__ import annotations

from dicegym import lazy, registration

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy.attach(__name__, __file__)
__all__ += ["__version__"]

registration.register()
