"""dicegym: five real dice games as reinforcement-learning environments.

``import dicegym`` registers every environment with Gymnasium and PettingZoo, whether they are imported before or after
it. It loads nothing heavy: the public names, here and in `dicegym.agents`, `dicegym.contest`, `dicegym.envs`,
`dicegym.training` and `dicegym.values`, are loaded when they are first used.
"""

from __future__ import annotations

from dicegym import lazy, registration

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy.attach(__name__, __file__)
__all__ += ["__version__"]

registration.register()
