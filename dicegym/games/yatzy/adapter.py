"""Yatzy's bots as players: from a table to the message that a bot reads, and from its command to an action.

A command that means nothing or is illegal is an error by the rules, and the bot is asked again. The bot's own half is
``interface.py``. What adapters offer: `dicegym.games.parts.Adapter`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dicegym.bots.bot_player import BotPlayer
from dicegym.bots.calls import shown, without_addresses
from dicegym.bots.live_bot import LiveBot
from dicegym.bots.program import Asked, explaining
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.games.yatzy import interface
from dicegym.games.yatzy.interface import ENTRY_POINT
from dicegym.games.yatzy.protocol import CommandError, action_of
from dicegym.games.yatzy.rules import UNREADABLE
from dicegym.games.yatzy.server_messages import table_message
from dicegym.games.yatzy.view import SEATS
from dicegym.play.turn import Act, Turn

NAMES = tuple(f"player_{seat}" for seat in range(SEATS))
START_RATING = 1200
_RATINGS = (START_RATING,) * SEATS


def sit(program: Asked, command: Callable[..., Any], game: Game, seat: int) -> Act:
    """Return what asks ``command`` for actions."""
    names, ratings = NAMES[: game.players], _RATINGS[: game.players]

    def act(turn: Turn) -> int:
        view: Any = turn.view
        standing = table_message(view, names, ratings)
        try:
            answer = command(standing)
            program.last = in_words, answer, (view,)
            return action_of(answer)
        except CommandError:
            return UNREADABLE
        except BaseException as error:
            raise program.failure(error, f"in {ENTRY_POINT}(standing), {_moment(view)}") from error

    return explaining(act, program)


def _moment(view: Any) -> str:
    return f"in round {view.round_number} with {view.rolls_left} rolls left and the dice {list(view.dice)}"


def in_words(answer: object, view: Any) -> str:
    """Return what was answered, when, and what is wrong with it by itself."""
    try:
        action_of(answer)
        why = ""
    except CommandError as error:
        why = f" ({without_addresses(error.message)})"
    return f"{ENTRY_POINT}(standing) returned {shown(answer)}{why}, {_moment(view)}"


def load(source: Source, name: str, keep: bool = False, seed: int = 0) -> BotPlayer:
    """Return the player of a file; see `BotPlayer`. Raises AgentError."""
    return BotPlayer(source, name, interface, sit, keep, seed)


def live(bot: Callable[..., Any], name: str) -> LiveBot:
    """Return the player of a function from a STANDING to a command; see `LiveBot`."""
    return LiveBot(bot, name, interface, sit)
