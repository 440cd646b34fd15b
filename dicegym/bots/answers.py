"""A bot's answers as text on their way to the referee: plain values, and descriptions of all other objects.

`encode` runs in the bot's process and makes JSON. `decode` runs in the referee's process, which trusts nothing that it
reads: JSON is data alone, and the decoded value decides what an answer means.

==========================  ==========================================================================================
JSON                        answer
==========================  ==========================================================================================
number, text, true, null    the same; subclasses of text and numbers become the base class
[...]                       a list
{"t": [...]}                a tuple
{"d": [[key, value], ...]}  a dict
{"n": [type, value]}        a number of NumPy, or its True or False
{"o": [type, text,          any other object: its type, its ``repr``, and the integers from ``__index__`` and
index, int, callable]}      ``__int__``, if it has them
==========================  ==========================================================================================
"""

from __future__ import annotations

import functools
import json
import operator
import types
from typing import Any

LONGEST_FRAME = 1 << 16
"""Bytes of a bot's frame, with its end."""
MOST_ITEMS = 10_000
"""Values in one answer, nested ones included."""
DEEPEST = 20
"""Nested containers."""
LONGEST_TEXT = 2000
NUMBERS: dict[str, type] = {
    **dict.fromkeys((f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), int),
    **dict.fromkeys(("longlong", "ulonglong"), int),
    **dict.fromkeys(("float16", "float32", "float64"), float),
    **dict.fromkeys(("bool", "bool_"), bool),
}
"""NumPy's numbers that keep their type -> the type in JSON."""
LARGEST = 10**1000
"""Larger integers are clipped to it: no rule distinguishes them."""


class Foreign:
    """An answer that is not a plain value, with the original's type name, ``repr`` and integers.

    It is callable if the original was.
    """

    __slots__ = ("_index", "_int", "_text")

    def __init__(self, text: str, index: int | None, whole: int | None) -> None:
        self._text, self._index, self._int = text, index, whole

    def __repr__(self) -> str:
        """Return the original's ``repr``."""
        return self._text

    def __index__(self) -> int:
        """Return its ``__index__``. Raises TypeError if it has none."""
        if self._index is None:
            raise TypeError(f"'{type(self).__name__}' object cannot be interpreted as an integer")
        return self._index

    def __int__(self) -> int:
        """Return its ``__int__``. Raises TypeError if it has none."""
        if self._int is None:
            raise TypeError(f"int() argument must be a string or a real number, not '{type(self).__name__}'")
        return self._int


@functools.lru_cache(maxsize=64)
def _type(name: str, called: bool) -> type[Foreign]:
    """Return a subclass of `Foreign` with this name."""

    def refuse(self: Foreign, *arguments: object, **named: object) -> object:
        raise TypeError("this object only describes an answer, and cannot be called")

    members: dict[str, Any] = {"__slots__": (), "__doc__": Foreign.__doc__}
    return type(name.replace("\0", ""), (Foreign,), members | ({"__call__": refuse} if called else {}))


class TooMuchError(ValueError):
    """An answer is larger than any interface needs."""


def encode(value: object) -> str:
    """Return ``value`` as JSON. Raises TooMuchError, and what the bot's own classes raise."""
    if type(value) is int and -LARGEST < value < LARGEST:
        return str(value)
    return _written(value, [MOST_ITEMS], DEEPEST)


def _written(value: Any, room: list[int], depth: int) -> str:
    """Return a value as JSON. It is written directly, as this is faster than `json`, and every answer waits for it."""
    room[0] -= 1
    if room[0] < 0 or depth < 0:
        raise TooMuchError(f"more than {MOST_ITEMS} values, or nested more than {DEEPEST} deep")
    if value is None or value is True or value is False:
        return "null" if value is None else "true" if value else "false"
    if type(value).__module__ == "numpy" and type(value).__name__ in NUMBERS:
        number: Any = value
        return f'{{"n":["{type(value).__name__}",{_written(number.item(), room, 0)}]}}'
    if isinstance(value, int):
        return str(min(max(int.__index__(value), -LARGEST), LARGEST))
    if isinstance(value, str):
        return json.encoder.encode_basestring_ascii(str.__str__(value)[:LONGEST_TEXT])
    if isinstance(value, tuple):
        return f'{{"t":[{",".join([_written(one, room, depth - 1) for one in tuple.__iter__(value)])}]}}'
    if isinstance(value, list):
        return f"[{','.join([_written(one, room, depth - 1) for one in list.__iter__(value)])}]"
    if isinstance(value, dict):
        pairs = [
            f"[{_written(key, room, depth - 1)},{_written(one, room, depth - 1)}]" for key, one in dict.items(value)
        ]
        return f'{{"d":[{",".join(pairs)}]}}'
    if isinstance(value, float):
        return json.dumps(float.__float__(value))
    index = _whole(operator.index, value)
    return json.dumps({"o": [type(value).__name__[:80], _text(value), index, _whole(int, value), callable(value)]})


def _whole(convert: Any, value: object) -> int | None:
    try:
        return min(max(int.__index__(convert(value)), -LARGEST), LARGEST)
    except Exception:  # the bot's own class may raise anything
        return None


def _text(value: object) -> str:
    try:
        return str.__str__(repr(value))[:LONGEST_TEXT].encode("utf-8", "backslashreplace").decode()
    except Exception:
        return f"something of type {type(value).__name__[:80]}"


def decode(found: Any) -> Any:
    """Return the answer for the result of `json.loads`. Raises ValueError for anything else."""
    match found:
        case None | bool() | int() | float() | str():
            return found
        case list():
            return [decode(one) for one in found]
        case {"t": list(inside), **rest} if not rest:
            return tuple(map(decode, inside))
        case {"d": list(inside), **rest} if not rest:
            return {_key(decode(key)): decode(one) for key, one in inside}
        case {"n": [str(name), value], **rest} if name in NUMBERS and not rest:
            return _number(name, value)
        case {"o": [str(name), str(text), index, whole, bool(called)], **rest} if not rest:
            if {type(index), type(whole)} <= {int, types.NoneType}:
                return _type(name, called)(text, index, whole)
    raise ValueError("is not an encoded answer")


def _number(name: str, value: object) -> Any:
    """Return a number of NumPy. Raises ValueError if the value does not fit its type."""
    import numpy  # here, as only the referee decodes

    if type(value) is not NUMBERS[name]:
        raise ValueError("is another kind of number")
    try:
        return getattr(numpy, name)(value)
    except (OverflowError, AttributeError) as error:
        raise ValueError("does not fit its type") from error


def _key(key: object) -> object:
    """Return ``key`` if it is hashable, otherwise its ``repr``."""
    try:
        hash(key)
    except TypeError:
        return repr(key)
    return key
