"""Rules are described part by part, and looked at once in a process."""

from __future__ import annotations

from typing import Any

import pytest

import dicegym
from dicegym.arena.replay import rulebook
from dicegym.engine.game import Game


class Other(Game[Any]):
    """The same specification in another class, whose games are other games."""

    def compute_fingerprint(self) -> str:
        return "other"


def test_equal_games_are_looked_at_once_and_others_for_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Game[Any]] = []
    monkeypatch.setattr(rulebook, "_described", {})
    monkeypatch.setattr(rulebook, "_describe", lambda game: looked.append(game) or {"fingerprint": game.fingerprint})
    game = dicegym.game("hog", goal=77)
    first = rulebook.described(game)
    assert rulebook.described(dicegym.game("hog", goal=77)) == first
    assert len(looked) == 1
    rulebook.described(dicegym.game("hog", goal=78))
    assert rulebook.described(Other(game.spec, goal=77))["fingerprint"] == "other"
    assert len(looked) == 3


def test_whoever_changes_what_was_told_changes_nothing_for_others() -> None:
    game = dicegym.game("hog", goal=77)
    told = rulebook.described(game)
    assert told["shown"]
    told["shown"].clear()
    assert rulebook.described(game)["shown"]
    assert rulebook.differences(rulebook.described(game), game) == []
