"""What states and actions of Hog are worth, what luck its dice brought, and what of it can be solved and kept.

Values are exact for players that see everything, or those of an equilibrium by scores.
Replies are worth what the best response to a strategy wins, by what players see.

Luck: of players that always choose the same by both scores everything is known, what their game is worth before each
turn and after it, and who moves first. All that happens is luck then, and what is left of every single result is the
exact win rate. The dice of other players are measured by what they are worth to players that see everything: for all
players, what the dice bring beyond their mean has the mean 0.
"""

from __future__ import annotations

import copy
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import DicegymError, ParameterError
from dicegym.games import game as make_game
from dicegym.games.hog.exact import Function, best_response, best_table, spread, tabulate, win_rate
from dicegym.games.hog.examination import by_scores
from dicegym.games.hog.original_contest import RANKING, count_agreeing
from dicegym.games.hog.rules import N_ACTIONS, SPEC
from dicegym.games.hog.solving.strategies import REMEMBERED, Duel, Search, choices_of, full_sight
from dicegym.games.hog.solving.sweeps import PLAY, WEIGH, action_values, state_values
from dicegym.games.parts import plays_with
from dicegym.games.solved import Claim, read_arrays, report_damage, report_unsolved, tables_folder, write_arrays
from dicegym.games.worth import ActionValues, Meter, Progress, ValueKind, Valuer, ValueSource, ValueUnit
from dicegym.play.player import Player

SETTINGS: tuple[Mapping[str, int], ...] = ({"memory": 0},)
"""Players who remember their turns choose by more than both scores."""
FILE = "equilibrium.npz"
STEPS = 40
"""From one measurement to the next: what has been learnt so far is measured as it is, and on average."""
MOST_STEPS = 600
"""Further ones have brought nothing."""
STARTS = 2
"""Tables drawn from a strategy that the search for a reply begins with, besides two others."""


class Equilibrium:
    """A strategy for players that know both scores alone, which others of that kind hardly beat."""

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
        found = self.read(folder)
        return None if found is None else float(found.won[0]) - 0.5

    def solve(self, folder: Path, *, goal: float, seconds: float | None, threads: int, progress: Progress) -> float:
        """Let two players learn against each other, measure every `STEPS` steps, and keep the best; one thread."""
        end = None if seconds is None else time.monotonic() + seconds
        reached = self.read(folder) or Search(self._to)
        try:
            while reached.won[0] - 0.5 > goal and reached.steps < MOST_STEPS:
                if end is not None and time.monotonic() >= end:
                    break
                further = copy.copy(reached)  # what there was stays as it is until this has been measured
                for _ in range(STEPS):
                    further.step()
                    progress(further.steps, MOST_STEPS, f"{reached.won[0] - 0.5:.4f}" if reached.steps else "")
                further.measure(STARTS)
                reached = further
        finally:
            if reached.steps:
                rows = {name: getattr(reached, name).reshape(-1, N_ACTIONS) for name in _ROWS}
                write_arrays(folder / FILE, **rows, won=reached.won, steps=np.array(reached.steps, np.int64))
        return float(reached.won[0]) - 0.5

    def read(self, folder: Path) -> Search | None:
        """Return what a folder holds; None if it holds nothing. Raises DamagedFileError."""
        file = folder / FILE
        if not file.exists():
            return None
        like = dict.fromkeys(_ROWS, ((self._to**2, N_ACTIONS), np.float64))
        figures = {"won": ((2,), np.float64), "steps": ((), np.int64)}
        found = read_arrays(file, self.game, self.name, like | figures)
        for name in ("best", "mix"):
            if not (np.abs(found[name].sum(axis=1) - 1) < 1e-6).all() or (found[name] < 0).any():
                raise report_damage(file, f"holds {name} that are no probabilities", self.game, self.name)
        return Search(self._to, **found)


_ROWS = ("best", "regrets", "mix", "total")
"""Arrays of a `Search` that a file holds, a row for each pair of scores."""


def solutions(game: Game) -> Sequence[Equilibrium]:
    """Return what can be solved of ``game``; nothing with ``memory``."""
    return (Equilibrium(game),) if any(plays_with(game, settings) for settings in SETTINGS) else ()


class FullSight:
    """What states are worth to players that see the parity of all exchanges and both runs, and play their best.

    Moves alternate and nothing is hidden, so this is the one equilibrium value of the game with full sight. See
    `dicegym.games.worth.BatchValuer`.
    """

    name = "exact"
    kind: ValueKind = "exact"
    unit: ValueUnit = "win rate"
    sure = "exact, for players that see everything: the parity of the exchanges and both runs of Pig outs, too"
    sees_all = True

    def __init__(self, game: Game) -> None:
        self.game = game
        self._values = full_sight(game.parameters["goal"])

    def value(self, state: Any, seat: int) -> float:
        """Return how likely ``seat`` wins; see `Valuer.value`."""
        return float(self.values_rows(np.atleast_1d(state))[0, seat])

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `value` of every state for both seats: float64[states, 2]."""
        over, each = states["over"], np.arange(len(states))
        seats = np.where(over, states["winner"], states["player"]).astype(np.int64)
        wins = np.ones((len(states), 2))
        wins[~over] = state_values(states[~over], self._values)[:, np.newaxis]
        wins[each, 1 - seats] = 1 - wins[each, seats]
        return wins

    def action_values(self, state: Any) -> ActionValues:
        """Return how likely the player to move wins with each number of dice; nan when the game is over."""
        if state["over"]:
            return ActionValues(np.full(N_ACTIONS, np.nan), np.full(N_ACTIONS, np.nan))
        rows = self.action_values_rows(np.atleast_1d(state))
        return ActionValues(rows.values[0], rows.errors[0])

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return `action_values` of every state, none of which is over."""
        actions = np.broadcast_to(np.arange(N_ACTIONS), (len(states), N_ACTIONS))
        values = action_values(states, actions, self._values, np.zeros(len(states), np.int64))
        return ActionValues(values, np.zeros_like(values))

    def action_value(self, state: Any, action: int) -> float:
        """Return the same of one action; a number of dice out of range loses at once. nan when the game is over."""
        if 0 <= action < N_ACTIONS or state["over"]:
            return float(self.action_values(state).values[min(max(action, 0), N_ACTIONS - 1)])
        return 0.0

    def policy(self, state: Any) -> np.ndarray:
        """Return 1 for the best number of dice, of equal ones the smallest."""
        chosen = np.zeros(N_ACTIONS)
        chosen[np.argmax(self.action_values(state).values)] = 1
        return chosen


class ByScores(FullSight):
    """What states are worth to players that know both scores alone, and play the equilibrium that was solved.

    A choice is worth what it is on average over the parity and the runs that may be behind the scores, each as likely
    as that equilibrium makes it.
    """

    name = Equilibrium.name
    kind: ValueKind = "equilibrium"
    sees_all = False

    def __init__(self, game: Game, solved: Search) -> None:
        self.game = game
        self.sure = f"those of an equilibrium by scores alone; the best table found wins {solved.won[0]:.3f} against it"
        self._mix = solved.best[:, 0, 0]
        duel = Duel(solved.best)
        duel.weigh()
        self._values, self._gains, self._met = duel.values[:, 0], duel.gains[:, 0, 0], duel.visits()[:, 0]

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return the mean over what is hidden; where no game comes, as if nothing were hidden."""
        pairs, plain = self._pairs(states), states.copy()
        plain["runs"] = plain["exchanges"] = 0
        values = super().action_values_rows(plain).values
        np.divide(self._gains[pairs], self._met[pairs], out=values, where=self._met[pairs] > 0)
        return ActionValues(values, np.zeros_like(values))

    def policy(self, state: Any) -> np.ndarray:
        """Return how the equilibrium plays: float64[12], probabilities."""
        return np.array(self._mix[self._pairs(np.atleast_1d(state))[0]])

    def _pairs(self, states: np.ndarray) -> np.ndarray:
        """Return the number of each state's pair of scores."""
        each, mover = np.arange(len(states)), states["player"].astype(np.int64)
        scores = states["scores"].astype(np.int64)
        found: np.ndarray = scores[each, mover] * self.game.parameters["goal"] + scores[each, 1 - mover]
        return found


def sources(game: Game) -> Sequence[ValueSource]:
    """Return where values of ``game`` come from; ``memory`` changes nothing for players that see everything."""
    doc = "how likely the player to move wins if both see everything and play their best"
    found = [ValueSource(FullSight.name, FullSight.kind, doc, lambda: True, lambda progress: FullSight(game))]
    for solution in solutions(game):
        folder = tables_folder(game, solution.name)

        def load(progress: Progress | None, solution: Equilibrium = solution, folder: Path = folder) -> Valuer:
            solved = solution.read(folder)
            if solved is None:
                raise report_unsolved(game, solution.name)
            return ByScores(game, solved)

        doc = "the same if both know the scores alone, by an equilibrium that has been solved"
        found.append(ValueSource(ByScores.name, ByScores.kind, doc, (folder / FILE).exists, load))
    return found


RARE = 1e-30
"""How often a game comes where none does, so that something is supposed there and nowhere else: that the other player
has no run and has exchanged the dice an even number of times. What is remembered there is rarer still."""


def reply_values(opponent: Player | Function, game: Game, trials: int = 0) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that says what choices are worth to a player that replies to a strategy as well as is known.

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


class TurnMeter:
    """Measures the dice of each turn, and who moves first; a `dicegym.games.worth.Meter`.

    Args:
        goal: of the game.
        tables: of each player the table that it plays by; None if it is not known.
        seats: int64[games, 2]: which of them sits in each seat.
    """

    def __init__(self, goal: int, tables: Sequence[np.ndarray | None], seats: np.ndarray) -> None:
        self.luck = np.zeros((len(seats), 2))
        self._kinds = np.empty(len(seats), np.int64)
        """By game: which of ``_values`` its luck is measured by."""
        self._parts = np.zeros((len(seats), 2), np.int64)
        """By game and seat: which part of these is that of its player to move."""
        self._values: list[np.ndarray] = []
        self._drawn = np.zeros((len(seats), 2))
        """By game and seat: what it was worth that it was drawn to move first, or second."""
        couples, kinds = np.unique(np.sort(seats, axis=1), axis=0, return_inverse=True)
        self._kinds[:] = kinds.reshape(-1)
        for kind, (one, other) in enumerate(couples.tolist()):
            games = np.flatnonzero(self._kinds == kind)
            known = tables[one], tables[other]
            if known[0] is None or known[1] is None:
                self._values.append(full_sight(goal))
                continue
            values = _values_between(known[0].tobytes(), known[1].tobytes(), goal)
            self._values.append(values)
            self._parts[games] = seats[games] != one
            begins = self._parts[games, 0] == 0
            if begins.any() and not begins.all():  # else somebody has decided who does
                first, second = float(values[0, 0, 0, 0, 0]), 1 - float(values[1, 0, 0, 0, 0])
                luck = np.where(begins, 1, -1) * (first - second) / 2
                self._drawn[games] = np.where(self._parts[games] == 0, luck[:, None], -luck[:, None])

    def begin(self, states: np.ndarray, rows: np.ndarray) -> None:
        """Count it as luck who moves first, if both players of a couple do in some of their games."""
        self.luck[rows] += self._drawn[rows]

    def add(self, before: np.ndarray, rows: np.ndarray, actions: np.ndarray, after: np.ndarray) -> None:
        """Add what the dice of these turns brought beyond their mean."""
        kinds = self._kinds[rows]
        for kind, values in enumerate(self._values):
            games, chosen = rows[kinds == kind], actions[kinds == kind]
            was, now, me = before[games], after[games], before["player"][games].astype(np.int64)
            over, later = now["over"], self._parts[games, 1 - me]
            came = np.where(over, now["winner"] == me, 0.0)
            came[~over] = 1 - state_values(now[~over], values, later[~over])
            luck = came - action_values(was, chosen[:, np.newaxis], values, later)[:, 0]
            self.luck[games, me] += luck
            self.luck[games, 1 - me] -= luck


_tables: WeakKeyDictionary[Player, dict[Game, np.ndarray | None]] = WeakKeyDictionary()
"""What is known of players, as meters are made anew for every thousand games."""


def meter(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter:
    """Return a meter for games between these players; see `dicegym.games.worth.Luck`."""
    return TurnMeter(game.parameters["goal"], [_table_of(player, game) for player in players], seats)


def _table_of(player: Player | None, game: Game) -> np.ndarray | None:
    """Return the table by scores that a player plays by; None if it can play otherwise, or does not tell."""
    if player is None or not player.pure:
        return None
    known = _tables.setdefault(player, {})
    if game not in known:
        try:
            known[game] = by_scores(tabulate(player, game))
        except DicegymError:  # it fails somewhere, which may be where no game comes
            known[game] = None
    return known[game]


@functools.lru_cache(maxsize=4)
def _values_between(one: bytes, other: bytes, goal: int) -> np.ndarray:
    """Return how likely the player to move wins between two tables, given as their bytes."""
    tables = (np.frombuffer(table, np.int8).reshape(goal, goal) for table in (one, other))
    duel = Duel(*map(choices_of, tables))
    duel.sweep(PLAY, PLAY, every_state=True)
    return duel.values[:, 0]


def claims() -> Sequence[Claim]:
    """Return what is published of Hog: strategies against each other, best responses, and the original contest."""
    game = make_game(SPEC.name)
    rolls = {number: np.full((game.parameters["goal"],) * 2, number, np.int8) for number in (0, 5, 8)}
    proof = "dynamic programming over all scores, runs and exchanges; two independent referees agree"

    def wins(number: int, against: int) -> Callable[[], float]:
        return lambda: win_rate(rolls[number], rolls[against], game)

    return (
        Claim("win rate of always_roll(8) against always_roll(5)", 0.6309396782889423, 1e-12, proof, wins(8, 5)),
        Claim("win rate of always_roll(0) against always_roll(5)", 0.10287788345023996, 1e-12, proof, wins(0, 5)),
        Claim(
            "win rate of the best response to always_roll(5), which sees everything",
            0.8447429170839178,
            1e-12,
            proof,
            lambda: best_response(rolls[5], game)[0],
        ),
        Claim(
            "win rate of the table that one climb finds against always_roll(5)",
            0.8099157704869329,
            1e-12,
            "hill climbing, exact for the table found",
            lambda: best_table(rolls[5], game, trials=1)[0],
        ),
        Claim(
            f"entries of the original contest, of {len(RANKING)}, that its {len(RANKING) * (len(RANKING) - 1) // 2} "
            "matches rank as published",
            len(RANKING),
            0.5,
            "the page of the contest: place, wins and losses of each entry",
            count_agreeing,
        ),
    )
