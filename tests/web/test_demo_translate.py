"""The translator alone: numbers as compiled code has them, and what it refuses."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Callable
from importlib import resources
from typing import Any

import numpy as np
import pytest
from numba import njit

from dicegym.errors import TranslationError
from dicegym.web.export.translate.plain import PlainProgram
from dicegym.web.export.translate.program import KernelProgram, packed
from dicegym.web.export.translate.types import FLOAT, INT, UINT, RecordOf, array_of

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="JavaScript is run by node, which is not installed")
RECORD = np.dtype([(name, name) for name in ("int8", "int16", "int32", "int64", "uint64", "float32", "bool")])
TABLE = np.array([[1, 2, 3], [4, 5, 6]], np.int64)
NUMBERS = [
    0,
    1,
    -1,
    2,
    -3,
    7,
    -7,
    127,
    128,
    -129,
    2**31 - 1,
    -(2**31),
    2**53 - 1,
    2**53,
    -(2**53) - 1,
    2**62 + 3,
    -(2**63),
]


def run(code: str, *arguments: Any) -> Any:
    """What a function of JavaScript gives, by JSON; whole numbers as texts."""
    given = ", ".join(f"$whole({one}n)" if isinstance(one, int) else repr(one) for one in arguments)
    shown = "JSON.stringify(RESULT, (k, v) => typeof v === 'bigint' ? String(v) : v)"
    program = code + f"\nconsole.log({shown.replace('RESULT', f'main({given})')})"
    done = subprocess.run([str(NODE), "-e", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def script_of(function: Callable[..., Any], *kinds: Any) -> str:
    program = KernelProgram()
    name, _ = program.call(function, kinds)
    script = program.script({"main": name}).code.rpartition("return {layout")[0]
    arrays = [f"[{', '.join(map(str, array.tolist()))}]" for array in program.script({}).constants]
    return f"const $c = [{', '.join(arrays)}];\n{script}\nconst main = {name};"


def sums(a: Any, b: Any) -> Any:
    return a + b, a - b, a * b


def quotients(a: Any, b: Any) -> Any:
    return a // b, a % b


def bits(a: Any, b: Any) -> Any:
    return a & b, a | b, a ^ b, ~a, a << (b & 63), a >> (b & 63)


def compares(a: Any, b: Any) -> Any:
    return a < b, a <= b, a == b, a != b, min(a, b), max(a, b), 0 <= a < b


@needs_node
@pytest.mark.parametrize("function", [sums, quotients, bits, compares])
def test_whole_numbers_are_those_of_compiled_code(function: Callable[..., Any]) -> None:
    compiled = njit(function, error_model="numpy")
    pairs = [(a, b) for a in NUMBERS for b in NUMBERS if not (function is quotients and a == -(2**63) and b == -1)]
    code = script_of(function, INT, INT)
    every = ", ".join(f"[$whole({a}n), $whole({b}n)]" for a, b in pairs)
    found = run(
        code.replace("const main =", "const one =") + f"\nconst main = () => [{every}].map((two) => one(...two));"
    )
    for (a, b), values in zip(pairs, found, strict=True):
        assert [int(value) for value in values] == [int(value) for value in compiled(a, b)], (a, b)


def mixed(value: Any) -> Any:
    z = np.uint64(value)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = z << np.uint64(3)
    return np.int64(z + np.uint64(2**63)), np.float64(z)


@needs_node
@pytest.mark.parametrize("value", [0, 1, 2**63, 2**64 - 1, 0x9E3779B97F4A7C15])
def test_uint64_wraps(value: int) -> None:
    whole, real = run(_called(script_of(mixed, UINT), f"{value}n"))
    expected = njit(mixed)(np.uint64(value))
    assert (int(whole), float(real)) == (int(expected[0]), float(expected[1]))


def _called(code: str, given: str) -> str:
    return code.replace("const main =", "const one =") + f"\nconst main = () => one({given});"


def fields(state: Any, value: Any) -> Any:
    state.int8 = value
    state.int16 = value
    state.int32 = value
    state.int64 = value
    state.int8 += 1
    state.bool = value > 3
    state.float32 = value / 3
    return state.int8, state.int16, state.int32, state.int64, state.bool, np.float64(state.float32)


@needs_node
def test_fields_of_records_wrap_and_round_as_in_memory() -> None:
    code = script_of(fields, RecordOf(RECORD), INT)
    blank = "{int8: new Int8Array(1), int16: new Int16Array(1), int32: new Int32Array(1), "
    blank += "int64: new BigInt64Array(1), float32: new Float32Array(1), bool: new Uint8Array(1)}"
    compiled = njit(fields)
    every = ", ".join(f"one({blank}, $whole({value}n))" for value in NUMBERS)
    found = run(code.replace("const main =", "const one =") + f"\nconst main = () => [{every}];")
    for value, values in zip(NUMBERS, found, strict=True):
        expected = compiled(np.zeros(1, RECORD)[0], value)
        assert [float(one) for one in values] == [float(one) for one in expected], value


def arrays(n: Any) -> Any:
    found = np.zeros(n, np.int64)
    for i in range(n):
        found[i] = TABLE[i % 2, -1] * i
    found[-1] += 10
    found[1:3] = -5
    rows = TABLE[1]
    total = 0
    for value in rows:
        if value == 5:
            continue
        total += value
    left = n
    while True:
        left -= 1
        if left < 2:
            break
    return found[0], found[1], found[2], found[n - 1], total, len(found), rows.shape[0], left


@needs_node
def test_arrays_slices_and_loops() -> None:
    found = run(script_of(arrays, INT), 6)
    assert [int(value) for value in found] == [int(value) for value in njit(arrays)(6)]


def reals(x: Any, n: Any) -> Any:
    single = np.float32(x) / np.float32(3)
    return (
        np.float64(single),
        np.float64(single + np.float32(n)),
        x / n,
        x // n,
        x % n,
        np.rint(x),
        n / 0.0,
        x if n else 1,
    )


@needs_node
@pytest.mark.parametrize(("x", "n"), [(0.1, 3), (-7.5, 2), (2.5, -4), (1e300, 7)])
def test_floating_point_numbers(x: float, n: int) -> None:
    found = run(_called(script_of(reals, FLOAT, INT), f"{x!r}, {n}"))
    expected = [float(value) for value in njit(reals, error_model="numpy")(x, n)]
    assert [math.inf * (1 if n > 0 else -1) if one is None else float(one) for one in found] == expected


def test_of_constants_small_ones_take_a_byte() -> None:
    assert packed((np.array([0.0, 5.0]), np.array([0.5]), np.array([-0.0])))["kinds"] == [
        ["Int8Array", 2],
        ["Float64Array", 1],
        ["Float64Array", 1],
    ]


def with_names(state: Any) -> Any:
    return {"a": state}


def of_two_kinds(n: Any) -> Any:
    return np.uint64(n) + n


def calls_itself(n: Any) -> Any:
    return calls_itself(n - 1) if n else 0


def with_try(n: Any) -> Any:
    try:
        return n
    finally:
        pass


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (with_names, "{'a': state}"),
        (of_two_kinds, "uint64 + int64"),
        (calls_itself, "calls itself"),
        (with_try, "the statement Try"),
    ],
)
def test_what_cannot_be_translated_is_refused_with_its_place(function: Callable[..., Any], says: str) -> None:
    with pytest.raises(TranslationError) as caught:
        KernelProgram().call(function, (INT,))
    assert says in str(caught.value)
    if function is not calls_itself:
        line = function.__code__.co_firstlineno + 1
        assert f"test_demo_translate.py, line {line}, in {function.__name__}" in str(caught.value)


def words(n: int) -> list[str]:
    """How texts of Python come out."""
    faces = {face: ("odd", "even")[face % 2 == 0] for face in range(1, n)}
    named = ", ".join(f"{face}:{kind[0]}" for face, kind in sorted(faces.items(), key=lambda pair: -pair[0]))
    first, *rest = [one for one in range(n) if one != 2]
    return [
        named,
        f"{n:>4}|{n:<4}|{n:03d}|{1234567:,}|{-n:+}",
        f"{0.125:.2f} {2.5:.0f} {0.335:.2f} {n / 3:.1%}",
        f"{'x' * 3}{[n, 'a'][-1]!r}" + "abc"[::-1][:2],
        str(len(rest)) if rest and first == 0 else "none",
        "-".join(map(str, [*rest, sum(rest)][1:])),
        str(-7 // 2) + str(-7 % 3) + str(divmod(7, 2)[1]) + str(max([3, 9, 4], key=lambda value: value % 4)),
    ]


@needs_node
@pytest.mark.parametrize("n", [4, 11])
def test_ordinary_functions_say_the_same(n: int) -> None:
    program = PlainProgram()
    name = program.function(words)
    code, _ = program.script({"main": name})
    library = (resources.files("dicegym.web.export") / "scripts" / "python.js").read_text()
    main = f"const $whole = Number; const main = ((py) => {{{code}}})(dicegym.python).main;"
    assert run(f"{library}\n{main}", n) == words(n)


def asks_a_file(name: str) -> str:
    with open(name) as file:
        return file.read()


def test_what_no_screen_does_is_refused() -> None:
    with pytest.raises(TranslationError, match="the statement With"):
        PlainProgram().function(asks_a_file)


def test_arrays_of_records_are_named_by_their_dtype() -> None:
    assert array_of(np.dtype(np.int64), (None,)).store == "BigInt64Array"
