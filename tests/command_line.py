"""The command line, run in the process of the tests."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

Run = Callable[..., tuple[int, str, str]]
"""Runs the command line with some words; returns (exit status, standard output, standard error)."""


def run_with(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Run the command line with ``words``; return (exit status, standard output, standard error)."""
    from dicegym.cli import main  # not before conftest.py has set what libraries are loaded with

    status = 0
    try:
        main([str(word) for word in words])
    except SystemExit as end:
        status = int(end.code or 0)
    shown = capsys.readouterr()
    return status, shown.out, shown.err


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what runs the command line in this process."""
    return functools.partial(run_with, capsys)
