"""What tests of several commands begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

import dicegym
from dicegym.arena.match import play_match
from dicegym.arena.replay import replay_of, save
from dicegym.play.player import FunctionPlayer


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a game of Hog, which nobody changes."""
    game = dicegym.game("hog", goal=30)
    players = [FunctionPlayer(lambda turn: 11, "ten"), FunctionPlayer(lambda turn: 6, "five")]
    path = tmp_path_factory.mktemp("stored") / "game.json"
    save(replay_of(game, ["ten", "five"], 3, play_match(game, players, 3, 1)), path)
    return path
