"""Contests between agents, comparisons of two, and the check of one.

Example:
    >>> from dicegym.contest import contest
    >>> result = contest("hog", ["bacon", "swap", "tuned"], seed=1, workers=1, games=3)
    >>> [standing.place for standing in result.standings]
    [1, 2, 3]
"""

from dicegym import lazy

__getattr__, __dir__, __all__ = lazy.attach(__name__, __file__)
