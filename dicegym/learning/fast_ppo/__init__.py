"""A MaskablePPO with little overhead for small networks and quick environments."""

from dicegym.learning.fast_ppo.algorithm import FastMaskablePPO

__all__ = ["FastMaskablePPO"]
