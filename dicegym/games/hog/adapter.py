"""Hog's bots as players: from a strategy's answers to actions.

The bot's own half is ``interface.py``. What adapters offer: `dicegym.games.parts.Adapter`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from dicegym.bots.bot_player import BotPlayer
from dicegym.bots.live_bot import LiveBot
from dicegym.bots.program import Asked
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.games.hog import interface
from dicegym.games.hog.examination import SCORES_ALONE, action_of
from dicegym.games.hog.interface import ENTRY_POINT
from dicegym.games.hog.rules import FIRST_NUMBER, MOST_DICE
from dicegym.play.turn import Act, Turn


def sit(program: Asked, strategy: Callable[..., Any], game: Game, seat: int) -> Act:
    """Return what asks ``strategy`` for actions."""

    def act(turn: Turn) -> int:
        score, opponent_score, *_ = turn.view
        try:
            answer = strategy(score, opponent_score)
        except BaseException as error:
            raise program.failure(error, f"in {ENTRY_POINT}({score}, {opponent_score})") from error
        if type(answer) is int and FIRST_NUMBER <= answer <= MOST_DICE:
            return answer - FIRST_NUMBER
        return action_of(program.name, answer, score, opponent_score)

    vars(act)[SCORES_ALONE] = True
    many: Many | None = getattr(strategy, "many", None)  # a strategy in another process
    if many is not None:
        vars(act)["many"] = functools.partial(_all_at_once, program, many)
    return act


Many = Callable[[list[tuple[int, int]]], Iterator[Any]]
"""Asks a strategy for many pairs of scores without waiting for each answer."""


def _all_at_once(program: Asked, many: Many, views: list[tuple[int, ...]]) -> Iterator[int]:
    """Yield the action for each view, of which the first two are the scores."""
    pairs = [(score, opponent_score) for score, opponent_score, *_ in views]
    answers = many(pairs)
    for pair in pairs:
        try:
            answer = next(answers)
        except BaseException as error:
            raise program.failure(error, f"in {ENTRY_POINT}{pair}") from error
        if type(answer) is int and FIRST_NUMBER <= answer <= MOST_DICE:
            yield answer - FIRST_NUMBER
        else:
            yield action_of(program.name, answer, *pair)


def load(source: Source, name: str, keep: bool = False, seed: int = 0) -> BotPlayer:
    """Return the player of a file; see `BotPlayer`. Raises AgentError."""
    return BotPlayer(source, name, interface, sit, keep, seed)


def live(bot: Callable[..., Any], name: str) -> LiveBot:
    """Return the player of a function (score, opponent_score) -> number; see `LiveBot`."""
    return LiveBot(bot, name, interface, sit)
