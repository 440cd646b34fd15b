"""The loops of `dicegym.bench` by mode, and whether a mode can run here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dicegym.bench import FORMS, Work
from dicegym.registry import Environment

LOOPS: Mapping[str, Callable[[Environment], Work]] = {name: form.loop for name, form in FORMS.items()}
"""Each mode's loop."""


def check_mode(mode: str) -> None:
    """Raise DependencyError if a mode needs a package that is not installed."""
    if mode == "sb3":
        import dicegym.envs.sb3  # noqa: F401 - only whether it can be imported
