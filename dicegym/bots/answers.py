"""A bot's answers as text on their way to the referee: plain values, and the words of all other objects.

`encode` runs in the bot's process and makes JSON. `decode` runs in the referee's process, which trusts nothing that it
reads: JSON is data alone, and the decoded value decides what an answer means.

==========================  ==========================================================================================
JSON                        answer
==========================  ==========================================================================================
number, text, true, null    the same; subclasses and NumPy's types become Python's, objects with ``__index__`` an int
[...]                       a list
{"t": [...]}                a tuple
{"d": [[key, value], ...]}  a dict
{"o": [type, text]}         any other object, which no interface takes: the name of its type, and its ``repr``
==========================  ==========================================================================================
"""

from __future__ import annotations

import functools
import json
import operator
from typing import Any

from dicegym.bots.calls import show_value

LONGEST_FRAME = 1 << 16
"""Bytes of a bot's frame, with its end."""
MOST_ITEMS = 10_000
"""Values in one answer, nested ones included."""
DEEPEST = 20
"""Nested containers."""
LONGEST_TEXT = 2000
_WITHOUT_INDEX = ("bool", "bool_", "float16", "float32")
"""NumPy's numbers that are neither Python's, as float64 is, nor have ``__index__``."""
LARGEST = 10**1000
"""Larger integers are clipped to it: no rule distinguishes them."""


class Odd:
    """An answer that is neither a plain value nor a number. Errors quote the original's type name and ``repr``."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        """Return the original's ``repr``."""
        return self._text


@functools.lru_cache(maxsize=64)
def _type(name: str) -> type[Odd]:
    """Return a subclass of `Odd` with this name. Raises ValueError if it cannot be one."""
    return type(name, (Odd,), {"__slots__": ()})


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
    if isinstance(value, int):
        return _digits(value)
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
    if type(value).__module__ == "numpy" and type(value).__name__ in _WITHOUT_INDEX:
        return _written(value.item(), room, 0)
    try:
        number = operator.index(value)
    except Exception:  # the bot's own class may raise anything
        return json.dumps({"o": [type(value).__name__[:80], show_value(value, LONGEST_TEXT)]})
    return _digits(number)


def _digits(number: int) -> str:
    return str(min(max(int.__index__(number), -LARGEST), LARGEST))


def decode(found: Any) -> Any:
    """Return the answer for the result of `json.loads`. Raises ValueError or TypeError for anything else."""
    match found:
        case None | bool() | int() | float() | str():
            return found
        case list():
            return [decode(one) for one in found]
        case {"t": list(inside), **rest} if not rest:
            return tuple(map(decode, inside))
        case {"d": list(inside), **rest} if not rest:
            return {decode(key): decode(one) for key, one in inside}
        case {"o": [str(name), str(text)], **rest} if not rest:
            return _type(name)(text)
    raise ValueError("is not an encoded answer")
