"""OpenSpiel's policies as players of ours."""

from __future__ import annotations

from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.openspiel.spiel_game import NOTHING, append_memory, information_state
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn


class SpielPlayer(Player):
    """Plays an OpenSpiel policy for one of our games, in environments, evaluations and contests.

    Args:
        policy: has ``action_probabilities(state, player_id)``, as `open_spiel.python.policy.Policy` and the policies of
            OpenSpiel's solvers have. The state shows it only what the player knows, so a policy that searches cannot
            play.
        name: its name in reports.
    """

    def __init__(self, policy: Any, name: str = "openspiel") -> None:
        self._policy = policy
        self.name = name

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down with a random generator that draws the policy's actions."""
        return _Seat(self._policy, self.name, np.random.default_rng(seed))


class _Seat:
    """A seated policy, which remembers what it has seen as `SpielState` would."""

    def __init__(self, policy: Any, name: str, rng: np.random.Generator) -> None:
        self._policy = policy
        self._name = name
        self._rng = rng
        self._memory = NOTHING

    def __call__(self, turn: Turn) -> int:
        seen = SeenState(turn, self._memory)
        try:
            probabilities = self._policy.action_probabilities(seen, turn.seat)
            actions, chances = list(probabilities), np.array(list(probabilities.values()), float)
            action = int(self._rng.choice(actions, p=chances / chances.sum()))
        except Exception as error:  # a policy may fail in any way with a state that it was not made for
            raise AgentError(self._name, f"the policy fails: {type(error).__name__}: {error}") from error
        self._memory = append_memory(self._memory, turn.view, action)
        return action

    def follow(self, turn: Turn) -> None:
        self._memory = append_memory(self._memory, turn.view, None)


class SeenState:
    """A state as the seat to move knows it, with the methods that policies call."""

    def __init__(self, turn: Turn, memory: bytes) -> None:
        self._turn, self._memory = turn, memory

    def current_player(self) -> int:
        """Return the seat to move."""
        return self._turn.seat

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Return the legal actions, in ascending order."""
        return [int(action) for action in np.flatnonzero(self._turn.mask)]

    def legal_actions_mask(self, player: int | None = None) -> list[int]:
        """Return 1 for each legal action and 0 for any other."""
        return [int(legal) for legal in self._turn.mask]

    def information_state_string(self, player: int | None = None) -> str:
        """Return the text that is the key in the tables of OpenSpiel's solvers."""
        return information_state(self._turn.seat, self._memory, self._turn.view)

    def observation_string(self, player: int | None = None) -> str:
        """Return what the seat sees, as text."""
        return repr(self._turn.view)

    def observation_tensor(self, player: int | None = None) -> list[float]:
        """Return the observation."""
        return [float(value) for value in self._turn.observation]

    def num_players(self) -> int:
        """Return the number of seats."""
        return self._turn.game.players

    def is_terminal(self) -> bool:
        """Return False: somebody is to move."""
        return False

    def is_chance_node(self) -> bool:
        """Return False: somebody is to move."""
        return False

    def is_simultaneous_node(self) -> bool:
        """Return False: one is to move."""
        return False
