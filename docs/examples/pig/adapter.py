"""Pig's bots as players: turn the answers of ``roll_again`` into actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dicegym.bots.program import Asked
from dicegym.engine.game import Game
from dicegym.errors import AgentError, one_line
from dicegym.play.turn import Act, Turn

from .interface import ENTRY_POINT
from .rules import HOLD, ROLL


def sit(program: Asked, roll_again: Callable[..., Any], game: Game, seat: int) -> Act:
    """Return the player's function. It does not ask ``roll_again`` before a turn's first roll, which is forced."""

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
