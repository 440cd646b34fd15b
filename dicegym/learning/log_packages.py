"""Which packages a training logs to, and whether they are here; known before any library is imported."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from dicegym.errors import DependencyError

PACKAGES = {"wandb": "Weights & Biases", "mlflow": "MLflow"}
"""By the name of the package, which is that of the setting too. No extra installs them."""


def check_logs(names: Sequence[str]) -> None:
    """Raise DependencyError for the first of ``names`` (``run.log``) whose package is not installed."""
    for name in names:
        if name in PACKAGES and find_spec(name) is None:
            raise DependencyError(
                f"logging to {PACKAGES[name]} (run.log) needs {name}, which is not installed: pip install {name}"
            )
