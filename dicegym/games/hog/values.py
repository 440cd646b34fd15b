"""Values of Hog's states and actions, and the luck of its dice.

State values are exact for players that see everything, and measure the luck of dice. Reply values are those of the best
table against a strategy, which knows only what players see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games import game as make_game
from dicegym.games.hog.exact import Function, best_response, best_table, spread, tabulate, win_rate
from dicegym.games.hog.original_contest import RANKING, count_agreeing
from dicegym.games.hog.rules import N_ACTIONS, SPEC
from dicegym.games.hog.solving.strategies import REMEMBERED, Duel, full_sight
from dicegym.games.hog.solving.sweeps import PLAY, WEIGH, action_values, roll_chances, state_values
from dicegym.games.solved import Claim
from dicegym.games.worth import ActionValues, Meter, ValueKind, Valuer, ValueSource, ValueUnit
from dicegym.play.player import Player
from dicegym.play.turn import record_of


class FullSight(Valuer):
    """Values for two perfect players that see the parity of all exchanges and both runs.

    Moves alternate and nothing is hidden, so this is the unique equilibrium value of the game with full sight.
    """

    name = "exact"
    kind: ValueKind = "exact"
    unit: ValueUnit = "win rate"
    sure = "exact, assuming both players know how often dice were swapped and both runs of Pig outs"
    sees_all = True

    def __init__(self, game: Game) -> None:
        self.game = game

    @property
    def _values(self) -> np.ndarray:
        """Values of all states. At goal 999 they take 256 MB, so valuers share them."""
        return full_sight(self.game.parameters["goal"])

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `value` of every state for both seats: float64[states, 2]."""
        over, each = states["over"], np.arange(len(states))
        seats = np.where(over, states["winner"], states["player"]).astype(np.int64)
        wins = np.ones((len(states), 2))
        wins[~over] = state_values(states[~over], self._values)[:, np.newaxis]
        wins[each, 1 - seats] = 1 - wins[each, seats]
        return wins

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return `action_values` of every state, all unfinished."""
        actions = np.broadcast_to(np.arange(N_ACTIONS), (len(states), N_ACTIONS))
        values = action_values(states, actions, roll_chances(), self._values)
        return ActionValues(values, np.zeros_like(values))

    def action_value(self, state: Any, action: int) -> float:
        """Return the value of one action; a number out of range loses at once. nan when the game is over."""
        if 0 <= action < N_ACTIONS or record_of(self.game, state)["over"]:
            return float(self.action_values(state).values[min(max(action, 0), N_ACTIONS - 1)])
        return 0.0


def sources(game: Game) -> Sequence[ValueSource]:
    """Return the source of state values; ``memory`` makes no difference to players that see everything."""
    doc = "how likely the player to move wins if both see everything and play their best"
    return (ValueSource(FullSight.name, FullSight.kind, doc, lambda: True, lambda progress: FullSight(game)),)


RARE = 1e-30
"""Added to the reach of each pair of scores, so that unreached pairs have values too. There the opponent is taken to
have no run and an even number of exchanges; longer own runs and odd own exchanges are rarer still."""


def reply_values(opponent: Player | Function, game: Game, trials: int = 0) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function for the action values of the best table found against a strategy.

    The table is that of `dicegym.games.hog.exact.best_table` with ``trials`` trials: it knows what players of the game
    see. The value of an action is the win rate if the table plays from the next turn on, averaged over everything
    hidden by how often it occurs when the table plays.

    The function takes unfinished records and returns float64[n, N_ACTIONS]; it raises ParameterError for records of
    another goal. Raises AgentError if the opponent fails or answers with anything but a whole number from -1 to 10.
    """
    rival = tabulate(opponent, game)
    values, goal = choices(best_table(rival, game, trials=trials)[1], rival), len(rival)

    def value_choices(states: np.ndarray) -> np.ndarray:
        if (states["goal"] != goal).any():
            raise ParameterError(f"invalid records of Hog to {states['goal'].max()}: give records of Hog to {goal}")
        each = np.arange(len(states))
        mine = states["player"].astype(np.int64)
        known = [states["scores"][each, mine], states["scores"][each, 1 - mine]]
        if game.parameters["memory"]:
            known += [states["runs"][each, mine], states["exchanges"][each, mine] % 2]
        found: np.ndarray = values[tuple(known)]
        return found

    return value_choices


def choices(table: np.ndarray, opponent: np.ndarray) -> np.ndarray:
    """Return the win rate of each choice if ``table`` plays on after it: float64[*table.shape, N_ACTIONS].

    Args:
        table: int8[goal, goal], by both scores, or int8[goal, goal, RUNS, 2], by what the player remembers too.
        opponent: a table of either shape.
    """
    duel = Duel(spread(table), spread(opponent))
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
    """Measures the dice of each turn; a `dicegym.games.worth.Meter`."""

    def __init__(self, game: Game, games: int) -> None:
        self.luck = np.zeros((games, 2))
        self._values = full_sight(game.parameters["goal"])

    def begin(self, states: np.ndarray, rows: np.ndarray) -> None:
        """Do nothing: no dice have fallen yet."""

    def add(self, before: np.ndarray, rows: np.ndarray, actions: np.ndarray, after: np.ndarray) -> None:
        """Add the luck of the dice of these turns."""
        was, now, me = before[rows], after[rows], before["player"][rows].astype(np.int64)
        over = now["over"]
        came = np.where(over, now["winner"] == me, 0.0)
        came[~over] = 1 - state_values(now[~over], self._values)
        luck = came - action_values(was, actions[:, np.newaxis], roll_chances(), self._values)[:, 0]
        self.luck[rows, me] += luck
        self.luck[rows, 1 - me] -= luck


def meter(game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter:
    """Return a meter, the same for all players; see `dicegym.games.parts.Values`."""
    return TurnMeter(game, len(seats))


def claims() -> Sequence[Claim]:
    """Return the published values of Hog: strategies against each other, best responses, the original contest."""
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
        Claim(
            "chance that a turn of Pig, the game behind Hog, scores nothing if it holds at 20",
            0.624541,
            5e-7,
            "Neller, Hold-at-20 Outcomes, nifty.stanford.edu/2010/neller-pig",
            _chance_of_nothing,
        ),
    )


def _chance_of_nothing(total: int = 0, hold: int = 20) -> float:
    """Return the probability that a turn of Pig rolls a 1 before its ``total`` reaches ``hold``."""
    return 0.0 if total >= hold else (1 + sum(_chance_of_nothing(total + face, hold) for face in range(2, 7))) / 6
