"""Files that others give are read up to a limit and in clear words; files of ours are written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Run

from dicegym.errors import DamagedFileError, ParameterError
from dicegym.files import DATABASE_HEADER, read_bytes, read_text, refuse_database, write_text, writing


def damaged(folder: Path) -> dict[str, Path]:
    """Return a file of each kind that is none, by what is said of it."""
    made: dict[str, Callable[[Path], object]] = {
        "is a folder": lambda path: path.mkdir(),
        "No such file": lambda path: None,
        "is larger than 100 bytes": lambda path: path.write_bytes(b"x" * 101),
        "is not UTF-8 text": lambda path: path.write_bytes(b"ab\xff\xfe"),
        "NUL bytes": lambda path: path.write_bytes(b"ab\0cd"),
        "not a regular file": os.mkfifo,
        "symbolic links": lambda path: path.symlink_to(path.name),
    }
    found = {}
    for number, (said, make) in enumerate(made.items()):
        found[said] = folder / f"file{number}"
        make(found[said])
    return found | {"null byte": folder / "a\0b"}


def test_what_is_no_text_is_refused_in_words(tmp_path: Path) -> None:
    for said, path in damaged(tmp_path).items():
        with pytest.raises(DamagedFileError, match=f"{said}.*: name another") as caught:
            read_text(path, "name another", 100)
        assert caught.value.instead == "name another"
        assert str(caught.value).count("name another") == 1, "it is told once"


def test_what_is_sparse_or_endless_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(DamagedFileError, match="larger"):
        read_bytes(tmp_path / "big", "x")
    if Path("/dev/zero").exists():
        with pytest.raises(DamagedFileError, match="not a regular file"):
            read_bytes("/dev/zero", "x")


def test_a_mark_at_the_beginning_and_lines_of_windows_are_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbfa\r\nb")
    assert read_text(tmp_path / "x", "") == "a\nb"


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_text(path, "old")
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~_umask()
    path.chmod(0o640)
    with pytest.raises(RuntimeError, match="stop"):
        _write_half(path)
    assert path.read_text() == "old"
    write_text(path, "new \ud800")
    assert path.read_text() == "new \\ud800"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["x.json"]


@pytest.mark.parametrize("letter", ["x", "\u00e9", "\u63b7", "\U0001f3b2"])
def test_a_file_may_have_any_name_that_its_folder_takes(letter: str, tmp_path: Path) -> None:
    path = tmp_path / (letter * (240 // len(letter.encode())) + ".json")
    write_text(path, "found")
    assert path.read_text() == "found"


def test_a_link_stays_one_and_devices_are_written_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"
    write_text(os.devnull, "nothing")
    assert not Path(os.devnull).is_file()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_not_opened_to_see_whether_it_is_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening it would wait for its writer."""
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("opened"))
    refuse_database(tmp_path / "pipe")


def test_readers_see_the_old_file_or_the_new(tmp_path: Path) -> None:
    path, over = tmp_path / "x", threading.Event()
    whole = {letter * 100_000 for letter in "abcd"}
    write_text(path, "a" * 100_000)

    def write(text: str) -> None:
        while not over.is_set():
            write_text(path, text)

    writers = [threading.Thread(target=write, args=(text,)) for text in whole]
    for writer in writers:
        writer.start()
    try:
        seen = {path.read_text() for _ in range(300)}
    finally:
        over.set()
        for writer in writers:
            writer.join()
    assert seen <= whole
    assert os.listdir(tmp_path) == ["x"]


def _write_half(path: Path) -> None:
    with writing(path) as unfinished:
        unfinished.write_text("half")
        raise RuntimeError("stop")


def _umask() -> int:
    found = os.umask(0o022)
    os.umask(found)
    return found


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    target.write_text("old")
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        write_text("/dev/full", "text")
    with pytest.raises(OSError, match=f"No space left on device: '{target}'"), writing(target):
        Path("/dev/full").write_bytes(b"x")
    with pytest.raises(OSError, match=f"No space left on device: '{target}'"), writing(target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(FileNotFoundError, match=r"'.*nowhere/result.json'"):
        write_text(tmp_path / "nowhere" / "result.json", "text")
    with pytest.raises(FileNotFoundError, match="'another'"), writing(target):
        raise FileNotFoundError(errno.ENOENT, "No such file", "another")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


WRITING: list[tuple[str, ...]] = [
    ("tournament", "hog", "bacon", "swap", "--seed", "1", "--games", "2", "json"),
    ("arena", "list", "json"),
    ("arena", "show", "csv"),
    ("check", "BOT", "--game", "hog", "json"),
]
"""Words of commands, and how the file ends that they are to write."""
MORE_WRITING: list[tuple[str, ...]] = [
    ("tournament", "hog", "bacon", "swap", "--seed", "1", "--games", "2", "html"),
    ("compare", "hog", "bacon", "swap", "--seed", "1", "--games", "10", "json"),
    ("arena", "show", "json"),
    ("arena", "matches", "json"),
    ("arena", "matches", "csv"),
    ("values", "grade", "hog", "bacon", "--games", "2", "json"),
]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("commands", [WRITING, pytest.param(MORE_WRITING, marks=pytest.mark.slow)])
def test_commands_name_the_file_that_they_cannot_write(
    commands: list[tuple[str, ...]], run: Run, tmp_path: Path
) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text("def final_strategy(score, opponent_score):\n    return 5\n")
    for ending in ("json", "csv", "html"):
        (tmp_path / f"full.{ending}").symlink_to("/dev/full")
    assert run("tournament", "hog", "bacon", "swap", "--seed", "1", "--games", "2")[0] == 0
    for *words, ending in commands:
        target = tmp_path / f"full.{ending}"
        status, _, err = run(*(bot if word == "BOT" else word for word in words), "-o", target)
        assert (status, err.replace("\n", " ").count(f"No space left on device: '{target}'")) == (2, 1), (words, err)


def test_nothing_is_written_over_a_database(run: Run, tmp_path: Path) -> None:
    """Neither over the store of a contest, nor over one that a file beside the named one would replace."""
    store, other = tmp_path / "new.json", tmp_path / "d-matches.csv"
    words = ("tournament", "hog", "bacon", "swap", "--games", "2", "--seed", "3", "--workers", "1", "--store")
    status, _, err = run(*words, store, "-o", store)
    assert (status, err.count("is a database")) == (2, 1)
    status, _, err = run(*words, other, "-o", tmp_path / "d.csv")
    assert (status, err.count("is a database")) == (2, 1)
    assert other.read_bytes().startswith(DATABASE_HEADER)
    with pytest.raises(ParameterError, match="is a database"):
        write_text(other, "nothing")
