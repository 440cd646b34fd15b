"""Expressions of Python as JavaScript, where values keep their types to themselves; see `plain.PlainProgram`."""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, Protocol

from dicegym.errors import TranslationError
from dicegym.web.export.translate.names import safe_name
from dicegym.web.export.translate.numbers import UntranslatableError

_BUILTINS = frozenset(
    [
        "abs",
        "all",
        "any",
        "bool",
        "dict",
        "divmod",
        "enumerate",
        "float",
        "frozenset",
        "int",
        "isinstance",
        "len",
        "list",
        "map",
        "max",
        "memoryview",
        "min",
        "next",
        "range",
        "reversed",
        "round",
        "set",
        "sorted",
        "str",
        "sum",
        "tuple",
        "zip",
    ]
)
"""What ``python.js`` has of Python's own."""
_BINARY = {ast.Add: "plus", ast.Sub: "minus", ast.Mult: "times", ast.FloorDiv: "floorDiv", ast.Mod: "mod"}
_BITS = {ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitXor: "^", ast.Pow: "**", ast.Div: "/"}
_LESS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_NOTHING = object()


class Constants(Protocol):
    """What knows how values that stand in modules are called in the script."""

    def constant(self, value: Any) -> str:
        """Return the code of a value. Raises UntranslatableError."""


class PlainExpressions:
    """Translates the expressions of one function, whose names it knows.

    Args:
        program: what the function calls and reads.
        function: of Python.
        known: its arguments that decide what of it is needed.
    """

    def __init__(self, program: Constants, function: Callable[..., Any], known: Mapping[str, Any]) -> None:
        self._program, self._function, self._known = program, function, known
        self._globals = dict(function.__globals__)
        closure = inspect.getclosurevars(function)
        self._globals |= closure.nonlocals
        lines, self._first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
        if not isinstance(tree, ast.FunctionDef):
            raise TranslationError(f"{function.__qualname__} is no function with a name, and cannot be translated")
        self._tree = tree
        self._scopes: list[set[str]] = []
        self._temporaries = 0

    def _local(self, name: str) -> bool:
        return any(name in scope for scope in self._scopes)

    def _resolved(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name) and not self._local(node.id):
            return self._globals.get(node.id, getattr(builtins, node.id, _NOTHING))
        if isinstance(node, ast.Attribute):
            owner = self._resolved(node.value)
            if isinstance(owner, ModuleType) or (isinstance(owner, tuple) and hasattr(owner, "_fields")):
                return getattr(owner, node.attr, _NOTHING)
        return _NOTHING

    def _target(self, node: ast.expr) -> str:
        match node:
            case ast.Attribute(value=ast.Name()):
                return f"{self._expression(node.value)}.{node.attr}"
            case ast.Name():
                return safe_name(node.id)
            case ast.Tuple() | ast.List():
                return f"[{', '.join(map(self._target, node.elts))}]"
        raise UntranslatableError(f"an assignment to {ast.unparse(node)}")

    def _truth(self, node: ast.expr) -> str:
        match node:
            case ast.BoolOp():
                sign = " && " if isinstance(node.op, ast.And) else " || "
                return f"({sign.join(map(self._truth, node.values))})"
            case ast.UnaryOp(op=ast.Not()):
                return f"!{self._truth(node.operand)}"
            case ast.Compare():
                return self._expression(node)
        return f"py.truth({self._expression(node)})"

    def _expression(self, node: ast.expr) -> str:
        found = self._resolved(node)
        if found is not _NOTHING:
            if isinstance(node, ast.Name) and node.id in _BUILTINS and found is getattr(builtins, node.id):
                return f"py.{node.id}"
            return self._program.constant(found)
        match node:
            case ast.Constant():
                return self._program.constant(node.value)
            case ast.Name():
                return safe_name(node.id)
            case ast.Attribute():
                return f"py.attr({self._expression(node.value)}, {json.dumps(node.attr)})"
            case ast.Subscript():
                return self._element(node)
            case ast.Call():
                return self._call(node)
            case ast.BinOp():
                return self._binary(type(node.op), node.left, node.right)
            case ast.UnaryOp(op=ast.Not()):
                return f"!{self._truth(node.operand)}"
            case ast.UnaryOp(op=ast.USub()):
                return f"(-{self._expression(node.operand)})"
            case ast.UnaryOp(op=ast.Invert()):
                return f"(~{self._expression(node.operand)})"
            case ast.BoolOp():
                name = "and" if isinstance(node.op, ast.And) else "or"
                code = self._expression(node.values[0])
                for later in node.values[1:]:
                    code = f"py.{name}({code}, () => {self._expression(later)})"
                return code
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp():
                chosen, other = self._expression(node.body), self._expression(node.orelse)
                return f"({self._truth(node.test)} ? {chosen} : {other})"
            case ast.Tuple() | ast.List():
                return f"[{', '.join(self._item(one) for one in node.elts)}]"
            case ast.Set():
                return f"new Set([{', '.join(map(self._expression, node.elts))}])"
            case ast.Dict():
                pairs = zip(node.keys, node.values, strict=True)
                if None in node.keys:
                    raise UntranslatableError("a dictionary in another")
                made = ", ".join(f"[{self._expression(key)}, {self._expression(one)}]" for key, one in pairs if key)
                return f"new Map([{made}])"
            case ast.JoinedStr():
                pieces = ['""', *map(self._piece, node.values)]
                return f"({' + '.join(pieces)})"
            case ast.ListComp() | ast.GeneratorExp():
                return self._comprehension(node.generators, node.elt)
            case ast.DictComp():
                return f"new Map({self._comprehension(node.generators, ast.Tuple([node.key, node.value]))})"
            case ast.SetComp():
                return f"new Set({self._comprehension(node.generators, node.elt)})"
            case ast.Lambda():
                names = {one.arg for one in node.args.args}
                self._scopes.append(names)
                body = self._expression(node.body)
                self._scopes.pop()
                return f"(({', '.join(safe_name(one.arg) for one in node.args.args)}) => {body})"
        raise UntranslatableError(ast.unparse(node))

    def _item(self, node: ast.expr) -> str:
        if isinstance(node, ast.Starred):
            return f"...py.iter({self._expression(node.value)})"
        return self._expression(node)

    def _piece(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant):
            return json.dumps(node.value)
        if not isinstance(node, ast.FormattedValue) or node.conversion not in (-1, ord("s"), ord("r")):
            raise UntranslatableError("this text")
        if node.conversion == ord("r"):
            return f"py.repr({self._expression(node.value)})"
        spec = "" if node.format_spec is None else f", {self._expression(node.format_spec)}"
        return f"py.format({self._expression(node.value)}{spec})"

    def _comprehension(self, generators: Sequence[ast.comprehension], element: ast.expr) -> str:
        first, *rest = generators
        source = f"py.iter({self._expression(first.iter)})"
        names = {one.id for one in ast.walk(first.target) if isinstance(one, ast.Name)}
        self._scopes.append(names)
        target = self._target(first.target)
        tests = "".join(f".filter(({target}) => {self._truth(test)})" for test in first.ifs)
        if rest:
            code = f"{source}{tests}.flatMap(({target}) => {self._comprehension(rest, element)})"
        else:
            code = f"{source}{tests}.map(({target}) => {self._expression(element)})"
        self._scopes.pop()
        return code

    def _binary(self, operation: type[ast.operator], left: ast.expr, right: ast.expr) -> str:
        one, other = self._expression(left), self._expression(right)
        if operation in _BINARY:
            return f"py.{_BINARY[operation]}({one}, {other})"
        if operation is ast.BitOr:
            return f"py.union({one}, {other})"
        if operation not in _BITS:
            raise UntranslatableError(f"the operator {operation.__name__}")
        if operation in (ast.Pow, ast.Div):
            return f"({one} {_BITS[operation]} {other})"
        return f"py.bits({json.dumps(_BITS[operation])}, {one}, {other})"

    def _comparison(self, node: ast.Compare) -> str:
        parts, left = [], self._expression(node.left)
        for operation, right_node in zip(node.ops, node.comparators, strict=True):
            right = self._expression(right_node)
            match operation:
                case ast.Eq() | ast.Is():
                    parts.append(f"py.equal({left}, {right})")
                case ast.NotEq() | ast.IsNot():
                    parts.append(f"!py.equal({left}, {right})")
                case ast.In():
                    parts.append(f"py.within({left}, {right})")
                case ast.NotIn():
                    parts.append(f"!py.within({left}, {right})")
                case _:
                    parts.append(f"({left} {_LESS[type(operation)]} {right})")
            left = right
        return parts[0] if len(parts) == 1 else f"({' && '.join(parts)})"

    def _element(self, node: ast.Subscript) -> str:
        owner = self._expression(node.value)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return f"py.item({owner}, {', '.join(map(self._index, indices))})"

    def _index(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Slice):
            return self._expression(node)
        ends = (node.lower, node.upper, node.step)
        return f"py.slice({', '.join('null' if one is None else self._expression(one) for one in ends)})"

    def _call(self, node: ast.Call) -> str:
        arguments = ", ".join(self._item(one) for one in node.args)
        named = {str(one.arg): self._expression(one.value) for one in node.keywords}
        if "None" in named:
            raise UntranslatableError("a call with a dictionary of arguments")
        options = f"{{{', '.join(f'{json.dumps(name)}: {code}' for name, code in named.items())}}}"
        if isinstance(node.func, ast.Attribute) and self._resolved(node.func) is _NOTHING:
            more = f", {options}" if named else ""
            return f"py.method({self._expression(node.func.value)}, {json.dumps(node.func.attr)}, [{arguments}]{more})"
        called = self._expression(node.func)
        if named:
            return f"py.call({called}, [{arguments}], {options})"
        return f"{called}({arguments})"
