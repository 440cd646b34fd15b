"""Training of agents, and measuring what was trained. All but `evaluate` needs the extra ``train``.

Example:
    >>> from dicegym.training import evaluate
    >>> score = evaluate("hog", "bacon", "swap")  # exact: no game is played
    >>> score.games, score.low == score.value == score.high
    (0, True)
"""

from dicegym import lazy

__getattr__, __dir__, __all__ = lazy.attach(__name__, __file__)
