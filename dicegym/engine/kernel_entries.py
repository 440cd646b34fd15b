"""Fast calls of kernels with many arguments: a `Task` binds the arguments, and calls pass four whole numbers.

Numba needs 4 to 7 µs and Python's lock to call a kernel with the thirty arrays of a batch. A `Task` stores them once.
From then on, compiled code calls the kernel by its address.

Such a kernel has the form ``do(job, start, end, now, *arguments)`` and returns a whole number.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls, no-warn-return-any
# mypy: disable-error-code="call-arg"
# Kernels: Numba infers the types of their arguments, and hands intrinsics one more.

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from operator import index
from typing import Any

import numpy as np

from dicegym.engine.jit import COMPILED, kernel
from dicegym.engine.numba_names import TypingError, cgutils, intrinsic, ir, types

CELLS = 1024
"""Words of 8 bytes for the arguments of a kernel; an array takes 7 or more."""
_WORD, _BYTES = ir.IntType(64), ir.IntType(8).as_pointer()
_ENTRY = ir.FunctionType(_WORD, [_BYTES, _WORD, _WORD, _WORD, _WORD, _WORD.as_pointer()])
"""(arguments, job, start, end, now, address of the result) -> 0, or 1 if the kernel raised an error."""
LOST = "compiled code raised an error: run again with NUMBA_DISABLE_JIT=1 in the environment to see it"


def _borrowed(context, builder, kind, value):
    """Return a value with the reference counts of its arrays removed, as they end with this call."""
    if isinstance(kind, types.Array):
        count = context.data_model_manager[kind].get_field_position("meminfo")
        return builder.insert_value(value, cgutils.get_null_value(value.type.elements[count]), count)
    if isinstance(kind, types.BaseTuple):
        for number, part in enumerate(tuple(kind)):  # type: ignore[arg-type,var-annotated]  # iterable in Numba
            found = builder.extract_value(value, number)
            value = builder.insert_value(value, _borrowed(context, builder, part, found), number)
    return value


@intrinsic
def entry_of(typingctx, do, place, arguments):
    """Write a tuple of arguments to ``place`` (int64[CELLS]); return the address of code that calls ``do`` with them.

    References are not counted: the caller must keep the arguments, and the kernel that calls this.
    """
    given = (types.int64,) * 4 + tuple(arguments)
    called = typingctx.resolve_function_type(do, given, {})
    if not isinstance(called.return_type, types.Integer):
        raise TypingError(f"{do} returns {called.return_type}, not a whole number")

    def codegen(context, builder, signature, args):
        compiled = do.dispatcher.overloads[called.args]
        context.add_linking_libs([compiled.library])
        packer = context.get_arg_packer(called.args[4:])
        borrowed = _borrowed(context, builder, signature.args[2], args[2])
        leaves = packer.as_arguments(builder, cgutils.unpack_tuple(builder, borrowed))
        kept = ir.LiteralStructType([leaf.type for leaf in leaves])
        if context.get_abi_sizeof(kept) > 8 * CELLS:
            raise TypingError(f"the arguments of {do} take {context.get_abi_sizeof(kept)} bytes, more than {8 * CELLS}")
        memory = context.make_array(signature.args[1])(context, builder, args[1]).data
        memory = builder.bitcast(memory, kept.as_pointer())
        for number, leaf in enumerate(leaves):
            builder.store(leaf, cgutils.gep_inbounds(builder, memory, 0, number))
        name = builder.module.get_unique_name(f"{builder.function.name}.entry")
        entry = ir.Function(builder.module, _ENTRY, name)
        entry.linkage = "internal"
        inside = ir.IRBuilder(entry.append_basic_block())
        memory = inside.bitcast(entry.args[0], kept.as_pointer())
        found = [inside.load(cgutils.gep_inbounds(inside, memory, 0, number)) for number in range(len(leaves))]
        status, result = context.call_internal_no_propagate(
            inside, compiled.fndesc, called, [*entry.args[1:5], *packer.from_arguments(inside, found)]
        )
        inside.store(context.cast(inside, result, called.return_type, types.int64), entry.args[5])
        inside.ret(inside.select(status.is_ok, ir.Constant(_WORD, 0), ir.Constant(_WORD, 1)))
        return builder.ptrtoint(entry, _WORD)

    return types.int64(do, place, arguments), codegen


_PLAIN = str.maketrans("<>.", "___")


@cache
def _preparer(do: Any) -> Callable[..., Any]:
    """Return the kernel ``prepare(place, arguments)`` that calls `entry_of` for ``do``.

    It is generated as source, as if in ``do``'s file: code that names a global function can be cached, but not code
    that takes the function as an argument or from a closure. It counts references, as a kernel that does not say takes
    that from its first caller.
    """
    name = f"prepare_{do.py_func.__qualname__.translate(_PLAIN)}"
    names = {"do": do, "entry_of": entry_of, "__name__": do.__module__}
    source = f"def {name}(place, arguments):\n    return entry_of(do, place, arguments)"
    exec(compile(source, do.py_func.__code__.co_filename, "exec"), names)
    return kernel(names[name])


@intrinsic
def enter(typingctx, entry, place, job, start, end, now, results, cell):
    """Call the code at ``entry``; its result goes to ``results[cell]`` (int64). Return 1 if it raised an error."""

    def codegen(context, builder, signature, args):
        entry, place, job, start, end, now, results, cell = args
        function = builder.inttoptr(entry, _ENTRY.as_pointer())
        data = context.make_array(signature.args[6])(context, builder, results).data
        told = [builder.inttoptr(place, _BYTES), job, start, end, now, builder.gep(data, [cell])]
        return builder.call(function, told)

    number = types.int64
    return number(number, number, number, number, number, number, results, number), codegen


_ENTRY_CELL, _PLACE_CELL, _UNLOCKS, _LISTED = range(4)
"""Cells of the object that belongs to a Python function: addresses of the kernel and its arguments; 1 to release
Python's lock; the address of the numbers to return as a list, or 0 to return the kernel's result."""
_NUMBERS = 4
_ITEMS = object.__basicsize__ + 8
"""The offset in a list of the address of its items. C's ``PyList_SET_ITEM`` writes there, too. Calling
``PyList_SetItem`` for each item would slow down a step of a game with long lists by a tenth."""


@intrinsic
def _answer(typingctx):
    """Return the address of a function for Python that takes four whole numbers and calls a kernel."""

    def codegen(context, builder, signature, args):
        one = ir.Constant(_WORD, 1)
        form = ir.FunctionType(_BYTES, [_BYTES, _BYTES.as_pointer(), _WORD])  # METH_FASTCALL
        name = builder.module.get_unique_name(f"{builder.function.name}.answer")
        function = ir.Function(builder.module, form, name)
        function.linkage = "internal"
        owner, given, count = function.args
        inside = ir.IRBuilder(function.append_basic_block())
        python = context.get_python_api(inside)
        nothing = ir.Constant(_BYTES, None)
        with inside.if_then(inside.icmp_signed("!=", count, ir.Constant(_WORD, _NUMBERS)), likely=False):
            python.err_set_string("PyExc_TypeError", f"a kernel is called with {_NUMBERS} whole numbers")
            inside.ret(nothing)
        told = []
        for number in range(_NUMBERS):
            told.append(python.long_as_longlong(inside.load(inside.gep(given, [ir.Constant(_WORD, number)]))))
            minus = inside.icmp_signed("==", told[-1], ir.Constant(_WORD, -1))
            with (
                inside.if_then(minus, likely=False),
                cgutils.if_unlikely(inside, cgutils.is_not_null(inside, python.err_occurred())),
            ):
                inside.ret(nothing)
        cells = inside.bitcast(python.long_as_voidptr(owner), _WORD.as_pointer())
        cell = [inside.load(inside.gep(cells, [ir.Constant(_WORD, number)])) for number in range(4)]
        entry = inside.inttoptr(cell[_ENTRY_CELL], _ENTRY.as_pointer())
        place = inside.inttoptr(cell[_PLACE_CELL], _BYTES)
        unlocks = inside.icmp_signed("==", cell[_UNLOCKS], one)
        result, thread = cgutils.alloca_once(inside, _WORD), cgutils.alloca_once(inside, _BYTES)
        with inside.if_then(unlocks):
            inside.store(python.save_thread(), thread)
        status = inside.call(entry, [place, *told, result])
        with inside.if_then(unlocks):
            python.restore_thread(inside.load(thread))
        went_well = inside.icmp_signed("==", status, ir.Constant(_WORD, 0))
        with cgutils.if_unlikely(inside, inside.not_(went_well)):
            python.err_set_string("PyExc_RuntimeError", LOST)
            inside.ret(nothing)
        number = inside.load(result)
        with inside.if_then(inside.icmp_signed("!=", cell[_LISTED], ir.Constant(_WORD, 0))):
            numbers = inside.inttoptr(cell[_LISTED], _WORD.as_pointer())
            found = python.list_new(number)
            with cgutils.if_unlikely(inside, cgutils.is_null(inside, found)):
                inside.ret(nothing)
            place_of_items = inside.gep(found, [ir.Constant(_WORD, _ITEMS)])
            items = inside.load(inside.bitcast(place_of_items, _BYTES.as_pointer().as_pointer()))
            with cgutils.for_range(inside, number) as loop:
                one_of_them = python.long_from_longlong(inside.load(inside.gep(numbers, [loop.index])))
                inside.store(one_of_them, inside.gep(items, [loop.index]))
            inside.ret(found)
        inside.ret(python.long_from_longlong(number))
        return builder.ptrtoint(function, _WORD)

    return types.int64(), codegen


@kernel
def answer_entry():
    """Return the address of the function behind `Task.ask`."""
    return _answer()


class _Method(ctypes.Structure):
    """Python's ``PyMethodDef``."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("entry", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_METH_FASTCALL = 0x80
_new_function = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(_Method), ctypes.py_object, ctypes.py_object)(
    ("PyCFunction_NewEx", ctypes.pythonapi)
)


@cache
def _method() -> Any:
    return ctypes.pointer(_Method(b"ask", answer_entry(), _METH_FASTCALL, None))


class Task:
    """A kernel with its arguments.

    Args:
        do: the kernel.
        arguments: the arguments of ``do`` after its four numbers. Arrays are not copied: later writes are seen.
        unlocks: whether `ask` releases Python's lock, which takes longer than a short kernel.

    Attributes:
        entry: address of the kernel.
        place: address of its arguments.
        ask: ``ask(job, start, end, now)`` calls the kernel and returns its result. It is a built-in function, four
            times as fast as a call by Numba. Raises RuntimeError if the kernel raised an error, TypeError for anything
            but whole numbers, OverflowError beyond 64 bits.
    """

    def __init__(self, do: Callable[..., Any], arguments: tuple[Any, ...], unlocks: bool = False) -> None:
        self.do, self.arguments, self._unlocks = do, arguments, unlocks
        self._memory = np.zeros(CELLS, np.int64)
        self.entry = int(_preparer(do)(self._memory, arguments)) if COMPILED else 0
        self.place = self._memory.ctypes.data
        self.ask: Callable[[int, int, int, int], int] = self._function(0) if COMPILED else self._interpreted

    def listing(self, numbers: np.ndarray) -> Callable[[int, int, int, int], list[int]]:
        """Return a function like `ask` for a kernel that writes to ``numbers`` (int64) and returns how many.

        It returns them as a new list, twice as fast as from an array.
        """
        if not COMPILED:
            return lambda *told: numbers[: self._interpreted(*told)].tolist()
        found: Callable[[int, int, int, int], list[int]] = self._function(numbers.ctypes.data)
        return found

    def _function(self, listed: int) -> Any:
        cells = np.array([self.entry, self.place, self._unlocks, listed], np.int64)
        kept = cells, self._memory, self.arguments  # as long as the function exists
        return _new_function(_method(), cells.ctypes.data, kept)

    def _interpreted(self, job: int, start: int, end: int, now: int) -> int:
        return int(self.do(index(job), index(start), index(end), index(now), *self.arguments))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy by the arguments, as copies have other addresses."""
        return Task, (self.do, self.arguments, self._unlocks)
