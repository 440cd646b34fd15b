"""A temporary folder is emptied, whatever a program has made in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dicegym.sandbox import scratch


def deep(folder: Path) -> None:
    """Make folders nested deeper than the longest path."""
    name = "inner" * 50
    descriptor = os.open(folder, os.O_RDONLY)
    for _ in range(40):
        os.mkdir(name, dir_fd=descriptor)
        inner = os.open(name, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
    os.close(descriptor)


def odd(folder: Path) -> None:
    (folder / ".0").write_text("a name that is used when folders are moved")
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "file").touch()
    (folder / "a" / "b").chmod(0)
    (folder / "a").chmod(0)
    (folder / "link").symlink_to(folder.parent / "kept")
    (folder / "a\nb").mkdir()
    (folder / "a\nb" / "link").symlink_to(folder.parent / "kept")
    (folder / "loop").symlink_to("loop")
    os.link(folder.parent / "kept" / "file", folder / "hard")
    os.mkfifo(folder / "pipe")


@pytest.mark.parametrize("make", [deep, odd])
def test_all_goes_and_nothing_beside(make: object, tmp_path: Path) -> None:
    own, kept = tmp_path / "own", tmp_path / "kept"
    own.mkdir()
    kept.mkdir()
    (kept / "file").write_text("kept")
    kept.chmod(0o500)
    make(own)
    assert scratch.empty(str(own))
    assert list(own.iterdir()) == []
    assert (kept / "file").read_text() == "kept"
    assert kept.stat().st_mode & 0o777 == 0o500


def test_too_much_is_left(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / str(number)).touch()
    assert not scratch.empty(str(tmp_path), most=20)
    assert scratch.empty(str(tmp_path), most=20)
    assert scratch.empty(str(tmp_path))
    (tmp_path / "own" / "inner").mkdir(parents=True)
    scratch.throw_away(str(tmp_path / "own"))
    assert not list(tmp_path.iterdir())


def test_a_link_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("kept")
    (tmp_path / "own").symlink_to(tmp_path / "kept")
    with pytest.raises(OSError, match="own"):
        scratch.empty(str(tmp_path / "own"))
    scratch.throw_away(str(tmp_path / "own"))
    assert (tmp_path / "kept" / "file").read_text() == "kept"
