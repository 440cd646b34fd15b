"""A game: a fact sheet (`GameSpec`) with its parameters set."""

from __future__ import annotations

import hashlib
import importlib
from functools import cached_property
from typing import Any, Generic

import numpy as np

from dicegym.engine import loops
from dicegym.engine.batch import Batch
from dicegym.engine.dice import game_key
from dicegym.engine.jit import records
from dicegym.engine.scene import TEXT, Scene, Text
from dicegym.engine.spec import GameSpec, V, pack
from dicegym.engine.state import State, StateRow
from dicegym.engine.validate import as_int64, check_game_number, check_seat, whole_number
from dicegym.errors import ParameterError, StepError, unknown_argument


class Game(Generic[V]):
    """A game with its parameters set.

    Args:
        spec: the fact sheet.
        players: number of seats; default: ``spec.default_players``.
        **parameters: the game's own parameters (``game.spec.parameters``).

    Attributes:
        all_parameters: every parameter by its name.
        parameters: the same without added parameters (`Parameter.added`) at their defaults; they identify the game.

    Raises:
        ParameterError: a value is out of range.
        UnknownNameError: the game has no such parameter.

    Example:
        >>> import dicegym
        >>> game = dicegym.game("hog", goal=50)
        >>> game.observation_size, game.features["scores"]
        (62, 2)
    """

    def __init__(self, spec: GameSpec[V], players: int | None = None, **parameters: Any) -> None:
        self.spec = spec
        low, high = spec.players
        seats = (spec.default_players or low) if players is None else players
        self.players = whole_number("players", seats, low, high, f"the number of players of {spec.title}")
        for name in parameters:
            if name not in spec.parameters:
                raise unknown_argument("game", name, ["players", *spec.parameters], f"parameter of {spec.title}")
        self.all_parameters = {
            name: parameter.check(name, parameters.get(name, parameter.default))
            for name, parameter in spec.parameters.items()
        }
        self.parameters = {
            name: value
            for name, value in self.all_parameters.items()
            if not spec.parameters[name].added or value != spec.parameters[name].default
        }
        self.features = spec.features({"players": self.players, **self.all_parameters})
        self.observation_size = sum(self.features.values())
        self.n_actions = spec.n_actions
        self.blank = records(1, spec.state)
        self.blank["players"] = self.players
        for name, value in self.all_parameters.items():
            self.blank[name] = value

    @property
    def name(self) -> str:
        """The game's short name, as on the command line."""
        return self.spec.name

    @property
    def added_parameters(self) -> dict[str, int]:
        """The added parameters (`Parameter.added`) that are not at their defaults."""
        return {name: value for name, value in self.parameters.items() if self.spec.parameters[name].added}

    def drawing_bytes(self, states: np.ndarray) -> np.ndarray:
        """Return records as bytes that seed players' random draws: uint8[n, bytes], in the order of declaration.

        Added parameters at their defaults are left out, so that adding one does not change how players draw.
        """
        return pack(states, self._drawing_record).view(np.uint8).reshape(len(states), -1)

    @cached_property
    def _drawing_record(self) -> np.dtype:
        """The fields of `drawing_bytes`."""
        declared = self.spec.declared_record
        left_out = self.all_parameters.keys() - self.parameters
        return np.dtype([(name, declared[name]) for name in declared.names or () if name not in left_out])

    def check_original(self, bot: str) -> None:
        """Raise ParameterError if this is not the original game, for which ``bot`` (in the message) is written."""
        if added := self.added_parameters:
            usual = ", ".join(f"{name}={self.spec.parameters[name].default}" for name in added)
            raise ParameterError(
                f"{bot} is a bot of the original interface, which is written for {usual}, and cannot play {self!r}: "
                f"give {usual}, or name a model or an agent of {self.spec.title} that has a compiled twin"
            )

    def __repr__(self) -> str:
        """Return the call that makes this game."""
        settings = "".join(f", {name}={value}" for name, value in self.parameters.items())
        name = repr(self.name) if self.spec.registered else f"{self.spec.module}.SPEC"
        return f"dicegym.game({name}, players={self.players}{settings})"

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same rules with the same parameters."""
        return isinstance(other, Game) and self._identity() == other._identity()

    def __hash__(self) -> int:
        """Return a hash that agrees with ``==``."""
        return hash(self._identity())

    def _identity(self) -> tuple[Any, ...]:
        return self.spec.module, self.spec.name, self.players, tuple(self.parameters.items())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the rules' module and the parameters: kernels are found again, not shipped."""
        return _rebuild, (self.spec.module, self.players, self.parameters)

    def new_states(self, n: int) -> np.ndarray:
        """Return ``n`` records (structured array, dtype ``spec.state``) with key 0, before a game begins."""
        states = records(n, self.spec.state)
        states[:] = self.blank[0]
        return states

    def new_game(self, seed: int = 0, episode: int = 0) -> np.ndarray:
        """Return the beginning of game ``episode`` of ``seed`` as an array of one record.

        Its element is the state: ``state = game.new_game(seed)[0]``. ``state.copy()`` branches the game, and
        ``state.tobytes()`` saves it. Raises ParameterError as `new_state` does.
        """
        states = records(1, self.spec.state)
        loops.begin(states, 0, self.blank, np.uint64(game_key(*check_game_number(seed, episode))))
        return states

    def new_state(self, seed: int = 0, episode: int = 0) -> State:
        """Return the beginning of game ``episode`` of ``seed`` as a `State`.

        Seeds count modulo 2**64. Raises ParameterError unless seed and episode are 64-bit whole numbers.
        """
        return State.begin(self, seed, episode)

    @cached_property
    def free_rows(self) -> list[StateRow]:
        """Memory for the next states of this game."""
        return []

    def step(self, state: Any, action: int) -> int:
        """Play ``action`` in place; return 0, or the number of the fault if it was illegal.

        Raises StepError if the game is over, TypeError if the action is not a 64-bit whole number.
        """
        if state["over"]:
            raise StepError("the game is over: begin another with new_game()")
        if (number := as_int64(action)) is None:
            raise TypeError(f"action {action!r} is not a whole number: give one that legal() allows")
        return int(self.spec.kernels.step(state, number))

    def legal(self, state: Any) -> np.ndarray:
        """Return the action mask of the player to move: bool[n_actions], all False when the game is over."""
        mask = np.zeros(self.n_actions, np.bool_)
        if not state["over"]:
            self.spec.kernels.legal(state, mask)
        return mask

    def observe(self, state: Any, seat: int) -> np.ndarray:
        """Return what ``seat`` knows: float32[observation_size]. Raises ParameterError for an invalid seat."""
        seat = check_seat(self, seat)
        out = np.zeros(self.observation_size, np.float32)
        self.spec.kernels.observe(state, seat, out)
        return out

    def returns(self, state: Any) -> np.ndarray:
        """Return the sum of rewards of each seat so far: float32[players]."""
        out = np.zeros(self.players, np.float32)
        self.spec.kernels.returns(state, out)
        return out

    @property
    def has_margin(self) -> bool:
        """Whether the game has margins, for ``reward="margin"`` of the environments."""
        return self.players > 1 and self.spec.kernels.margin is not loops.no_margin

    def margin(self, state: Any) -> np.ndarray:
        """Return each seat's lead so far: float32[players]; all 0 if not `has_margin`."""
        out = np.zeros(self.players, np.float32)
        if self.has_margin:
            self.spec.kernels.margin(state, out)
        return out

    def first_places(self, state: Any) -> np.ndarray:
        """Return each seat's share of the first place at the end: float32[players], see `loops.first_places`."""
        out = np.zeros(self.players, np.float32)
        if self.players > 1:
            loops.first_places(state, out)
        return out

    def view(self, state: Any, seat: int) -> V:
        """Return what ``seat`` knows as plain named values. Raises ParameterError for an invalid seat."""
        return self.spec.view(state, check_seat(self, seat))

    @cached_property
    def text(self) -> Text:
        """The game's ``text.py``. Raises PartError if it has none."""
        return TEXT.demand(self.spec.module, self.spec.title)

    def action_name(self, action: int) -> str:
        """Return what ``action`` means, in words. Raises PartError in a game without words."""
        return self.text.action_name(action)

    def scene(self, state: Any, seat: int | None = None) -> Scene:
        """Return a state as a scene, as ``seat`` sees it (None: everything). Raises PartError, ParameterError."""
        return self.text.scene(state, None if seat is None else check_seat(self, seat))

    def batch(self, n: int, seed: int = 0, threads: int = 1) -> Batch:
        """Return ``n`` games stepped together; game i has the seed ``seed + i``."""
        return Batch(self, n, seed, threads)

    @cached_property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that change when rules, observations, actions or rewards change.

        It is a hash of what 64 games of 256 random legal decisions show, so it does not depend on comments or speed.
        A process computes it once for equal games. After rules were patched in a running process,
        `compute_fingerprint` returns the new one.
        """
        # Other specs of the same name are other games, although they are equal.
        key = type(self), self.spec, repr(self.features), self.blank.tobytes()
        if key not in _fingerprints:
            _fingerprints[key] = self.compute_fingerprint()
        return _fingerprints[key]

    def compute_fingerprint(self) -> str:
        """Return the fingerprint, computed anew."""
        batch = self.batch(64, seed=0)
        digest = hashlib.sha256(repr(self.features).encode())
        for time in range(256):
            actions = batch.random_actions(time)
            for array in (batch.observations, batch.masks, actions):
                digest.update(array.tobytes())
            batch.step(actions)
            digest.update(batch.results[batch.overs].tobytes())
        return digest.hexdigest()[:16]


_fingerprints: dict[tuple[Any, ...], str] = {}
"""Known fingerprints by class, spec and settings."""


def _rebuild(module: str, players: int, parameters: dict[str, int]) -> Game:
    return Game(importlib.import_module(module).SPEC, players, **parameters)
