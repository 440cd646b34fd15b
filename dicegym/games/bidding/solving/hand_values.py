"""What states of Liar's Dice for two are worth between players whose whole strategies are known.

`EquilibriumValues` reads tables in which all bids of a hand are remembered; those with the last bids alone are read by
`dicegym.games.bidding.solving.recall_values`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.bidding.solving.cfr import Strategy
from dicegym.games.bidding.solving.equilibrium import Worth, ending_values
from dicegym.games.bidding.solving.hand import CALL, NOT_ALLOWED, BidPath, Dice, number_of_roll, rolls
from dicegym.games.bidding.table import N_BIDS, SEATS
from dicegym.games.worth import ActionValues, ValueKind, Valuer, ValueUnit


class Spot(NamedTuple):
    """Where a game stands, as tables have it."""

    dice: Dice
    path: BidPath
    roll: int
    """Of the player to move, by its number."""

    @property
    def place(self) -> int:
        """Whether the opener of the hand (0) or the other (1) is to move."""
        return len(self.path) % 2

    @property
    def own(self) -> int:
        """Dice of the player to move."""
        return self.dice[self.place]

    @property
    def others(self) -> int:
        """Dice of its opponent."""
        return self.dice[1 - self.place]


class HandValues(Valuer, ABC):
    """What states are worth between two players of tables.

    The player to move knows its own roll and the bids. It infers the other roll from the tables (Bayes' rule).
    A bid that the tables never make with any roll that is still believed in is left out of what is believed. Where
    tables know nothing of a bid, it is called at once.

    Args:
        game: of two players.
        hands: how likely a player wins from the beginning of each hand, before anybody has rolled.
    """

    unit: ValueUnit = "win rate"
    kind: ValueKind = "equilibrium"
    name: str
    sure: str
    sees_all = False
    latest_first = False
    """Which bids count where they contradict each other: those of the end of the hand, or of its beginning."""
    unseen_bids = True
    """Whether bids have values after bids that the tables leave out, too."""

    def __init__(self, game: Game, hands: Worth) -> None:
        self.game, self.hands = game, hands
        self.belief = lru_cache(maxsize=4096)(self._find_belief)

    # --- what tables say -------------------------------------------------------------------------------------

    @abstractmethod
    def spot(self, state: Any) -> Spot | None:
        """Return where a game that is not over stands, or None after bids that the tables leave out."""

    @abstractmethod
    def bid_chances(self, dice: Dice, path: BidPath, bid: int) -> np.ndarray:
        """Return how likely the player to move makes a bid, by number, with each of its rolls: float64[rolls]."""

    @abstractmethod
    def gains(self, spot: Spot) -> tuple[np.ndarray, np.ndarray]:
        """Return actions that the tables know, int64[k], and what they are worth by what is believed, float64[k]."""

    @abstractmethod
    def worth(self, spot: Spot, hidden: int) -> float:
        """Return how likely the player to move wins if the opponent has the roll number ``hidden``."""

    @abstractmethod
    def policy_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `policy` of every record: float64[states, n_actions]."""

    def _find_belief(self, dice: Dice, path: BidPath) -> np.ndarray:
        """Return what the player to move believes of the other's roll: float64[rolls], in all 1."""
        belief = rolls(dice[1 - len(path) % 2], self.game.all_parameters["faces"]).chances
        made = range((len(path) + 1) % 2, len(path), 2)
        for depth in reversed(made) if self.latest_first else made:
            told = belief * self.bid_chances(dice, path[:depth], path[depth])
            if told.sum() > 0:
                belief = told / told.sum()
        return belief

    # --- what states are worth -------------------------------------------------------------------------------

    def between(self, state: Any, seat: int) -> float:
        """Return what the beginning of a hand is worth to ``seat`` before anybody rolls: hands are not read."""
        left = state["left"]
        if state["over"]:
            return float(left[seat] > 0)
        own, others = int(left[seat]), int(left[1 - seat])
        opens = int(state["player"]) == seat
        dice = (own, others) if opens else (others, own)
        self.check_hand(dice)
        return self.hands.opens[dice] if opens else self.hands.follows[dice]

    def check_hand(self, dice: Dice) -> None:
        """Raise ParameterError for a hand that never begins."""
        if dice not in self.hands.opens:
            raise ParameterError(
                f"a hand that is opened with {dice[0]} dice against {dice[1]} never comes about in {self.game!r}, so "
                "its equilibrium has no values of it: ask about hands that can be played"
            )

    def value(self, state: Any, seat: int) -> float:
        """Return how likely ``seat`` wins, both rolls being as they are; see `dicegym.games.worth.Valuer`."""
        if state["over"]:
            return self.between(state, seat)
        spot, me = self.spot(state), int(state["player"])
        if spot is None:
            return self._after(state, self.call(state), seat)
        mover = self.worth(spot, number_of_roll(spot.others, state["hands"][1 - me], self.game.all_parameters["faces"]))
        return mover if seat == me else 1 - mover

    def call(self, state: Any) -> int:
        """Return the call on a bid that the tables leave out: the first one that is legal."""
        return CALL + int(np.flatnonzero(self.game.legal(state)[N_BIDS:])[0])

    def action_values(self, state: Any) -> ActionValues:
        """Return how likely the player to move wins with each action, by what it knows; nan for illegal ones."""
        values = np.full(self.game.n_actions, np.nan)
        if not state["over"]:
            legal = self.game.legal(state)
            spot = self.spot(state)
            if spot is None:
                for action in np.flatnonzero(legal).tolist():
                    if self.unseen_bids or action >= N_BIDS:
                        values[action] = self._by_belief(state, action)
            else:
                actions, gains = self.gains(spot)
                values[actions] = gains
            values[~legal] = np.nan
        return ActionValues(values, np.where(np.isnan(values), np.nan, 0.0))

    def action_value(self, state: Any, action: int) -> float:
        """Return the same of one action; of wide and illegal ones too, which the rules decide. nan after the end."""
        if state["over"]:
            return float("nan")
        if 0 <= action < self.game.n_actions:
            value = float(self.action_values(state).values[action])
            if not np.isnan(value):
                return value
        return self._by_belief(state, action)

    def _after(self, state: Any, action: int, seat: int) -> float:
        """Return what an action is worth to ``seat``, both rolls being as the record has them."""
        after = state.copy()
        self.game.step(after, action)
        if after["over"] or after["finished"] != state["finished"]:
            return self.between(after, seat)
        return self.value(after, seat)

    def _by_belief(self, state: Any, action: int) -> float:
        """Return what an action is worth to the player to move, by what it believes of the other's roll."""
        me, spot = int(state["player"]), self.spot(state)
        counts, chances = rolls(int(state["left"][1 - me]), self.game.all_parameters["faces"])
        supposed, total = state.copy(), 0.0
        for chance, roll in zip(chances if spot is None else self.belief(spot.dice, spot.path), counts, strict=True):
            if chance > 0:
                supposed["hands"][1 - me] = roll
                total += float(chance) * self._after(supposed, action, me)
        return total

    def policy(self, state: Any) -> np.ndarray:
        """Return how the player to move plays: float64[n_actions]; all 0 when the game is over."""
        return np.asarray(self.policy_rows(np.array([state]))[0])


class EquilibriumValues(HandValues):
    """What states are worth between two players of an equilibrium, all bids remembered; see `HandValues`.

    Tables leave out bids above the dice on the table. After a bid that follows one of those, the last bid is taken for
    the first one of the hand.

    Args:
        game: of two players.
        strategies: how each hand that may come about is played.
        exploitability: how much more than half of all games a best response wins against ``strategies``.
        hands: how likely a player wins from the beginning of each hand, before anybody has rolled.
    """

    name = "equilibrium"

    def __init__(self, game: Game, strategies: Mapping[Dice, Strategy], exploitability: float, hands: Worth) -> None:
        super().__init__(game, hands)
        self.exploitability, self.strategies = exploitability, strategies
        self.sure = f"those of an equilibrium that a best response beats in {0.5 + exploitability:.6f} of games"
        self._endings = lru_cache(maxsize=None)(lambda dice, place: ending_values(strategies[dice].hand, hands, place))
        self._choices = lru_cache(maxsize=4096)(lambda dice, path: strategies[dice].choices(path))
        self._judge = lru_cache(maxsize=65536)(self._find_worth)

    def spot(self, state: Any) -> Spot | None:
        """Return where a game stands; None after a bid above all dice, or where no table tells."""
        made = [int(bid) // SEATS for bid in state["bids"][: int(state["n_bids"])]]
        me = int(state["player"])
        opener = me if len(made) % 2 == 0 else 1 - me
        dice = (int(state["left"][opener]), int(state["left"][1 - opener]))
        if not made:
            self.check_hand(dice)
        last_alone = (int(state["left"][1 - me]), int(state["left"][me])), made[-1:]
        for opened, bids in ((dice, made), last_alone):
            if opened in self.strategies and (path := self.strategies[opened].hand.numbers_of(bids)) is not None:
                own = number_of_roll(opened[len(path) % 2], state["hands"][me], self.game.all_parameters["faces"])
                return Spot(opened, path, own)
        return None

    def bid_chances(self, dice: Dice, path: BidPath, bid: int) -> np.ndarray:
        """Return how likely the player to move makes a bid with each of its rolls: float64[rolls]."""
        found: np.ndarray = self._choices(dice, path)[bid, : self.strategies[dice].hand.sizes[len(path) % 2]]
        return found

    def gains(self, spot: Spot) -> tuple[np.ndarray, np.ndarray]:
        """Return actions, int64[k], and what they are worth by what is believed, float64[k]."""
        hand = self.strategies[spot.dice].hand
        actions = hand.actions_of(spot.path)
        gains = self._judge(spot, None)[: len(actions)]
        if hand.overbid[spot.place] == NOT_ALLOWED:
            return actions, gains
        overbid = hand.overbid_value(self._endings(spot.dice, spot.place), spot.place)
        gains = np.concatenate([gains, np.full(len(hand.impossible), overbid)])
        return np.concatenate([actions, hand.impossible]), gains

    def worth(self, spot: Spot, hidden: int) -> float:
        """Return how likely the player to move wins if the opponent has the roll number ``hidden``."""
        return float(self._judge(spot, hidden))

    def _find_worth(self, spot: Spot, hidden: int | None) -> Any:
        """Return what a spot is worth when both rolls are known, or each choice by what is believed: float64[k]."""
        strategy = self.strategies[spot.dice]
        own, other = np.zeros((2, strategy.hand.width))
        own[spot.roll] = 1
        if hidden is None:
            belief = self.belief(spot.dice, spot.path)
            other[: len(belief)] = belief
        else:
            other[hidden] = 1
        value, choices = strategy.judge(self._endings(spot.dice, spot.place), spot.place, own, other, spot.path)
        return choices[:, spot.roll].copy() if hidden is None else value[spot.roll]

    def policy_rows(self, states: np.ndarray) -> np.ndarray:
        """Return how the equilibrium plays: float64[states, n_actions]; all 0 when the game is over."""
        chosen = np.zeros((len(states), self.game.n_actions))
        for row in np.flatnonzero(~states["over"]).tolist():
            spot = self.spot(states[row])
            if spot is None:
                chosen[row, self.call(states[row])] = 1
            else:
                actions = self.strategies[spot.dice].hand.actions_of(spot.path)
                chances = self._choices(spot.dice, spot.path)[: len(actions), spot.roll]
                chosen[row, actions] = chances / chances.sum()
        return chosen
