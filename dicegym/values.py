"""What states are worth and what decisions cost: exact values, rollouts, search and exploitability.

Example:
    >>> import dicegym
    >>> from dicegym.values import hint, valuer
    >>> state = dicegym.game("hog").new_state(seed=1)
    >>> hint(state.game, state.record, valuer(state.game)).choices[0].name
    'roll 8'
"""

from dicegym import lazy

__getattr__, __dir__, __all__ = lazy.attach(__name__, __file__)
