"""Where compiled kernels are kept: never where others can write, and always somewhere."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import pytest

from dicegym.engine import cache_folder, jit

pytestmark = pytest.mark.nojit
needs_owners = pytest.mark.skipif(not cache_folder.OWNERS_KNOWN, reason="needs owners and modes of files")
needs_root = pytest.mark.skipif(
    not cache_folder.OWNERS_KNOWN or os.getuid() != 0, reason="only root can give files to somebody else"
)
SOMEBODY = 12345


def find() -> Path:
    return cache_folder.find("kernels-now")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the temporary folder; nothing else of the machine is used."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(cache_folder.tempfile, "tempdir", str(place))
    monkeypatch.setattr(cache_folder.atexit, "register", lambda call: None)
    return place


@pytest.fixture
def wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that is asked for, which does not exist yet."""
    monkeypatch.setenv("DICEGYM_CACHE", str(tmp_path / "mine"))
    return tmp_path / "mine"


@needs_owners
@pytest.mark.parametrize("is_link", [False, True])
def test_the_folder_that_is_asked_for_is_made_for_the_user_alone(wanted: Path, tmp_path: Path, is_link: bool) -> None:
    """A link may be asked for too."""
    place = tmp_path / "disk" if is_link else wanted
    if is_link:
        place.mkdir(mode=0o700)
        wanted.symlink_to(place)
    before = os.umask(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = find()
    finally:
        os.umask(before)
    assert found == place / "kernels-now"
    assert [path.stat().st_mode & 0o777 for path in (place, found)] == [0o700, 0o700]


def test_the_users_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import platformdirs

    monkeypatch.delenv("DICEGYM_CACHE", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name, appauthor: tmp_path / name)
    assert find() == tmp_path / "dicegym" / "kernels-now"


@pytest.mark.skipif(not jit.COMPILED, reason="nothing is compiled")
def test_modes_of_numba_have_folders_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba would hand out the cached function without the checks."""
    names = set()
    for checked in (0, 1):
        monkeypatch.setattr(numba.config, "BOUNDSCHECK", checked)
        names.add(jit._generation())
    assert len(names) == 2
    assert all(jit.source_hash() in name for name in names)


def test_a_folder_of_compiled_kernels_may_be_read_only(wanted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find()
    monkeypatch.setattr(cache_folder.os, "access", lambda path, mode: False)
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        assert find() != wanted / "kernels-now"
    (wanted / "kernels-now" / "kernel.nbc").touch()
    assert find() == wanted / "kernels-now"


def give_away(path: Path) -> None:
    os.chown(path, SOMEBODY, -1)


PLACES = {"root": "mine/root", "generation": "mine/root/kernels-now", "above": "mine"}
CHANGES: list[tuple[Callable[[Path], None], str]] = [
    (lambda path: path.chmod(0o770), "others may write in"),
    (lambda path: path.chmod(0o702), "others may write in"),
    (give_away, "belongs to another user"),
]


@needs_owners
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("change", "reason"), CHANGES)
def test_a_folder_that_others_could_put_files_in_is_replaced_for_this_process(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, place: str, change: Any, reason: str
) -> None:
    """Also one above, in whose place somebody else could put another."""
    if change is give_away and os.getuid() != 0:
        pytest.skip("only root can give files to somebody else")
    monkeypatch.setenv("DICEGYM_CACHE", str(tmp_path / "mine" / "root"))
    monkeypatch.setattr(cache_folder, "_users_own_group", lambda gid: False)
    find()
    change(tmp_path / PLACES[place])
    with pytest.warns(RuntimeWarning, match=f"DICEGYM_CACHE=.*{reason}") as said:
        assert find().parent == temporary
    assert len(said) == 1


@needs_owners
@pytest.mark.parametrize(("mode", "own_group"), [(0o1777, False), (0o775, True)], ids=["sticky", "own group"])
def test_a_folder_above_may_be_sticky_or_of_the_users_own_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, own_group: bool
) -> None:
    """Others cannot move what is in a sticky folder."""
    monkeypatch.setenv("DICEGYM_CACHE", str(tmp_path / "mine" / "root"))
    monkeypatch.setattr(cache_folder, "_users_own_group", lambda gid: own_group)
    find()
    (tmp_path / "mine").chmod(mode)
    assert find() == tmp_path / "mine" / "root" / "kernels-now"


def test_a_folder_that_cannot_be_made_is_replaced_for_this_process(wanted: Path, temporary: Path) -> None:
    wanted.write_text("no folder can be made below a file, not even by root")
    with pytest.warns(RuntimeWarning, match="DICEGYM_CACHE="):
        assert find().parent == temporary


@needs_root
def test_root_is_trusted(wanted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who owns the machine may have compiled for its users."""
    find()
    monkeypatch.setattr(cache_folder.os, "getuid", lambda: SOMEBODY)
    assert find() == wanted / "kernels-now"


@pytest.mark.parametrize(
    ("name", "members", "expected"),
    [("ann", [], True), ("ann", ["ann"], True), ("ann", ["bob"], False), ("x", [], False)],
)
def test_groups_of_one(name: str, members: list[str], expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    grp, pwd = pytest.importorskip("grp"), pytest.importorskip("pwd")
    assert not cache_folder._users_own_group(2**31 - 7)
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_name="ann"))
    monkeypatch.setattr(grp, "getgrgid", lambda gid: SimpleNamespace(gr_name=name, gr_mem=members))
    assert cache_folder._users_own_group(1) is expected


def test_old_generations_and_what_killed_processes_left_are_dropped(wanted: Path) -> None:
    for age in range(8):
        folder = wanted / f"kernels-{age}"
        folder.mkdir(mode=0o700, parents=True)
        os.utime(folder, (10**9 - age, 10**9 - age))
    (wanted / "something else").mkdir()
    old, new = find() / "a.nbc.0.tmp", find() / "b.nbc.0.tmp"
    left = sorted(path.name for path in wanted.iterdir())
    assert left == ["kernels-0", "kernels-1", "kernels-2", "kernels-now", "something else"]
    for path in (old, new):
        path.touch()
    os.utime(old, (time.time() - 2 * cache_folder.LEFT_BEHIND,) * 2)
    find()
    assert new.exists()
    assert not old.exists()


def test_a_folder_for_one_process_ends_with_it(tmp_path: Path) -> None:
    code = "from dicegym.engine import cache_folder; print(cache_folder._for_this_process())"
    environment = os.environ | {"TMPDIR": str(tmp_path), "TEMP": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    folder = Path(done.stdout.strip())
    assert folder.parent == tmp_path
    assert not folder.exists()
