"""Values of states of Liar's Dice for two, between players of known strategies."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.validate import check_seat
from dicegym.errors import ParameterError
from dicegym.games.bidding.solving.cfr import Strategy
from dicegym.games.bidding.solving.hand import CALL, BidPath, Dice, Hand, Worth, ending_values, number_of_roll, rolls
from dicegym.games.bidding.table import N_BIDS, SEATS
from dicegym.games.worth import ActionValues, ValueKind, Valuer, ValueUnit
from dicegym.play.turn import record_of


class HandStrategy(Hashable, Protocol):
    """A strategy of both places of a hand, whatever its players remember of the bids."""

    @property
    def hand(self) -> Hand:
        """The hand."""

    def choices(self, path: BidPath) -> np.ndarray:
        """Return the probability of each choice, bids before calls, for each roll: float64[choices, rolls]."""

    def judge_roll(self, worth: Worth, path: BidPath, roll: int, other: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the win probability of the player to move with roll number ``roll``, and of each choice.

        The latter is float64[choices], valid for choices that it has. ``other`` is float64[rolls]: the probability of
        each roll of the opponent.
        """


class Spot(NamedTuple):
    """A point of a hand, as strategies number it."""

    strategy: HandStrategy
    path: BidPath
    roll: int
    """The number of the roll of the player to move."""

    @property
    def others(self) -> int:
        """Dice of the opponent of the player to move."""
        return self.strategy.hand.dice[1 - len(self.path) % 2]


class HandValues(Valuer):
    """Values of states between two players of known strategies.

    The player to move knows its own roll and the bids, and infers the other roll from the strategies (Bayes' rule). A
    bid that the strategies never make with any roll still believed in says nothing. A bid that the strategies leave out
    is called at once.

    Args:
        game: a game for two.
        find: returns the strategy of the hand that is opened with these dice, or None.
        hands: the win probability from the beginning of each hand, before the roll.
        name: the name of the source of values.
        sure: how sure the values are, in words.
        recalls_all: whether players remember all bids of a hand. If so, the first bids count where bids contradict each
            other, and the bid after one that the strategies leave out is taken for the first of the hand. Otherwise the
            last bids count, and after one that is left out only calls have values.
    """

    unit: ValueUnit = "win rate"
    kind: ValueKind = "equilibrium"
    sees_all = False

    def __init__(
        self,
        game: Game,
        find: Callable[[Dice], HandStrategy | None],
        hands: Worth,
        name: str,
        sure: str,
        recalls_all: bool,
    ) -> None:
        self.game, self.hands, self.name, self.sure, self._recalls_all = game, hands, name, sure, recalls_all
        self._find, self._faces = find, game.all_parameters["faces"]
        self._choices = lru_cache(maxsize=4096)(lambda strategy, path: strategy.choices(path))
        self._judge = lru_cache(maxsize=65536)(self._judge_spot)
        self.belief = lru_cache(maxsize=4096)(self._find_belief)

    # --- strategies and beliefs ------------------------------------------------------------------------------

    def spot(self, state: Any) -> Spot | None:
        """Return the point of a game that is not over, or None after bids that the strategies leave out."""
        made = [int(bid) // SEATS for bid in state["bids"][: int(state["n_bids"])]]
        me = int(state["player"])
        own, others = int(state["left"][me]), int(state["left"][1 - me])
        dice = (own, others) if len(made) % 2 == 0 else (others, own)
        if not made:
            self.check_hand(dice)
        hands = [(dice, made)]
        if self._recalls_all:
            hands.append(((others, own), made[-1:]))
        for opened, bids in hands:
            strategy = self._find(opened)
            if strategy is not None and (path := strategy.hand.numbers_of(bids)) is not None:
                return Spot(strategy, path, int(number_of_roll(own, state["hands"][me], self._faces)))
        return None

    def _judge_spot(self, spot: Spot, hidden: int | None) -> tuple[float, np.ndarray]:
        """Return `HandStrategy.judge_roll` against the roll ``hidden`` of the opponent; None: against `belief`."""
        if hidden is None:
            other = self.belief(spot.strategy, spot.path)
        else:
            other = np.zeros(len(rolls(spot.others, self._faces).chances))
            other[hidden] = 1
        return spot.strategy.judge_roll(self.hands, spot.path, spot.roll, other)

    def _find_belief(self, strategy: HandStrategy, path: BidPath) -> np.ndarray:
        """Return the probabilities of the other's roll to the player to move: float64[rolls]."""
        belief = strategy.hand.rolls[1 - len(path) % 2].chances
        made = range((len(path) + 1) % 2, len(path), 2)
        for depth in made if self._recalls_all else reversed(made):
            told = belief * self._choices(strategy, path[:depth])[path[depth], : len(belief)]
            if told.sum() > 0:
                belief = told / told.sum()
        return belief

    # --- values ----------------------------------------------------------------------------------------------

    def between(self, state: Any, seat: int) -> float:
        """Return the value to ``seat`` of the beginning of a hand, before the roll, or of the end of the game."""
        left = state["left"]
        if state["over"]:
            return float(left[seat] > 0)
        own, others = int(left[seat]), int(left[1 - seat])
        opens = int(state["player"]) == seat
        dice = (own, others) if opens else (others, own)
        self.check_hand(dice)
        return self.hands.opens[dice] if opens else self.hands.follows[dice]

    def check_hand(self, dice: Dice) -> None:
        """Raise ParameterError for a hand that cannot occur."""
        if dice not in self.hands.opens:
            raise ParameterError(
                f"a hand of {dice[0]} dice against {dice[1]}, the opener's first, never comes about in {self.game!r}: "
                "give a state that can be reached"
            )

    def value(self, state: Any, seat: int) -> float:
        """Return the win probability of ``seat`` with both rolls known; see `dicegym.games.worth.Valuer`."""
        return self._value(record_of(self.game, state), check_seat(self.game, seat))

    def _value(self, state: Any, seat: int) -> float:
        if state["over"]:
            return self.between(state, seat)
        spot, me = self.spot(state), int(state["player"])
        if spot is None:
            return self._after(state, self.call(state), seat)
        mover, _ = self._judge(spot, int(number_of_roll(spot.others, state["hands"][1 - me], self._faces)))
        return mover if seat == me else 1 - mover

    def call(self, state: Any) -> int:
        """Return the call on a bid that the strategies leave out: the first legal one."""
        return CALL + int(np.flatnonzero(self.game.legal(state)[N_BIDS:])[0])

    def action_values(self, state: Any) -> ActionValues:
        """Return the win probability of each action by what the player to move knows; nan for illegal ones."""
        state, values = record_of(self.game, state), np.full(self.game.n_actions, np.nan)
        if not state["over"]:
            legal = self.game.legal(state)
            spot = self.spot(state)
            if spot is None:
                for action in np.flatnonzero(legal).tolist():
                    if self._recalls_all or action >= N_BIDS:
                        values[action] = self._by_belief(state, action)
            else:
                hand, place = spot.strategy.hand, len(spot.path) % 2
                values[hand.actions_of(spot.path)] = self._judge(spot, None)[1]
                if self._recalls_all:
                    values[hand.impossible] = hand.overbid_value(ending_values(hand, self.hands, place), place)
            values[~legal] = np.nan
        return ActionValues(values, np.where(np.isnan(values), np.nan, 0.0))

    def action_value(self, state: Any, action: int) -> float:
        """Return the same for one action, wide and illegal ones included; nan after the end."""
        state = record_of(self.game, state)
        if state["over"]:
            return float("nan")
        if 0 <= action < self.game.n_actions:
            value = float(self.action_values(state).values[action])
            if not np.isnan(value):
                return value
        return self._by_belief(state, action)

    def _after(self, state: Any, action: int, seat: int) -> float:
        """Return the value of an action to ``seat``, with the rolls of the record."""
        after = state.copy()
        self.game.step(after, action)
        if after["over"] or after["finished"] != state["finished"]:
            return self.between(after, seat)
        return self._value(after, seat)

    def _by_belief(self, state: Any, action: int) -> float:
        """Return the value of an action to the player to move, by its belief of the other's roll."""
        me, spot = int(state["player"]), self.spot(state)
        counts, chances = rolls(int(state["left"][1 - me]), self._faces)
        if spot is not None:
            chances = self.belief(spot.strategy, spot.path)
        supposed, total = state.copy(), 0.0
        for chance, roll in zip(chances, counts, strict=True):
            if chance > 0:
                supposed["hands"][1 - me] = roll
                total += float(chance) * self._after(supposed, action, me)
        return total

    def policy(self, state: Any) -> np.ndarray:
        """Return the strategy of the player to move: float64[n_actions]; all 0 when the game is over."""
        return np.asarray(self.policy_rows(np.array([record_of(self.game, state)]))[0])

    def policy_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `policy` of every record: float64[states, n_actions]. Each public state is looked up once."""
        out = np.zeros((len(states), self.game.n_actions))
        rows = np.flatnonzero(~states["over"])
        if not len(rows):
            return out
        going, me = states[rows], states["player"][rows].astype(np.int64)
        made = going["bids"][:, : max(1, going["n_bids"].max())].astype(np.int64)
        made[np.arange(made.shape[1]) >= going["n_bids"][:, None]] = -1
        public = np.column_stack([me, going["left"][:, :2], made])
        _, firsts, which = np.unique(public, axis=0, return_index=True, return_inverse=True)
        hands = going["hands"][np.arange(len(rows)), me]
        for number, first in enumerate(firsts.tolist()):
            same = np.flatnonzero(which.reshape(-1) == number)
            spot = self.spot(going[first])
            if spot is None:
                out[rows[same], self.call(going[first])] = 1
                continue
            hand = spot.strategy.hand
            actions = hand.actions_of(spot.path)
            own = number_of_roll(hand.dice[len(spot.path) % 2], hands[same], self._faces)
            out[rows[same, None], actions] = self._choices(spot.strategy, spot.path)[: len(actions), own].T
        return out


class EquilibriumValues(HandValues):
    """Values of an equilibrium with all bids remembered; see `HandValues`.

    Args:
        game: a game for two.
        strategies: the strategy of each hand of the game.
        exploitability: a best response's win rate against them, above 0.5.
        hands: the win probability from the beginning of each hand, before the roll.
    """

    def __init__(self, game: Game, strategies: Mapping[Dice, Strategy], exploitability: float, hands: Worth) -> None:
        self.exploitability, self.strategies = exploitability, strategies
        sure = f"those of an equilibrium that a best response beats in {0.5 + exploitability:.6f} of games"
        super().__init__(game, strategies.get, hands, "equilibrium", sure, recalls_all=True)
