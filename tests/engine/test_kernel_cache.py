"""Whatever has become of a file of compiled kernels, a start succeeds, and only whole files of one's own are run."""

from __future__ import annotations

import errno
import hashlib
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from dicegym.engine import jit, kernel_cache
from dicegym.engine.kernel_cache import KernelCache

pytestmark = pytest.mark.skipif(not jit.COMPILED, reason="nothing is compiled")

POISON = "poisoned"


def add(a: int, b: int) -> int:
    return a + b


class Start:
    """The function `add` as a new process would compile it.

    Attributes:
        loaded: whether its code came from the cache.
    """

    def __init__(self, folder: Path, argument: Any = 3) -> None:
        compiled = numba.njit(add)
        compiled._cache = KernelCache(add, folder, "")
        assert compiled(argument, 4) == argument + 4
        self.loaded = sum(compiled.stats.cache_hits.values()) == 1
        self.compiled = compiled


def entry(folder: Path) -> Path:
    (found,) = folder.glob("*.nbc")
    return found


def sealed(body: bytes) -> bytes:
    return hashlib.sha256(body).digest() + body


class Bomb:
    """Unpickling it leaves a mark."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.mark,)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that holds `add` for two whole numbers, and that nobody changes."""
    made = tmp_path_factory.mktemp("compiled") / "kernels"
    assert not Start(made).loaded
    assert Start(made).loaded
    return made


@pytest.fixture
def folder(compiled: Path, tmp_path: Path) -> Path:
    """Return a copy of that folder."""
    return Path(shutil.copytree(compiled, tmp_path / "kernels"))


def test_a_file_is_the_users_alone(folder: Path) -> None:
    assert entry(folder).stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_another_signature_has_a_file_of_its_own(folder: Path) -> None:
    assert not Start(folder, 0.5).loaded
    assert Start(folder, 0.5).loaded
    assert Start(folder).loaded
    assert len(list(folder.iterdir())) == 2


def another_key(content: bytes) -> bytes:
    key, data = pickle.loads(content[32:])
    return sealed(pickle.dumps(((*key, "more"), data)))


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "cut in the hash": lambda content: content[:20],
    "the hash alone": lambda content: content[:32],
    "one bit": lambda content: content[:-100] + bytes([content[-100] ^ 1]) + content[-99:],
    "garbage": lambda content: b"\xff" * len(content),
    "not a pickle": lambda content: sealed(b"no pickle"),
    "an empty pickle": lambda content: sealed(b""),
    "a pickle of something else": lambda content: sealed(pickle.dumps(5)),
    "of a class that is gone": lambda content: sealed(b"cdicegym.engine.gone\nGone\n."),
    "of no compiled code": lambda content: sealed(pickle.dumps((pickle.loads(content[32:])[0], 5))),
    "of another key": another_key,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_dropped(folder: Path, damage: Callable[[bytes], bytes]) -> None:
    path = entry(folder)
    path.write_bytes(damage(path.read_bytes()))
    assert not Start(folder).loaded
    assert Start(folder).loaded


def test_a_link_in_its_place_is_not_followed(folder: Path, tmp_path: Path) -> None:
    path = entry(folder)
    elsewhere = path.rename(tmp_path / "elsewhere")
    path.symlink_to(elsewhere)
    assert not Start(folder).loaded
    assert Start(folder).loaded
    assert elsewhere.exists()
    assert not path.is_symlink()


NOT_OURS: dict[str, Callable[[Path], None]] = {
    "group may write": lambda path: path.chmod(0o620),
    "others may write": lambda path: path.chmod(0o602),
    "another user's": lambda path: os.chown(path, 12345, -1),
    "without its hash": lambda path: path.write_bytes(b"\0" * 32 + path.read_bytes()[32:]) and None,
}


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs owners and modes of files")
@pytest.mark.parametrize("change", NOT_OURS.values(), ids=NOT_OURS)
def test_what_others_could_have_written_is_not_unpickled(
    folder: Path, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    path = entry(folder)
    path.write_bytes(sealed(pickle.dumps(Bomb(tmp_path / POISON))))
    try:
        change(path)
    except PermissionError:
        pytest.skip("only root can give files away")
    assert not Start(folder).loaded
    assert not (tmp_path / POISON).exists()
    assert Start(folder).loaded or path.stat().st_uid == 12345


# --- nowhere to write --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "call"),
    [(errno.ENOSPC, "open"), (errno.EROFS, "replace"), (errno.EACCES, "open"), (errno.EDQUOT, "replace")],
)
def test_what_cannot_be_written_stays_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, call: str
) -> None:
    def refuse(*args: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(kernel_cache.os, call, refuse)
    with pytest.warns(RuntimeWarning, match=os.strerror(number)):
        assert not Start(tmp_path).loaded
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []
    assert not Start(tmp_path).loaded
    assert Start(tmp_path).loaded


def test_a_file_where_the_folder_should_be_and_a_folder_that_was_tidied_away(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.warns(RuntimeWarning, match="cannot be kept"):
        assert not Start(tmp_path / "file").loaded
    shutil.rmtree(folder)
    assert not Start(folder).loaded
    assert Start(folder).loaded


# --- several processes -------------------------------------------------------------------------------------


def writer(folder: Path, letter: str, rounds: int) -> int:
    """Begin a process that writes and reads four files again and again; return its number."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        for _ in range(rounds):
            for key in range(4):
                kernel_cache.save_entry(folder / str(key), key, (key, letter * 200_000))
                found = kernel_cache.load_entry(folder / str(key), key)
                assert found is None or (found[0] == key and len(set(found[1])) == 1 and len(found[1]) == 200_000), key
        status = 0
    finally:
        os._exit(status)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")  # which holds nothing
def test_processes_that_write_at_once(tmp_path: Path) -> None:
    both = [writer(tmp_path, letter, 12) for letter in "ab"]
    assert [os.waitpid(process, 0)[1] for process in both] == [0, 0]
    assert len(list(tmp_path.iterdir())) == 4


def test_a_kernel_with_a_closure_is_kept_by_its_values(tmp_path: Path) -> None:
    def loads(factor: int) -> bool:
        def times(a: int) -> int:
            return a * factor

        compiled = numba.njit(times)
        compiled._cache = KernelCache(times, tmp_path, "")
        assert compiled(3) == 3 * factor
        return bool(compiled.stats.cache_hits)

    assert [loads(factor) for factor in (2, 2, 5, 5, 2)] == [False, True, False, True, True]


@pytest.mark.parametrize(("setting", "compiled"), [("", True), ("0", True), ("no", True), ("1", False), ("2", False)])
def test_compilation_is_off_where_numba_says_so(setting: str, compiled: bool) -> None:
    code = "from dicegym.engine.numba_names import COMPILED as found; print(found)"
    environment = os.environ | {"NUMBA_DISABLE_JIT": setting}
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(compiled)


# --- games outside the package -----------------------------------------------------------------------------


def test_sources_beside(tmp_path: Path) -> None:
    rules = tmp_path / "game" / "rules.py"
    rules.parent.mkdir()
    rules.write_text("1")
    seen = [kernel_cache.hash_beside(str(rules))]
    for name, text in (("rules.py", "2"), ("more.py", ""), ("below/part.py", "unpackaged"), ("notes.txt", "")):
        (rules.parent / name).parent.mkdir(exist_ok=True)
        (rules.parent / name).write_text(text)
        seen.append(kernel_cache.hash_beside(str(rules)))
    (rules.parent / "__init__.py").touch()
    seen.append(kernel_cache.hash_beside(str(rules)))
    assert seen[2] == seen[3] == seen[4]
    assert len(set(seen)) == 4
    assert kernel_cache.hash_beside("<stdin>") is None


def test_a_function_without_a_file_is_not_kept(tmp_path: Path) -> None:
    names: dict[str, Any] = {"__name__": "typed"}
    exec(compile("def twice(a):\n    return 2 * a", "<stdin>", "exec"), names)
    compiled = numba.njit(names["twice"])
    compiled._cache = KernelCache(names["twice"], tmp_path, kernel_cache.hash_beside("<stdin>"))
    assert compiled(2) == 4
    assert list(tmp_path.iterdir()) == []


def first(states: np.ndarray) -> int:
    return states[0].a


def test_a_loop_depends_on_the_game_whose_record_it_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "_outside", {})
    inside, outside = (np.zeros(1, np.dtype([(name, np.int64) for name in names])) for names in ("ab", "ac"))

    def loads(states: np.ndarray) -> bool:
        compiled = numba.njit(first)
        compiled._cache = KernelCache(first, tmp_path / "kernels", "")
        assert compiled(states) == 0
        return bool(compiled.stats.cache_hits)

    rules = tmp_path / "rules.py"
    for text, expected in (("1", False), ("1", True), ("2", False), ("1", True)):
        rules.write_text(text)
        kernel_cache.declare(outside.dtype, str(rules))
        assert loads(outside) is expected
    assert not loads(inside)
    assert loads(inside)
    kernel_cache.declare(outside.dtype, "<stdin>")  # no file to look at
    assert not loads(outside)
