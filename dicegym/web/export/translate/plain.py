"""Ordinary functions of Python as JavaScript: how a game reads on a screen, which no compiler has to know.

Here values keep their types to themselves, as in Python, and ``scripts/python.js`` has what operators and methods do.
Numbers are JavaScript's: whole and floating point ones are told apart by nothing but their values. That is enough
for texts and scenes, and a test compares them; rules are translated by types (`dicegym.web.export.translate.function`).
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import inspect
import json
import re
import struct
import textwrap
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np

from dicegym.errors import DicegymError, TranslationError, one_line
from dicegym.web.export.translate.names import safe_name
from dicegym.web.export.translate.numbers import UntranslatableError
from dicegym.web.export.translate.types import SAFE, STORES

_BUILTINS = frozenset(
    ("abs", "all", "any", "bool", "dict", "divmod", "enumerate", "float", "int", "len", "list", "map", "max", "min")
) | {
    "isinstance",
    "memoryview",
    "next",
    "range",
    "reversed",
    "round",
    "set",
    "frozenset",
    "sorted",
    "str",
    "sum",
    "tuple",
    "zip",
}
_BINARY = {ast.Add: "plus", ast.Sub: "minus", ast.Mult: "times", ast.FloorDiv: "floorDiv", ast.Mod: "mod"}
_BITS = {ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitXor: "^", ast.Pow: "**", ast.Div: "/"}
_LESS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_KNOWN: dict[Any, str] = {
    re.fullmatch: "py.fullmatch",
    one_line: "py.oneLine",
    **dict.fromkeys((np.int64, np.int32, np.int8), "py.int"),
    **dict.fromkeys((np.float64, np.float32), "py.float"),
}
"""What is not translated, since ``python.js`` has it."""
_NOTHING = object()


class PlainProgram:
    """Collects functions of Python with all that they call and read.

    Args:
        known: functions that are not translated -> what stands for them in the script.
    """

    def __init__(self, known: Mapping[Any, str] = MappingProxyType({})) -> None:
        self._known = _KNOWN | dict(known)
        self._names: dict[Any, str] = {}
        self._code: list[str] = []
        self._arrays: list[np.ndarray] = []
        self._taken: set[str] = set()

    def function(self, function: Callable[..., Any], known: Mapping[str, Any] = MappingProxyType({})) -> str:
        """Return what a function is called in the script; arguments that are ``known`` decide what of it is needed.

        Raises TranslationError.
        """
        plain = inspect.unwrap(getattr(function, "py_func", function))
        key = plain, tuple(sorted(known.items()))
        if key not in self._names:
            before = dict(self._names), list(self._code), list(self._arrays)
            name = self._names[key] = self._name(plain.__name__)
            try:
                code = _FunctionOfPython(self, plain, known).code(name)
            except TranslationError:  # nothing of it is left, nor of what it calls
                self._names, self._code, self._arrays = before
                raise
            self._code.append(code)
        return self._names[key]

    def callable(self, value: Any) -> str:
        """Return the code of a function, or of an object that can be called. Raises TranslationError."""
        if inspect.isfunction(inspect.unwrap(getattr(value, "py_func", value))):
            return self.function(value)
        return f"py.called({self._instance(value)})"

    def _name(self, wanted: str) -> str:
        name, number = safe_name(wanted), 1
        while name in self._taken:
            number += 1
            name = f"{safe_name(wanted)}${number}"
        self._taken.add(name)
        return name

    def constant(self, value: Any) -> str:
        """Return a value that stands in a module. Raises UntranslatableError."""
        match value:
            case _ if inspect.isclass(value) and value in self._known:
                return self._known[value]
            case None | bool() | int() | str():
                if isinstance(value, int) and abs(value) > SAFE + 1:
                    raise UntranslatableError(f"the number {value}")
                return json.dumps(value)
            case float():
                return json.dumps(value) if np.isfinite(value) else f"{'-' if value < 0 else ''}Infinity"
            case np.integer() | np.floating() | np.bool_():
                return self.constant(value.item())
            case np.ndarray():
                return self._array(value)
            case tuple() | list():
                return f"[{', '.join(map(self.constant, value))}]"
            case set() | frozenset():
                return f"new Set([{', '.join(map(self.constant, sorted(value)))}])"
            case dict():
                pairs = ", ".join(f"[{self.constant(key)}, {self.constant(one)}]" for key, one in value.items())
                return f"new Map([{pairs}])"
        if isinstance(value, range):
            return f"py.range({value.start}, {value.stop}, {value.step})"
        if isinstance(value, struct.Struct):
            return f"new py.Struct({json.dumps(value.format)})"
        if isinstance(value, np.dtype):
            return "null"
        if inspect.isclass(value) and issubclass(value, DicegymError):
            return "py.error"
        if inspect.isclass(value) and issubclass(value, tuple) and hasattr(value, "_fields"):
            return self._record(value)
        if inspect.isclass(value):
            return self._class(value)
        if _hashable(value) and value in self._known:
            return self._known[value]
        if callable(value) and inspect.isfunction(inspect.unwrap(getattr(value, "py_func", value))):
            return self.function(value)
        raise UntranslatableError(f"{type(value).__name__} {value!r:.40}")

    def _array(self, value: np.ndarray) -> str:
        key = "array", value.tobytes(), value.shape, str(value.dtype)
        if key not in self._names:
            if value.dtype.name not in STORES or value.dtype.itemsize > 8:
                raise UntranslatableError(f"an array of {value.dtype}")
            held = value.astype(np.float64) if value.dtype.kind in "iub" else value
            self._names[key] = f"new py.Grid($c[{len(self._arrays)}], {json.dumps(value.shape)})"
            self._arrays.append(held.ravel())
        return self._names[key]

    def _record(self, kind: Any) -> str:
        if kind not in self._names:
            name = self._names[kind] = self._name(kind.__name__)
            defaults = {one.name: one.default for one in inspect.signature(kind).parameters.values()}
            given = [
                [field, self.constant(None if default is inspect.Parameter.empty else default)]
                for field, default in defaults.items()
            ]
            fields = ", ".join(f"[{json.dumps(field)}, {default}]" for field, default in given)
            self._code.append(f"const {name} = py.record([{fields}], {self._methods(kind)});\n")
        return self._names[kind]

    def _class(self, kind: Any) -> str:
        """Return what makes objects of a class."""
        if not kind.__module__.startswith("dicegym."):
            raise UntranslatableError(f"the class {kind.__name__}")
        if kind not in self._names:
            name = self._names[kind] = self._name(kind.__name__)
            self._code.append(f"const {name} = py.kind({self._methods(kind)});\n")
        return self._names[kind]

    def _methods(self, kind: Any) -> str:
        """Return the methods of a class that can be translated, by name; the others fail when they are called."""
        found = []
        for name, value in vars(kind).items():
            own = inspect.isfunction(value) and value.__module__ == kind.__module__ and "<" not in value.__qualname__
            if own and not (name.startswith("__") and name not in ("__init__", "__call__")):
                with contextlib.suppress(TranslationError):
                    found.append(f"{json.dumps(name)}: {self.function(value)}")
        return f"{{{', '.join(found)}}}"

    def _instance(self, value: Any) -> str:
        """Return an object with what it holds."""
        fixed = {
            name: one
            for name, one in vars(type(value)).items()
            if not name.startswith("__") and not callable(one) and not isinstance(one, property)
        }
        held = ", ".join(f"{json.dumps(name)}: {self.constant(one)}" for name, one in (fixed | vars(value)).items())
        methods = [
            f"{json.dumps(name)}: {self.function(one)}"
            for name, one in vars(type(value)).items()
            if inspect.isfunction(one) and (name == "__call__" or not name.startswith("__"))
        ]
        return f"py.instance({{{', '.join(methods)}}}, {{{held}}})"

    def script(self, functions: dict[str, str]) -> tuple[str, tuple[np.ndarray, ...]]:
        """Return the body of a function of ``$c`` (arrays) and ``py``, which returns the functions; and the arrays."""
        given = ", ".join(f"{json.dumps(asked)}: {name}" for asked, name in functions.items())
        return "\n".join([*self._code, f"return {{{given}}};"]), tuple(self._arrays)


class _FunctionOfPython:
    """Translates one function, and those that are defined in it."""

    def __init__(self, program: PlainProgram, function: Callable[..., Any], known: Mapping[str, Any]) -> None:
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

    def code(self, name: str) -> str:
        return self._definition(self._tree, name)

    def _where(self, node: ast.AST) -> str:
        line = self._first + getattr(node, "lineno", 1) - 1
        return f"{inspect.getsourcefile(self._function)}, line {line}, in {self._function.__name__}"

    def _definition(self, tree: ast.FunctionDef, name: str) -> str:
        given = tree.args
        if given.vararg or given.kwarg:
            raise TranslationError(f"{self._where(tree)}: takes any number of arguments, which is not translated")
        arguments = [*given.posonlyargs, *given.args]
        defaults: list[ast.expr | None] = [None] * (len(arguments) - len(given.defaults))
        defaults += given.defaults
        arguments, defaults = [*arguments, *given.kwonlyargs], [*defaults, *given.kw_defaults]
        names = {one.arg for one in arguments}
        assigned = {
            one.id for one in _own(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        } - names
        parts = [
            safe_name(one.arg) if default is None else f"{safe_name(one.arg)} = {self._expression(default)}"
            for one, default in zip(arguments, defaults, strict=True)
        ]
        self._scopes.append(names | assigned | {one.name for one in tree.body if isinstance(one, ast.FunctionDef)})
        body = self._block(tree.body)
        self._scopes.pop()
        declared = f"let {', '.join(sorted(map(safe_name, assigned)))};\n" if assigned else ""
        order = json.dumps([one.arg for one in arguments])
        return f"function {name}({', '.join(parts)}) {{\n{declared}{body}}}\n{name}.names = {order};\n"

    def _block(self, statements: Sequence[ast.stmt]) -> str:
        code = ""
        for one in statements:
            try:
                code += self._statement(one)
            except UntranslatableError as error:
                raise TranslationError(
                    f"{self._where(one)}: {error} cannot be translated to JavaScript: "
                    f"{ast.unparse(one).splitlines()[0][:120]}"
                ) from None
            if isinstance(one, ast.Return) or (isinstance(one, ast.If) and self._decided(one) and _ends(one.body)):
                break  # what follows is never reached
        return code

    def _decided(self, node: ast.If) -> bool:
        """Return whether a test is known to be true."""
        return isinstance(node.test, ast.Name) and bool(self._known.get(node.test.id))

    def _statement(self, node: ast.stmt) -> str:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return ""
            case ast.Expr():
                return f"{self._expression(node.value)};\n"
            case ast.Assign(targets=[ast.Subscript() as target]):
                return self._put(target, self._expression(node.value))
            case ast.AugAssign(target=ast.Subscript() as target):
                return self._put(target, self._binary(type(node.op), target, node.value))
            case ast.Assign(targets=[ast.Tuple(elts=parts)]) if any(isinstance(one, ast.Starred) for one in parts):
                place = next(number for number, one in enumerate(parts) if isinstance(one, ast.Starred))
                names = ", ".join(self._target(one.value if isinstance(one, ast.Starred) else one) for one in parts)
                source = self._expression(node.value)
                return f"[{names}] = py.unpacked({source}, {place}, {len(parts) - place - 1});\n"
            case ast.Assign(targets=[target]):
                return f"{self._target(target)} = {self._expression(node.value)};\n"
            case ast.AnnAssign(value=ast.expr() as value):
                return f"{self._target(node.target)} = {self._expression(value)};\n"
            case ast.AugAssign(target=ast.Name() as target):
                name = ast.Name(target.id, ast.Load())
                return f"{self._target(target)} = {self._binary(type(node.op), name, node.value)};\n"
            case ast.If() if self._decided(node):
                return self._block(node.body)
            case ast.Raise(exc=ast.Call() as error):
                return f"throw {self._expression(error)};\n"
            case ast.If():
                code = f"if ({self._truth(node.test)}) {{\n{self._block(node.body)}}}"
                return code + (f" else {{\n{self._block(node.orelse)}}}\n" if node.orelse else "\n")
            case ast.While(orelse=[]):
                return f"while ({self._truth(node.test)}) {{\n{self._block(node.body)}}}\n"
            case ast.For(orelse=[]):
                self._temporaries += 1
                each = f"$i{self._temporaries}"
                head = f"for (const {each} of py.iter({self._expression(node.iter)})) {{\n"
                return f"{head}{self._target(node.target)} = {each};\n{self._block(node.body)}}}\n"
            case ast.Return():
                return f"return {'null' if node.value is None else self._expression(node.value)};\n"
            case ast.Break():
                return "break;\n"
            case ast.Continue():
                return "continue;\n"
            case ast.FunctionDef():
                return self._definition(node, safe_name(node.name))
        raise UntranslatableError(f"the statement {type(node).__name__}")

    def _put(self, target: ast.Subscript, value: str) -> str:
        if isinstance(target.slice, ast.Tuple):
            raise UntranslatableError("an assignment to an element of several dimensions")
        return f"py.put({self._expression(target.value)}, {self._index(target.slice)}, {value});\n"

    def _target(self, node: ast.expr) -> str:
        match node:
            case ast.Attribute(value=ast.Name()):
                return f"{self._expression(node.value)}.{node.attr}"
            case ast.Name():
                return safe_name(node.id)
            case ast.Tuple() | ast.List():
                return f"[{', '.join(map(self._target, node.elts))}]"
        raise UntranslatableError(f"an assignment to {ast.unparse(node)}")

    # --- expressions -------------------------------------------------------------------------------------------------

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


def _ends(body: Sequence[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Return)


def _hashable(value: Any) -> bool:
    return getattr(value, "__hash__", None) is not None


def _own(tree: ast.FunctionDef) -> list[ast.AST]:
    """Return what stands in a function itself, and not in functions and comprehensions inside of it."""
    found: list[ast.AST] = []
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        one = waiting.pop()
        found.append(one)
        if isinstance(one, ast.FunctionDef | ast.Lambda | ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            continue
        waiting += ast.iter_child_nodes(one)
    return found
