"""How far trainings count; of its own, as commands ask before they load anything that learns."""

from __future__ import annotations

MOST = 1 << 40
"""Nothing is counted further."""
