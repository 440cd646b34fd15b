"""What states of Liar's Dice for two are worth between players of an equilibrium, all bids remembered."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.bidding.solving.equilibrium import Worth, ending_values, groups_of, worths
from dicegym.games.bidding.solving.hand import NOT_ALLOWED
from dicegym.games.bidding.solving.hand_learner import Stakes, Strategy, stakes
from dicegym.games.bidding.solving.hand_rules import BidPath, Dice, faces_of, number_of_roll
from dicegym.games.bidding.solving.hand_values import HandValues, Spot
from dicegym.games.bidding.table import SEATS


class EquilibriumValues(HandValues):
    """What states are worth between two players of an equilibrium; see `HandValues`.

    Tables leave out bids above the dice on the table. After a bid that follows one of those, the last bid is taken for
    the first one of the hand.

    Args:
        game: of two players.
        strategies: how each hand that may come about is played.
        exploitability: how much more than half of all games a best response wins against ``strategies``.
        worth: what hands are worth before anybody has rolled; default: it is computed.
    """

    name = "equilibrium"

    def __init__(
        self, game: Game, strategies: Mapping[Dice, Strategy], exploitability: float, worth: Worth | None = None
    ) -> None:
        super().__init__(game)
        self.exploitability = exploitability
        self.sure = f"those of an equilibrium that a best response beats in {0.5 + exploitability:.6f} of games"
        self.strategies = strategies
        self.hands = worth or worths(groups_of(game), strategies, best=False)
        """How likely a player wins from the beginning of each hand, before anybody has rolled."""
        self._stakes = lru_cache(maxsize=None)(self._find_stakes)
        self._choices = lru_cache(maxsize=4096)(self._find_choices)
        self._judge = lru_cache(maxsize=65536)(self._find_worth)

    def before_rolls(self, own: int, others: int, opens: bool) -> float:
        """Return how likely a player wins from a hand's beginning; raise ParameterError if it never begins."""
        dice = (own, others) if opens else (others, own)
        if dice not in self.hands.opens:
            raise self._no_such_hand(dice)
        return self.hands.opens[dice] if opens else self.hands.follows[dice]

    def _no_such_hand(self, dice: Dice) -> ParameterError:
        return ParameterError(
            f"a hand that is opened with {dice[0]} dice against {dice[1]} never comes about in {self.game!r}, so its "
            "equilibrium has no values of it: ask about hands that can be played"
        )

    def spot(self, state: Any) -> Spot | None:
        """Return where a game stands; None after a bid above all dice, or where no table tells."""
        made = [int(bid) // SEATS for bid in state["bids"][: int(state["n_bids"])]]
        me = int(state["player"])
        opener = me if len(made) % 2 == 0 else 1 - me
        dice = (int(state["left"][opener]), int(state["left"][1 - opener]))
        if not made and dice not in self.strategies:
            raise self._no_such_hand(dice)
        last_alone = (int(state["left"][1 - me]), int(state["left"][me])), made[-1:]
        for opened, bids in ((dice, made), last_alone):
            if opened in self.strategies and (path := self.strategies[opened].hand.numbers_of(bids)) is not None:
                own = number_of_roll(opened[len(path) % 2], state["hands"][me], faces_of(self.game))
                return Spot(opened, path, own)
        return None

    def bid_chances(self, dice: Dice, path: BidPath, bid: int) -> np.ndarray:
        """Return how likely the player to move makes a bid with each of its rolls: float64[rolls]."""
        found: np.ndarray = self._choices(dice, path)[bid, : len(self.strategies[dice].hand.chances[len(path) % 2])]
        return found

    def _find_choices(self, dice: Dice, path: BidPath) -> np.ndarray:
        return self.strategies[dice].choices(path)

    def gains(self, spot: Spot) -> tuple[np.ndarray, np.ndarray]:
        """Return actions, int64[k], and what they are worth by what is believed, float64[k]."""
        hand = self.strategies[spot.dice].hand
        actions = hand.actions_of(spot.path)
        gains = self._judge(spot, None)[: len(actions)]
        if hand.overbid[spot.place] != NOT_ALLOWED:
            overbid = np.full(len(hand.impossible), self._stakes(spot.dice, spot.place).overbid)
            return np.concatenate([actions, hand.impossible]), np.concatenate([gains, overbid])
        return actions, gains

    def worth(self, spot: Spot, hidden: int) -> float:
        """Return how likely the player to move wins if the opponent has the roll number ``hidden``."""
        return float(self._judge(spot, hidden))

    def _find_stakes(self, dice: Dice, place: int) -> Stakes:
        hand = self.strategies[dice].hand
        return stakes(hand, ending_values(hand, self.hands, place), place)

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
        value, choices = strategy.judge(self._stakes(spot.dice, spot.place), own, other, spot.path)
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
