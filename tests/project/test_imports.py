"""Imports run one way: whoever opens a module needs to know only what stands below it, and of that its public names."""

from __future__ import annotations

import ast
import functools
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from dicegym.games.parts import PARTS, VALUES

pytestmark = pytest.mark.check
ROOT = Path(__file__).resolve().parents[2]

# The house, from the bottom up: a module may import what stands on lines above its own and what shares its line, but
# never in a circle. A name is the first part after `dicegym.`: a module or a whole folder. docs/design.md says what
# each is for.
LADDER: tuple[tuple[str, ...], ...] = (
    # test_the_list_of_environments_is_light says more of the registry
    ("columns", "errors", "escape", "files", "lazy", "registration", "registry", "shipped", "signals"),
    ("engine",),
    ("play",),
    ("pictures",),
    ("games",),
    ("bots",),
    ("players",),
    ("envs", "openspiel"),
    ("analysis",),
    ("sandbox",),
    ("arena",),
    ("learning",),
    (  # doors for users; nobody below enters by them
        *("__init__", "agents", "contest", "training", "values", "pettingzoo", "playthrough", "text", "textarena"),
        *("openenv", "verifiers", "mcp_server", "wrappers"),
    ),
    ("server",),
    ("web",),
    ("bench", "checks", "doctor"),
    ("cli",),
    ("__main__",),
)
LEVEL = {name: level for level, names in enumerate(LADDER) for name in names}

# Parts of a game that stand elsewhere on the ladder than the games: `dicegym.games.parts` finds them by name.
PARTS_ELSEWHERE = {part.file: part.place for part in PARTS if part.place != "games"} | {"luck": VALUES.place}

# What `import dicegym` itself loads, as everybody pays for it; the rest is loaded on first use.
LOADED_BY_THE_FRONT_DOOR = {"lazy", "registration", "registry"}
HEAVY = {
    *("gymnasium", "numba", "numpy", "pettingzoo", "ray", "torch", "pygame", "stable_baselines3", "sb3_contrib", "PIL"),
    *("rich", "sqlalchemy", "typer", "websockets", "starlette", "uvicorn", "resvg_py", "scipy", "matplotlib"),
}


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

    calls = "import_module" in source or "__import__" in source

    def walk(node: ast.AST, when: str) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr) and not calls:
                continue
            inside = when
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                inside = "function"
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in vars(child.test).values():
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

    return list(walk(parsed(source), "import"))


@functools.lru_cache(maxsize=1)
def parsed(source: str) -> ast.Module:
    """Return the tree of a source, the last of which is kept: imports and private names are looked for together."""
    return ast.parse(source)


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


class Found(NamedTuple):
    """What is found in the sources, by module."""

    imports: dict[str, list[Import]]
    private: dict[str, list[str]]
    """One sentence per private name that is taken from another module."""


@functools.cache
def found_in_all() -> Found:
    """Read all sources; not when tests are collected, which every worker does."""
    found = Found({}, {})
    for name, path in FILES.items():
        source = path.read_text(encoding="utf-8")
        found.imports[name] = imports_in(source, name, path.name == "__init__.py", frozenset(FILES))
        found.private[name] = private_names(source)
    return found


def all_imports() -> dict[str, list[Import]]:
    return found_in_all().imports


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


def circles(imports: Mapping[str, list[Import]]) -> list[list[str]]:
    """Return each set of modules that import each other in a circle.

    Imports inside functions and for type checkers count too: such a circle does not fail when it is loaded, but
    neither of its modules can be understood, tested or moved without the other.
    """
    reached: dict[str, set[str]] = {}
    for module in imports:
        seen: set[str] = set()
        waiting = [found.target for found in imports[module]]
        while waiting:
            if (target := waiting.pop()) in imports and target not in seen:
                seen.add(target)
                waiting += [found.target for found in imports[target]]
        reached[module] = seen
    in_circles = [module for module in imports if module in reached[module]]
    return list({min(around): around for around in (_around(module, reached) for module in in_circles)}.values())


def _around(module: str, reached: Mapping[str, set[str]]) -> list[str]:
    return sorted(other for other in reached[module] if module in reached[other])


def private_names(source: str) -> list[str]:
    """Return one sentence per private name that a source imports from a module of ours.

    ruff's SLF finds private attributes of other objects and modules.
    """
    return [
        f"line {node.lineno} imports {alias.name}, which is private to {node.module}"
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.ImportFrom) and (node.level or is_ours(node.module or ""))
        for alias in node.names
        if re.match("_(?!_)", alias.name)
    ]


def test_imports_go_down_the_ladder() -> None:
    assert "dicegym" in FILES, f"no module found below {ROOT / 'dicegym'}: the tests of this file check nothing"
    assert any(is_ours(found.target) for imports in all_imports().values() for found in imports)
    wrong = [line for module in FILES for line in wrong_imports(module, all_imports()[module])]
    assert not wrong, "\n".join(wrong)


def test_no_imports_run_in_a_circle() -> None:
    found = circles(all_imports())
    assert not found, "; ".join(f"{' and '.join(modules)} import each other" for modules in found)


def test_no_private_name_is_taken_from_another_module() -> None:
    wrong = [
        f"{path}: {line}: give it a public name and a docstring"
        for module, path in FILES.items()
        for line in found_in_all().private[module]
    ]
    assert not wrong, "\n".join(wrong)


def test_the_front_door_loads_little() -> None:
    at_once = [found for found in all_imports()["dicegym"] if found.when == "import" and is_ours(found.target)]
    wrong = [
        f"line {found.line}: {found.target}" for found in at_once if place(found.target) not in LOADED_BY_THE_FRONT_DOOR
    ]
    assert not wrong, "dicegym/__init__.py loads at once, for everybody, " + ", ".join(wrong)


def test_the_list_of_environments_is_light() -> None:
    """`dicegym.registry` is read by everybody, so at module level it needs Python alone."""
    at_once = {found.target.split(".")[0] for found in all_imports()["dicegym.registry"] if found.when == "import"}
    heavy = at_once - sys.stdlib_module_names - {"dicegym"}
    assert not heavy, f"dicegym/registry.py imports {sorted(heavy)} at module level"


def test_import_dicegym_is_light() -> None:
    code = "import json, sys, dicegym.sandbox.fork_server; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    loaded = set(json.loads(run.stdout))
    assert "dicegym" in loaded
    assert not HEAVY & loaded, "import them where they are used"


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        ("dicegym.engine.spec", "from dicegym.games import game", "engine < games"),
        ("dicegym.engine.spec", "def f():\n    import dicegym.games.hog", "engine < games"),
        ("dicegym.games.hog.rules", "from ...players import Player", "games < players"),
        ("dicegym.envs.single", "import importlib\nimportlib.import_module('dicegym.cli')", "envs < cli"),
        ("dicegym.envs.single", "from dicegym import agent", "envs < __init__"),
        ("dicegym.players.roster", "if TYPE_CHECKING:\n    import dicegym.arena", "players <"),
        ("dicegym.players.roster", "import agents.hog", "by path"),
        ("dicegym.players.roster", "from dicegym._agents import hog", "by path"),
        ("dicegym.newcomer", "", "no place"),
        ("dicegym.cli", "import dicegym.newcomer", "no place"),
        ("dicegym.engine.spec", "from dicegym.engine import dice\nfrom ..errors import Error\nimport numpy", ""),
        ("dicegym.learning.evaluate", "from dicegym.arena import match", ""),
        ("dicegym.cli", "import dicegym\nfrom dicegym import game", ""),
    ],
)
def test_a_wrong_import_is_found_and_a_right_one_is_not(module: str, source: str, complaint: str) -> None:
    known = frozenset({"dicegym.engine.spec", "dicegym.engine.dice", "dicegym.games", "dicegym.players"})
    wrong = wrong_imports(module, imports_in(source, module, is_package=False, modules=known))
    assert len(wrong) == bool(complaint)
    assert complaint in "".join(wrong)


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ({"a": "import b", "b": "import a"}, [["a", "b"]]),
        ({"a": "import b", "b": "def f():\n    import a"}, [["a", "b"]]),
        ({"a": "import b", "b": "if TYPE_CHECKING:\n    from a import X"}, [["a", "b"]]),
        ({"a": "import b", "b": "import c", "c": "import a", "d": "import a"}, [["a", "b", "c"]]),
        ({"a": "import b", "b": "import a", "c": "import d", "d": "import c"}, [["a", "b"], ["c", "d"]]),
        ({"a": "import a"}, [["a"]]),
        ({"a": "import b, c", "b": "import d", "c": "import d", "d": "import json"}, []),
    ],
)
def test_a_circle_is_found(sources: dict[str, str], expected: list[list[str]]) -> None:
    known = frozenset(sources)
    assert circles({name: imports_in(text, name, False, known) for name, text in sources.items()}) == expected


@pytest.mark.parametrize(
    ("source", "is_wrong"),
    [
        ("from dicegym.play.turn import _hidden", True),
        ("def f():\n    from .turn import a, _hidden as b", True),
        ("from numpy import _core", False),
        ("from dicegym.play.turn import __doc__", False),
    ],
)
def test_a_private_name_that_is_imported_is_found(source: str, is_wrong: bool) -> None:
    assert len(private_names(source)) == is_wrong


PROGRAMS = re.compile(r'"-m",\s*(\S+?)[,\])]')


def test_every_program_that_is_started_is_named_and_exists() -> None:
    """No checker of types finds the name of a module in a string, or one that is put together."""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "dicegym").rglob("*.py")]
    found = [name for source in sources for name in PROGRAMS.findall(source)]
    assert len(found) >= 3
    assert not [name for name in found if name[:1] != '"' or find_spec(name.strip('"')) is None]
