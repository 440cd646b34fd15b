"""The loops: random legal actions in every form that an environment comes in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dicegym.bench.batch_loops import bare_batch, make_vec, sb3
from dicegym.bench.single_loops import make, one_state, our_aec, parallel
from dicegym.bench.timing import Work
from dicegym.registry import Environment


def check_mode(mode: str) -> None:
    """Raise DependencyError if a mode needs a package that is not installed."""
    if mode == "sb3":
        import dicegym.envs.sb3  # noqa: F401 - only whether it can be imported


LOOPS: Mapping[str, Callable[[Environment], Work]] = {
    "batch": bare_batch,
    "make_vec": make_vec,
    "sb3": sb3,
    "make": lambda environment: make(environment.full_id),
    "state": one_state,
    "aec": our_aec,
    "parallel": parallel,
}
"""Each mode's loop."""
