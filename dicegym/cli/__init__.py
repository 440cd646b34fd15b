"""The command line: a thin command for each capability. ``dicegym --help`` lists them."""

from __future__ import annotations

from dicegym.cli.app import main

__all__ = ["main"]
