"""Bots of Yatzy in the server's messages: what they are told, and the check of an entry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import dicegym
from dicegym import arena
from dicegym.play.turn import Turn
from dicegym.players.roster import agent

TWO = dicegym.game("yatzy")


def test_a_bot_reads_standings_of_its_own_seat(write: Callable[..., Path]) -> None:
    source = "seen = []\ndef command(standing):\n    seen.append(standing)\n    return None\n"
    bot = agent(TWO, write(source), keep=True)
    state = TWO.new_game(4)[0]
    TWO.step(state, 210)
    assert bot.join(TWO, 1, 0)(Turn(TWO, state, 1)) == -1
    (standing,) = bot._program.namespace["seen"]
    points = int(state["scores"][0, 0])
    assert standing == {
        "key": "STANDING",
        "roundNumber": 1,
        "standing": [
            {"playerName": "player_0", "rating": 1200, "score": f"{points}" + ",-" * 14},
            {"playerName": "player_1", "rating": 1200, "score": "-" + ",-" * 14},
        ],
        "currentPlayer": {"playerName": "player_1", "rollsLeft": 2, "dice": state["dice"].tolist()},
    }
    assert all(type(face) is int for face in standing["currentPlayer"]["dice"])


@pytest.mark.slow
def test_check(write: Callable[..., Path]) -> None:
    assert arena.check("gather", TWO).ok
    report = arena.check(write("def command(standing):\n    return 1 / 0\n"), TWO)
    assert "ZeroDivisionError" in report.reason
