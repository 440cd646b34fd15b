"""What figures depend on: the processor, its cores, Python and the packages."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("dicegym", "gymnasium", "pettingzoo", "numba", "numpy")


def machine(packages: Iterable[str] = ()) -> dict[str, str]:
    """Return processor, cores, system, Python, and the versions of `PACKAGES` and of ``packages`` if installed.

    Not the machine's name: figures are published.
    """
    facts = {
        "processor": processor_name(),
        "cores": str(os.cpu_count()),
        "system": platform.system(),
        "Python": platform.python_version(),
    }
    for package in dict.fromkeys((*PACKAGES, *packages)):
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            continue
    return facts


def processor_name() -> str:
    """Return what the processor is called."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def peak_memory() -> float | None:
    """Return the most memory that this process has had, in MiB; None on Windows, which does not say."""
    if sys.platform == "win32":
        return None
    import resource

    units = 1 << 20 if sys.platform == "darwin" else 1 << 10  # macOS counts bytes, Linux KiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / units
