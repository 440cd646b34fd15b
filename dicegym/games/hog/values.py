"""What states and actions of Hog are worth, and what of it can be solved and kept.

States are worth what they are exactly, as both play it who see everything, or as an equilibrium by scores has it.
Replies are worth what the best response to a strategy wins, by what players see. Luck is measured in ``luck.py``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.hog.exact import Function, best_table, spread, tabulate
from dicegym.games.hog.luck import meter
from dicegym.games.hog.rules import N_ACTIONS
from dicegym.games.hog.solving import full_sight
from dicegym.games.hog.solving.strategies import (
    REMEMBERED,
    Duel,
    Search,
    best_response,
    best_table_against,
    choices_of,
    mix_against_itself,
    new_mix,
)
from dicegym.games.hog.solving.sweeps import PLAY, WEIGH, roll_chances
from dicegym.games.parts import plays_with
from dicegym.games.solved import damaged, read_arrays, tables_folder, unsolved, write_arrays
from dicegym.games.worth import ActionValues, Progress, ValueKind, Valuer, ValueSource, ValueUnit
from dicegym.play.player import Player

__all__ = ["meter", "reply_values", "solutions", "sources"]

SETTINGS: tuple[Mapping[str, int], ...] = ({"memory": 0},)
"""Players who remember their turns choose by more than both scores."""
FILE = "equilibrium.npz"
STEPS = 40
"""From one measurement to the next: what has been learnt so far is measured as it is, and on average."""
MOST_STEPS = 600
"""Further ones have brought nothing."""
STARTS = 2
"""Tables drawn from a strategy that the search for a reply begins with, besides two others."""


class Reached(NamedTuple):
    """What a file holds: the best strategy so far, how good it is, and what is needed for going on."""

    best: np.ndarray
    """float64[goal * goal, 1, 1, N_ACTIONS]: probabilities by pair of scores, own score first."""
    table: float
    """What the best table found wins against it."""
    full: float
    """What one wins against it who sees everything: nobody wins more."""
    search: Search
    total: np.ndarray
    """Of the same shape: the strategies of all steps, each weighted by its number."""


class Equilibrium:
    """A strategy for those who know both scores alone, which others of that kind hardly beat."""

    name = "equilibrium"
    doc = "how to play if both know the scores alone, and each guards against whatever the other finds out"
    measure = "exploitability by tables, as far as found, in win rate"
    goal = 0.03

    def __init__(self, game: Game) -> None:
        self.game = game
        self._to = game.parameters["goal"]

    def memory(self) -> int:
        """Return the bytes of memory that solving takes at most."""
        return 100_000_000 + 3000 * self._to**2

    def disk(self) -> int:
        """Return the bytes of the file."""
        return 10_000 + 4 * 8 * N_ACTIONS * self._to**2

    def minutes(self) -> float:
        """Return about how long it takes; a step of the sweep grows with the pairs of scores."""
        return max(0.05, 3 * (self._to / 100) ** 2)

    def quality(self, folder: Path) -> float | None:
        """Return by how much the best table found wins more than half against the strategy that is kept."""
        reached = self.read(folder)
        return None if reached is None else reached.table - 0.5

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        """Let two players learn against each other, measure every `STEPS` steps, and keep the best; one thread."""
        end = None if seconds is None else time.monotonic() + seconds
        reached = self.read(folder) or self._begun()
        try:
            while reached.table - 0.5 > goal and reached.search.steps < MOST_STEPS:
                if end is not None and time.monotonic() >= end:
                    break
                reached = self._further(reached, progress)
        finally:
            self._write(folder, reached)
        return reached.table - 0.5

    def _begun(self) -> Reached:
        uniform = new_mix(self._to)
        return Reached(uniform, 1.0, 1.0, Search(uniform.copy()), np.zeros_like(uniform))

    def _further(self, reached: Reached, progress: Progress) -> Reached:
        """Return what has been reached after `STEPS` more steps; what there was stays as it is until then."""
        before, total = reached.search, reached.total.copy()
        search = Search(before.mix.copy(), before.regrets.copy(), before.steps)
        for _ in range(STEPS):
            search.step()
            total += search.steps * search.mix
            said = "" if reached.table == 1 else f"{reached.table - 0.5:.4f}"
            progress(search.steps, MOST_STEPS, said)
        mean = total / total.sum(axis=-1, keepdims=True)
        best = reached
        for mix in (search.mix, mean):
            won = best_table_against(mix, STARTS)[0]
            if won < best.table:
                best = best._replace(best=mix.copy(), table=won, full=best_response(mix)[0])
        return best._replace(search=search, total=total)

    def read(self, folder: Path) -> Reached | None:
        """Return what lies in a folder; None if nothing does. Raises DamagedFileError."""
        file = folder / FILE
        if not file.exists():
            return None
        shape = (self._to**2, N_ACTIONS)
        like = dict.fromkeys(("best", "regrets", "mix", "total"), (shape, np.float64))
        figures = {"won": ((2,), np.float64), "steps": ((), np.int64)}
        found = read_arrays(file, self.game, self.name, like | figures)
        for name in ("best", "mix"):
            if not (np.abs(found[name].sum(axis=1) - 1) < 1e-6).all() or (found[name] < 0).any():
                raise damaged(file, f"holds {name} that are no probabilities", self.game, self.name)
        best, regrets, mix, total = (found[name].reshape(-1, 1, 1, N_ACTIONS) for name in like)
        search = Search(mix, regrets, int(found["steps"]))
        return Reached(best, float(found["won"][0]), float(found["won"][1]), search, total)

    def _write(self, folder: Path, reached: Reached) -> None:
        search = reached.search
        if search.steps:
            arrays = {"best": reached.best, "regrets": search.regrets, "mix": search.mix, "total": reached.total}
            write_arrays(
                folder / FILE,
                **{name: array.reshape(-1, N_ACTIONS) for name, array in arrays.items()},
                won=np.array([reached.table, reached.full]),
                steps=np.array(search.steps, np.int64),
            )


def solutions(game: Game) -> Sequence[Equilibrium]:
    """Return what can be solved of ``game``; nothing with ``memory``."""
    return (Equilibrium(game),) if any(plays_with(game, settings) for settings in SETTINGS) else ()


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


RARE = 1e-30
"""How often a game comes where none does, so that something is supposed there and nowhere else: that the other player
has no run and has exchanged the dice an even number of times. What is remembered there is rarer still."""


def reply_values(opponent: Player | Function, game: Game, trials: int = 0) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that says what choices are worth to one who replies to a strategy as well as is known.

    The reply is the table of `dicegym.games.hog.exact.best_table` with ``trials`` trials, which knows what players of
    the game see. A choice is worth what is won by it, and by that table from the next turn on, over all that is hidden,
    as often as it is there when the table plays.

    The function takes records of the game, of which none is over, and returns float64[n, N_ACTIONS]: how likely the
    player to move wins against ``opponent`` with each number of dice. It raises ParameterError for records of another
    goal.

    Raises AgentError if the opponent fails, or answers something else than a whole number from -1 to 10.
    """
    rival = tabulate(opponent, game)
    values, goal = choices(best_table(rival, game, trials=trials)[1], rival), len(rival)

    def value_choices(states: np.ndarray) -> np.ndarray:
        if (states["goal"] != goal).any():
            raise ParameterError(f"these are records of Hog to {states['goal'].max()}: give such of Hog to {goal}")
        each = np.arange(len(states))
        mine = states["player"].astype(np.int64)
        known = [states["scores"][each, mine], states["scores"][each, 1 - mine]]
        if game.parameters["memory"]:
            known += [states["runs"][each, mine], states["exchanges"][each, mine] % 2]
        found: np.ndarray = values[tuple(known)]
        return found

    return value_choices


def choices(table: np.ndarray, opponent: np.ndarray) -> np.ndarray:
    """Return what is won by each choice and then by a table: float64[*table.shape, N_ACTIONS].

    Args:
        table: int8[goal, goal], by both scores, or int8[goal, goal, RUNS, 2], by what is remembered too.
        opponent: likewise.
    """
    duel = Duel(*(choices_of(spread(one)) for one in (table, opponent)))
    duel.spread()
    for parity in range(REMEMBERED[1]):
        for run in range(REMEMBERED[0]):
            duel.reach[0, parity, :, parity, 0, run] += RARE ** (1 + run + parity)
    duel.sweep(WEIGH, PLAY)
    gained, met = duel.gains, duel.visits()
    if not table.shape[2:]:  # it chooses by both scores alone
        gained, met = gained.sum(axis=(1, 2)), met.sum(axis=(1, 2))
    found: np.ndarray = gained / met[..., np.newaxis]
    return found.reshape(*table.shape, N_ACTIONS)
