"""Contests between agents, comparisons of two, and the check of one."""

from dicegym import lazy

__getattr__, __dir__, __all__ = lazy.attach(__name__, __file__)
