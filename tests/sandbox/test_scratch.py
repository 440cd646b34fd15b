"""A temporary folder is removed, whatever a program has made in it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from dicegym.sandbox import scratch

NOBODY = 65534


def deep(folder: Path, levels: int, name: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=descriptor)
        inner = os.open(name, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
    os.close(descriptor)


def odd(folder: Path) -> None:
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


WAYS: dict[str, Callable[[Path], None]] = {
    "longer than a path": lambda folder: deep(folder, 40, "inner" * 50),
    "deeper than Python's stack": lambda folder: deep(folder, 2000, "x"),
    "odd things": odd,
    "a link": lambda folder: folder.rmdir() or folder.symlink_to(folder.parent / "kept"),
    "nothing": Path.rmdir,
}


@pytest.mark.parametrize("way", WAYS)
def test_all_goes_and_nothing_beside(way: str, tmp_path: Path) -> None:
    own, kept = tmp_path / "own", tmp_path / "kept"
    own.mkdir()
    kept.mkdir()
    (kept / "file").write_text("kept")
    kept.chmod(0o500)
    WAYS[way](own)
    scratch.throw_away(str(own))
    assert os.path.lexists(own) == (way == "a link")
    assert (kept / "file").read_text() == "kept"
    assert kept.stat().st_mode & 0o777 == 0o500


@pytest.mark.skipif(os.geteuid() != 0, reason="is tested above: missing rights stop all users except root")
def test_folders_without_rights_go_for_users_too() -> None:
    top = tempfile.mkdtemp()  # pytest's folders are closed to others
    os.chown(top, NOBODY, NOBODY)
    child = os.fork()
    if child == 0:
        os.setuid(NOBODY)
        own = Path(top, "own")
        (own / "a" / "b").mkdir(parents=True)
        (own / "a").chmod(0)
        scratch.throw_away(str(own))
        os._exit(own.exists())
    assert os.waitpid(child, 0)[1] == 0
    scratch.throw_away(top)
    assert not os.path.exists(top)
