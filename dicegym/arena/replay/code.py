"""The source of a game's rules, function by function: says which of them are not those of another version."""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType

DICE = "dicegym.engine.dice"
"""What every game rolls with is part of its rules."""
DIGITS = 12
"""Hexadecimal digits that are kept of a function's hash."""


def code_of(rules: str) -> dict[str, str]:
    """Return ``module.name`` -> a hash of what stands there, for all that a game's rules are made of.

    Every function, class and constant of the module ``rules`` (a dotted name), of those that it imports from its own
    package, and of `DICE`. Comments, docstrings and where a line ends make no difference; what else the engine does
    shows in the games. Empty where Python has no sources.
    """
    package = rules.partition(".")[0]
    home = ".".join(rules.split(".")[:2]) if package == __name__.partition(".")[0] else package
    found: dict[str, str] = {}
    waiting, known = [rules, DICE], {rules, DICE}
    while waiting:
        name = waiting.pop()
        tree = _tree_of(importlib.import_module(name))
        if tree is None:
            continue
        short = name.removeprefix(f"{home}.")
        found |= {f"{short}.{defined}": digest for defined, digest in _definitions(tree)}
        for other in _imported(tree):
            if other.startswith(f"{home}.") and other not in known:
                known.add(other)
                waiting.append(other)
    return dict(sorted(found.items()))


def _tree_of(module: ModuleType) -> ast.Module | None:
    try:
        return ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        return None


def _imported(tree: ast.Module) -> Iterator[str]:
    """Yield the modules that are imported by their full names at the top."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _definitions(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield what is defined at the top of a module, each with its hash."""
    for node in tree.body:
        names: list[str] = []
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
            if ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
        for name in names:
            yield name, hashlib.sha256(ast.unparse(node).encode()).hexdigest()[:DIGITS]
