"""What states are worth and what decisions cost: exact values, rollouts, search and exploitability."""

from dicegym import lazy

__getattr__, __dir__, __all__ = lazy.attach(__name__, __file__)
