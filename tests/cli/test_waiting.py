"""Commands leave the processor to others while their libraries' threads have nothing to do."""

from __future__ import annotations

import os

import pytest

from dicegym.cli.app import main


def policy_after(arguments: list[str]) -> str | None:
    with pytest.raises(SystemExit):
        main(arguments)
    return os.environ.get("OMP_WAIT_POLICY")


def test_threads_of_libraries_wait_idly_unless_the_user_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    assert policy_after(["--version"]) == "PASSIVE"
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    assert policy_after(["--version"]) == "ACTIVE"
