"""Drawing with matplotlib into files. Needs the extra ``train``."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from dicegym.errors import DependencyError, ParameterError

ENDINGS = (".png", ".svg")
"""Of the files that pictures are written to."""


def pyplot(purpose: str) -> Any:
    """Return `matplotlib.pyplot`, drawing into files. Raises DependencyError if it is not installed."""
    try:
        importlib.import_module("matplotlib").use("agg")
        return importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        raise DependencyError.for_extra("matplotlib", "train", purpose) from error


def short(number: float) -> str:
    """Return a large number as people say it: 12.3 M, 45 k."""
    for size, letter in ((1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


def check_picture(path: Path, purpose: str) -> None:
    """Raise DependencyError or ParameterError if no picture can be drawn to ``path``, before any work is done."""
    pyplot(purpose)
    if path.suffix not in ENDINGS:
        raise ParameterError(f"{path} is no kind of picture: name a file that ends in {' or '.join(ENDINGS)}")
