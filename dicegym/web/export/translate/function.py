"""One kernel as a function of JavaScript, for arguments of given types."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from dicegym.errors import TranslationError
from dicegym.web.export.translate.expressions import Expressions
from dicegym.web.export.translate.names import Callees, safe_name
from dicegym.web.export.translate.numbers import UntranslatableError, arithmetic, converted, whole
from dicegym.web.export.translate.types import INT, VOID, ArrayOf, TupleOf, Value, bounds, unified

_MOST_PASSES, _WIDEN_AFTER = 12, 3


class FunctionTranslator(Expressions):
    """Translates one kernel for arguments of given types.

    Types and ranges of variables follow from all that is assigned to them: the kernel is gone through until they change
    no more.
    """

    def __init__(self, program: Callees, function: Callable[..., Any], kinds: tuple[Any, ...]) -> None:
        super().__init__(program, function.__globals__)
        self._function = function
        lines, self._first_line = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
        if not isinstance(tree, ast.FunctionDef):
            raise TranslationError(f"{function.__qualname__} is no function with a name, and cannot be translated")
        self._tree = tree
        given = tree.args
        self._names = [one.arg for one in given.args]
        if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or len(self._names) != len(kinds):
            raise TranslationError(f"{self._where(tree)}: takes {len(kinds)} arguments otherwise than by their places")
        self._returns: Value | None = None
        for name, kind in zip(self._names, kinds, strict=True):
            self.variables[name] = Value(name, kind, *bounds(kind))

    def translate(self, name: str) -> tuple[str, Value]:
        """Return the code of the function, called ``name``, and what it returns."""
        for number in range(_MOST_PASSES):
            before = dict(self.variables), self._returns
            self.temporaries = 0
            self._widen = number >= _WIDEN_AFTER
            body = self._block(self._tree.body)
            if (dict(self.variables), self._returns) == before:
                break
        else:
            raise TranslationError(f"{self._where(self._tree)}: the types of its variables do not settle")
        own = [safe_name(one) for one in self.variables if one not in self._names]
        own += [f"$t{number}" for number in range(self.temporaries)]
        given = ", ".join(map(safe_name, self._names))
        declared = f"let {', '.join(own)};\n" if own else ""
        return f"function {name}({given}) {{\n{declared}{body}}}\n", self._returns or Value("", VOID)

    # --- where and what ------------------------------------------------------------------------------------------

    def _where(self, node: ast.AST) -> str:
        line = self._first_line + getattr(node, "lineno", 1) - 1
        return f"{inspect.getsourcefile(self._function)}, line {line}, in {self._function.__name__}"

    def _block(self, statements: list[ast.stmt]) -> str:
        code = ""
        for statement in statements:
            try:
                code += self._statement(statement)
            except UntranslatableError as error:
                raise TranslationError(
                    f"{self._where(statement)}: {error} cannot be translated to JavaScript: "
                    f"{ast.unparse(statement).splitlines()[0][:120]}"
                ) from None
        return code

    def _statement(self, node: ast.stmt) -> str:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return ""
            case ast.Expr(value=ast.Call()):
                return f"{self.expression(node.value).code};\n"
            case ast.Assign():
                return self._assign(node.targets, node.value)
            case ast.AugAssign():
                return self._augment(node)
            case ast.If():
                code = f"if ({self.test(node.test)}) {{\n{self._block(node.body)}}}"
                return code + (f" else {{\n{self._block(node.orelse)}}}\n" if node.orelse else "\n")
            case ast.While(orelse=[]):
                return f"while ({self.test(node.test)}) {{\n{self._block(node.body)}}}\n"
            case ast.For(orelse=[]):
                return self._loop(node)
            case ast.Return():
                return self._return(node)
            case ast.Break():
                return "break;\n"
            case ast.Continue():
                return "continue;\n"
        raise UntranslatableError(f"the statement {type(node).__name__}")

    # --- assignments ---------------------------------------------------------------------------------------------

    def _assign(self, targets: list[ast.expr], source: ast.expr) -> str:
        values: list[Value]
        if len(targets) == 1 and isinstance(targets[0], ast.Tuple):
            names = targets[0].elts
            if isinstance(source, ast.Tuple) and len(source.elts) == len(names):
                values = [self.expression(one) for one in source.elts]  # all before the first is assigned
                held = [self.temporary() for _ in values]
                code = "".join(f"{one} = {value.code};\n" for one, value in zip(held, values, strict=True))
                values = [value._replace(code=one) for one, value in zip(held, values, strict=True)]
            else:
                code, values = self._unpacked(self.expression(source))
            if len(values) != len(names):
                raise UntranslatableError(f"{len(values)} values assigned to {len(names)} names")
            return code + "".join(self._put(one, value) for one, value in zip(names, values, strict=True))
        value = self.expression(source)
        if len(targets) == 1:
            return self._put(targets[0], value)
        held_by = self.temporary()
        held_value = value._replace(code=held_by)
        return f"{held_by} = {value.code};\n" + "".join(self._put(one, held_value) for one in targets)

    def _unpacked(self, value: Value) -> tuple[str, list[Value]]:
        if not isinstance(value.type, TupleOf):
            raise UntranslatableError("several names for what is no tuple")
        held = self.temporary()
        parts = [Value(f"{held}[{place}]", kind, *bounds(kind)) for place, kind in enumerate(value.type.items)]
        return f"{held} = {value.code};\n", parts

    def _put(self, target: ast.expr, value: Value) -> str:
        """Return the assignment of a value to a name, a field, an element or a slice."""
        match target:
            case ast.Name():
                return f"{safe_name(target.id)} = {self._kept(target.id, value).code};\n"
            case ast.Attribute():
                return f"{self.field(target)}[0] = {self.stored(value, self.field_type(target))};\n"
            case ast.Tuple():
                code, parts = self._unpacked(value)
                return code + "".join(self._put(one, part) for one, part in zip(target.elts, parts, strict=True))
            case ast.Subscript():
                place = self.place(target)
                if place.element:
                    return f"{place.code} = {self.stored(value, place.array)};\n"
                if isinstance(value.type, ArrayOf):
                    if value.type.store != place.array.store:
                        return f"$copy({place.code}, {value.code}, {self.conversion(value.type, place.array)});\n"
                    return f"{place.code}.set({value.code});\n"
                return f"{place.code}.fill({self.stored(value, place.array)});\n"
        raise UntranslatableError(f"an assignment to {ast.unparse(target)}")

    def _kept(self, name: str, value: Value) -> Value:
        """Note what is assigned to a variable, and return it as one of the variable's type."""
        known = self.variables.get(name)
        if known is None:
            self.variables[name] = Value(name, value.type, value.low, value.high)
            return value
        kind = unified(known.type, value.type)
        if kind is None:
            raise UntranslatableError(f"{name}, which holds {known.type} and {value.type},")
        low, high = self._joined(known, value)
        self.variables[name] = Value(name, kind, low, high)
        return value if isinstance(kind, ArrayOf | TupleOf) else converted(value, kind)

    def _joined(self, known: Value, value: Value) -> tuple[int | None, int | None]:
        low = None if known.low is None or value.low is None else min(known.low, value.low)
        high = None if known.high is None or value.high is None else max(known.high, value.high)
        if self._widen:
            low, high = (low if low == known.low else None), (high if high == known.high else None)
        return low, high

    def _augment(self, node: ast.AugAssign) -> str:
        operation = type(node.op)
        target = node.target
        if isinstance(target, ast.Name):
            return self._put(target, arithmetic(operation, self.expression(target), self.expression(node.value)))
        if isinstance(target, ast.Attribute):
            before = self.expression(target)
            return self._put(target, arithmetic(operation, before, self.expression(node.value)))
        place = self.place(target)
        if not place.element:
            raise UntranslatableError("an operation on a whole slice")
        held_array, held_index = self.temporary(), self.temporary()
        before = self.loaded(f"{held_array}[{held_index}]", place.array)
        after = arithmetic(operation, before, self.expression(node.value))
        return (
            f"{held_array} = {place.base}; {held_index} = {place.at};\n"
            f"{held_array}[{held_index}] = {self.stored(after, place.array)};\n"
        )

    # --- loops and returns ---------------------------------------------------------------------------------------

    def _loop(self, node: ast.For) -> str:
        if not isinstance(node.target, ast.Name):
            raise UntranslatableError("a loop over several names at once")
        name = node.target.id
        called = isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name)
        if called and node.iter.func.id == "range":  # type: ignore[attr-defined]  # a call of a name, as was asked
            return self._counted(node, name, node.iter.args)  # type: ignore[attr-defined]  # as above
        over, each = self.expression(node.iter), self.counter()
        if isinstance(over.type, ArrayOf) and len(over.type.shape) == 1:
            value = self.loaded(each, over.type)
        elif isinstance(over.type, TupleOf) and len(set(over.type.items)) == 1:
            value = Value(each, over.type.items[0], *bounds(over.type.items[0]))
        else:
            raise UntranslatableError(f"a loop over {ast.unparse(node.iter)}")
        return f"for (const {each} of {over.code}) {{\n{self._put(node.target, value)}{self._block(node.body)}}}\n"

    def _counted(self, node: ast.For, name: str, given: list[ast.expr]) -> str:
        values = [converted(self.expression(one), INT) for one in given]
        start, stop = (whole(0), values[0]) if len(values) == 1 else values[:2]
        step = values[2].known if len(values) == 3 else 1
        if not 1 <= len(values) <= 3 or step is None or step == 0:
            raise UntranslatableError("a range without a known step")
        each, end = self.counter(), self.counter()
        if step > 0:
            low, high = start.low, None if stop.high is None else max(stop.high - 1, start.low or 0)
        else:
            low, high = None if stop.low is None else min(stop.low + 1, start.high or 0), start.high
        counted = Value(each, INT, low, high)
        counted = counted if counted.low is not None or counted.high is not None else Value(each, INT)
        relation = f"{each} {'<' if step > 0 else '>'} {end}"
        head = f"for (let {each} = {start.code}, {end} = {stop.code}; {relation}; {each} += {step}) {{\n"
        return head + self._put(ast.Name(name), counted) + self._block(node.body) + "}\n"

    def _return(self, node: ast.Return) -> str:
        if node.value is None:
            return "return;\n"
        value = self.expression(node.value)
        known = self._returns
        kind = value.type if known is None else unified(known.type, value.type)
        if kind is None or kind == VOID:
            raise UntranslatableError(f"a return of {value.type} besides {known and known.type}")
        low, high = (value.low, value.high) if known is None else self._joined(known, value)
        self._returns = Value("", kind, low, high)
        if isinstance(kind, TupleOf) and kind != value.type:
            code, parts = self._unpacked(value)
            made = ", ".join(converted(one, to).code for one, to in zip(parts, kind.items, strict=True))
            return f"{code}return [{made}];\n"
        return f"return {value.code if isinstance(kind, ArrayOf | TupleOf) else converted(value, kind).code};\n"
