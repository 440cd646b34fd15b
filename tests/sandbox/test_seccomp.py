"""The filter of system calls, interpreted here, also for other machines."""

from __future__ import annotations

import errno
import os
import re
import struct
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from dicegym.sandbox import seccomp
from dicegym.sandbox.seccomp import LAST_KNOWN, OWN, RULES, Rule

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOWED, KILLED = "allowed", "killed"
ME = 4711


def answer(program: bytes, architecture: int, number: int, *arguments: int) -> str:
    """Run a filter as the kernel does; return the result for a call."""
    padded = [argument % 2**64 for argument in (*arguments, 0, 0, 0, 0, 0, 0)[:6]]
    data = struct.pack("=IIQ6Q", number, architecture, 0, *padded)
    steps = list(struct.iter_unpack("=HBBI", program))
    at = value = 0
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        if code == 0x20:
            (value,) = struct.unpack_from("=I", data, operand)
        elif code == 0x54:
            value &= operand
        elif code in (0x15, 0x25):
            at += if_true if (value == operand if code == 0x15 else value > operand) else if_false
        elif code == 0x06:
            kind, rest = operand & 0xFFFF0000, operand & 0xFFFF
            return {0x7FFF0000: ALLOWED, 0x80000000: KILLED}.get(kind) or errno.errorcode[rest]
        else:
            raise AssertionError(f"unknown instruction {code:#x}")


def calls(machine: str) -> Iterator[tuple[str, int, Rule]]:
    column = list(MACHINES).index(machine)
    for rule in RULES:
        for name, numbers in rule.calls.items():
            if (number := numbers[column]) is not None:
                yield name, number, rule


def hits(rule: Rule) -> Iterator[list[int]]:
    """Yield arguments that match each value in a test of ``rule``, with some masked bits set."""
    for test in rule.unless or rule.only:
        for value in test.values:
            arguments = [0xABCDEF] * 6
            arguments[test.argument] = ME if value == OWN else value | (0xFFFFFFFF & ~test.mask & 0x80000)
            yield arguments


@pytest.mark.parametrize("machine", MACHINES)
def test_each_rule_on_each_machine(machine: str) -> None:
    program = seccomp.program(own=ME, machine=machine)
    for name, number, rule in calls(machine):
        refused = errno.errorcode[rule.error]
        missed = [0x7B000000] * 6
        plain = answer(program, MACHINES[machine], number, *missed)
        assert plain == (ALLOWED if rule.only else refused), name
        if name == "sendto":  # both halves of a pointer are tested
            for address, expected in ((0, ALLOWED), (1, "EPERM"), (1 << 32, "EPERM"), (0x7FFF00000000, "EPERM")):
                assert answer(program, MACHINES[machine], number, 3, 0, 0, 0, address) == expected
        for arguments in hits(rule):
            met = answer(program, MACHINES[machine], number, *arguments)
            assert met == (ALLOWED if rule.unless else refused), (name, arguments)


@pytest.mark.parametrize("machine", MACHINES)
def test_other_machines_newer_calls_and_the_rest(machine: str) -> None:
    program = seccomp.program(own=ME, machine=machine)
    known = {number for _, number, _ in calls(machine)}
    assert len(known) == len(list(calls(machine)))  # no call twice
    assert max(known) <= LAST_KNOWN
    for number in range(LAST_KNOWN + 1):
        assert answer(program, 0x40000003, number) == KILLED  # 32 bits, where calls have other numbers
        if number not in known:
            assert answer(program, MACHINES[machine], number) == ALLOWED
    for number in (LAST_KNOWN + 1, 0x40000000, 0x40000039, 0xFFFFFFFF):
        assert answer(program, MACHINES[machine], number) == "ENOSYS"


HEADERS = {
    "x86_64": [Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm/unistd_64.h")],
    "aarch64": [Path("/usr/include/asm-generic/unistd.h")],
}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_the_kernels(machine: str) -> None:
    header = next((path for path in HEADERS[machine] if path.exists()), None)
    if header is None:
        pytest.skip("the kernel's headers are not installed (linux-libc-dev)")
    told = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text()))
    compared = 0
    for name, number, _ in calls(machine):
        if name in told:  # older headers lack newer calls
            assert number == int(told[name]), name
            compared += 1
    assert compared > 90
    absent = {name for rule in RULES for name in rule.calls} - {name for name, _, _ in calls(machine)}
    assert not absent & set(told)


def test_every_rule_says_why() -> None:
    assert all(rule.reason and rule.calls and not (rule.unless and rule.only) for rule in RULES)
    assert len({rule.reason for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("machine", ["riscv64", os.uname().machine])
def test_a_machine_without_numbers_and_a_kernel_without_filters(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    if machine == "riscv64":
        monkeypatch.setattr(os, "uname", lambda: types.SimpleNamespace(machine=machine))
    else:
        monkeypatch.setattr(seccomp.linux, "call", refuse)
    seccomp.available.cache_clear()
    try:
        assert not seccomp.available()
        assert not seccomp.install()
    finally:
        seccomp.available.cache_clear()
