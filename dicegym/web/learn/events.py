"""Numbers that a training logs to TensorBoard, read from its event files without TensorBoard.

A file holds records: length (uint64), checksum, a Protocol Buffers message ``Event``, checksum. Of an event its step
(field 2) and its summary (field 5) are read; of a summary's values (field 1) the tag (field 1) and the float (field 2).
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LARGEST = 32 << 20
"""Bytes of a file that are read."""
_STEP, _SUMMARY, _VALUE, _TAG, _FLOAT = 2, 5, 1, 1, 2
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def read_scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Return step and value of all scalars below a folder, by tag, in the order of their steps.

    What is damaged, or is being written, ends a file; the rest of the files is read.
    """
    found: dict[str, dict[int, float]] = {}
    for path in sorted(folder.rglob("events.out.tfevents.*")):
        if path.is_file() and not path.is_symlink():
            for tag, step, value in _scalars(path, path.stat().st_size):
                found.setdefault(tag, {})[step] = value
    return {tag: sorted(values.items()) for tag, values in found.items()}


@functools.lru_cache(maxsize=256)
def _scalars(path: Path, size: int) -> tuple[tuple[str, int, float], ...]:
    """Return tag, step and value of the scalars of a file; ``size`` tells its states apart."""
    with path.open("rb") as file:
        data = file.read(LARGEST)
    found: list[tuple[str, int, float]] = []
    try:
        for event in _records(data):
            step, summaries = 0, []
            for number, value in _fields(event):
                if number == _STEP:
                    step = value
                elif number == _SUMMARY:
                    summaries.append(value)
            found += [(tag, step, value) for summary in summaries for tag, value in _values(summary)]
    except (IndexError, struct.error, UnicodeDecodeError):
        pass  # the end of what can be read
    return tuple(found)


def _records(data: bytes) -> Iterator[bytes]:
    at = 0
    while at + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        if at + 16 + length > len(data):
            return
        yield data[at + 12 : at + 12 + length]
        at += 16 + length


def _values(summary: bytes) -> Iterator[tuple[str, float]]:
    for number, value in _fields(summary):
        if number == _VALUE and isinstance(value, bytes):
            told = dict(_fields(value))
            if isinstance(told.get(_TAG), bytes) and isinstance(told.get(_FLOAT), float):
                yield told[_TAG].decode(), told[_FLOAT]


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Yield number and value of the fields of a message: int, float or bytes. Raises IndexError, struct.error."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        value: Any = None
        if kind == _VARINT:
            value, at = _varint(message, at)
        elif kind == _BYTES:
            length, at = _varint(message, at)
            value, at = message[at : at + length], at + length
        elif kind in (_FIXED32, _FIXED64):
            form = "<f" if kind == _FIXED32 else "<d"
            (value,) = struct.unpack_from(form, message, at)
            at += struct.calcsize(form)
        else:
            raise IndexError(f"unknown kind of field {kind}")
        yield key >> 3, value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length, and where what follows it begins."""
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if not byte & 128:
            return value, at
        shift += 7
