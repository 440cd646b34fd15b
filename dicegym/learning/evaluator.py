"""Measuring a learner in training: against whom, by which score its best model is chosen, and above which floors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dicegym.analysis.exploitability import best_reply, check_best_reply
from dicegym.engine.game import Game
from dicegym.envs.table_sizes import tables_of
from dicegym.errors import ParameterError, one_line, unknown_name
from dicegym.learning.evaluate import CURVE_SEED, Score, evaluate, overall, rivals_of, together
from dicegym.learning.training_settings import RunSettings
from dicegym.play.player import Player
from dicegym.players.roster import agent_names

BY_EXPLOITABILITY, BEST_REPLY = "exploitability", "its best reply"
"""The setting that chooses models by their win rate against a best response, and the name of that opponent."""
BY_EXPLOITER, EXPLOITER = "exploiter", "its exploiter"
"""The setting that chooses models by their win rate against an exploiter trained for it, and the name of that."""
BY_LAST = "last"
"""The setting that makes the latest model the best one: scores choose none."""
OWN_RIVALS = {BY_EXPLOITABILITY: BEST_REPLY, BY_EXPLOITER: EXPLOITER}
"""The names of opponents that each learner has for itself, by how settings name them."""
EARLY = 4
"""How often the interval of evaluations is halved for the first ones: a short or interrupted run has a curve too."""


class Meeting(NamedTuple):
    """Whom a learner is measured against, and where."""

    table: Game
    rivals: list[Player]
    label: str
    """What scores and curves call it: the opponents' names, and the number of players where it differs."""


def meetings_of(game: Game, settings: RunSettings, trust: bool = False) -> list[Meeting]:
    """Return all that an evaluation of a training at ``game`` consists of.

    Opponents are met at each size of table that the training plays at (``run.tables``), that of ``game`` first; those
    who share a table, where they find seats.

    Raises as `Evaluator` does.
    """
    tables = list(dict.fromkeys([game, *tables_of(game, settings.tables)]))
    found = []
    for against in settings.evaluate_against or [game.spec.baseline]:
        needed = len(against) + 1 if isinstance(against, list) else 0
        for table in [one for one in tables if one.players >= needed] or tables[:1]:  # the first one says what is wrong
            rivals = rivals_of(table, against, trust)
            name = together(table, [player.name for player in rivals])
            found.append(Meeting(table, rivals, f"{name} ({table.players} players)" if len(tables) > 1 else name))
    return found


class Evaluator:
    """Measures the learner against the opponents that the settings name, always in the same games.

    ``trust`` is as for `dicegym.agent`.

    Raises:
        UnknownNameError: there is no such opponent, or ``best_by`` or ``best_floor`` names none of them.
        ParameterError: a list of opponents is empty, or has no seats at any table, or ``best_by`` or ``best_floor``
            asks for what cannot be known of the game, or for more than there is.
    """

    def __init__(self, game: Game, settings: RunSettings, trust: bool = False) -> None:
        self.settings = settings
        self.game = game
        self.meetings = meetings_of(game, settings, trust)
        self.left = [one for one in OWN_RIVALS if one in (settings.best_by, *settings.best_floor)]
        """What else is measured: keys of `OWN_RIVALS`."""
        known = [*find_own_rivals(game, self.left), *(meeting.label for meeting in self.meetings)]
        if settings.best_by not in (choices := ["mean", "worst", BY_LAST, *known]):
            hint = how_to_name(game, settings.best_by)
            raise unknown_name("run.best_by", settings.best_by, choices, hint)
        if choices.count(settings.best_by) > 1:
            raise ParameterError(
                f"run.best_by={settings.best_by} is a way to choose the best model, and an opponent of the evaluations "
                "is called the same: let its file have another name"
            )
        check_floors(settings.best_floor, known, game)

    def measure(self, learner: Player, exploited: Callable[[], Score]) -> tuple[Score, list[Score]]:
        """Return the score of the learner, by which the best model is chosen as a rule, and that of each meeting.

        Args:
            learner: who is measured.
            exploited: trains an exploiter of the learner, and returns what is left to that; called if settings ask it.
        """
        run = self.settings
        ways = {BY_EXPLOITABILITY: lambda: against_best_reply(self.game, learner), BY_EXPLOITER: exploited}
        scores = []
        for table, rivals, label in self.meetings:
            score = evaluate(table, learner, rivals, run.evaluate_games, seed=CURVE_SEED, less_luck=run.less_luck)
            scores.append(score._replace(opponent=label))
        scores += [ways[one]()._replace(opponent=OWN_RIVALS[one]) for one in self.left]
        return self._sum_up(scores), scores

    def measure_shortfall(self, scores: Sequence[Score]) -> float:
        """Return how far scores that `measure` returned are below the floors of the settings; 0: they reach all."""
        return shortfall(scores, self.settings.best_floor)

    @property
    def takes_last(self) -> bool:
        """Whether of models that miss the floors as little the latest is the best, whatever their scores."""
        return self.settings.best_by == BY_LAST

    def has_reached_target(self, scores: Sequence[Score]) -> bool:
        """Return whether scores that `measure` returned, if there are any yet, are what training may stop at."""
        run = self.settings
        return (
            bool(run.target and scores)
            and self._sum_up(scores).value >= run.target
            and not self.measure_shortfall(scores)
        )

    def _sum_up(self, scores: Sequence[Score]) -> Score:
        players = [*(meeting.table.players for meeting in self.meetings), *([self.game.players] * len(self.left))]
        by, count = self.settings.best_by, len(scores)
        by = "mean" if by == BY_LAST else OWN_RIVALS.get(by, by)  # of the last, the mean shows its progress
        if by in ("mean", "worst"):  # of the opponents: what is left is measured for a floor alone
            count = len(self.meetings)
        return overall(scores[:count], by, players[:count])

    def even(self, score: Score) -> float:
        """Return what equal players would have in ``score``, which `measure` returned: a share of first places."""
        tables = [one.table for one in self.meetings if one.label == score.opponent]
        if score.opponent in OWN_RIVALS.values():
            tables = [self.game]
        tables = tables or [one.table for one in self.meetings]
        return sum(1 / table.players for table in tables) / len(tables)


def next_evaluation(steps: int, every: int) -> int:
    """Return at how many steps an evaluation is due after ``steps``: at multiples of ``every``, and early ones."""
    early = (every >> halved for halved in range(EARLY, -1, -1))
    return next((due for due in early if due > steps), (steps // every + 1) * every)


def check_floors(floors: Mapping[str, float], known: Sequence[str], game: Game) -> None:
    """Raise for floors that nothing can be measured by, or that nobody can reach.

    Args:
        floors: score by opponent.
        known: what floors may be about: what evaluations call their opponents, and keys of `OWN_RIVALS`.
        game: what is played; the score of a player alone has no upper bound.

    Raises UnknownNameError and ParameterError.
    """
    for name, least in floors.items():
        if name not in known:
            raise unknown_name("opponent in run.best_floor", name, list(known), how_to_name(game, name))
        if game.players > 1 and not 0 <= least <= 1:
            raise ParameterError(
                f"run.best_floor asks for {least:g} against {name}, which is not a share of games: give one from 0 to 1"
            )
        if name == BY_EXPLOITABILITY and least > 1 / 2:
            raise ParameterError(
                f"run.best_floor asks for {least:g} against the best reply, which wins half of the games of everybody: "
                "give one from 0 to 0.5"
            )


def how_to_name(game: Game, name: str) -> str:
    """Return how settings may name an agent of ``game`` that evaluations do not meet; empty: there is none."""
    return f"Evaluations meet {name} if run.evaluate_against has it." if name in agent_names(game) else ""


def shortfall(scores: Iterable[Score], floors: Mapping[str, float]) -> float:
    """Return how far scores are below floors (``run.best_floor``), where they are furthest; 0: they reach all.

    Raises KeyError if there is no score against one of their opponents.
    """
    values = {score.opponent: score.value for score in scores}
    return max([0.0, *(least - values[OWN_RIVALS.get(name, name)] for name, least in floors.items())])


def floors_of(facts: Mapping[str, Any]) -> tuple[dict[str, float], float]:
    """Return the floors of a model's training, and how far the model is below them, by its file's facts.

    Raises ParameterError if the file lacks what a training writes.
    """
    try:
        floors = {str(name): float(least) for name, least in facts["settings"]["run"].get("best_floor", {}).items()}
        return floors, shortfall(map(Score.from_json, facts["scores"]), floors) if floors else 0.0
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ParameterError(f"the model does not say how far it is below run.best_floor ({one_line(error)})") from None


def describe_floors(floors: Mapping[str, float]) -> str:
    """Return what floors ask for, in words."""
    return " and ".join(f"{least:g} against {OWN_RIVALS.get(name, name)}" for name, least in floors.items())


def find_own_rivals(game: Game, asked: Sequence[str] = ()) -> list[str]:
    """Return what can be known of a game of what is left to a player: keys of `OWN_RIVALS`.

    Raises ParameterError if that does not cover what settings ask for: ``asked``, keys of `OWN_RIVALS`.
    """
    if game.players < 2:
        if asked:
            raise ParameterError(
                f"{game!r} is played alone, so nobody can beat the learner: leave out {' and '.join(asked)} in "
                "run.best_by and run.best_floor, and the score of evaluations chooses the best model"
            )
        return []
    try:
        check_best_reply(game)
    except ParameterError:
        if BY_EXPLOITABILITY in asked:
            raise
        return [BY_EXPLOITER]
    return list(OWN_RIVALS)


def against_best_reply(game: Game, player: Player) -> Score:
    """Return how often ``player`` wins against its best reply: 0.5 at most, which nobody who has no holes falls below.

    The value is what it wins at least; ``high`` is the other bound. No games are played.

    Raises ParameterError where that cannot be known; see `dicegym.analysis.exploitability.best_reply`.
    """
    found = best_reply(player, game)
    return Score("worst win rate", BEST_REPLY, 1 - found.high, 1 - found.high, 1 - found.low, 0)
