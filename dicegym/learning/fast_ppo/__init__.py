"""A MaskablePPO whose time goes into the games' decisions instead of into overhead."""

from dicegym.learning.fast_ppo.algorithm import FastMaskablePPO

__all__ = ["FastMaskablePPO"]
