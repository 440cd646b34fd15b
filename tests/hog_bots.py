"""Files of Hog bots for tests, and what a bot answers when it is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dicegym.engine.game import Game
from dicegym.play.player import Player
from dicegym.play.turn import Turn

Write = Callable[[str], Path]


def answers(game: Game, player: Player, n: int = 10, seed: int = 1) -> list[int]:
    """Return what ``player`` answers when asked ``n`` times with the scores 0 and 0, in one game."""
    turn = Turn(game, game.new_game()[0], 0)
    act = player.join(game, 0, seed)
    return [act(turn) - 1 for _ in range(n)]


def strategy(body: str) -> str:
    return f"def final_strategy(score, opponent_score):\n    {body}\n"
