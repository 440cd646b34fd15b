"""What ``dicegym doctor`` says of machines, whole ones and others."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from dicegym import doctor
from dicegym.cli import main
from dicegym.doctor import BROKEN, LACKING, OK, Diagnosis, examine


def only(found: list[Diagnosis], topic: str, name: str = "") -> Diagnosis:
    (one,) = [one for one in found if (one.topic, one.name) == (topic, name)]
    return one


def test_this_machine_is_in_order(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["doctor", "-o", "here.json"])
    assert end.value.code == 0, capsys.readouterr().out
    printed = capsys.readouterr().out
    found = [Diagnosis(**one) for one in json.loads(Path("here.json").read_text())]
    assert {one.state for one in found} <= {OK, LACKING}
    assert only(found, "packages", "core").words in printed
    assert {one.topic for one in found} > {"Python", "extras", "kernels", "isolation", "store", "tables", "agents"}
    assert all(one.words for one in found)


def test_it_is_quick_and_loads_no_pytorch() -> None:
    code = "import sys, dicegym.doctor as d; d.examine(); print('torch' in sys.modules)"
    began = time.monotonic()
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
    assert time.monotonic() - began < 20  # about one second where nothing else is done


def test_every_extra_is_told_of() -> None:
    known = metadata.metadata("dicegym").get_all("Provides-Extra")
    assert {one.name for one in doctor.packages() if one.topic == "extras"} == set(known or [])
    assert set(doctor.PURPOSES) == set(known or []), "each says what it is for"


def test_an_extra_that_is_not_whole_is_lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    real = doctor.version_of
    monkeypatch.setattr(doctor, "version_of", lambda name: "" if name == "scipy" else real(name))
    found = only(list(doctor.packages()), "extras", "arena")
    assert found.state == LACKING
    assert "scipy missing" in found.words
    assert ".[arena]" in found.advice


def test_a_core_that_is_not_whole_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = doctor.version_of
    monkeypatch.setattr(doctor, "version_of", lambda name: "" if name == "numba" else real(name))
    core = only(list(doctor.packages()), "packages", "core")
    assert core.state == BROKEN
    assert "numba missing" in core.words
    with pytest.raises(SystemExit) as end:
        main(["doctor"])
    assert end.value.code == 1
    assert "does not work" in capsys.readouterr().err


def _nothing(path: Path) -> None:
    pass


def _text(path: Path) -> None:
    path.write_text("no database at all, though it is long enough to look like one" * 20)


def _other(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("create table things (name text)")


def _newer(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("create table about (name text, value text)")
        connection.execute("insert into about values ('schema', '99')")


@pytest.mark.parametrize(("made", "state"), [(_nothing, OK), (_text, BROKEN), (_other, BROKEN), (_newer, BROKEN)])
def test_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Callable[[Path], None], state: str) -> None:
    monkeypatch.setenv("DICEGYM_STORE", str(tmp_path / "store.sqlite"))
    made(tmp_path / "store.sqlite")
    assert only(list(doctor.store()), "store").state == state


def test_what_cannot_be_examined_costs_nobody_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    def odd() -> list[Diagnosis]:
        raise RuntimeError("what a machine")

    monkeypatch.setattr(doctor, "EXAMINATIONS", (odd, doctor.kernels))
    found = examine()
    assert found[0].state == BROKEN
    assert "what a machine" in found[0].words
    assert len(found) == 2
