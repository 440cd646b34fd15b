"""What ``dicegym doctor`` says of machines, whole ones and others."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from command_line import Run

from dicegym import doctor
from dicegym.doctor import BROKEN, LACKING, OK, Diagnosis, examine


def only(found: list[Diagnosis], topic: str, name: str = "") -> Diagnosis:
    (one,) = [one for one in found if (one.topic, one.name) == (topic, name)]
    return one


def test_this_machine_is_in_order(run: Run, tmp_path: Path) -> None:
    status, printed, _ = run("doctor", "-o", tmp_path / "here.json")
    assert status == 0, printed
    found = [Diagnosis(**one) for one in json.loads((tmp_path / "here.json").read_text())]
    assert {one.state for one in found} <= {OK, LACKING}
    assert only(found, "packages", "core").words in printed
    assert {one.topic for one in found} > {"Python", "extras", "kernels", "isolation", "store", "tables", "agents"}
    assert all(one.words for one in found)


def test_it_loads_no_pytorch() -> None:
    code = "import sys, dicegym.doctor as d; d.examine(); print('torch' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"


def test_every_extra_is_told_of() -> None:
    known = metadata.metadata("dicegym").get_all("Provides-Extra")
    assert {one.name for one in doctor.packages() if one.topic == "extras"} == set(known or [])
    assert set(doctor.PURPOSES) == set(known or []), "each says what it is for"


def test_what_is_not_whole_is_told(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    real = doctor.version_of
    monkeypatch.setattr(doctor, "version_of", lambda name: "" if name in ("scipy", "numba") else real(name))
    packages = list(doctor.packages())
    extra, core = only(packages, "extras", "arena"), only(packages, "packages", "core")
    assert (extra.state, "scipy missing" in extra.words, ".[arena]" in extra.advice) == (LACKING, True, True)
    assert (core.state, "numba missing" in core.words) == (BROKEN, True)
    status, _, err = run("doctor")
    assert (status, "does not work" in err) == (1, True)


TABLES = {
    "another program's": ["create table things (name text)"],
    "a newer version's": ["create table about (name text, value text)", "insert into about values ('schema', '99')"],
}


@pytest.mark.parametrize("made", ["nothing", "a text", *TABLES])
def test_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str) -> None:
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("DICEGYM_STORE", str(path))
    if made == "a text":
        path.write_text("no database at all, though it is long enough to look like one" * 20)
    for statement in TABLES.get(made, []):
        with sqlite3.connect(path) as connection:
            connection.execute(statement)
    assert only(list(doctor.store()), "store").state == (OK if made == "nothing" else BROKEN)


def test_what_cannot_be_examined_costs_nobody_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    def odd() -> list[Diagnosis]:
        raise RuntimeError("what a machine")

    monkeypatch.setattr(doctor, "EXAMINATIONS", (odd, doctor.kernels))
    found = examine()
    assert found[0].state == BROKEN
    assert "what a machine" in found[0].words
    assert len(found) == 2
