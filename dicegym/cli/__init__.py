"""The command line: one thin verb per capability. ``dicegym --help`` lists them."""

from __future__ import annotations

from dicegym.cli.app import main

__all__ = ["main"]
