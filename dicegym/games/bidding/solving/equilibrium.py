"""The whole game for two: all its hands, solved one after the other, and the exploitability of a strategy.

A hand is named by its dice, those of its opener first. It leads to other hands, or to the end, so hands are solved from
the last ones up. Hands that lead back to each other, because a die may be regained, are learned together, each with
the present values of the others.

Exploitability is computed from the best response over the whole game (`worths`), which may also make the bids that the
trees leave out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from dicegym.engine.game import Game
from dicegym.games.bidding.solving.cfr import Learner, Strategy
from dicegym.games.bidding.solving.hand import Dice, Worth, ending_values, hand_after, tabulate

CLOSE = 1e-9
"""Values that depend on each other have converged if a round changes them by less."""
FINE = 3e-5
"""The precision of a hand's value before the hands that lead to it are learned: half the gap between the bounds that
best responses set."""


HandGroup = tuple[Dice, ...]
"""Hands that lead to each other, or a single hand that never returns."""


def groups_of(game: Game) -> list[HandGroup]:
    """Return all hands of a game, each group after those that it leads to.

    All hands are one group if dice can be regained.
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
    """Return the values of all hands against ``strategies`` for a player of the same strategies, or the best response.

    In a group of several hands, values are iterated to convergence: those of the best response downwards from 1, so
    they are upper bounds, and the others from 0.5.
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
    """Return the best response's win rate above 0.5, if each player opens half of the games."""
    worth, dice = worths(groups, strategies, best=True), groups[-1][-1]
    return (worth.opens[dice] + worth.follows[dice]) / 2 - 0.5


class Solver:
    """Learns the whole game step by step.

    Args:
        game: a game for two.
        threads: the number of threads for a large hand; the result does not depend on it.

    Attributes:
        strategies: the strategies of all finished groups.
        values: the opener's win probability of each hand, as known so far.
        learners: the hands of the present group.
        steps: the steps of the present group.
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
        """Whether the present group has the first hand of the game."""
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
        share = 3 / (self.steps + 2)  # nearly the mean of all steps, weighted by the squares of their numbers
        for dice, value in found.items():
            self.values[dice] += share * (value - self.values[dice])

    def current(self) -> dict[Dice, Strategy]:
        """Return the strategies of all hands so far, the present group included."""
        return self.strategies | {dice: learner.strategy() for dice, learner in self.learners.items()}

    def finish_group(self) -> bool:
        """Begin the next group if this one, which is not the `last`, is precise (`FINE`); return whether it was."""
        strategies = self.current()
        worth = worths(self.groups[: self._done + 1], strategies, best=True)
        if max((worth.opens[dice] + worth.follows[dice] - 1) / 2 for dice in self.learners) > FINE:
            return False
        self.strategies = strategies
        self.values.update({dice: (worth.opens[dice] + 1 - worth.follows[dice]) / 2 for dice in self.learners})
        self._done += 1
        self._begin()
        return True
