"""Pig's bot interface: a file ``pig.py`` with ``roll_again(score, opponent_score, turn_total)`` -> True or False."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

from pig.rules import HOLD, ROLL

from dicegym.bots.bot_player import BotPlayer
from dicegym.bots.calls import witnessed
from dicegym.bots.live_bot import LiveBot
from dicegym.bots.program import Program
from dicegym.bots.source import Source, defines
from dicegym.bots.surroundings import PrivateRandom
from dicegym.engine.game import Game
from dicegym.errors import AgentError, one_line
from dicegym.play.turn import Act, Turn

ENTRY_FILES = ("pig.py",)
ENTRY_POINT = "roll_again"


def supplied_modules(rng: PrivateRandom) -> Mapping[str, types.ModuleType]:
    """Return no modules: a bot needs none."""
    return {}


def find(program: Program) -> Callable[..., Any]:
    """Return the bot in a program. Raises AgentError if there is none."""
    return program.entry(ENTRY_POINT)


def sit(program: Program, roll_again: Callable[..., Any], game: Game, seat: int) -> Act:
    """Return what asks ``roll_again`` for actions. It is not asked before a turn's first roll, which nobody refuses."""
    roll_again = witnessed(roll_again, ENTRY_POINT)  # so that `dicegym check --show` is told of its calls

    def act(turn: Turn) -> int:
        score, opponent_score, turn_total, _ = turn.view
        if turn_total == 0:
            return ROLL
        try:
            answer = roll_again(score, opponent_score, turn_total)
        except BaseException as error:
            asked = f"in {ENTRY_POINT}({score}, {opponent_score}, {turn_total})"
            raise program.failure(error, asked) from error
        if not isinstance(answer, bool):
            raise AgentError(program.name, f"{ENTRY_POINT} returned {one_line(repr(answer), 60)}, not True or False")
        return ROLL if answer else HOLD

    return act


def recognises(text: str) -> bool:
    """Return whether a file with this text looks like a bot of this game."""
    return defines(text, ENTRY_POINT, 3)


def load(source: Source, name: str, keep: bool = False, seed: int = 0) -> BotPlayer:
    """Return the player of a file; see `BotPlayer`. Raises AgentError."""
    return BotPlayer(source, name, supplied_modules, find, sit, keep, seed)


def live(bot: Callable[..., Any], name: str) -> LiveBot:
    """Return the player of a function; see `LiveBot`."""
    return LiveBot(bot, name, sit)
