"""System calls that a process gives up, for good and with all its threads (Linux's seccomp), by name and reason.

The table `dicegym.sandbox.refused_calls.RULES` says what an untrusted program may not ask of the kernel, and why. Most
calls are refused with EPERM, which Python raises as PermissionError, so that a program that tries reads in words what
it may not; a call that a C library can do without gets ENOSYS, upon which it does without.

The kernel remembers which calls pass whatever their arguments are, so reading and writing cost no more than before.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct
import sys
from typing import NamedTuple

from dicegym.sandbox import linux
from dicegym.sandbox.refused_calls import LAST_KNOWN, LOWER_HALF, OWN, PROCESSES, RULES, Rule


class _Machine(NamedTuple):
    column: int
    """Of `dicegym.sandbox.refused_calls.Numbers`."""
    architecture: int
    """AUDIT_ARCH_... of linux/audit.h, which the kernel tells with each call."""
    seccomp: int
    """Number of the system call."""


_MACHINES = {"x86_64": _Machine(0, 0xC000003E, 317), "aarch64": _Machine(1, 0xC00000B7, 277)}

# Instructions of the kernel's filter machine, and what a filter returns.
_LOAD, _AND, _IF_EQUAL, _IF_GREATER, _RETURN = 0x20, 0x54, 0x15, 0x25, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Offsets in the kernel's struct seccomp_data; arguments are 8 bytes each, the lower half first on both machines."""

_SET_MODE_FILTER, _ASK_FOR_ACTION = 1, 2
_ALL_THREADS = 1


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _machine() -> _Machine | None:
    if sys.platform != "linux" or sys.maxsize < 2**32:
        return None
    return _MACHINES.get(os.uname().machine)


class _Instruction(NamedTuple):
    """One step of a filter; the last two are how many steps are skipped after a comparison."""

    code: int
    value: int
    if_true: int = 0
    if_false: int = 0


def _body(rule: Rule) -> list[_Instruction]:
    """Return what is done with a call of ``rule``; it ends in what it returns without a hit, and with one."""
    passed, refused = _ALLOW, _ERROR | rule.error
    tests = rule.unless or rule.only
    if not tests:
        return [_Instruction(_RETURN, refused)]
    steps: list[tuple[int, int, bool, bool]] = []  # with: whether truth is a hit, whether falsehood is a miss
    for test in tests:
        offset = _ARGUMENTS + 8 * test.argument
        for half in range(1 + test.wide):
            steps.append((_LOAD, offset + 4 * half, False, False))
            if test.mask != LOWER_HALF:
                steps.append((_AND, test.mask, False, False))
            last = half == test.wide
            for value in test.values:
                steps.append((_IF_EQUAL, value, last, not last))
    miss, hit = (refused, passed) if rule.unless else (passed, refused)
    body = []
    for index, (code, value, is_hit, is_miss) in enumerate(steps):
        to_miss = len(steps) - index - 1
        body.append(_Instruction(code, value, (to_miss + 1) * is_hit, to_miss * is_miss))
    return [*body, _Instruction(_RETURN, miss), _Instruction(_RETURN, hit)]


@functools.cache
def _plan(machine: str, allow_fork: bool) -> tuple[bytes | _Instruction, ...]:
    """Return the filter packed, but for the instructions that ask for the id of the process (`OWN`)."""
    kind = _MACHINES[machine]
    steps = [
        _Instruction(_LOAD, _ARCHITECTURE),
        _Instruction(_IF_EQUAL, kind.architecture, 1),
        _Instruction(_RETURN, _KILL),
        _Instruction(_LOAD, _NUMBER),
        _Instruction(_IF_GREATER, LAST_KNOWN, 0, 1),
        _Instruction(_RETURN, _ERROR | errno.ENOSYS),
    ]
    for rule in RULES:
        if allow_fork and rule in PROCESSES:
            continue
        body = _body(rule)
        for numbers in rule.calls.values():
            if (number := numbers[kind.column]) is not None:
                steps += [_Instruction(_IF_EQUAL, number, 0, len(body)), *body]
    steps.append(_Instruction(_RETURN, _ALLOW))
    return tuple(step if step.value == OWN else _packed(step) for step in steps)


def _packed(step: _Instruction) -> bytes:
    return struct.pack("=HBBI", step.code, step.if_true, step.if_false, step.value)


def program(allow_fork: bool = False, own: int | None = None, machine: str | None = None) -> bytes:
    """Return the filter as the kernel takes it, of 8 bytes an instruction.

    Args:
        allow_fork: whether new processes, which inherit the filter, may be started all the same.
        own: id of the process that will install it; None: of this one.
        machine: as `os.uname` names it; None: this one.

    Raises:
        KeyError: the table has no numbers for ``machine``.
    """
    own = os.getpid() if own is None else own
    plan = _plan(machine or os.uname().machine, allow_fork)
    return b"".join(step if isinstance(step, bytes) else _packed(step._replace(value=own)) for step in plan)


@functools.cache
def available() -> bool:
    """Return whether this kernel takes filters and the table has the numbers of this machine's calls."""
    machine = _machine()
    if machine is None:
        return False
    wanted = ctypes.c_uint32(_ERROR)
    try:  # asks whether filters may return errors, and changes nothing
        linux.call(machine.seccomp, ctypes.c_uint(_ASK_FOR_ACTION), ctypes.c_uint(0), ctypes.byref(wanted))
    except (OSError, AttributeError):
        return False
    _plan(os.uname().machine, False)  # once, and not again in every process that is forked later
    return True


def install(allow_fork: bool = False) -> bool:
    """Refuse the calls of `RULES` to this process, all its threads and what it starts; return whether that holds.

    A forked child may send signals to its parent alone, as the filter knows that process by its number: install the
    filter in each process that runs untrusted code. `available`, called before it forks, makes that quicker.

    Args:
        allow_fork: leave processes possible, for one that is yet to fork those who confine themselves.
    """
    machine = _machine()
    if machine is None or not available():
        return False
    instructions = program(allow_fork)
    wanted = _Program(len(instructions) // 8, instructions)
    try:
        linux.give_up_new_privileges()
        linux.call(machine.seccomp, ctypes.c_uint(_SET_MODE_FILTER), ctypes.c_uint(_ALL_THREADS), ctypes.byref(wanted))
    except OSError:
        return False
    return True
