"""Files that are not bots, or more than one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from zoo.hostile import Stranger

PLAIN = "def final_strategy(score, opponent_score):\n    return 6\n"


def _text(text: str | bytes) -> Callable[[Path], None]:
    data = text.encode() if isinstance(text, str) else text
    return lambda path: path.write_bytes(data) and None


def _big(path: Path) -> None:
    path.write_text(PLAIN + "x = [1, 2, 3, 'abc', 5]\n" * 2_200_000)


def _shadows(path: Path) -> None:
    """A folder whose files have the names of modules that the program uses."""
    path.mkdir()
    (path / "hog.py").write_text("import numpy, json, random, helper\n" + PLAIN)
    for name in ("json", "numpy", "random", "marshal", "socket", "dicegym", "sitecustomize", "helper"):
        (path / f"{name}.py").write_text("MINE = True\n")


def _bomb(path: Path) -> None:
    """Twenty lines that a compiler expands to a million: it copies the code after each ``finally``."""
    lines = []
    for depth in range(19):
        lines += [" " * depth + "try:", " " * (depth + 1) + "a", " " * depth + "finally:"]
    path.write_text(PLAIN + "\n".join(lines) + "\n" + " " * 19 + "[b(), b(), b(), b()]\n")


STRANGERS = (
    Stranger("fifo.py", os.mkfifo, r"is a pipe, not a file"),
    Stranger("loop.py", lambda path: path.symlink_to(path), r"leads in circles"),
    Stranger("device.py", lambda path: path.symlink_to("/dev/zero"), r"leads out of its folder"),
    Stranger("nobody.py", lambda path: path.symlink_to("/nowhere"), r"leads out of its folder"),
    Stranger("folder.py", Path.mkdir, r"holds no hog\.py"),
    Stranger("empty.py", _text(""), r"has no function final_strategy"),
    Stranger("zeros.py", _text(PLAIN.encode() + b"\0\n"), r"null bytes"),
    Stranger("binary.py", _text(bytes(range(256)) * 100), r"not UTF-8|null bytes|not Python"),
    Stranger("not_utf8.py", _text(b"# \xff\n" + PLAIN.encode()), r"not UTF-8"),
    Stranger("declares_utf7.py", _text(f"# coding: utf-7\n{PLAIN}"), r""),
    Stranger("declares_nonsense.py", _text(f"# coding: \x1b[2J\n{PLAIN}"), r""),
    Stranger("big.py", _big, r"is larger than"),
    Stranger("parentheses.py", _text(f"x = {'(' * 100_000}{')' * 100_000}\n{PLAIN}"), r"not Python|nested|Memory"),
    Stranger("minuses.py", _text(f"x = {'-' * 100_000}1\n{PLAIN}"), r"not Python|nested|Memory|Recursion"),
    Stranger("sums.py", _text(f"x = {'1+' * 100_000}1\n{PLAIN}"), r"not Python|nested|Memory|Recursion"),
    Stranger("attributes.py", _text(f"x = a{'.a' * 100_000}\n{PLAIN}"), r"not Python|nested|Memory|Recursion"),
    Stranger(
        "choices.py",
        _text(f"if 0: pass\n{'elif 0: pass' + chr(10)}" * 1 + "elif 0: pass\n" * 50_000 + PLAIN),
        r"not Python|nested|Memory|Recursion",
    ),
    Stranger("compiler_bomb.py", _bomb, r"took more than|MemoryError|ended its process|nested"),
    Stranger(
        "long_function.py",
        _text("def final_strategy(a, b):\n" + "    a = b\n" * 100_000 + "    return 6\n"),
        r"took more than|MemoryError",
    ),
    Stranger("\x1b[2J\nname.py", _text(PLAIN), r""),
    Stranger("\u202egnp.py", _text(PLAIN), r""),
    Stranger("name\udcff.py", _text(PLAIN), r""),
    Stranger("[red]markup.py", _text(PLAIN), r""),
    Stranger("shadows", _shadows, r""),
)
