"""Kernels that other threads call by a number: where they begin, and where their arguments lie in memory.

To call a kernel from Python with the thirty arrays of a batch takes 4 to 7 µs and Python's lock. A `Task` writes them
down once; from then on compiled code calls the kernel with four numbers.

A kernel of this kind is ``do(job, start, end, now, *arguments)`` and gives a whole number. Beside it stands another one
that is compiled for the same arguments and tells where ``do`` begins::

    @loop_kernel
    def prepare(place, arguments):
        return entry_of(do, place, arguments)
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls, no-warn-return-any
# mypy: disable-error-code="call-arg"
# Kernels: Numba infers the types of their arguments, and hands intrinsics one more.

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from dicegym.engine.jit import COMPILED, kernel
from dicegym.engine.numba_names import TypingError, cgutils, intrinsic, ir, types

CELLS = 1024
"""How many 8 bytes the arguments of a kernel may take: an array takes 7 and more."""
_WORD, _BYTES = ir.IntType(64), ir.IntType(8).as_pointer()
_ENTRY = ir.FunctionType(_WORD, [_BYTES, _WORD, _WORD, _WORD, _WORD, _WORD.as_pointer()])
"""(arguments, job, start, end, now, where the result goes) -> 0, or where it lies what the kernel raised (`raised`)."""
_UNKNOWN = -1
"""What stands for that where Numba does not say what was raised."""


def _borrowed(context, builder, kind, value):
    """Return a value whose arrays nobody counts: what counts them in this call is gone after it."""
    if isinstance(kind, types.Array):
        count = context.data_model_manager[kind].get_field_position("meminfo")
        return builder.insert_value(value, cgutils.get_null_value(value.type.elements[count]), count)
    if isinstance(kind, types.BaseTuple):
        for number, part in enumerate(tuple(kind)):  # type: ignore[arg-type,var-annotated]  # Numba's can be gone through
            found = builder.extract_value(value, number)
            value = builder.insert_value(value, _borrowed(context, builder, part, found), number)
    return value


@intrinsic
def _entry_of(typingctx, do, place, arguments):
    given = (types.int64,) * 4 + tuple(arguments)
    called = typingctx.resolve_function_type(do, given, {})
    if not isinstance(called.return_type, types.Integer):
        raise TypingError(f"{do} gives {called.return_type}, and no whole number")

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
        place = inside.ptrtoint(status.excinfoptr, _WORD)
        place = inside.select(status.is_user_exc, place, ir.Constant(_WORD, _UNKNOWN))
        inside.ret(inside.select(status.is_ok, ir.Constant(_WORD, 0), place))
        return builder.ptrtoint(entry, _WORD)

    return types.int64(do, place, arguments), codegen


entry_of: Any = _entry_of
"""``entry_of(do, place, arguments)`` writes a tuple of arguments to ``place`` (int64[CELLS]).

It returns where code begins that calls ``do`` with them. Nothing is counted: whoever asks has to keep them, and the
kernel that asks.
"""


@intrinsic
def enter(typingctx, entry, place, job, start, end, now, results, cell):
    """Call what begins at ``entry``; its result goes to ``results[cell]`` (int64).

    Return 0 if it raised nothing, else what `raised` takes.
    """

    def codegen(context, builder, signature, args):
        entry, place, job, start, end, now, results, cell = args
        function = builder.inttoptr(entry, _ENTRY.as_pointer())
        data = context.make_array(signature.args[6])(context, builder, results).data
        told = [builder.inttoptr(place, _BYTES), job, start, end, now, builder.gep(data, [cell])]
        return builder.call(function, told)

    number = types.int64
    return number(number, number, number, number, number, number, results, number), codegen


@intrinsic
def _answer(typingctx, entry, place, job, start, end, now):
    def codegen(context, builder, signature, args):
        entry, place, *numbers = args
        cell = cgutils.alloca_once(builder, _WORD)
        function = builder.inttoptr(entry, _ENTRY.as_pointer())
        status = builder.call(function, [builder.inttoptr(place, _BYTES), *numbers, cell])
        went_well = builder.icmp_signed("==", status, ir.Constant(_WORD, 0))
        return builder.select(went_well, builder.load(cell), ir.Constant(_WORD, FAILED))

    number = types.int64
    return number(number, number, number, number, number, number), codegen


FAILED = -1
"""What `ask` returns where a kernel raised something; kernels that are asked return numbers from 0 on."""


@kernel
def ask(entry, place, job, start, end, now):
    """Call what begins at ``entry`` and return its result, from Python in a fifth of a microsecond.

    Numba looks at six whole numbers much faster than at a record or an array. What a kernel raises is lost: `FAILED`.
    """
    return _answer(entry, place, job, start, end, now)


class _Raised(ctypes.Structure):
    """What compiled code raised, as Numba's calling convention keeps it: a pickled (kind, arguments, place)."""

    _fields_ = (
        ("pickled", ctypes.c_void_p),
        ("size", ctypes.c_int32),
        ("values", ctypes.c_void_p),
        ("unwrap", ctypes.c_void_p),
        ("dynamic", ctypes.c_int32),
    )


def raised(place: int) -> BaseException:
    """Return what a kernel raised, by what `enter` gave; the kernel and its `Task` have to be there still.

    Words that were put together of what the kernel knew are lost: then the kind alone is told, and where it was.
    """
    if place == _UNKNOWN:
        return RuntimeError(
            "compiled code raised an error: with NUMBA_DISABLE_JIT=1 in the environment Python says which"
        )
    found = _Raised.from_address(place)
    kind, arguments, where = pickle.loads(ctypes.string_at(found.pickled, found.size))
    error: BaseException = kind() if found.dynamic else kind(*(arguments or ()))
    name, file, line = where or ("compiled code", "", 0)
    error.add_note(f"raised by {name}{f', {file}:{line}' if file else ''}, for a part of the games")
    return error


class Task:
    """A kernel and its arguments.

    Args:
        do: the kernel.
        prepare: the one beside it.
        arguments: what ``do`` gets after its four numbers. They are kept, and read where they lie: what is written into
            arrays is noticed.

    Attributes:
        entry: where the kernel begins.
        place: where its arguments lie.
    """

    def __init__(self, do: Callable[..., Any], prepare: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.do, self._prepare, self.arguments = do, prepare, arguments
        self._memory = np.zeros(CELLS, np.int64)
        self.entry = int(prepare(self._memory, arguments)) if COMPILED else 0
        self.place = self._memory.ctypes.data

    def ask(self, job: int, start: int, end: int, now: int) -> int:
        """Call the kernel once and return its result. Raises RuntimeError where it raised something."""
        if not COMPILED:
            return int(self.do(job, start, end, now, *self.arguments))
        result: int = ask(self.entry, self.place, job, start, end, now)
        if result == FAILED:
            raise raised(_UNKNOWN)
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies are of copied arguments, which lie elsewhere."""
        return Task, (self.do, self._prepare, self.arguments)
