"""What states of Liar's Dice for two are worth between players who play an equilibrium, from its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.bidding.solving.equilibrium import Dice, Worth, ending_values, groups_of, worths
from dicegym.games.bidding.solving.hand import NOT_ALLOWED
from dicegym.games.bidding.solving.learner import Stakes, Strategy, stakes
from dicegym.games.bidding.solving.one_by_one import OneByOne
from dicegym.games.bidding.solving.showdown import faces_of, number_of_roll, rolls
from dicegym.games.bidding.table import FACES, N_BIDS, SEATS
from dicegym.games.worth import ActionValues, ValueKind, ValueUnit


class _Spot(NamedTuple):
    """Where a game stands, as tables have it."""

    dice: Dice
    path: tuple[int, ...]
    """Numbers of the bids that led there."""
    roll: int
    """Of the player to move."""

    @property
    def place(self) -> int:
        """Of the player to move."""
        return len(self.path) % 2


class EquilibriumValues(OneByOne):
    """What states are worth between two who play an equilibrium.

    A player to move knows its own roll and the bids, and believes of the other roll what the equilibrium says of who
    bids so. After a bid that the equilibrium never makes with any roll, that bid is left out of what is believed. Bids
    above the dice on the table are called at once; after a bid that follows one of those, the last bid is taken for the
    first one of the hand.

    Args:
        game: of two players.
        strategies: how each hand that may come about is played.
        exploitability: how much more than half of all games a best reply wins against ``strategies``.
        worth: what hands are worth before anybody has rolled; default: it is computed.
    """

    name = "equilibrium"
    kind: ValueKind = "equilibrium"
    unit: ValueUnit = "win rate"
    sees_all = False

    def __init__(
        self, game: Game, strategies: Mapping[Dice, Strategy], exploitability: float, worth: Worth | None = None
    ) -> None:
        self.game = game
        self.exploitability = exploitability
        self.sure = f"those of an equilibrium that a best reply beats in {0.5 + exploitability:.6f} of games"
        self.strategies = strategies
        self.worth = worth or worths(groups_of(game), strategies, best=False)
        """How likely a player wins from the beginning of each hand, before anybody has rolled."""
        self._stakes: dict[tuple[Dice, int], Stakes] = {}
        self._belief = lru_cache(maxsize=4096)(self._find_belief)
        self._choices = lru_cache(maxsize=4096)(self._find_choices)
        self._gains = lru_cache(maxsize=65536)(self._find_gains)
        self._pair = lru_cache(maxsize=65536)(self._find_pair)

    # --- where a game stands ---------------------------------------------------------------------------------

    def _spot(self, state: Any) -> _Spot | None:
        """Return where a game stands; None after a bid above all dice, or where no table tells."""
        made = [int(bid) // SEATS for bid in state["bids"][: int(state["n_bids"])]]
        me = int(state["player"])
        opener = me if len(made) % 2 == 0 else 1 - me
        dice = (int(state["left"][opener]), int(state["left"][1 - opener]))
        if dice in self.strategies:
            try:
                return self._find(state, dice, opener, made)
            except KeyError:
                pass
        elif not made:
            raise self._no_such_hand(dice)
        dice = (int(state["left"][1 - me]), int(state["left"][me]))
        try:
            return self._find(state, dice, 1 - me, made[-1:]) if dice in self.strategies else None
        except KeyError:
            return None

    def _find(self, state: Any, dice: Dice, opener: int, made: Sequence[int]) -> _Spot:
        """Raises KeyError if a bid is not among the hand's."""
        hand, me = self.strategies[dice].hand, int(state["player"])
        path = hand.numbers_of(made)
        place = 0 if me == opener else 1
        return _Spot(dice, path, number_of_roll(dice[place], state["hands"][me], faces_of(self.game)))

    def _stake(self, dice: Dice, place: int) -> Stakes:
        if (dice, place) not in self._stakes:
            hand = self.strategies[dice].hand
            self._stakes[dice, place] = stakes(hand, ending_values(hand, self.worth, place), place)
        return self._stakes[dice, place]

    def _find_belief(self, dice: Dice, path: tuple[int, ...]) -> np.ndarray:
        """Return what who is to move believes of the other's roll: float64[width], in all 1."""
        hand = self.strategies[dice].hand
        place = len(path) % 2
        belief = np.zeros(hand.width)
        belief[: len(hand.chances[1 - place])] = hand.chances[1 - place]
        for depth, bid in enumerate(path):
            if depth % 2 != place:
                told = belief * self._choices(dice, path[:depth])[bid]
                if told.sum() > 0:
                    belief = told / told.sum()
        return belief

    def _find_choices(self, dice: Dice, path: tuple[int, ...]) -> np.ndarray:
        strategy = self.strategies[dice]
        node = sum(int(strategy.hand.step[bid]) for bid in path)
        return strategy.choices(node, path[-1] if path else -1, len(path))

    def _find_gains(self, dice: Dice, path: tuple[int, ...], roll: int) -> np.ndarray:
        """Return what each choice is worth to who is to move with this roll: float64[choices]."""
        strategy, belief = self.strategies[dice], self._belief(dice, path)
        return self._judge(strategy, dice, path, roll, belief)[1][:, roll].copy()

    def _find_pair(self, dice: Dice, path: tuple[int, ...], roll: int, hidden: int) -> float:
        """Return how likely who is to move wins when both rolls are known."""
        strategy = self.strategies[dice]
        other = np.zeros(strategy.hand.width)
        other[hidden] = 1
        return float(self._judge(strategy, dice, path, roll, other)[0][roll])

    def _judge(
        self, strategy: Strategy, dice: Dice, path: tuple[int, ...], roll: int, other: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        place, own = len(path) % 2, np.zeros(strategy.hand.width)
        own[roll] = 1
        node = sum(int(strategy.hand.step[bid]) for bid in path)
        return strategy.judge(self._stake(dice, place), own, other, node, path[-1] if path else -1, len(path))

    # --- what it is worth ------------------------------------------------------------------------------------

    def between(self, state: Any, seat: int) -> float:
        """Return what the beginning of a hand is worth to ``seat`` before anybody rolls: hands are not read."""
        left, opener = state["left"], int(state["player"])
        if state["over"]:
            return float(left[seat] > 0)
        dice = (int(left[opener]), int(left[1 - opener]))
        if dice not in self.worth.opens:
            raise self._no_such_hand(dice)
        return self.worth.opens[dice] if opener == seat else self.worth.follows[dice]

    def _no_such_hand(self, dice: Dice) -> ParameterError:
        return ParameterError(
            f"a hand that is opened with {dice[0]} dice against {dice[1]} never comes about in {self.game!r}, so its "
            "equilibrium has no values of it: ask about hands that can be played"
        )

    def _after(self, state: Any, action: int, seat: int) -> float:
        """Return what an action is worth to ``seat``, both rolls being as the record has them."""
        after = state.copy()
        self.game.step(after, action)
        if after["over"] or after["finished"] != state["finished"]:
            return self.between(after, seat)
        return self.value(after, seat)

    def _called_at_once(self, state: Any) -> int:
        """Return the call on a bid above all dice: the first one there is, as `Hand.overbid` supposes."""
        return N_BIDS + int(np.flatnonzero(self.game.legal(state)[N_BIDS:])[0])

    def value(self, state: Any, seat: int) -> float:
        """Return how likely ``seat`` wins, both rolls being as they are; see `dicegym.games.worth.Valuer`."""
        me = int(state["player"])
        if state["over"]:
            return self.between(state, seat)
        spot = self._spot(state)
        if spot is None:
            return self._after(state, self._called_at_once(state), seat)
        hidden = number_of_roll(spot.dice[1 - spot.place], state["hands"][1 - me], faces_of(self.game))
        mover = self._pair(spot.dice, spot.path, spot.roll, hidden)
        return mover if seat == me else 1 - mover

    def action_values(self, state: Any) -> ActionValues:
        """Return how likely the player to move wins with each action, by what it knows; nan for illegal ones."""
        values = np.full(self.game.n_actions, np.nan)
        legal = self.game.legal(state)
        if not state["over"]:
            spot = self._spot(state)
            if spot is not None:
                hand = self.strategies[spot.dice].hand
                gains = self._gains(spot.dice, spot.path, spot.roll)
                values[hand.bids] = gains[: len(hand.bids)]
                if spot.path:
                    own_calls = list(hand.calls[spot.place])
                    values[own_calls] = gains[len(hand.bids) : len(hand.bids) + len(own_calls)]
                if hand.overbid[spot.place] != NOT_ALLOWED:
                    values[hand.impossible] = self._stake(spot.dice, spot.place).overbid
            else:
                actions = np.flatnonzero(legal)
                calls = actions[actions >= N_BIDS]
                hopeless = actions[(actions < N_BIDS) & (actions // FACES + 1 > state["left"].sum())]
                values[hopeless] = self._believed(state, int(hopeless[0]), None) if len(hopeless) else np.nan
                for action in (*np.setdiff1d(actions[actions < N_BIDS], hopeless), *calls):
                    values[action] = self._believed(state, int(action), None)
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
        return self._believed(state, action, self._spot(state))

    def _believed(self, state: Any, action: int, spot: _Spot | None) -> float:
        """Return what an action is worth to who is to move: by the rules, for every roll that the other may have."""
        me, total, supposed = int(state["player"]), 0.0, state.copy()
        if spot is None:
            counts, chances = rolls(int(state["left"][1 - me]), faces_of(self.game))
        else:
            counts, chances = self.strategies[spot.dice].hand.rolls[1 - spot.place], self._belief(spot.dice, spot.path)
        for roll, chance in zip(counts, chances, strict=False):
            if chance > 0:
                supposed["hands"][1 - me] = roll
                total += float(chance) * self._after(supposed, action, me)
        return total

    def policy(self, state: Any) -> np.ndarray:
        """Return how the equilibrium plays for who is to move: float64[n_actions]; all 0 when the game is over."""
        chosen = np.zeros(self.game.n_actions)
        if state["over"]:
            return chosen
        spot = self._spot(state)
        if spot is None:
            chosen[self._called_at_once(state)] = 1
            return chosen
        hand, choices = self.strategies[spot.dice].hand, self._choices(spot.dice, spot.path)[:, spot.roll]
        chosen[hand.bids] = choices[: len(hand.bids)]
        if spot.path:
            calls = list(hand.calls[spot.place])
            chosen[calls] = choices[len(hand.bids) : len(hand.bids) + len(calls)]
        return np.asarray(chosen / chosen.sum())
