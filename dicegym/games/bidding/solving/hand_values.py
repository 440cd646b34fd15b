"""What states of Liar's Dice for two are worth between players whose whole strategies are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.validate import check_seat
from dicegym.errors import ParameterError
from dicegym.games.bidding.solving.cfr import Strategy
from dicegym.games.bidding.solving.hand import (
    CALL,
    BidPath,
    Dice,
    Hand,
    Worth,
    ending_values,
    number_of_roll,
    rolls,
)
from dicegym.games.bidding.table import N_BIDS, SEATS
from dicegym.games.worth import ActionValues, ValueKind, Valuer, ValueUnit
from dicegym.play.turn import record_of


class HandStrategy(Protocol):
    """How both places play a hand. What its players remember of the bids is its own affair."""

    @property
    def hand(self) -> Hand:
        """The rules of the hand."""

    def choices(self, path: BidPath) -> np.ndarray:
        """Return the probability of each choice, bids before calls, for each roll: float64[choices, rolls].

        ``path`` has the numbers of the bids that were made, here and below.
        """

    def judge_roll(self, worth: Worth, path: BidPath, roll: int, other: np.ndarray) -> tuple[float, np.ndarray]:
        """Return how likely the player to move wins with its roll number ``roll``, in all and by each choice.

        The first is a float, the second float64[choices], of use for choices that are there. ``other`` is
        float64[rolls]: how likely the opponent has each roll.
        """


class Spot(NamedTuple):
    """Where a game stands, as strategies have it."""

    dice: Dice
    path: BidPath
    roll: int
    """Of the player to move, by its number."""

    @property
    def others(self) -> int:
        """Dice of the opponent of the player to move."""
        return self.dice[1 - len(self.path) % 2]


class HandValues(Valuer):
    """What states are worth between two players of known strategies.

    The player to move knows its own roll and the bids. It infers the other roll from the strategies (Bayes' rule).
    A bid that they never make with any roll that is still believed in is left out of what is believed. Where they know
    nothing of a bid, it is called at once.

    Args:
        game: of two players.
        find: returns the strategies of the hand that is opened with these dice, or None if it has none.
        hands: how likely a player wins from the beginning of each hand, before anybody has rolled.
        name: what it is called.
        sure: how sure the values are, in words.
        recalls_all: whether players remember all bids of a hand. Then the first bids count where bids contradict each
            other; after one that the strategies leave out, the next is taken for the first one of the hand, and bids
            have values, too. Else the last bids count, and after one that is left out calls alone have values.
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
        self._choices = lru_cache(maxsize=4096)(lambda dice, path: self._strategy(dice).choices(path))
        self._judge = lru_cache(maxsize=65536)(self._judge_spot)
        self.belief = lru_cache(maxsize=4096)(self._find_belief)

    # --- what strategies say ---------------------------------------------------------------------------------

    def spot(self, state: Any) -> Spot | None:
        """Return where a game that is not over stands, or None after bids that the strategies leave out."""
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
                return Spot(opened, path, int(number_of_roll(own, state["hands"][me], self._faces)))
        return None

    def _strategy(self, dice: Dice) -> HandStrategy:
        strategy = self._find(dice)
        if strategy is None:
            raise self._unknown_hand(dice)
        return strategy

    def _judge_spot(self, spot: Spot, hidden: int | None) -> tuple[float, np.ndarray]:
        """Return `HandStrategy.judge_roll` where the opponent has the roll ``hidden``; None: by what is believed."""
        if hidden is None:
            other = self.belief(spot.dice, spot.path)
        else:
            other = np.zeros(len(rolls(spot.others, self._faces).chances))
            other[hidden] = 1
        return self._strategy(spot.dice).judge_roll(self.hands, spot.path, spot.roll, other)

    def _find_belief(self, dice: Dice, path: BidPath) -> np.ndarray:
        """Return what the player to move believes of the other's roll: float64[rolls], in all 1."""
        belief = rolls(dice[1 - len(path) % 2], self._faces).chances
        made = range((len(path) + 1) % 2, len(path), 2)
        for depth in made if self._recalls_all else reversed(made):
            told = belief * self._choices(dice, path[:depth])[path[depth], : len(belief)]
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
            raise self._unknown_hand(dice)

    def _unknown_hand(self, dice: Dice) -> ParameterError:
        return ParameterError(
            f"a hand that is opened with {dice[0]} dice against {dice[1]} never comes about in {self.game!r}, so "
            "its equilibrium has no values of it: ask about hands that can be played"
        )

    def value(self, state: Any, seat: int) -> float:
        """Return how likely ``seat`` wins, both rolls being as they are; see `dicegym.games.worth.Valuer`."""
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
        """Return the call on a bid that the strategies leave out: the first one that is legal."""
        return CALL + int(np.flatnonzero(self.game.legal(state)[N_BIDS:])[0])

    def action_values(self, state: Any) -> ActionValues:
        """Return how likely the player to move wins with each action, by what it knows; nan for illegal ones."""
        state, values = record_of(self.game, state), np.full(self.game.n_actions, np.nan)
        if not state["over"]:
            legal = self.game.legal(state)
            spot = self.spot(state)
            if spot is None:
                for action in np.flatnonzero(legal).tolist():
                    if self._recalls_all or action >= N_BIDS:
                        values[action] = self._by_belief(state, action)
            else:
                hand, place = self._strategy(spot.dice).hand, len(spot.path) % 2
                values[hand.actions_of(spot.path)] = self._judge(spot, None)[1]
                if self._recalls_all:
                    values[hand.impossible] = hand.overbid_value(ending_values(hand, self.hands, place), place)
            values[~legal] = np.nan
        return ActionValues(values, np.where(np.isnan(values), np.nan, 0.0))

    def action_value(self, state: Any, action: int) -> float:
        """Return the same of one action; of wide and illegal ones too, which the rules decide. nan after the end."""
        state = record_of(self.game, state)
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
        return self._value(after, seat)

    def _by_belief(self, state: Any, action: int) -> float:
        """Return what an action is worth to the player to move, by what it believes of the other's roll."""
        me, spot = int(state["player"]), self.spot(state)
        counts, chances = rolls(int(state["left"][1 - me]), self._faces)
        supposed, total = state.copy(), 0.0
        for chance, roll in zip(chances if spot is None else self.belief(spot.dice, spot.path), counts, strict=True):
            if chance > 0:
                supposed["hands"][1 - me] = roll
                total += float(chance) * self._after(supposed, action, me)
        return total

    def policy(self, state: Any) -> np.ndarray:
        """Return how the player to move plays: float64[n_actions]; all 0 when the game is over."""
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
            actions = self._strategy(spot.dice).hand.actions_of(spot.path)
            own = number_of_roll(spot.dice[len(spot.path) % 2], hands[same], self._faces)
            out[rows[same, None], actions] = self._choices(spot.dice, spot.path)[: len(actions), own].T
        return out


class EquilibriumValues(HandValues):
    """What states are worth between two players of an equilibrium, all bids remembered; see `HandValues`.

    Args:
        game: of two players.
        strategies: how each hand that may come about is played.
        exploitability: how much more than half of all games a best response wins against ``strategies``.
        hands: how likely a player wins from the beginning of each hand, before anybody has rolled.
    """

    def __init__(self, game: Game, strategies: Mapping[Dice, Strategy], exploitability: float, hands: Worth) -> None:
        self.exploitability, self.strategies = exploitability, strategies
        sure = f"those of an equilibrium that a best response beats in {0.5 + exploitability:.6f} of games"
        super().__init__(game, strategies.get, hands, "equilibrium", sure, recalls_all=True)
