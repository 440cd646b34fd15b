"""The source of kernels, together with everything of ours that they use.

An exported bot must see a state as its model does, and the rules are written once. So the text of the kernels goes into
the bot's file, without the decorator that compiles them, and runs there with NumPy alone.
"""

from __future__ import annotations

import ast
import base64
import builtins
import inspect
import textwrap
import types
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

PACKAGE = __name__.partition(".")[0]
_IMPORTS = (ast.Import, ast.ImportFrom)
SHORT = 200
"""Arrays of more characters are compressed."""


class _Text:
    """The definitions found so far, each after those that it uses."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.lines: list[str] = []
        self.spaces: dict[str, dict[str, None]] = {}  # name of a module in the source -> its attributes

    def define(self, name: str, value: Any) -> None:
        """Define ``name`` after everything that it uses. Raises TypeError if two objects have one name."""
        if name in self.values:
            if self.values[name] is not value and not _same(self.values[name], value):
                raise TypeError(f"{name} has two meanings in the source of kernels: rename one")
            return
        self.values[name] = value
        if isinstance(value, types.ModuleType):
            return  # NumPy; of our own modules only the used attributes are defined
        if callable(value):
            function = inspect.unwrap(getattr(value, "py_func", value))
            tree = _stripped(function)
            for used, attribute in _globals_of(tree):
                self._use(function.__globals__, used, attribute)
            self.lines.append(ast.unparse(tree))
        else:
            self.lines.append(f"{name} = {_literal(value)}")

    def _use(self, namespace: dict[str, Any], name: str, attribute: str | None) -> None:
        if name not in namespace:
            if not hasattr(builtins, name):
                raise TypeError(f"the source of a kernel uses {name}, which is defined nowhere")
            return
        value = namespace[name]
        if isinstance(value, types.ModuleType) and value.__name__.startswith(PACKAGE) and attribute:
            self.define(attribute, getattr(value, attribute))
            self.spaces.setdefault(name, {})[attribute] = None
        elif value is np or not isinstance(value, types.ModuleType):
            self.define(name, value)
        else:
            raise TypeError(f"the source of a kernel uses the module {name}, which an exported bot may not have")


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and (np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other)


def _stripped(function: Callable[..., Any]) -> ast.FunctionDef:
    """Return the function without decorators, annotations and docstring."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise TypeError(f"{function!r} is not a function with a source of its own")
    tree.decorator_list, tree.returns = [], None
    for argument in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs):
        argument.annotation = None
    if ast.get_docstring(tree) is not None:
        tree.body = tree.body[1:]
    return tree


def _globals_of(tree: ast.FunctionDef) -> Iterator[tuple[str, str | None]]:
    """Yield the global names that a function uses, each with the attribute of it, if any."""
    local = {argument.arg for argument in ast.walk(tree) if isinstance(argument, ast.arg)}
    local |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    local |= {name.asname or name.name for node in ast.walk(tree) if isinstance(node, _IMPORTS) for name in node.names}
    owners = {
        id(node.value): node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in local:
            yield node.id, owners.get(id(node))


def pack_array(array: np.ndarray) -> str:
    """Return a short expression for ``array``, which needs ``array_of`` (`HELPERS`)."""
    data = base64.b85encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
    return f"array_of({array.dtype.str!r}, {array.shape}, {data!r})"


HELPERS = """import base64
import types
import zlib

import numpy as np


def array_of(kind, shape, text):
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), kind).reshape(shape)
"""
"""Code that must precede the text of `transcribe`."""


def _literal(value: Any) -> str:
    """Return an expression for a constant. Raises TypeError for other kinds."""
    if isinstance(value, np.ndarray):
        short = f"np.array({value.tolist()!r}, {value.dtype.str!r})"
        return short if len(short) <= SHORT else pack_array(value)
    if isinstance(value, np.generic):
        return f"np.{value.dtype.name}({value.item()!r})"
    if isinstance(value, bool | int | float | str | type(None)) or (
        type(value) is tuple and all(isinstance(part, bool | int | float | str) for part in value)
    ):
        return repr(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):  # a named tuple, such as the offsets of an observation
        fields = ", ".join(f"{name}={_literal(one)}" for name, one in value._asdict().items())
        return f"types.SimpleNamespace({fields})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(one)}" for key, one in value.items()) + "}"
    raise TypeError(f"a kernel uses {value!r}, which cannot be written as a constant")


def transcribe(*functions: Callable[..., Any]) -> str:
    """Return source that defines ``functions`` by their names, and everything of ours that they use.

    It needs `HELPERS` before it. Functions may use NumPy, builtins, constants, and functions and modules of this
    package.

    Raises:
        TypeError: they use something else, or two objects of the same name.
    """
    text = _Text()
    for function in functions:
        text.define(function.__name__, function)
    for name, attributes in text.spaces.items():
        pairs = ", ".join(f"{attribute}={attribute}" for attribute in attributes)
        text.lines.append(f"{name} = types.SimpleNamespace({pairs})")
    return "\n\n\n".join(text.lines) + "\n"
