"""States as short texts, to paste into a command, a message or a bug report.

    hog-eNqrVkrKzEspVrKKjtVRKk5NLFKyMjDUUUpJLElVsgIA...

After the name of the game comes JSON, compressed by zlib and in URL-safe Base64: the players, the parameters, and the
fields of the record that differ from a new game's. zlib's checksum detects a text that was cut or mistyped. There are
two forms: the whole record, with the key that names all future dice; and what one seat may know
(`dicegym.games.hidden`), which reveals nothing else.

A text may come from a stranger, and compiled code trusts records. So `position` refuses values outside the limits of a
game's ``text.py`` (``limits``), and states with which compiled code would leave its arrays or never end
(``impossible``). Other states that cannot occur are accepted: they harm nobody.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.validate import as_int64, check_seat
from dicegym.errors import DicegymError, ParameterError, one_line
from dicegym.games import game as make_game
from dicegym.games.hidden import keep_known
from dicegym.play.turn import record_of

FieldLimits = Mapping[str, tuple[Any, Any]]
"""{field: (least, largest value)}, each a number or an array of the field's shape."""
LONGEST = 4000
"""Longest text that is read, in characters."""
_MOST_BYTES = 100_000
"""Longest JSON that a text may unpack to."""


class Position(NamedTuple):
    """A state that was read from a text."""

    game: Game
    state: np.ndarray
    """The record, as an array of one; fields hidden from ``seat`` are zero."""
    seat: int | None
    """The seat that knows it; None: the whole state."""


def position_id(game: Game | str, state: Any, seat: int | None = None) -> str:
    """Return a state as text: what ``seat`` may know of it, or all of it, future dice included.

    Raises ParameterError if the seat does not exist or ``state`` belongs to another game.

    Example:
        >>> import dicegym
        >>> from dicegym.values import position_id
        >>> game = dicegym.game("hog")
        >>> position_id(game, game.new_game(seed=1)[0])[:4]
        'hog-'
    """
    game = make_game(game)
    seat = None if seat is None else check_seat(game, seat)
    states = game.new_states(1)
    states[0] = record_of(game, state)
    if seat is not None:
        states = keep_known(game, states[0], seat)
    key = int(states["key"][0])
    begun = _begun(game, key, seat)
    told: dict[str, Any] = {"players": game.players, **game.all_parameters}
    told |= {"key": key} if seat is None else {"seat": seat}
    for name, low, high in _limits(game, begun):
        values = states[name][0]
        if ((values < low) | (values > high)).any():
            raise ParameterError(
                f"invalid record of {game.spec.title}: {name} is {values.tolist()}; it must be {low.min()} to "
                f"{high.max()}"
            )
        if (values != begun[name][0]).any():
            told[name] = values.astype(np.int64).ravel().tolist()
    packed = zlib.compress(json.dumps(told, separators=(",", ":")).encode(), 9)
    return f"{game.name}-{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def position(text: str, game: Game | str | None = None) -> Position:
    """Return the state in a text of `position_id`; give ``game`` if it is not a registered one.

    Raises ParameterError, which says what is wrong: the text was cut or mistyped, comes from other rules, or describes
    a state that cannot occur.

    Example:
        >>> import dicegym
        >>> from dicegym.values import position, position_id
        >>> game = dicegym.game("hog")
        >>> text = position_id(game, game.new_game(seed=1)[0])
        >>> position(text).game.name
        'hog'
    """
    table = None if game is None else make_game(game)
    kind = "a state" if table is None else f"a state of {table.spec.title}"
    try:
        found = _FORM.fullmatch(str(text).strip()) if len(str(text)) <= LONGEST else None
        if found is None:
            raise ValueError("such a text begins with the name of a game and a hyphen, as `hog-...`")
        table = table or make_game(found["game"])
        if table.name != found["game"]:
            raise ValueError(f"it is a state of {found['game']}")
        return _restore(table, _unpack(found["packed"]))
    except (ValueError, DicegymError) as error:
        raise ParameterError(f"{one_line(text, 60)!r} cannot be read as {kind}: {one_line(error)}") from None


def _unpack(packed: str) -> dict[str, Any]:
    """Return the JSON object in a text. Raises ValueError if it has none."""
    unpacking = zlib.decompressobj()
    try:
        written = unpacking.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), _MOST_BYTES)
        told = json.loads(written)
        if unpacking.eof and not unpacking.unused_data and isinstance(told, dict):
            return told
    except (zlib.error, ValueError, RecursionError):  # also of base64
        pass
    raise ValueError("it was cut or mistyped; copy all of it again, from its first letter to its last")


def _restore(table: Game, told: dict[str, Any]) -> Position:
    """Return the position that an untrusted object describes. Raises ValueError and ParameterError."""
    settings = {name: told.pop(name) for name in ("players", *table.spec.parameters) if name in told}
    game = Game(table.spec, settings.pop("players", None), **settings)
    seat, key = told.pop("seat", None), told.pop("key", 0)
    if seat is not None and (type(seat) is not int or not 0 <= seat < game.players):
        raise ValueError(f"there is no seat {seat!r}")
    if type(key) is not int or not 0 <= key < 1 << 64 or (seat is not None and key):
        raise ValueError(f"{key!r} names no dice")
    states = _begun(game, key, seat)
    for name, low, high in _limits(game, states):
        field = states[name][0]
        values = told.pop(name, field.astype(np.int64).ravel().tolist())
        if not isinstance(values, list) or len(values) != field.size or not all(type(one) is int for one in values):
            raise ValueError(f"its {name} cannot be read")
        numbers = [as_int64(one) for one in values]
        if None in numbers or ((found := np.array(numbers).reshape(field.shape)) < low).any() or (found > high).any():
            raise ValueError(f"its {name} is out of range")
        states[name][0] = found
    if told:
        raise ValueError(f"records of {game.spec.title} have no {one_line(next(iter(told)), 40)!r}")
    if seat is not None and states.tobytes() != keep_known(game, states[0], seat).tobytes():
        raise ValueError(f"it contains what seat {seat} cannot know")
    impossible: Callable[[Game, Any, int | None], str] | None = getattr(game.text, "impossible", None)
    wrong = "" if impossible is None else impossible(game, states[0], seat)
    if wrong:
        raise ValueError(f"this state cannot occur: {wrong}")
    return Position(game, states, seat)


def _limits(game: Game, begun: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield (field, least values, largest values) of each field of a text.

    Fields that follow from players, parameters and key are left out.
    """
    own: Callable[[Game], FieldLimits] | None = getattr(game.text, "limits", None)
    limits = {"player": (0, game.players - 1), "over": (0, 1), **({} if own is None else own(game))}
    for name in game.spec.declared_record.names or ():
        if name in ("key", "players", *game.all_parameters):
            continue
        usual = begun[name][0]
        kind = usual.dtype
        whole = (0, 1) if kind == np.bool_ else (np.iinfo(kind).min, np.iinfo(kind).max)
        low, high = (np.broadcast_to(np.asarray(limit), usual.shape) for limit in limits.get(name, whole))
        yield name, low, high


def _begun(game: Game, key: int, seat: int | None) -> np.ndarray:
    """Return the record of a new game with this key, as far as the seat may know it, as an array of one."""
    states = game.new_states(1)
    states["key"] = key
    game.spec.kernels.reset(states[0])
    return states if seat is None else keep_known(game, states[0], seat)


_FORM = re.compile(r"(?P<game>[A-Za-z0-9_]+)-(?P<packed>[A-Za-z0-9_-]+)")
