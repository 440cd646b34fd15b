"""The form of a game: a record dtype, five kernels over it, and a fact sheet (`Rules`).

`Game` is a fact sheet with its parameters set; it is what environments, tournaments and solvers work with.
It knows no game by name.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dicegym import loops
from dicegym.dice import game_key
from dicegym.errors import ParameterError, StepError, unknown_name
from dicegym.jit import records
from dicegym.loops import Kernels
from dicegym.scene import Scene
from dicegym.threads import Threads

HEADER = [
    ("key", np.uint64),  # (): names the dice of this game; never shown to a player
    ("players", np.int8),  # (): number of seats
    ("player", np.int8),  # (): seat to move
    ("over", np.bool_),  # (): True when the game has ended
]
"""The fields that every record starts with; the generic layer reads and writes no others but parameters."""


def record(fields: list[tuple[Any, ...]]) -> np.dtype:
    """Return the dtype of a game's record: the common header, then ``fields``.

    Without padding: a copy would leave it undefined, and equal states must have equal bytes.
    """
    return np.dtype([*HEADER, *fields])


class Parameter(NamedTuple):
    """A number that a game may be played with; it stands in the record under the same name."""

    default: int
    low: int
    high: int
    doc: str

    def check(self, name: str, value: Any) -> int:
        """Return ``value`` as an int; raise ParameterError if it is no whole number in low..high."""
        whole = isinstance(value, int | np.integer | np.bool_)
        if not whole or not self.low <= int(value) <= self.high:
            raise ParameterError(
                f"{name}={value!r} cannot be used as {self.doc}: give a whole number from {self.low} to {self.high}"
            )
        return int(value)


class Order(NamedTuple):
    """A whole choice in a game of simultaneous, secret choices: a number for each of several things.

    Such a game is still stepped seat by seat; nobody sees what others have chosen in the present round. The seat
    to move plays actions until its choice is complete and the next seat is to move.
    """

    most: tuple[int, ...]
    """For each thing the largest number that may be chosen."""
    actions: Callable[[Sequence[int]], list[int]]
    """The numbers, one for each thing -> the actions that make exactly this choice, which are played in turn; what
    they come to is the same as if the choice had been made action by action."""
    limits: Callable[[Any, int], Sequence[int]]
    """(record, seat) -> for each thing the largest number that the seat may choose if it chooses nothing else."""


@dataclass(frozen=True)
class Rules:
    """The fact sheet of a game, declared at the end of its ``rules.py``.

    The five kernels (compiled by `dicegym.jit.kernel`; a record is handed over by reference):
        reset(state): make a zeroed record with key, players and parameters a new game.
        step(state, action) -> int: one decision of the player to move, chance included; 0, or the number of
            the fault (an index into ``faults``) when the action was illegal and the rule for that was applied.
        legal(state, mask): write bool[n_actions] for the player to move.
        observe(state, seat, out): write float32[observation size], only what ``seat`` may know.
        returns(state, out): write float32[players], each seat's sum of rewards so far.
    """

    name: str
    title: str
    state: np.dtype
    kernels: Kernels
    players: tuple[int, int]
    """Fewest and most seats."""
    n_actions: int
    features: Callable[[Mapping[str, int]], dict[str, int]]
    """Parameters, and ``players`` -> the observation's parts in order, each with its length."""
    view: Callable[[Any, int], NamedTuple]
    """(record, seat) -> what the seat may know, as plain values with names; for scripted agents."""
    faults: tuple[str, ...]
    """What was wrong with an action, by the number that ``step`` returned; index 0 is unused."""
    default_opponent: str
    """The agent that environments seat when none is named."""
    yardstick: str
    """The agent that contests and models are measured against."""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    games_per_match: int = 1
    """Games that the entries of a match play against each other in the game's contest."""
    default_players: int | None = None
    """Seats when their number is not given; None: the fewest."""
    own: frozenset[str] = frozenset()
    """Fields of the record, indexed by seat first, of which a seat may know its own entry and no other."""
    hidden: frozenset[str] = frozenset()
    """Fields of the record that no seat may know. All fields that stand in neither set are public."""
    forfeit: int | None = None
    """The action that counts when a player does not answer properly: it raises, hangs or answers nonsense. None:
    the rules know no such action, and contests strike the player."""
    milestone: str | None = None
    """A field of the record that changes when those who follow a game (`dicegym.players.Follower`) are to be
    told, such as the number of hands played."""
    order: Order | None = None
    """For games in which all players choose at once and in secret: what a whole choice is."""
    contest: str = "round_robin"
    """The format of the game's contest, a key of `dicegym.arena.contests.FORMATS`."""

    def __post_init__(self) -> None:
        """Let the generic loops find the kernels."""
        loops.bind(self.state, self.kernels)


class Game:
    """A game with its parameters set.

    Args:
        rules: the fact sheet.
        players: number of seats; default: ``rules.default_players``.
        **parameters: the game's own parameters (``game.rules.parameters``).

    Raises:
        ParameterError: a value is out of range.
        UnknownNameError: the game has no such parameter.
    """

    def __init__(self, rules: Rules, players: int | None = None, **parameters: Any) -> None:
        self.rules = rules
        low, high = rules.players
        seats = Parameter(low, low, high, f"the number of players of {rules.title}")
        self.players = seats.check("players", (rules.default_players or low) if players is None else players)
        for name in parameters:
            if name not in rules.parameters:
                raise unknown_name(f"parameter of {rules.title}", name, ["players", *rules.parameters])
        self.parameters = {
            name: parameter.check(name, parameters.get(name, parameter.default))
            for name, parameter in rules.parameters.items()
        }
        self.features = rules.features({"players": self.players, **self.parameters})
        self.observation_size = sum(self.features.values())
        self.n_actions = rules.n_actions
        self.blank = records(1, rules.state)
        self.blank["players"] = self.players
        for name, value in self.parameters.items():
            self.blank[name] = value

    @property
    def name(self) -> str:
        """The game's short name, as on the command line."""
        return self.rules.name

    def __repr__(self) -> str:
        """Return the call that makes this game."""
        settings = "".join(f", {name}={value}" for name, value in self.parameters.items())
        return f"dicegym.game({self.name!r}, players={self.players}{settings})"

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same rules with the same parameters."""
        return isinstance(other, Game) and repr(self) == repr(other)

    def __hash__(self) -> int:
        """Return a hash that agrees with ``==``."""
        return hash(repr(self))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the rules' module and the parameters: kernels are found again, not shipped."""
        return _rebuild, (self.rules.kernels.step.__module__, self.players, self.parameters)

    def new_states(self, n: int) -> np.ndarray:
        """Return ``n`` records (structured array, dtype ``rules.state``) that no game has begun in yet."""
        states = records(n, self.rules.state)
        states[:] = self.blank[0]
        return states

    def new_game(self, seed: int = 0, episode: int = 0) -> np.ndarray:
        """Return an array of one record, in which game ``episode`` of ``seed`` has begun.

        Its only element is the state: ``state = game.new_game(seed)[0]``. ``state.copy()`` is a branch of the
        game, ``state.tobytes()`` a save file.
        """
        states = records(1, self.rules.state)
        loops.begin(states, 0, self.blank, np.uint64(game_key(seed, episode)))
        return states

    def step(self, state: Any, action: int) -> int:
        """Play ``action`` in place; return 0, or the number of the fault if it was illegal.

        Raises StepError if the game is over.
        """
        if state["over"]:
            raise StepError("the game is over and takes no more actions: begin another with new_game()")
        return int(self.rules.kernels.step(state, action))

    def legal(self, state: Any) -> np.ndarray:
        """Return the action mask of the player to move: bool[n_actions], all False when the game is over."""
        mask = np.zeros(self.n_actions, np.bool_)
        if not state["over"]:
            self.rules.kernels.legal(state, mask)
        return mask

    def observe(self, state: Any, seat: int) -> np.ndarray:
        """Return what ``seat`` knows: float32[observation_size]."""
        out = np.zeros(self.observation_size, np.float32)
        self.rules.kernels.observe(state, seat, out)
        return out

    def returns(self, state: Any) -> np.ndarray:
        """Return the sum of rewards of each seat so far: float32[players]."""
        out = np.zeros(self.players, np.float32)
        self.rules.kernels.returns(state, out)
        return out

    def view(self, state: Any, seat: int) -> NamedTuple:
        """Return what ``seat`` knows as plain named values."""
        return self.rules.view(state, seat)

    def _sibling(self, module: str) -> Any:
        """Return another module of the game's folder (loaded on first use)."""
        return importlib.import_module(f"{self.rules.kernels.step.__module__.rpartition('.')[0]}.{module}")

    def action_name(self, action: int) -> str:
        """Return what ``action`` means, in words (the game's ``text.py``)."""
        return self._sibling("text").action_name(action)

    def scene(self, state: Any, seat: int | None = None) -> Scene:
        """Return one screen of a state as ``seat`` sees it, or of the whole table (the game's ``text.py``)."""
        return self._sibling("text").scene(state, seat)

    @property
    def adapter(self) -> Any:
        """The module that plays bots of the game's original interface (the game's ``adapter.py``)."""
        return self._sibling("adapter")

    def batch(self, n: int, seed: int = 0, threads: int = 1) -> Batch:
        """Return ``n`` games that are stepped together; game i has the seed ``seed + i``."""
        return Batch(self, n, seed, threads)

    @cached_property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that change when rules, observations, actions or rewards change.

        A hash of what 64 games of 256 random legal decisions show, so comments and speed may change freely.
        """
        batch = self.batch(64, seed=0)
        digest = hashlib.sha256(repr(self.features).encode())
        for time in range(256):
            actions = batch.random_actions(time)
            for array in (batch.observations, batch.masks, actions):
                digest.update(array.tobytes())
            batch.step(actions)
            digest.update(batch.results[batch.overs].tobytes())
        return digest.hexdigest()[:16]


def _rebuild(module: str, players: int, parameters: dict[str, int]) -> Game:
    return Game(importlib.import_module(module).RULES, players, **parameters)


class Batch:
    """Many games of one kind, each stepped by its player to move; finished games start anew at once.

    All arrays are allocated once and overwritten by each step:
        states: records[n].
        observations: float32[n, observation_size] of the player to move.
        masks: bool[n, n_actions] of the player to move.
        results: float32[n, players], valid where ``overs``.
        overs: bool[n], games that ended with the last step.

    ``threads`` says how many threads step the games; what is played does not depend on it.
    """

    def __init__(self, game: Game, n: int, seed: int = 0, threads: int = 1) -> None:
        self._threads = Threads(threads)
        Parameter(1, 1, 1 << 30, "the number of games in a batch").check("n", n)
        self.game = game
        self.seed = np.uint64(seed % (1 << 64))
        self.seeds = self.seed + np.arange(n, dtype=np.uint64)
        self.episodes = np.zeros(n, np.uint64)
        self.states = game.new_states(n)
        self.observations = np.zeros((n, game.observation_size), np.float32)
        self.masks = np.zeros((n, game.n_actions), np.bool_)
        self.results = np.zeros((n, game.players), np.float32)
        self.overs = np.zeros(n, np.bool_)
        self._actions = np.zeros(n, np.int64)
        rows = np.arange(n)
        loops.begin_rows(self.states, rows, game.blank, self.seeds, self.episodes)
        seats = self.states["player"].astype(np.int64)
        loops.look_rows(self.states, rows, seats, self.observations, self.masks, self.results)

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.states)

    def step(self, actions: np.ndarray) -> None:
        """Play one decision in every game: ``actions`` is int64[n]. Illegal ones are what the rules make of them.

        Raises ParameterError if ``actions`` has another shape or is not of whole numbers.
        """
        actions = np.asarray(actions)
        if actions.shape != self._actions.shape or actions.dtype.kind not in "iu":
            raise ParameterError(
                f"actions of shape {actions.shape} and dtype {actions.dtype} do not fit this batch: "
                f"give {len(self)} whole numbers, one a game"
            )
        arrays = (
            self.states, self.seeds, self.episodes, actions.astype(np.int64, copy=False), self.observations,
            self.masks, self.results, self.overs,
        )  # fmt: skip

        def part(start: int, end: int) -> None:
            loops.play_on(self.game.blank, *(array[start:end] for array in arrays))

        self._threads.share(len(self), part)

    def random_actions(self, time: int) -> np.ndarray:
        """Return a random legal action for every game (int64[n], overwritten by the next call)."""

        def part(start: int, end: int) -> None:
            loops.random_legal(self.masks[start:end], self.seed, time, start, self._actions[start:end])

        self._threads.share(len(self), part)
        return self._actions
