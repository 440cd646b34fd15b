"""Imports run one way: whoever opens a module needs to know only what stands below it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from dicegym.games.parts import PARTS

ROOT = Path(__file__).resolve().parents[2]

# The house, from the bottom up: a module may import what stands on lines above its own and what shares its line, but
# never in a circle. A name is the first part after `dicegym.`: a module or a whole folder. docs/design.md says what
# each is for.
LADDER: tuple[tuple[str, ...], ...] = (
    ("errors", "registry", "shipped"),  # test_the_list_of_environments_is_light says more of the registry
    ("engine",),
    ("play",),
    ("games",),
    ("bots",),
    ("players",),
    ("envs",),
    ("sandbox",),
    ("arena",),
    ("learning",),
    ("__init__", "pettingzoo"),  # doors for users: public names gathered from below; nobody below enters by them
    ("server",),
    ("bench", "checks"),
    ("cli",),
    ("__main__",),
)
LEVEL = {name: level for level, names in enumerate(LADDER) for name in names}

# Parts of a game that stand elsewhere on the ladder than the games: `dicegym.games.parts` finds them by name.
PARTS_ELSEWHERE = {part.file: part.place for part in PARTS if part.place != "games"}

# What `import dicegym` itself loads, as everybody pays for it; the rest is loaded on first use.
LOADED_BY_THE_FRONT_DOOR = {"errors", "registry"}
HEAVY = (
    "numba",
    "torch",
    "pygame",
    "stable_baselines3",
    "sb3_contrib",
    "PIL",
    "rich",
    "sqlalchemy",
    "typer",
    "websockets",
    "scipy",
    "matplotlib",
)


class Import(NamedTuple):
    """One imported module or name, with all its dots, and where."""

    target: str
    line: int
    when: str
    """``import`` at module level, ``function`` inside one, ``typing`` for type checkers alone."""


def imports_in(source: str, module: str, is_package: bool, modules: frozenset[str] = frozenset()) -> list[Import]:
    """List what ``source`` of ``module`` imports, in functions too, relative names resolved.

    ``modules`` are the dotted names that exist, which tell ``from package import module`` from a plain name.
    """

    def walk(node: ast.AST, when: str) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            inside = when
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                inside = "function"
            elif isinstance(child, ast.If) and ast.unparse(child.test).removeprefix("typing.") == "TYPE_CHECKING":
                inside = "typing"
            if isinstance(child, ast.Import):
                yield from (Import(alias.name, child.lineno, when) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:
                    parents = module.split(".")
                    parents = parents[: len(parents) - child.level + is_package]
                    base = ".".join([*parents, base] if base else parents)
                for alias in child.names:
                    full = f"{base}.{alias.name}"
                    yield Import(full if full in modules else base, child.lineno, when)
            elif isinstance(child, ast.Call) and child.args and isinstance(child.args[0], ast.Constant):
                called = ast.unparse(child.func).rpartition(".")[2]
                if called in ("import_module", "__import__") and isinstance(child.args[0].value, str):
                    yield Import(child.args[0].value, child.lineno, when)
            yield from walk(child, inside)

    return list(walk(ast.parse(source), "import"))


def module_name(path: Path) -> str:
    """Return the dotted name of a file below the checkout."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def place(module: str) -> str:
    """Return the name of a dicegym module on the ladder.

    A game's adapter lies in the game's folder but makes players, so it stands with them, and the commands that a
    game has of its own stand with the command line; both are loaded by name.
    """
    if module.startswith("dicegym.games.") and (name := module.rpartition(".")[2]) in PARTS_ELSEWHERE:
        return PARTS_ELSEWHERE[name]
    return module.split(".")[1] if "." in module else "__init__"


FILES = {module_name(path): path for path in sorted((ROOT / "dicegym").rglob("*.py"))}
IMPORTS = {
    name: imports_in(path.read_text(encoding="utf-8"), name, path.name == "__init__.py", frozenset(FILES))
    for name, path in FILES.items()
}


def is_ours(target: str) -> bool:
    return target.partition(".")[0] == "dicegym"


def wrong_imports(module: str, imports: list[Import]) -> list[str]:
    """Return one sentence per import that goes up the ladder or leaves it."""
    if place(module) not in LEVEL:
        return [f"{module} has no place in LADDER of {Path(__file__).name}: give {place(module)!r} one"]
    wrong = []
    for target, line, _ in imports:
        if target.split(".")[0] in ("agents", "training") or target.startswith(
            ("dicegym._agents", "dicegym._training")
        ):
            wrong.append(f"{module}:{line} imports {target}: bots and training use dicegym, which loads them by path")
        elif is_ours(target) and place(target) not in LEVEL:
            wrong.append(f"{module}:{line} imports {target}, which has no place in LADDER of {Path(__file__).name}")
        elif is_ours(target) and LEVEL[place(target)] > LEVEL[place(module)]:
            wrong.append(f"{module}:{line} imports {target}, which stands above it: {place(module)} < {place(target)}")
    return wrong


def test_there_are_modules_and_imports_to_check() -> None:
    assert "dicegym" in FILES, f"no module found below {ROOT / 'dicegym'}: the other tests of this file check nothing"
    assert any(is_ours(found.target) for imports in IMPORTS.values() for found in imports)


@pytest.mark.parametrize("module", FILES)
def test_imports_go_down_the_ladder(module: str) -> None:
    wrong = wrong_imports(module, IMPORTS[module])
    assert not wrong, "\n".join(wrong)


def test_the_front_door_loads_little() -> None:
    at_once = [found for found in IMPORTS["dicegym"] if found.when == "import" and is_ours(found.target)]
    wrong = [
        f"line {found.line}: {found.target}" for found in at_once if place(found.target) not in LOADED_BY_THE_FRONT_DOOR
    ]
    assert not wrong, "dicegym/__init__.py loads at once, for everybody, " + ", ".join(wrong)


def test_the_list_of_environments_is_light() -> None:
    """`dicegym.registry` is read by everybody, so at module level it needs Python alone."""
    at_once = {found.target.split(".")[0] for found in IMPORTS["dicegym.registry"] if found.when == "import"}
    heavy = at_once - sys.stdlib_module_names - {"dicegym"}
    assert not heavy, f"dicegym/registry.py imports {sorted(heavy)} at module level"


def test_import_dicegym_is_light() -> None:
    code = "import json, sys, dicegym; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert run.returncode == 0, run.stderr
    loaded = set(json.loads(run.stdout))
    assert "dicegym" in loaded
    heavy = [name for name in HEAVY if name in loaded]
    assert not heavy, f"`import dicegym` loads {', '.join(heavy)}: import them where they are used"


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        ("dicegym.engine.spec", "from dicegym.games import game", "engine < games"),
        ("dicegym.engine.spec", "def f():\n    import dicegym.games.hog", "engine < games"),
        ("dicegym.engine.dice", "from dicegym.games import game", "engine < games"),
        ("dicegym.games.hog.rules", "from ...players import Player", "games < players"),
        ("dicegym.envs.single", "import importlib\nimportlib.import_module('dicegym.cli')", "envs < cli"),
        ("dicegym.envs.single", "from dicegym import agent", "envs < __init__"),
        (
            "dicegym.players.roster",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import dicegym.arena",
            "players <",
        ),
        ("dicegym.players.roster", "import agents.hog", "by path"),
        ("dicegym.players.roster", "from dicegym._agents import hog", "by path"),
        ("dicegym.newcomer", "", "no place"),
        ("dicegym.cli", "import dicegym.newcomer", "no place"),
    ],
)
def test_a_wrong_import_is_found(module: str, source: str, complaint: str) -> None:
    known = frozenset({"dicegym.engine.spec", "dicegym.games", "dicegym.players"})
    wrong = wrong_imports(module, imports_in(source, module, is_package=False, modules=known))
    assert len(wrong) == 1
    assert complaint in wrong[0]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("dicegym.engine.spec", "from dicegym.engine import dice\nfrom ..errors import ParameterError\nimport numpy"),
        ("dicegym.learning.evaluate", "from dicegym.arena import match"),
        ("dicegym.cli", "import dicegym\nfrom dicegym import game"),
    ],
)
def test_a_right_import_is_not(module: str, source: str) -> None:
    assert not wrong_imports(
        module, imports_in(source, module, is_package=False, modules=frozenset({"dicegym.engine.dice"}))
    )
