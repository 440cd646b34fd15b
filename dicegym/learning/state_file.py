"""What a run knows of itself in a file of plain data: JSON, and NumPy arrays beside it.

Lists, texts, numbers, arrays and players stand in it as they are, a player as its number among those of the settings
or as the arrays of its network. What is none of that, such as a network with layers of somebody's own, is written
beside it by value, and read again only from folders that are trusted.
"""

from __future__ import annotations

import json
import zipfile
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import cloudpickle
import numpy as np

from dicegym.bots.network import Layer, Network
from dicegym.engine.game import Game
from dicegym.errors import ModelError, one_line
from dicegym.play.player import Player
from dicegym.players.archive import ModelArchive, array_in, npy_bytes
from dicegym.players.model import PolicyPlayer
from dicegym.players.unpickling import load_object, untrusted

STATE_FILE = "state.zip"
"""In a checkpoint's folder: what is plain."""
PROGRAMS_FILE = "programs.pkl"
"""Beside it: what is not, if there is any."""
STATE_MEMBER = "state.json"
_ARRAY, _MAPPING, _PLAYER, _PROGRAM = "array", "mapping", "player", "program"
"""What an object of JSON stands for, by its only key: all else are numbers, texts and lists."""


def write_state(state: Mapping[str, Any], folder: Path, fixed: Sequence[Player]) -> None:
    """Write ``state`` into a folder; the ``fixed`` players in it by their number, as a bot's program cannot be."""
    writer = _Writer(fixed)
    value = writer.plain(state)
    about = {"state": value, "players": writer.players}
    with zipfile.ZipFile(folder / STATE_FILE, "w") as archive:
        archive.writestr(STATE_MEMBER, json.dumps(about))
        for name, array in writer.arrays.items():
            archive.writestr(name, npy_bytes(array))
    if writer.programs:
        with (folder / PROGRAMS_FILE).open("wb") as file:
            _Pickler(file, fixed).dump(writer.programs)


def read_state(folder: Path, fixed: Sequence[Player], game: Game, trust: bool) -> dict[str, Any]:
    """Return what `write_state` wrote: tuples have become lists, and nothing is known of its form.

    Args:
        folder: of the checkpoint.
        fixed: the players that stand in it by their number.
        game: what all players in it play.
        trust: whether what is not plain may be read, which runs what its author wrote.

    Raises:
        ModelError: it is damaged, or something in it needs ``trust``.
    """
    path = folder / STATE_FILE
    with ModelArchive(path, most=None) as archive:
        about = archive.json(STATE_MEMBER)
        arrays = {name: archive.read(name) for name in archive.names if name != STATE_MEMBER}
    reader = _Reader(folder, arrays, fixed, game, trust)
    try:
        reader.players = [reader.player(one) for one in about["players"]]
        state = reader.value(about["state"])
        if not isinstance(state, dict):
            raise TypeError("it is a list")
    except (LookupError, TypeError, ValueError, RuntimeError) as error:
        raise ModelError(f"{path} is damaged: {type(error).__name__}: {one_line(error)}") from None
    return state


class _Writer:
    """Makes plain values of a state, and collects what stands beside them."""

    def __init__(self, fixed: Sequence[Player]) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.players: list[Any] = []
        self.programs: list[Any] = []
        self._fixed = {id(player): number for number, player in enumerate(fixed)}
        self._known: dict[int, int] = {}

    def plain(self, value: Any) -> Any:
        """Return a value for JSON."""
        if isinstance(value, np.generic):
            return value.item()
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, Player):
            return {_PLAYER: self._player(value)}
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            name = f"{len(self.arrays)}.npy"
            self.arrays[name] = value
            return {_ARRAY: name}
        if isinstance(value, list | tuple | deque):
            return [self.plain(one) for one in value]
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return {_MAPPING: {key: self.plain(one) for key, one in value.items()}}
        self.programs.append(value)
        return {_PROGRAM: len(self.programs) - 1}

    def _player(self, player: Player) -> int:
        """Return the number of a player; the same one has one number, wherever it stands."""
        if id(player) not in self._known:
            self._known[id(player)] = len(self.players)
            if id(player) in self._fixed:
                self.players.append(self._fixed[id(player)])
            elif type(player) is PolicyPlayer and isinstance(player.policy, Network):
                layers = [self._layer(layer) for layer in player.policy.layers]
                self.players.append([player.name, layers, player.temperature])
            else:
                self.programs.append(player)
                self.players.append({_PROGRAM: len(self.programs) - 1})
        return self._known[id(player)]

    def _layer(self, layer: Layer) -> Any:
        return [self.plain(_small(layer.weight)), self.plain(_small(layer.bias)), layer.activation]


def _small(array: np.ndarray) -> np.ndarray:
    """Return weights in float32, in which they were trained, if nothing is lost by it."""
    small = array.astype(np.float32)
    return small if np.array_equal(small, array) else array


class _Reader:
    """Makes a state of plain values again. Raises LookupError, TypeError and ValueError for damaged ones."""

    def __init__(
        self, folder: Path, arrays: Mapping[str, bytes], fixed: Sequence[Player], game: Game, trust: bool
    ) -> None:
        self.players: list[Player] = []
        self._folder, self._arrays, self._fixed, self._game, self._trust = folder, arrays, fixed, game, trust
        self._programs: list[Any] | None = None

    def value(self, said: Any) -> Any:
        """Return what a value of JSON stands for."""
        if isinstance(said, list):
            return [self.value(one) for one in said]
        if not isinstance(said, dict):
            return said
        ((kind, one),) = said.items()
        if kind == _ARRAY:
            return array_in(self._arrays[one]).copy()
        if kind == _MAPPING:
            return {key: self.value(inner) for key, inner in one.items()}
        if kind == _PLAYER:
            return self.players[_checked(one, len(self.players))]
        if kind == _PROGRAM:
            return self._program(one)
        raise ValueError(f"{kind!r} means nothing")

    def player(self, said: Any) -> Player:
        """Return the player that is described so."""
        if isinstance(said, int):
            return self._fixed[_checked(said, len(self._fixed))]
        if isinstance(said, dict):
            found = self._program(said[_PROGRAM])
            if not isinstance(found, Player):
                raise TypeError(f"{type(found).__name__} is no player")
            return found
        name, layers, *heat = said
        temperature = heat[0] if heat else 0.0  # of checkpoints from when past selves played their best action
        network = Network(tuple(self._layer(layer) for layer in layers))
        return PolicyPlayer(network, self._game, str(name), temperature=temperature)

    def _layer(self, said: Any) -> Layer:
        weight, bias, activation = said
        return Layer(self.value(weight).astype(np.float64), self.value(bias).astype(np.float64), str(activation))

    def _program(self, number: Any) -> Any:
        if self._programs is None:
            path = self._folder / PROGRAMS_FILE
            if not self._trust:
                raise untrusted(path, "a network or a wrapper in it is a program of somebody's own")
            self._programs = load_object(path, self._fixed)
        return self._programs[_checked(number, len(self._programs))]


def _checked(number: Any, n: int) -> int:
    """Return the number of one of ``n``. Raises ValueError if it is none; counting from the end is none of ours."""
    if type(number) is not int or not 0 <= number < n:
        raise ValueError(f"number {one_line(number, 20)} is none of {n}")
    return number


# It also writes classes that came from a file which settings name: nobody could import them.
class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # it ships no types
    def __init__(self, file: BinaryIO, fixed: Sequence[Player]) -> None:
        super().__init__(file)
        self._numbers = {id(player): number for number, player in enumerate(fixed)}

    def persistent_id(self, thing: object) -> int | None:
        return self._numbers.get(id(thing))
