"""Our games as OpenSpiel games: `SpielGame` and `SpielState`.

Chance is explicit. Where a game's folder lists the outcomes of its dice (the part `Chance`), chance nodes are the real
ones, and solvers can go through all of them. Elsewhere a chance node before each effect of an action draws one of
`KEYS` keys for its dice: a sample of the outcomes, which is enough for playing and for sampling algorithms.

A seat's information state is a text: the seat, what it sees now, and a hash of what it saw and did before. It sees its
view when it is to move and, where the game has a public event, after that event. A `dicegym.Player` is asked or told at
the same moments, so a policy that plays as one knows its information state.
"""

from __future__ import annotations

import functools
import hashlib
from typing import Any

import numpy as np
import pyspiel

from dicegym import games
from dicegym.engine.dice import game_key
from dicegym.engine.game import Game
from dicegym.engine.spec import GameSpec
from dicegym.errors import IllegalActionError
from dicegym.games.parts import CHANCE, part

KEYS = 1 << 10
"""Outcomes of a chance node in games that do not list them."""
MOST_MOVES = 1_000_000
"""The longest game for OpenSpiel; real games end far earlier."""
MOST_OUTCOMES = 1 << 10
MOST_POINTS = 1e9
"""Bound of the returns of a one-player game, which are points."""
NOTHING = b""
"""The memory of a seat that has seen nothing yet."""
_MEMORY_BYTES = 12


def append_memory(memory: bytes, view: Any, action: int | None) -> bytes:
    """Return the memory of a seat that then saw ``view``, and chose ``action`` if it was to move."""
    return hashlib.blake2b(memory + repr((view, action)).encode(), digest_size=_MEMORY_BYTES).digest()


def information_state(seat: int, memory: bytes, view: Any) -> str:
    """Return the information state: the seat, a hash of what it saw and did before, and what it sees."""
    return f"{seat} {memory.hex()} {view!r}"


def _type_of(game: Game) -> pyspiel.GameType:
    """Return how OpenSpiel classifies a game.

    Information is perfect if views show everything that legal play can change; secret fields change only by faults,
    which OpenSpiel never plays. Simultaneous choices are made in turn, hidden from the other players.
    """
    spec = game.spec
    hidden = bool(spec.private)
    information, utility, mode = pyspiel.GameType.Information, pyspiel.GameType.Utility, pyspiel.GameType.ChanceMode
    return pyspiel.GameType(
        short_name=f"dicegym_{spec.name}",
        long_name=spec.title,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=mode.EXPLICIT_STOCHASTIC,
        information=information.IMPERFECT_INFORMATION if hidden else information.PERFECT_INFORMATION,
        utility=utility.ZERO_SUM if spec.zero_sum and game.players > 1 else utility.GENERAL_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=spec.players[1],
        min_num_players=spec.players[0],
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={
            "players": spec.default_players or spec.players[0],
            **{name: parameter.default for name, parameter in spec.parameters.items()},
        },
    )


def _info_of(game: Game) -> pyspiel.GameInfo:
    alone = game.players == 1
    zero_sum = game.spec.zero_sum and not alone
    return pyspiel.GameInfo(
        num_distinct_actions=game.n_actions,
        max_chance_outcomes=MOST_OUTCOMES,
        num_players=game.players,
        min_utility=-MOST_POINTS if alone else -1.0,
        max_utility=MOST_POINTS if alone else 1.0,
        utility_sum=0.0 if zero_sum else None,
        max_game_length=MOST_MOVES,
    )


class SpielGame(pyspiel.Game):
    """One of our games, with its parameters, for OpenSpiel.

    Observations (float32[observation_size]) and actions are those of our environments. Rewards come at the end.
    Information states are texts.

    Args:
        spec: the fact sheet of the game.
        params: ``players`` and the game's parameters, as OpenSpiel passes them.

    Attributes:
        dicegym_game: the `dicegym.Game`.
    """

    def __init__(self, spec: GameSpec, params: dict[str, Any] | None = None) -> None:
        self.dicegym_game = Game(spec, **(params or {}))
        super().__init__(_type_of(self.dicegym_game), _info_of(self.dicegym_game), params or {})

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by rules and parameters, so that the game need not be registered where it is loaded."""
        return load, (self.dicegym_game,)

    def new_initial_state(self) -> SpielState:
        """Return the beginning of a game, before any dice are rolled."""
        return SpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> Any:
        """Return an observer for OpenSpiel."""
        recalls = iig_obs_type is not None and iig_obs_type.perfect_recall
        return _Observer(self.dicegym_game, recalls)


class _Shared:
    """What all states of a game share; it is not copied with them."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.chance = part(game, CHANCE)
        self.event = game.spec.public_event

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the game."""
        return _shared, (self.game,)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Shared:
        return self


@functools.cache
def _shared(game: Game) -> _Shared:
    return _Shared(game)


class SpielState(pyspiel.State):
    """A state of one of our games for OpenSpiel."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self._shared = _shared(game.dicegym_game)
        ours = self._shared.game
        self._states = ours.new_states(1)
        self._begun = False
        self._action: int | None = None  # chosen, before the chance node that draws its dice
        self._draws: list[int] = []  # dice that chance nodes have yet to decide
        self._announced = False  # a public event has passed, and the seats have yet to remember what they see
        self._memories = [NOTHING] * ours.players
        if self._shared.chance is not None:
            self._begin(0)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as OpenSpiel serializes a state, beside its game."""
        return _deserialize, (self._shared.game, self.serialize())

    @property
    def record(self) -> Any:
        """A copy of the record, hidden parts included; at a chance node it is that before the dice."""
        return self._states.copy()[0]

    def view_for(self, seat: int) -> tuple[bytes, Any]:
        """Return the seat's memory and view; the view is None before the game has begun."""
        game = self._shared.game
        return self._memories[seat], game.view(self._states[0], seat) if self._begun else None

    def observe_for(self, seat: int) -> np.ndarray:
        """Return what the seat sees: float32[observation_size], all zero before the game has begun."""
        game = self._shared.game
        return game.observe(self._states[0], seat) if self._begun else np.zeros(game.observation_size, np.float32)

    def _begin(self, key: int) -> None:
        game, chance = self._shared.game, self._shared.chance
        self._states = game.new_game(key)
        self._begun = True
        if chance is not None:
            self._draws = chance.undo(None, self._states[0])

    def _choose(self, action: int) -> None:
        """Add the view of the seat to move, and its action, to its memory."""
        state = self._states[0]
        seat = int(state["player"])
        self._memories[seat] = append_memory(self._memories[seat], self._shared.game.view(state, seat), action)

    def _step(self, action: int) -> None:
        game, chance, event = self._shared.game, self._shared.chance, self._shared.event
        state = self._states[0]
        before = state.copy()
        game.step(state, action)
        if chance is not None:
            self._draws = chance.undo(before, state)
        self._announced = event is not None and before[event] != state[event]
        self._announce()

    def _announce(self) -> None:
        """Add the views after a public event to all memories, once the dice have been rolled."""
        if self._announced and not self._draws:
            game = self._shared.game
            self._announced = False
            for seat, memory in enumerate(self._memories):
                self._memories[seat] = append_memory(memory, game.view(self._states[0], seat), None)

    # --- OpenSpiel's interface ---------------------------------------------------------------------------------

    def current_player(self) -> int:
        """Return the seat to move, or OpenSpiel's number for chance or for the end."""
        if self._draws or not self._begun or self._action is not None:
            return int(pyspiel.PlayerId.CHANCE)
        state = self._states[0]
        return int(pyspiel.PlayerId.TERMINAL) if state["over"] else int(state["player"])

    def _legal_actions(self, player: int) -> list[int]:
        return [int(action) for action in np.flatnonzero(self._shared.game.legal(self._states[0]))]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of a chance node with their probabilities."""
        chance = self._shared.chance
        if chance is None:
            return [(outcome, 1 / KEYS) for outcome in range(KEYS)]
        listed = chance.outcomes(self._states[0], self._draws[0])
        return [(number, probability) for number, (probability, _) in enumerate(listed)]

    def _apply_action(self, action: int) -> None:
        chance = self._shared.chance
        if self.current_player() == pyspiel.PlayerId.CHANCE:
            number = KEYS if chance is None else len(chance.outcomes(self._states[0], self._draws[0]))
            if not 0 <= action < number:
                raise IllegalActionError(f"chance has no outcome {action} here: give one of 0 to {number - 1}")
        if self._draws and chance is not None:
            chance.settle(self._states[0], self._draws.pop(0), action)
            self._announce()
        elif not self._begun:
            self._begin(action)
        elif chance is not None:
            self._choose(action)
            self._step(action)
        elif self._action is None:
            self._choose(action)
            self._action = action
        else:
            state = self._states[0]
            state["key"] = game_key(int(state["key"]), action)
            chosen, self._action = self._action, None
            self._step(chosen)

    def _action_to_string(self, player: int, action: int) -> str:
        if player != pyspiel.PlayerId.CHANCE:
            return self._shared.game.action_name(action)
        if self._shared.chance is None or not self._draws:
            return f"dice {action}"
        return self._shared.chance.outcomes(self._states[0], self._draws[0])[action][1]

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return bool(self._states[0]["over"]) and not self._draws and self._action is None

    def returns(self) -> list[float]:
        """Return each seat's result; zeros before the end."""
        game = self._shared.game
        if not self.is_terminal():
            return [0.0] * game.players
        results = game.returns(self._states[0]).astype(float)
        if game.spec.zero_sum and game.players > 1:
            results -= results.mean()  # thirds in float32 do not sum to zero exactly
        return [float(result) for result in results]

    def __str__(self) -> str:
        """Return the whole table as text."""
        if not self._begun:
            return "before the first roll"
        waiting = (
            "" if self._action is None else f"\nwaiting for the dice of: {self._shared.game.action_name(self._action)}"
        )
        return self._shared.game.scene(self._states[0]).text() + waiting


class _Observer:
    """What a seat sees: the observation, and the view or the information state as text."""

    def __init__(self, game: Game, recalls: bool) -> None:
        self._recalls = recalls
        self.tensor = None if recalls else np.zeros(game.observation_size, np.float32)
        self.dict = {} if self.tensor is None else {"observation": self.tensor}

    def set_from(self, state: SpielState, player: int) -> None:
        """Write what ``player`` sees into ``tensor``. Raises SpielError for information states."""
        if self.tensor is None:
            raise pyspiel.SpielError(
                "games of dicegym have no information state tensor: use information_state_string, or "
                "observation_tensor, which shows the present alone"
            )
        self.tensor[:] = state.observe_for(player)

    def string_from(self, state: SpielState, player: int) -> str:
        """Return what ``player`` sees, or its information state, as text."""
        memory, view = state.view_for(player)
        return information_state(player, memory, view) if self._recalls else repr(view)


def load(game: Game | GameSpec | str, players: int | None = None, **parameters: Any) -> SpielGame:
    """Return a game, given as for `dicegym.game`, for OpenSpiel; it need not be registered there."""
    ours = games.game(game, players, **parameters)
    return SpielGame(ours.spec, {"players": ours.players, **ours.all_parameters})


def _deserialize(game: Game, serialized: str) -> SpielState:
    state: SpielState = load(game).deserialize_state(serialized)
    return state


def register_games() -> None:
    """Make every game known to ``pyspiel.load_game`` as ``dicegym_<game>``."""
    known = set(pyspiel.registered_names())
    for name in games.loadable():
        kind = _type_of(games.game(name))
        if kind.short_name not in known:
            pyspiel.register_game(kind, _class_of(games.spec(name)))


def _class_of(spec: GameSpec) -> type[SpielGame]:
    """Return the class that OpenSpiel makes a game of.

    OpenSpiel releases it after the interpreter has ended. A function would then be freed, which crashes the process; a
    class is part of a reference cycle and stays.
    """

    class Registered(SpielGame):
        def __init__(self, params: dict[str, Any] | None = None) -> None:
            super().__init__(spec, params)

    return Registered
