"""Short texts that stand for a state: to be pasted into a command, a message or a bug report.

    hog-6qb-nOcC5yp2jtZLwxsKxNs

The name of the game stands before the first hyphen. What follows is a number, in the URL-safe digits of Base64: the
players and the parameters, what of the record differs from a new game's, each field in as many bits as its limits
leave it (`dicegym.games.packing`), and three bytes that tell a text which was cut or mistyped from a whole one.
There are two forms: one of the whole record, with the key that names all dice to come; and one of what a seat may know
(`dicegym.games.hidden`), from which nobody can find out more.

A text may come from a stranger, and compiled code trusts records. So nothing out of the limits that a game's
``text.py`` sets (``limits``) can be written at all, and what does not fit together (``impossible``) is refused.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import DicegymError, ParameterError, one_line
from dicegym.games import game as make_game
from dicegym.games.hidden import keep_known
from dicegym.games.packing import SymbolReader, SymbolWriter, read, read_all, write, write_all

FieldLimits = Mapping[str, tuple[Any, Any]]
"""By field the least and the largest value, each a number or an array of the field's shape."""
_CHECK = 24
"""Bits of the check sum: one wrong text in 17 million is taken for a right one."""
_KEYS = 1 << 64
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
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

    Example:
        >>> import dicegym
        >>> from dicegym.values import position_id
        >>> game = dicegym.game("hog")
        >>> position_id(game, game.new_game(seed=1)[0])[:4]
        'hog-'
    """
    if seat is not None and not 0 <= seat < game.players:
        raise ParameterError(f"seat {seat} is no seat of {game!r}: give 0 to {game.players - 1}")
    states = game.new_states(1)
    states[0] = state
    if seat is not None:
        states = keep_known(game, states[0], seat)
    key = int(states["key"][0])
    writer = SymbolWriter()
    spec = game.spec
    writer.one_of(spec.players[1] - spec.players[0] + 1, game.players - spec.players[0])
    for name, parameter in spec.parameters.items():
        number = game.all_parameters[name]
        writer.share((3, 1), number != parameter.default)
        if number != parameter.default:
            write(writer, number, parameter.default, parameter.low, parameter.high)
    writer.one_of(1 + game.players, 0 if seat is None else 1 + seat)
    if seat is None:
        writer.one_of(_KEYS, key)
    for field in _fields(game, _begun(game, key, seat)):
        values = _whole(states[field.name][0])
        for value, low, high in zip(values, field.low, field.high, strict=True):
            if not low <= value <= high:
                raise ParameterError(
                    f"a record whose {field.name} is {value} is not of {spec.title}: that is {low} to {high} there"
                )
        write_all(writer, values, field.usual, field.low, field.high)
    number = writer.number()
    return f"{game.name}-{_digits(number << _CHECK | _check_sum(game, number))}"


def position(text: str, game: Game | None = None) -> Position:
    """Return what a text stands for.

    Args:
        text: what `position_id` returned.
        game: where it is not a registered game; its parameters are those of the text all the same.

    Raises ParameterError, which says what is wrong with it: it was cut or mistyped, or made by other rules, or nobody
    can have played to what it stands for.

    Example:
        >>> import dicegym
        >>> from dicegym.values import position, position_id
        >>> game = dicegym.game("hog")
        >>> text = position_id(game, game.new_game(seed=1)[0])
        >>> position(text).game.name
        'hog'
    """
    told = f"{one_line(text, 60)!r} cannot be read as a state"
    found = _FORM.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if found is None:
        raise ParameterError(f"{told}: such a text begins with the name of a game and a hyphen, as `hog-...`")
    try:
        table = make_game(found["game"]) if game is None else game
    except DicegymError as error:
        raise ParameterError(f"{told}: {error}") from None
    if table.name != found["game"]:
        raise ParameterError(f"{told} of {table.spec.title}: it is one of {found['game']}")
    packed = 0
    for digit in found["packed"]:
        packed = packed << 6 | _DIGITS.index(digit)
    number = packed >> _CHECK
    if _check_sum(table, number) != packed & (1 << _CHECK) - 1:
        raise ParameterError(
            f"{told}: it was cut or mistyped, or comes from a version of dicegym whose records of {table.spec.title} "
            "are others; copy all of it again, from its first letter to its last"
        )
    try:
        return _unpacked(table, SymbolReader(number))
    except (ValueError, DicegymError) as error:
        raise ParameterError(f"{told}: {one_line(error)}") from None


def _unpacked(table: Game, reader: SymbolReader) -> Position:
    spec = table.spec
    players = spec.players[0] + reader.one_of(spec.players[1] - spec.players[0] + 1)
    numbers = {}
    for name, parameter in spec.parameters.items():
        numbers[name] = parameter.default
        if reader.share((3, 1)):
            numbers[name] = read(reader, parameter.default, parameter.low, parameter.high)
    game = Game(spec, players, **numbers)
    whose = reader.one_of(1 + players)
    seat = whose - 1 if whose else None
    key = reader.one_of(_KEYS) if seat is None else 0
    states = game.new_states(1)
    begun = _begun(game, key, seat)
    states[0] = begun[0]
    for field in _fields(game, begun):
        values = read_all(reader, field.usual, field.low, field.high)
        states[field.name] = np.array(values, states[field.name].dtype).reshape(states[field.name].shape)
    reader.finish()
    wrong = _impossible(game, states, seat)
    if wrong:
        raise ValueError(f"nobody can have played to it, as {wrong}")
    return Position(game, states, seat)


def _impossible(game: Game, states: np.ndarray, seat: int | None) -> str:
    """Return why nobody can have played to a record of which a seat knows its part; empty if somebody may have."""
    own: Callable[[Game, Any, int | None], str] | None = getattr(game.text, "impossible", None)
    return "" if own is None else own(game, states[0], seat)


class _Field(NamedTuple):
    """A field of a record, its entries in a row."""

    name: str
    usual: list[int]
    """What a new game has there."""
    low: list[int]
    high: list[int]


def _fields(game: Game, begun: np.ndarray) -> list[_Field]:
    """Return the fields that a text has to tell: all but those that follow from players, parameters and key."""
    own: Callable[[Game], FieldLimits] | None = getattr(game.text, "limits", None)
    limits = {"player": (0, game.players - 1), "over": (0, 1), **({} if own is None else own(game))}
    found = []
    for name in game.spec.declared_record.names or ():
        if name in ("key", "players", *game.all_parameters):
            continue
        usual = begun[name][0]
        kind = usual.dtype
        whole = (0, 1) if kind == np.bool_ else (np.iinfo(kind).min, np.iinfo(kind).max)
        low, high = (_whole(np.broadcast_to(np.asarray(limit), usual.shape)) for limit in limits.get(name, whole))
        found.append(_Field(name, _whole(usual), low, high))
    return found


def _whole(values: Any) -> list[int]:
    return [int(value) for value in np.asarray(values).ravel().tolist()]


def _begun(game: Game, key: int, seat: int | None) -> np.ndarray:
    """Return the record of a new game with this key, as far as the seat knows it, as an array of one."""
    states = game.new_states(1)
    states["key"] = key
    game.spec.kernels.reset(states[0])
    return states if seat is None else keep_known(game, states[0], seat)


def _check_sum(game: Game, number: int) -> int:
    about = f"{game.name} {game.spec.declared_record.descr} {list(game.all_parameters)} {number}".encode()
    return int.from_bytes(hashlib.blake2b(about, digest_size=_CHECK // 8).digest())


def _digits(number: int) -> str:
    found = ""
    while number:
        found = _DIGITS[number & 63] + found
        number >>= 6
    return found


_FORM = re.compile(r"(?P<game>[A-Za-z0-9_]+)-(?P<packed>[A-Za-z0-9_-]+)")
