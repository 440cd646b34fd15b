"""Players of your own: from a function, a model or a language model, and as a bot's file.

`dicegym.agent` returns a player by its name, `dicegym.Player` is the base class of all players, and
`dicegym.save_model` writes a model that plays wherever an agent is named.

Example:
    >>> from dicegym.agents import FunctionPlayer
    >>> from dicegym.training import evaluate
    >>> first_legal = FunctionPlayer(lambda turn: int(turn.mask.argmax()), "first legal", pure=True)
    >>> evaluate("hog", first_legal, "always_roll(5)").value < 0.5
    True
"""

from dicegym import lazy

__getattr__, __dir__, __all__ = lazy.attach(__name__, __file__)
