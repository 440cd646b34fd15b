"""Measuring a learner in training: against whom, and by which score its best model is chosen."""

from __future__ import annotations

from dicegym.analysis.exploitability import best_reply, check_best_reply
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.learning.evaluate import CURVE_SEED, Score, evaluate, overall, rivals_of
from dicegym.learning.training_settings import RunSettings
from dicegym.play.player import Player

BY_EXPLOITABILITY, BEST_REPLY = "exploitability", "its best reply"
"""The setting that chooses models by their win rate against a best response, and the name of that opponent."""
BY_LAST = "last"
"""The setting that makes the latest model the best one: scores choose none."""
EARLY = 4
"""How often the interval of evaluations is halved for the first ones: a short or interrupted run has a curve too."""


class Evaluator:
    """Measures the learner against the opponents that the settings name, always in the same games.

    ``trust`` is as for `dicegym.agent`.

    Raises:
        UnknownNameError: there is no such opponent.
        ParameterError: a list of opponents is empty, or has no seats, or ``best_by`` asks for what cannot be known of
            the game.
    """

    def __init__(self, game: Game, settings: RunSettings, trust: bool = False) -> None:
        self.game, self.settings = game, settings
        self._met = [rivals_of(game, against, trust) for against in settings.evaluate_against or [game.spec.baseline]]
        if settings.best_by == BY_EXPLOITABILITY:
            if game.players < 2:
                raise ParameterError(
                    f"{game!r} is played alone, so nobody beats the learner: leave out run.best_by={BY_EXPLOITABILITY}"
                )
            check_best_reply(game)

    def measure(self, learner: Player) -> tuple[Score, list[Score]]:
        """Return the score of the learner, by which the best model is chosen as a rule, and that of each opponent."""
        run = self.settings
        scores = [
            evaluate(self.game, learner, rivals, run.evaluate_games, seed=CURVE_SEED, less_luck=run.less_luck)
            for rivals in self._met
        ]
        if run.best_by == BY_EXPLOITABILITY:
            scores.append(against_best_reply(self.game, learner))
            return scores[-1], scores
        return overall(scores, run.best_by), scores

    @property
    def takes_last(self) -> bool:
        """Whether the latest model is the best, whatever its scores."""
        return self.settings.best_by == BY_LAST


def next_evaluation(steps: int, every: int) -> int:
    """Return at how many steps an evaluation is due after ``steps``: at multiples of ``every``, and early ones."""
    early = (every >> halved for halved in range(EARLY, -1, -1))
    return next((due for due in early if due > steps), (steps // every + 1) * every)


def against_best_reply(game: Game, player: Player) -> Score:
    """Return how often ``player`` wins against its best reply: 0.5 at most, which nobody who has no holes falls below.

    The value is what it wins at least; ``high`` is the other bound. No games are played.

    Raises ParameterError where that cannot be known; see `dicegym.analysis.exploitability.best_reply`.
    """
    found = best_reply(player, game)
    return Score("worst win rate", BEST_REPLY, 1 - found.high, 1 - found.high, 1 - found.low, 0)
