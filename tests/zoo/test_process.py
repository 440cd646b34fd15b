"""The zoo in plain processes: all that needs no jail to be held."""

from __future__ import annotations

import pytest

from zoo.hostile import GAMES, Hostile
from zoo.keeper import check_nothing_left, check_others, check_verdict, everybody, games, visit

pytestmark = pytest.mark.slow
LEVEL = "process"


@pytest.mark.parametrize(("game", "animal"), everybody(LEVEL))
def test_verdict(game: str, animal: Hostile) -> None:
    check_verdict(visit("bots", LEVEL, game), game, animal)


@pytest.mark.parametrize("game", games(LEVEL))
def test_nobody_else_pays(game: str) -> None:
    check_others(visit("bots", LEVEL, game))


@pytest.mark.parametrize("game", games(LEVEL))
def test_nothing_is_left(game: str) -> None:
    check_nothing_left(visit("bots", LEVEL, game))


@pytest.mark.parametrize(("game", "animal"), everybody(LEVEL, whole=True))
def test_verdict_in_every_game(game: str, animal: Hostile) -> None:
    check_verdict(visit("bots", LEVEL, game, whole=True), game, animal)


@pytest.mark.parametrize("game", GAMES)
def test_nobody_pays_for_all_of_them(game: str) -> None:
    seen = visit("bots", LEVEL, game, whole=True)
    check_others(seen)
    check_nothing_left(seen)
