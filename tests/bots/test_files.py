"""What reads strangers' files where nothing guards them: only plain ones, bounded, none beyond the bot's folder."""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import dicegym
from dicegym.arena import Limits, check, contest
from dicegym.arena.entries import entries_of
from dicegym.arena.submissions import read_folder
from dicegym.bots import bot_files, scan
from dicegym.bots.scan import BadFileError, imports, list_imported_names
from dicegym.bots.source import Source, defines
from dicegym.errors import AgentError, DicegymError, ParameterError
from dicegym.players.agent_info import describe_agent, game_of_file
from dicegym.sandbox.jobs import entry
from dicegym.sandbox.readable import MOST_BESIDE, visible_files
from dicegym.sandbox.scratch import throw_away

if not hasattr(os, "mkfifo"):
    pytest.skip("pipes in folders are made by POSIX alone", allow_module_level=True)

PLAIN = "def final_strategy(score, opponent_score):\n    return 6\n"
Make = Callable[[Path], object]
LIMITS = Limits(seconds=1.0, memory=64 << 20)


def bound(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the names of sockets are short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)
    os.chdir(here)


def large(path: Path) -> None:
    path.touch()
    os.truncate(path, 50_000_000)


def says(text: str | bytes) -> Make:
    """Return what writes such a file."""
    return lambda path: path.write_bytes(text if isinstance(text, bytes) else text.encode())


def links(to: str) -> Make:
    return lambda path: path.symlink_to(to)


def leads_out(path: Path) -> None:
    other = path.parent.parent / "_other.py"
    other.write_text(PLAIN)
    path.symlink_to(other)


NO_FILES: dict[str, tuple[Make, str]] = {
    "fifo": (os.mkfifo, "is a pipe, not a file"),
    "device": (links("/dev/zero"), "is a device, not a file|leads out of its folder"),
    "in_circles": (lambda path: path.symlink_to(path.name), "is a link that leads in circles"),
    "nowhere": (links("absent"), "is a link that leads nowhere"),
    "bound": (bound, "is a socket, not a file"),
}
TOO_MUCH = "MemoryError|RecursionError|is not Python|ended its process"
BAD: dict[str, tuple[Make, str]] = {
    "large": (large, "is larger than 4 MiB, the limit of a file"),
    "nul": (says(PLAIN + "\0"), "null bytes"),
    "not_utf8": (says(b"# \xff\n" + PLAIN.encode()), "is not UTF-8 text"),
    "utf16": (says(PLAIN.encode("utf-16")), "is not UTF-8 text"),
    "brackets": (says("x = " + "(" * 500_000), "is not Python|MemoryError|too many nested"),
    "signs": (says("x = " + "-" * 1_000_000 + "1\n" + PLAIN), TOO_MUCH),
    "chain": (says("x = " + "a+" * 400_000 + "a\n" + PLAIN), TOO_MUCH),
    "digits": (says("x = " + "9" * 1_000_000 + "\n" + PLAIN), "is not Python: Exceeds the limit"),
    "too_many_imports": (
        says("import " + ",".join(f"a{number}" for number in range(3000)) + "\n" + PLAIN),
        "imports more than 2,000 names",
    ),
}
MAKERS = {name: make for name, (make, _) in (NO_FILES | BAD).items()} | {"leads_out": leads_out, "folder": Path.mkdir}


@pytest.mark.parametrize(
    ("line", "modules", "names"),
    [
        ("from pack import important", ["pack", "pack.important"], ["important"]),
        ("from important import a as b, c", ["important", "important.a", "important.c"], ["b", "c"]),
        ("from pack import (\n    imported,\n    b)", ["pack", "pack.imported", "pack.b"], ["imported", "b"]),
        ("from .import important", ["important"], ["important"]),
    ],
)
def test_names_that_contain_the_word_import(line: str, modules: list[str], names: list[str]) -> None:
    assert imports(line.encode()) == modules
    assert list_imported_names(line.removeprefix("from ")) == names


@pytest.fixture
def submitted(tmp_path: Path) -> Path:
    """A folder of submissions with a hostile file in place of each bot, as a file and in a folder, two good bots."""
    root = tmp_path / "submitted"
    root.mkdir()
    for name in [*NO_FILES, *BAD, "leads_out"]:
        MAKERS[name](root / f"{name}.py")
    for name in [*NO_FILES, "leads_out"]:
        (root / f"of_{name}").mkdir()
        MAKERS[name](root / f"of_{name}" / "hog.py")
    for name in ("ann", "bob"):
        (root / f"{name}.py").write_text(PLAIN)
    return root


@pytest.mark.slow
@pytest.mark.parametrize("isolation", ["process", "none"])
def test_hostile_files_are_struck_and_cost_nobody_anything(submitted: Path, isolation: str) -> None:
    began = time.monotonic()
    found = contest("hog", [submitted], seed=3, workers=2, limits=LIMITS, isolation=isolation)
    assert {row.name for row in found.standings} == {"ann", "bob"}
    struck = {one.name: one.reason for one in found.disqualified}
    for name, (_, reason) in (NO_FILES | BAD).items():
        assert re.search(reason, struck[name]), (name, struck[name])
    for name in ("leads_out", "of_leads_out"):
        assert "leads out of its folder" in struck[name]
    assert len(struck) == len(NO_FILES) + len(BAD) + 1 + len(NO_FILES) + 1
    assert time.monotonic() - began < 120


def test_a_folder_of_hostile_files_is_read_at_once(submitted: Path) -> None:
    began = time.monotonic()
    found = entries_of(dicegym.game("hog"), submitted)
    assert {"ann", "bob", "nul", "not_utf8"} <= {one.name for one in found.entries}
    struck = {one.name: one.reason for one in found.broken}
    for name, (_, reason) in NO_FILES.items():
        assert re.search(reason, struck[name]), struck[name]
    assert "larger than" in struck["large"]
    assert "imports more than" in struck["too_many_imports"]
    assert {record.name for record in found.records} == {*struck, *(one.name for one in found.entries)}
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("name", [*NO_FILES, "folder"])
def test_what_is_no_file_is_refused_by_its_own_path(name: str, tmp_path: Path) -> None:
    path, words = tmp_path / "x.py", r"a pipe|a device|a socket|circles|nowhere|no file|holds no|matches no game"
    MAKERS[name](path)
    with pytest.raises(DicegymError, match=words):
        game_of_file(str(path))
    report = check(str(path), "hog", LIMITS, isolation="process")
    assert not report.ok
    assert re.search(words, report.reason)
    with pytest.raises(BadFileError):
        bot_files.read(path)


@pytest.mark.parametrize("name", ["large", "signs", "chain", "brackets", "nul"])
def test_hostile_text_is_looked_at_at_once(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    MAKERS[name](path)
    began = time.monotonic()
    try:
        found = game_of_file(str(path))
    except (AgentError, ParameterError):
        found = ""
    assert found in ("", "hog")
    describe_agent(dicegym.game("hog"), str(path))
    assert time.monotonic() - began < 10


def test_helpers_and_data_that_lead_out_are_refused(tmp_path: Path) -> None:
    bot = tmp_path / "own" / "hog.py"
    bot.parent.mkdir()
    bot.write_text("import helper\n" + PLAIN)
    MAKERS["device"](helper := bot.parent / "helper.py")
    assert list(bot_files.gather(bot)) == [bot], "what is no file is no module"
    helper.unlink()
    leads_out(helper)
    with pytest.raises(BadFileError, match=r"helper\.py is a link that leads out of the bot's folder"):
        bot_files.gather(bot)
    assert "leads out" in check(str(bot), "hog", LIMITS, isolation="process").reason
    (bot.parent / "hog.json").symlink_to("/etc/passwd")
    with pytest.raises(BadFileError, match=r"hog\.json is a link that leads out"):
        visible_files(Source(bot), (), [bot])


def test_a_bot_that_would_keep_its_jail_busy_with_files_is_refused(tmp_path: Path) -> None:
    (bot := tmp_path / "ann.py").write_text(PLAIN)
    for number in range(MOST_BESIDE):
        (tmp_path / f"ann.{number}").touch()
    assert len(visible_files(Source(bot), (), [bot])) == 1 + MOST_BESIDE
    (tmp_path / "ann").mkdir()
    with pytest.raises(BadFileError, match="101 files and folders are named like it, more than 100"):
        visible_files(Source(bot), (), [bot])
    assert visible_files(Source(bot), ["ann.py"], [bot]) == [tmp_path, bot]


@pytest.mark.skipif(os.name != "posix", reason="needs modes of folders")
def test_where_everybody_may_put_files_nobody_owns_the_folder(tmp_path: Path) -> None:
    bot = tmp_path / "hog.py"
    bot.write_text(PLAIN)
    (tmp_path / "theirs.txt").write_text("secret")
    assert visible_files(Source(bot), ["hog.py"], [bot]) == [tmp_path, bot]
    tmp_path.chmod(0o1777)  # as of /tmp
    assert visible_files(Source(bot), ["hog.py"], [bot]) == [bot]


def test_a_path_that_is_named_may_be_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real" / "bot.py"
    real.parent.mkdir()
    real.write_text("from own import number\ndef final_strategy(score, opponent_score):\n    return number\n")
    (real.parent / "own.py").write_text("number = 5\n")
    link = tmp_path / "mine.py"
    link.symlink_to(real)
    assert [path.name for path in bot_files.gather(link)] == ["mine.py", "own.py"]
    assert check(str(link), "hog", LIMITS, isolation="process").ok


def test_too_much_source_is_refused(tmp_path: Path) -> None:
    bot = tmp_path / "hog.py"
    names = [f"part{number}" for number in range(bot_files.MOST_FILES + 1)]
    for name in names:
        (tmp_path / f"{name}.py").touch()
    bot.write_text(f"import {', '.join(names)}\n")
    with pytest.raises(BadFileError, match="more than 200 files or 12 MiB"):
        bot_files.gather(bot)
    bot.write_text(f"import {', '.join(names[:4])}\n")
    for name in names[:4]:
        os.truncate(tmp_path / f"{name}.py", bot_files.LARGEST)
    with pytest.raises(BadFileError, match="more than 200 files or 12 MiB"):
        bot_files.gather(bot)


def test_too_many_places_to_look_at_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bot_files.MOST_PLACES == 50_000
    monkeypatch.setattr(bot_files, "MOST_PLACES", 5_000)
    parts = "abcdefghijklmnopqrs"
    deep = tmp_path.joinpath(*parts)
    deep.mkdir(parents=True)
    (tmp_path / "hog.py").write_text("".join(f"import {'.'.join(parts)}.m{k}\n" for k in "012"))
    for k in "012":
        names = (f"x{k}y{number}" for number in range(190))
        (deep / f"m{k}.py").write_text("".join(f"import {name}.{'.'.join(parts)}\n" for name in names))
    began = time.process_time()
    with pytest.raises(BadFileError, match="5,000 possible paths"):
        bot_files.gather(tmp_path / "hog.py")
    assert time.process_time() - began < 10


def test_helpers_are_found_without_parsing(tmp_path: Path) -> None:
    def write(name: str, text: str = "") -> None:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    write(
        "bot.py",
        '"""import unused"""\nif 1: import a as b; from pack import (one,  # import no\n  two as x)\nimport \\\n  c',
    )
    write("a.py", "def f():\n    from . import d\n")
    write("c.py", "x = 'import unused'\n")
    write("d.py", "broken(")
    write("unused.py")
    write("pack/__init__.py")
    write("pack/one.py", "import e\nfrom .three import y")
    write("pack/three.py")
    write("e.py", "import bot, c")
    found = [os.path.relpath(path, tmp_path) for path in bot_files.gather(tmp_path / "bot.py")]
    assert found == ["bot.py", "a.py", "c.py", "d.py", "e.py", "pack/__init__.py", "pack/one.py", "pack/three.py"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def play(a, b, c): pass", True),
        ("def play(a, b=(1, {2: 3}), *, c): pass", False),
        ("def play(a: dict[str, int], /, b='(,', *rest): pass", True),
        ("def play(a,\n  b,  # c, d\n  c): pass", True),
        ("def play(a, b, c, d=8, e: int = (1, 2)): pass", True),
        ("def play(a, b, c, *, debug=False): pass", True),
        ("def play(a, b, c, *, debug): pass", False),
        ("def play(a, b, c, d): pass", False),
        ("def play(a, b=1): pass", False),
        ("def play(a, *rest, debug=False, **more): pass", True),
        ("def play(a, b, c, **more): pass", True),
        ("def play(**more): pass", False),
        ("async def play(a, b, c): pass", False),
        ("class A:\n    def play(a, b, c): pass", False),
        ("try:\n    import x\nexcept E:\n    def play(a, b, c): pass", True),
        ("from x import (y, z as play)", True),
        ("from x import play as y", False),
        ("play = other", True),
        ("play == other", False),
        ("'''\ndef play(a, b, c): pass\n'''", False),
        ("def play(", True),
        ("", False),
    ],
)
def test_definitions_are_found_without_parsing(text: str, found: bool) -> None:
    assert defines(text, "play", 3) is found


def test_a_bound_number_of_files_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dicegym.arena.submissions.MOST", 50)
    game = dicegym.game("hog")
    many = tmp_path / "many"
    many.mkdir()
    for number in range(51):
        (many / f"data{number}").touch()
    (found,) = read_folder(game, tmp_path).submissions
    assert "holds more than 50 files" in found.problem
    with pytest.raises(ParameterError, match="holds more than 50 files"):
        read_folder(game, many)


def test_a_deep_folder_is_left_alone(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    try:
        os.mkdir("deep", dir_fd=here)
        for _ in range(1000):
            below = os.open("deep", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
            os.mkdir("deep", dir_fd=here)
    finally:
        os.close(here)
    try:
        (found,) = read_folder(dicegym.game("hog"), tmp_path).submissions
    finally:
        throw_away(str(tmp_path / "deep"))  # pytest itself cannot
    assert found.problem == "its folder holds no hog.py"


def test_names_of_submissions_are_paths_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["bacon", "~root", " ann ", "always_roll(8)", "a:b", "x.zip:y", "new\nline", "esc\x1b[31m", "-rf"]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "hog.py").write_text(PLAIN)
    monkeypatch.chdir(tmp_path)
    found = entries_of(dicegym.game("hog"), ".")
    assert len(found.entries) == len(names)
    assert not found.broken
    assert {one.origin.file.parent.parent for one in found.entries if isinstance(one.origin, Source)} == {tmp_path}


@pytest.mark.parametrize("name", ["hog.py", "own.py"])
def test_what_changes_after_it_was_entered_does_not_play(name: str, tmp_path: Path) -> None:
    from dicegym.arena.match import Match
    from dicegym.sandbox.sandbox import Sandbox

    game = dicegym.game("hog")
    bot = tmp_path / "bot" / "hog.py"
    bot.parent.mkdir()
    bot.write_text("import own\n" + PLAIN)
    (bot.parent / "own.py").touch()
    other = tmp_path / "other.py"
    other.write_text(PLAIN)
    match_ = Match(game, (entry(game, "other", other), entry(game, "bot", bot)), 0, 1)
    (bot.parent / name).write_text("import os\n" + PLAIN)
    with Sandbox(game, 1, LIMITS, "process") as sandbox:
        ((_, outcome),) = sandbox.run([match_])
    assert outcome.actor == 1
    assert outcome.reason.startswith(f"its files have changed since it was entered: {name}")


def test_what_was_read_is_what_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text("first")
    monkeypatch.setattr(bot_files, "_held", {})
    bot_files.hold({os.path.realpath(path): data for path, data in bot_files.gather(bot).items()})
    bot.write_text("second")
    assert bot_files.read(bot) == b"first"


def test_what_a_file_says_of_itself() -> None:
    assert scan.docstring(b'#!/usr/bin/env python\n# -*-\n\nr"""It plays. And more."""\n') == "It plays. And more."
    assert scan.docstring(b"# none\nx = 1\n") == scan.docstring(b"") == ""
