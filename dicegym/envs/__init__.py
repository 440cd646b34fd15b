"""Environments: each written once, for every game.

`dicegym.envs.single` (Gymnasium), `dicegym.envs.multi` (PettingZoo), `dicegym.envs.vector`
(``gymnasium.vector``) and `dicegym.envs.sb3` (Stable-Baselines3 VecEnv).
"""
