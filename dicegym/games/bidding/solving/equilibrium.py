"""The whole game for two: all hands that may come about, one after the other, and how good a strategy for them is.

A hand is named by its dice, those of its opener first. It leads to another hand, or to the end, so hands are
solved from the last ones up; where they lead back to each other, as where a die may be regained, they are learned
together, each with what the others have been worth so far.

How good a strategy is, is computed and not believed: by the best response to it over the whole game, to the last hand.
It may also make the bids that the trees leave out (`worths`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from dicegym.engine.game import Game
from dicegym.games.bidding.solving.cfr import Learner, Strategy
from dicegym.games.bidding.solving.hand import Dice, Worth, ending_values, hand_after, tabulate

CLOSE = 1e-9
"""Where values that depend on each other are taken to stand: they change by less in a round."""
FINE = 3e-5
"""How closely the values of hands are known before those that lead to them are learned: half the difference between
what best responses leave the opener and what they give it."""


HandGroup = tuple[Dice, ...]
"""Hands that lead to each other, or a single one that never comes about again."""


def groups_of(game: Game) -> list[HandGroup]:
    """Return all hands that may come about, each group after those that it leads to.

    Where dice come back, all hands are one group.
    """
    whole = game.parameters["dice"]
    leads: dict[Dice, set[Dice]] = {}
    waiting = [(whole, whole)]
    while waiting:
        dice = waiting.pop()
        if dice not in leads:
            leads[dice] = {
                found for ending in tabulate(game, *dice).endings if (found := hand_after(ending)) is not None
            }
            waiting.extend(leads[dice])
    ordered = sorted(leads, key=lambda dice: (sum(dice), dice))
    if any(sum(found) >= sum(dice) for dice in leads for found in leads[dice]):
        return [tuple(ordered)]
    return [(dice,) for dice in ordered]


def worths(groups: Sequence[HandGroup], strategies: Mapping[Dice, Strategy], *, best: bool) -> Worth:
    """Return the values of all hands against ``strategies``, for a player of the same or of the best response.

    Where hands come about again, values of the best response come down from 1 until they stand, so they are no less
    than what it wins, and the others up from a half.
    """
    worth = Worth({}, {})
    for group in groups:
        for dice in group:
            worth.opens[dice] = worth.follows[dice] = 1.0 if best else 0.5
        change = 1.0
        while change > CLOSE:
            change = 0.0
            for dice in group:
                strategy = strategies[dice]
                opens, follows = (
                    strategy.win_chance(ending_values(strategy.hand, worth, place), place, best) for place in (0, 1)
                )
                change = max(change, abs(opens - worth.opens[dice]), abs(follows - worth.follows[dice]))
                worth.opens[dice], worth.follows[dice] = opens, follows
            if len(group) == 1:
                break
    return worth


def exploitability(groups: Sequence[HandGroup], strategies: Mapping[Dice, Strategy]) -> float:
    """Return how much more than half of all games a best response wins, each player opening half of them."""
    worth, dice = worths(groups, strategies, best=True), groups[-1][-1]
    return (worth.opens[dice] + worth.follows[dice]) / 2 - 0.5


class Solver:
    """Learns the whole game, one step after the other.

    Args:
        game: of two players.
        threads: how many work on a large hand; it makes no difference to what comes out.

    Attributes:
        strategies: what has been learned of all groups that are done.
        values: how likely the opener of each hand wins, as known so far.
        learners: of the hands of the group that is being learned.
        steps: of that group.
    """

    def __init__(self, game: Game, threads: int = 1) -> None:
        self.game = game
        self.groups = groups_of(game)
        self.strategies: dict[Dice, Strategy] = {}
        self.values: dict[Dice, float] = {}
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._done = 0
        self._begin()

    @property
    def last(self) -> bool:
        """Whether the group that is being learned is the one with the first hand of the game."""
        return self._done == len(self.groups) - 1

    def _begin(self) -> None:
        self.steps = 0
        hands = self.groups[self._done]
        self.learners: dict[Dice, Learner] = {dice: Learner(tabulate(self.game, *dice)) for dice in hands}
        self.values.update(dict.fromkeys(hands, 0.5))

    def step(self) -> None:
        """Do one step with every hand of the group."""
        self.steps += 1
        worth = Worth(self.values, {dice: 1 - value for dice, value in self.values.items()})
        found = {
            dice: learner.learn(ending_values(learner.hand, worth, 0), self._pool)
            for dice, learner in self.learners.items()
        }
        share = 3 / (self.steps + 2)  # the mean of all steps, each with the square of its number for a weight, nearly
        for dice, value in found.items():
            self.values[dice] += share * (value - self.values[dice])

    def current(self) -> dict[Dice, Strategy]:
        """Return the strategies of all hands so far, those being learned included."""
        return self.strategies | {dice: learner.strategy() for dice, learner in self.learners.items()}

    def finish_group(self) -> bool:
        """Go on to the next group if this one, which is not the `last`, is known closely; return whether it was."""
        strategies = self.current()
        worth = worths(self.groups[: self._done + 1], strategies, best=True)
        if max((worth.opens[dice] + worth.follows[dice] - 1) / 2 for dice in self.learners) > FINE:
            return False
        self.strategies = strategies
        self.values.update({dice: (worth.opens[dice] + 1 - worth.follows[dice]) / 2 for dice in self.learners})
        self._done += 1
        self._begin()
        return True
