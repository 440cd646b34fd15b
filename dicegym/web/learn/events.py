"""Numbers that a training logs to TensorBoard, read from its event files as far as they can be read."""

from __future__ import annotations

import functools
from pathlib import Path


def read_scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Return step and value of all scalars below a folder, by tag, in the order of their steps.

    What is damaged, or is being written, ends a file. Without TensorBoard on this machine nothing is read.
    """
    found: dict[str, dict[int, float]] = {}
    for path in sorted(folder.rglob("events.out.tfevents.*")):
        if path.is_file() and not path.is_symlink():
            for tag, step, value in _scalars(path, path.stat().st_size):
                found.setdefault(tag, {})[step] = value
    return {tag: sorted(values.items()) for tag, values in found.items()}


@functools.lru_cache(maxsize=256)
def _scalars(path: Path, size: int) -> list[tuple[str, int, float]]:
    """Return tag, step and value of the scalars of a file; ``size`` tells its states apart."""
    try:
        from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
    except ImportError:
        return []
    found: list[tuple[str, int, float]] = []
    try:
        for event in LegacyEventFileLoader(str(path)).Load():
            found += [(one.tag, event.step, one.simple_value) for one in event.summary.value]
    except Exception:
        pass
    return found
