"""Contests on a Ray cluster: the same jobs, keys and outcomes as on one machine, done by referees on many.

`ray_cluster` makes the executors (`dicegym.arena.executors`); nothing else here needs to be known. Ray is loaded when
the first of them is opened.
"""

from __future__ import annotations

from dicegym.arena.cluster.executor import ray_cluster

__all__ = ["ray_cluster"]
