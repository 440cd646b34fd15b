"""What runs code when it is read stands in a few places, each for a reason: nothing of a stranger gets there."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.check
ROOT = Path(__file__).resolve().parents[2]

READS = frozenset(
    ("pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "torch.load", "load_from_zip_file", "np.load")
)
"""Modules that read programs, and functions that may."""
UNPICKLES = ("load", "loads", "Unpickler")
SB3 = re.compile(
    r"(kind|cls|algorithm|models\.algorithm\(.*\)|(\w+\.)*[A-Z]\w*)\.(load|set_parameters|load_replay_buffer)"
)
"""Stable-Baselines3's own, by the class of an algorithm."""

WORDS = re.compile(
    rf"\b({'|'.join(name.rpartition('.')[2] for name in sorted(READS))}|{'|'.join(UNPICKLES)}"
    r"|set_parameters|load_replay_buffer|allow_pickle)\b"
)
"""The last word of whatever reads: a file without one is not parsed."""

PLACES = {
    "dicegym/learning/run_state.py": "torch.load with weights_only=True: plain values and tensors of a checkpoint",
    "dicegym/engine/kernel_cache.py": "compiled kernels of this user's own folder, with a hash",
    "dicegym/checks/facts.py": "a copy of a game that it has just pickled",
    "dicegym/games/solved.py": "np.load with allow_pickle=False: arrays alone, of the user's tables",
    "dicegym/sandbox/": "what dicegym sends to its own processes, never what comes back from a bot's",
}
"""File or folder -> what is read there."""


@functools.cache
def nodes_of(path: Path) -> list[ast.AST]:
    """Return all nodes of a file; none of a file without one of `WORDS`."""
    text = path.read_text(encoding="utf-8")
    return list(ast.walk(ast.parse(text))) if WORDS.search(text) else []


def reads(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, what) of all in a file that may read a program."""
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in READS:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        if isinstance(node, ast.Attribute) and WORDS.fullmatch(node.attr):
            text = ast.unparse(node)
            home, _, name = text.rpartition(".")
            if (home in READS and name in UNPICKLES) or text in READS or name == "load_from_zip_file":
                yield node.lineno, text
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
            yield node.value.lineno, "allow_pickle"
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and SB3.fullmatch(ast.unparse(node.func))
        ):
            yield node.lineno, f"{ast.unparse(node.func)} of Stable-Baselines3"


SOURCES = sorted(path for folder in ("dicegym", "training") for path in (ROOT / folder).rglob("*.py"))


def test_programs_are_read_in_known_places_alone() -> None:
    found: dict[str, list[str]] = {}
    for path in SOURCES:
        name = path.relative_to(ROOT).as_posix()
        if told := [f"line {line}: {what}" for line, what in reads(path)]:
            found[name] = told
    unknown = {name: told for name, told in found.items() if not any(name.startswith(place) for place in PLACES)}
    assert not unknown, f"what is read there may be a stranger's: {unknown}; read plain data"
    missing = [place for place in PLACES if "." in place and place not in found]
    assert not missing, f"nothing is read there any more: {missing}"


def test_checkpoints_are_read_as_data() -> None:
    calls = [
        node
        for node in nodes_of(ROOT / "dicegym" / "learning" / "run_state.py")
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith((".load", ".loads"))
    ]
    assert [ast.unparse(node.func) for node in calls] == ["torch.load"]
    assert "weights_only=True" in ast.unparse(calls[0])


@pytest.mark.parametrize(
    "text",
    [
        "import pickle\npickle.load(file)",
        "import pickle\npickle.Unpickler(file)",
        "from pickle import loads",
        "import cloudpickle\ncloudpickle.loads(b'')",
        "torch.load(file)",
        "np.load(file)",
        "numpy.lib.format.read_array(file, allow_pickle=True)",
        "PPO.load(path)",
        "kind.load(path, device=device)",
    ],
)
def test_each_way_is_seen(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(text)
    assert list(reads(tmp_path / "a.py"))
