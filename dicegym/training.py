"""Training of agents, and measuring what was trained. All but `evaluate` needs the extra ``train``."""

from dicegym import lazy

__getattr__, __dir__, __all__ = lazy.attach(__name__, __file__)
