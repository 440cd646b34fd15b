"""What states of Hog are worth: exactly, as both play it who see everything; or as an equilibrium by scores has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.hog.rules import N_ACTIONS
from dicegym.games.hog.solutions import FILE, Equilibrium, Reached, solutions
from dicegym.games.hog.solving import full_sight
from dicegym.games.hog.solving.strategies import mix_against_itself
from dicegym.games.hog.solving.sweeps import roll_chances
from dicegym.games.solved import tables_folder, unsolved
from dicegym.games.worth import ActionValues, Progress, ValueKind, Valuer, ValueSource, ValueUnit


class FullSight:
    """What states are worth to players who see the parity of all exchanges and both runs, and play their best.

    Moves alternate and nothing is hidden, so this is the one equilibrium value of the game with full sight.
    """

    name = "exact"
    kind: ValueKind = "exact"
    unit: ValueUnit = "win rate"
    sure = "exact, for players who see everything: the parity of the exchanges and both runs of Pig outs, too"
    sees_all = True

    def __init__(self, game: Game) -> None:
        self.game = game
        self._rolls, self._values = roll_chances(), full_sight.values_to(game.parameters["goal"])

    def value(self, state: Any, seat: int) -> float:
        """Return how likely ``seat`` wins; see `dicegym.games.worth.Valuer`."""
        if state["over"]:
            return float(state["winner"] == seat)
        mover = float(full_sight.value_of(state, self._values[0]))
        return mover if state["player"] == seat else 1 - mover

    def action_values(self, state: Any) -> ActionValues:
        """Return how likely the player to move wins with each number of dice; nan when the game is over."""
        if state["over"]:
            return ActionValues(np.full(N_ACTIONS, np.nan), np.full(N_ACTIONS, np.nan))
        values = np.array([self.action_value(state, action) for action in range(N_ACTIONS)])
        return ActionValues(values, np.zeros(N_ACTIONS))

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `value` of every state for both seats: float64[states, 2]."""
        wins = np.empty((len(states), 2))
        full_sight.value_rows(states, self._values, wins)
        return wins

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return `action_values` of every state, none of which is over."""
        values = np.empty((len(states), N_ACTIONS))
        full_sight.choice_rows(states, self._rolls, self._values, values)
        return ActionValues(values, np.zeros_like(values))

    def action_value(self, state: Any, action: int) -> float:
        """Return the same of one action; a number of dice out of range loses at once. nan when the game is over."""
        if state["over"]:
            return float("nan")
        return float(full_sight.action_value(state, int(action), self._rolls, self._values))

    def policy(self, state: Any) -> np.ndarray:
        """Return 1 for the best number of dice, of equal ones the smallest."""
        chosen = np.zeros(N_ACTIONS)
        chosen[np.argmax(self.action_values(state).values)] = 1
        return chosen


class ByScores:
    """What states are worth to players who know both scores alone, and play the equilibrium that was solved.

    A choice is worth what it is on average over the parity and the runs that may be behind the scores, each as likely
    as that equilibrium makes it.
    """

    name = Equilibrium.name
    kind: ValueKind = "equilibrium"
    unit: ValueUnit = "win rate"
    sees_all = False

    def __init__(self, game: Game, reached: Reached) -> None:
        self.game = game
        self.sure = f"those of an equilibrium by scores alone; the best table found wins {reached.table:.3f} against it"
        self._goal, self._mix = game.parameters["goal"], reached.best[:, 0, 0]
        self._values, self._choices = mix_against_itself(reached.best)

    def value(self, state: Any, seat: int) -> float:
        """Return how likely ``seat`` wins; see `dicegym.games.worth.Valuer`."""
        if state["over"]:
            return float(state["winner"] == seat)
        mover = float(full_sight.value_of(state, self._values[0]))
        return mover if state["player"] == seat else 1 - mover

    def action_values(self, state: Any) -> ActionValues:
        """Return how likely the player to move wins with each number of dice, by the scores; nan at the end."""
        if state["over"]:
            return ActionValues(np.full(N_ACTIONS, np.nan), np.full(N_ACTIONS, np.nan))
        values = self._choices[self._pair(state)]
        if np.isnan(values).any():  # no game comes there: as if nothing were hidden
            plain = state.copy()
            plain["runs"] = plain["exchanges"] = 0
            rolls, values = roll_chances(), np.empty((1, N_ACTIONS))
            full_sight.choice_rows(np.atleast_1d(plain), rolls, self._values, values)
            values = values[0]
        return ActionValues(values.copy(), np.zeros(N_ACTIONS))

    def action_value(self, state: Any, action: int) -> float:
        """Return the same of one action; a number of dice out of range loses at once. nan when the game is over."""
        if state["over"]:
            return float("nan")
        return float(self.action_values(state).values[action]) if 0 <= action < N_ACTIONS else 0.0

    def policy(self, state: Any) -> np.ndarray:
        """Return how the equilibrium plays: float64[12], probabilities."""
        return np.array(self._mix[self._pair(state)])

    def _pair(self, state: Any) -> int:
        me = int(state["player"])
        return int(state["scores"][me]) * self._goal + int(state["scores"][1 - me])


def sources(game: Game) -> Sequence[ValueSource]:
    """Return where values of ``game`` come from; ``memory`` changes nothing for who sees everything."""

    def load(progress: Progress | None) -> Valuer:
        return FullSight(game)

    doc = "how likely the player to move wins if both see everything and play their best"
    found = [ValueSource(FullSight.name, FullSight.kind, doc, lambda: True, load)]
    for solution in solutions(game):
        found.append(_of_equilibrium(game, solution))
    return found


def _of_equilibrium(game: Game, solution: Equilibrium) -> ValueSource:
    folder = tables_folder(game, solution.name)

    def load(progress: Progress | None) -> Valuer:
        reached = solution.read(folder)
        if reached is None:
            raise unsolved(game, solution.name)
        return ByScores(game, reached)

    doc = "the same if both know the scores alone, by an equilibrium that has been solved"
    return ValueSource(ByScores.name, ByScores.kind, doc, (folder / FILE).exists, load)
