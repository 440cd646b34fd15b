"""Short texts that stand for a state: to be pasted into a command, a message or a bug report.

    yatzy-0LmVhAQ9cAQ...

The name of the game stands before the first hyphen. What follows, in the URL-safe alphabet of Base64, is a number for
the form, the players and the parameters, what of the record differs from a new game's, and three bytes that tell a text
which was cut or mistyped from a whole one. There are two forms: one of the whole record, with the key that names all
dice to come; and one of what a seat may know (`dicegym.analysis.hidden`), from which nobody can find out more.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import lzma
import re
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.hidden import known
from dicegym.engine.game import Game
from dicegym.errors import DicegymError, ParameterError, one_line
from dicegym.games import game as make_game

_CHECK = 3
"""Bytes of the check sum: one wrong text in 17 million is taken for a right one."""
_KEY = 8
_MOST = 1 << 16
"""Bytes that the difference of a record may have: more is no record of anybody's."""
_WHOLE = 0
_LZMA = [{"id": lzma.FILTER_LZMA1, "dict_size": 4096, "lc": 0, "lp": 0, "pb": 0}]
LONGEST = 4000
"""Characters of a text that is read."""


class Position(NamedTuple):
    """What a text stands for."""

    game: Game
    state: np.ndarray
    """The record, as an array of one; where a seat knows it alone, all that is hidden from it is zero."""
    seat: int | None
    """Who knows it; None: it is the whole state."""


def position_id(game: Game, state: Any, seat: int | None = None) -> str:
    """Return the text that stands for a state.

    Args:
        game: the game.
        state: its record.
        seat: leave out what this seat may not know; None: the whole state, its dice to come included.

    Raises ParameterError if there is no such seat.
    """
    if seat is not None and not 0 <= seat < game.players:
        raise ParameterError(f"seat {seat} is no seat of {game!r}: give 0 to {game.players - 1}")
    if seat is None:
        states = game.new_states(1)
        states[0] = state
    else:
        states = known(game, state, seat)
    key = int(states["key"][0])
    difference = np.frombuffer(states.tobytes(), np.uint8) ^ np.frombuffer(_begun(game, key, seat), np.uint8)
    packings = [packing.pack(difference.tobytes()) for packing in _PACKINGS]
    packing = min(range(len(packings)), key=lambda one: len(packings[one]))
    head = bytes([packing, _WHOLE if seat is None else 1 + seat])
    for number in (game.players, *game.parameters.values()):
        head += _written(number)
    if seat is None:
        head += key.to_bytes(_KEY, "little")
    content = head + packings[packing]
    text = base64.urlsafe_b64encode(content + _check_sum(game, content)).decode().rstrip("=")
    return f"{game.name}-{text}"


def position(text: str, game: Game | None = None) -> Position:
    """Return what a text stands for.

    Args:
        text: what `position_id` returned.
        game: where it is none of the registered games; its parameters are those of the text all the same.

    Raises ParameterError, which says what is wrong with it: it was cut or mistyped, or made by other rules.
    """
    told = f"{one_line(text, 60)!r} stands for no state"
    found = _FORM.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if found is None:
        raise ParameterError(f"{told}: such a text begins with the name of a game and a hyphen, as `hog-...`")
    try:
        table = make_game(found["game"]) if game is None else game
    except DicegymError as error:
        raise ParameterError(f"{told}: {error}") from None
    if table.name != found["game"]:
        raise ParameterError(f"{told} of {table.spec.title}: it is one of {found['game']}")
    try:
        packed = base64.urlsafe_b64decode(found["packed"] + "=" * (-len(found["packed"]) % 4))
    except binascii.Error:
        packed = b""
    content, check = packed[:-_CHECK], packed[-_CHECK:]
    if len(check) < _CHECK or _check_sum(table, content) != check:
        raise ParameterError(
            f"{told}: it was cut or mistyped, or comes from a version of dicegym whose records of {table.spec.title} "
            "are others; copy all of it again, from its first letter to its last"
        )
    try:
        return _unpacked(table, content)
    except (ValueError, IndexError, zlib.error, lzma.LZMAError, DicegymError) as error:
        raise ParameterError(f"{told}: {one_line(error)}") from None


def _unpacked(table: Game, content: bytes) -> Position:
    packing, whose = content[0], content[1]
    seat = None if whose == _WHOLE else whose - 1
    numbers, at = [], 2
    for _ in range(1 + len(table.parameters)):
        number, at = _read(content, at)
        numbers.append(number)
    game = Game(table.spec, numbers[0], **dict(zip(table.parameters, numbers[1:], strict=True)))
    if seat is not None and seat >= game.players:
        raise ValueError(f"there is no seat {seat}")
    key = 0
    if seat is None:
        key, at = int.from_bytes(content[at : at + _KEY], "little"), at + _KEY
    begun = _begun(game, key, seat)
    difference = _PACKINGS[packing].unpack(content[at:], len(begun))
    if len(difference) != len(begun):
        raise ValueError(f"its record has {len(difference)} bytes, and one of {game.spec.title} has {len(begun)}")
    raw = np.frombuffer(difference, np.uint8) ^ np.frombuffer(begun, np.uint8)
    states = game.new_states(1)
    states[0] = np.frombuffer(raw.tobytes(), game.spec.state)[0]
    _check_header(game, states, key)
    return Position(game, states, seat)


def _check_header(game: Game, states: np.ndarray, key: int) -> None:
    """Raise ValueError for a record whose first fields are not those of a game with these parameters."""
    wanted = {"key": key, "players": game.players, **game.parameters}
    for name, value in wanted.items():
        if states[name][0] != value:
            raise ValueError(f"its record says {name}={states[name][0]}, and its head {value}")
    if not 0 <= states["player"][0] < game.players:
        raise ValueError(f"there is no seat {states['player'][0]}")


def _begun(game: Game, key: int, seat: int | None) -> bytes:
    """Return the record of a new game with this key, as far as the seat knows it."""
    states = game.new_states(1)
    states["key"] = key
    game.spec.kernels.reset(states[0])
    return (states if seat is None else known(game, states[0], seat)).tobytes()


def _check_sum(game: Game, content: bytes) -> bytes:
    about = f"{game.name} {game.spec.state.descr} {list(game.parameters)}".encode()
    return hashlib.blake2b(about + content, digest_size=_CHECK).digest()


def _written(number: int) -> bytes:
    """Return a whole number from 0 as bytes, seven bits in each, the lowest first."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def _read(content: bytes, at: int) -> tuple[int, int]:
    """Return the number that `_written` wrote, and where it ends."""
    number, shift = 0, 0
    while content[at] & 128:
        number |= (content[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if shift > 63:
            raise ValueError("it holds a number without an end")
    return number | content[at] << shift, at + 1


# --- differences, mostly zeros, in few bytes -----------------------------------------------------------------


class _Packing(NamedTuple):
    pack: Callable[[bytes], bytes]
    unpack: Callable[[bytes, int], bytes]
    """(what was packed, number of bytes it is to have at the most)."""


def _pack_sparse(difference: bytes) -> bytes:
    """Pairs of how many zeros and how many others follow, four bits each, and these others."""
    found = bytearray()
    at, end = 0, len(difference.rstrip(b"\0"))
    while at < end:
        zeros = 0
        while zeros < 15 and at + zeros < end and difference[at + zeros] == 0:
            zeros += 1
        at += zeros
        others = 0
        while others < 15 and at + others < end and (difference[at + others] != 0):
            others += 1
        found += bytes([zeros << 4 | others]) + difference[at : at + others]
        at += others
    return bytes(found)


def _unpack_sparse(packed: bytes, most: int) -> bytes:
    found, at = bytearray(), 0
    while at < len(packed):
        zeros, others = packed[at] >> 4, packed[at] & 15
        found += bytes(zeros) + packed[at + 1 : at + 1 + others]
        at += 1 + others
    return bytes(found.ljust(most, b"\0"))


def _pack_deflated(difference: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(difference.rstrip(b"\0")) + packer.flush()


def _unpack_deflated(packed: bytes, most: int) -> bytes:
    return zlib.decompressobj(-15).decompress(packed, most + 1).ljust(most, b"\0")


def _pack_lzma(difference: bytes) -> bytes:
    return lzma.compress(difference.rstrip(b"\0"), lzma.FORMAT_RAW, filters=_LZMA)


def _unpack_lzma(packed: bytes, most: int) -> bytes:
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=_LZMA).decompress(packed, most + 1).ljust(most, b"\0")


_PACKINGS = (
    _Packing(_pack_sparse, _unpack_sparse),
    _Packing(_pack_deflated, _unpack_deflated),
    _Packing(_pack_lzma, _unpack_lzma),
)
"""Ways to pack; the shortest is taken, its place here being the first byte. More may follow, none may change."""
_FORM = re.compile(r"(?P<game>[A-Za-z0-9_]+)-(?P<packed>[A-Za-z0-9_-]+)")
