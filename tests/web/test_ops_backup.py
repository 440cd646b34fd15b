"""What pages keep is copied while they run."""

from __future__ import annotations

import dataclasses
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from command_line import Run
from web_pages import Visitor

from dicegym.errors import DamagedFileError, ParameterError
from dicegym.web.application import create_app
from dicegym.web.backup import back_up
from dicegym.web.web_settings import WebSettings


def test_what_pages_keep_is_copied_while_they_run(settings: WebSettings, tmp_path: Path, run: Run) -> None:
    store = tmp_path / "arena.sqlite"
    with closing(sqlite3.connect(store)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE t (x)")
        writer.commit()
        writer.execute("INSERT INTO t VALUES (1)")
        writer.commit()
        with Visitor(create_app(settings)) as asked:
            asked.get("/")
            words = ("web", "backup", tmp_path / "copy", "--folder", settings.folder, "--store", store)
            status, _, err = run(*words)
        assert status == 0, err
    copy = tmp_path / "copy"
    assert (copy / "pages" / "secret").read_bytes() == (settings.folder / "secret").read_bytes()
    assert not list(copy.rglob("*-wal"))
    with closing(sqlite3.connect(copy / "store" / store.name)) as read:
        assert read.execute("SELECT x FROM t").fetchall() == [(1,)]
    back = dataclasses.replace(settings, folder=copy / "pages", store=str(copy / "store" / store.name))
    assert create_app(back).state.web.secret == create_app(settings).state.web.secret


def test_what_cannot_be_copied_is_said(settings: WebSettings, tmp_path: Path) -> None:
    settings.folder.mkdir(parents=True)
    with pytest.raises(ParameterError, match="not a folder"):
        back_up(tmp_path / "none", "", tmp_path / "copy")
    with pytest.raises(ParameterError, match="there already"):
        back_up(settings.folder, "", tmp_path)
    with pytest.raises(ParameterError, match="is inside"):
        back_up(settings.folder, "", settings.folder / "copy")
    (settings.folder / "x.sqlite").write_bytes(b"SQLite format 3\0 and nonsense" * 90)
    with pytest.raises(DamagedFileError, match=r"x\.sqlite"):
        back_up(settings.folder, "", tmp_path / "copy")
    assert not list(tmp_path.glob(".*partial")), "nothing is left behind"
