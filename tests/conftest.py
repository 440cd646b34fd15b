"""What every test may rely on."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]

# The first example may compile a kernel; which examples run must not depend on the day.
hypothesis.settings.register_profile("dicegym", deadline=None, derandomize=True)
hypothesis.settings.load_profile("dicegym")

# A setting of whoever runs the tests must not decide which bots they see.
os.environ.pop("DICEGYM_AGENTS", None)

# A shell starts what it runs in the background deaf to Ctrl-C, and tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of the checkout."""
    return ROOT


def pytest_report_header() -> str:
    """Say in which of Numba's modes the kernels run, so that a log shows what it proves."""
    modes = [name for name in ("NUMBA_BOUNDSCHECK", "NUMBA_DISABLE_JIT") if os.environ.get(name, "0") != "0"]
    return f"kernels: {', '.join(modes) or 'compiled'}"
