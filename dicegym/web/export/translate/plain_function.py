"""Statements and definitions of Python as JavaScript; what stands in them is translated by `plain_expressions`."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Sequence

from dicegym.errors import TranslationError
from dicegym.web.export.translate.names import safe_name
from dicegym.web.export.translate.numbers import UntranslatableError
from dicegym.web.export.translate.plain_expressions import PlainExpressions


class PlainFunction(PlainExpressions):
    """Translates one function, and those that are defined in it."""

    def code(self, name: str) -> str:
        """Return the function as ``name``. Raises TranslationError."""
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


def _ends(body: Sequence[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Return)


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
