"""Games between tables, many at a time: the same games as those that a referee drives one by one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import dicegym
from dicegym.arena import match
from dicegym.arena.match import play_match
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.players import batch_players
from dicegym.players.batch_players import TabledPlayer, situations
from dicegym.registry import GAMES
from dicegym.sandbox.heartbeat import PLAYING, Heartbeat

NUMBERED = [
    game
    for name, parameters in [*((name, {}) for name in GAMES), ("liarsdice", {"dice": 1}), ("hog", {"goal": 40})]
    if situations(game := dicegym.game(name, **parameters))
]


def players(game: Game, illegal: int = 0) -> list[TabledPlayer]:
    """Return a player of random actions for each seat; so many of each table are none of the game."""
    generator = np.random.default_rng(7)
    tables = generator.integers(0, game.n_actions, (game.players, situations(game)))
    for table in tables:
        table[generator.integers(0, len(table), illegal)] = game.n_actions + 3
    return [TabledPlayer(f"table {number}", table) for number, table in enumerate(tables)]


@pytest.mark.parametrize("game", NUMBERED, ids=repr)
@pytest.mark.parametrize("illegal", [0, 500])
def test_they_are_the_games_of_a_referee(game: Game, illegal: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_players, "AT_ONCE", 16)
    who = players(game, illegal)
    found = play_match(game, who, 3, 40)
    monkeypatch.setattr(match, "tables_alone", lambda game, players: False)
    assert found == play_match(game, who, 3, 40)
    assert set(found.seats) == {(0, 1), (1, 0)}
    assert bool(sum(found.faults)) >= bool(illegal)


@pytest.mark.parametrize("games", [0, -1, 1.5, "3"])
def test_a_match_has_a_whole_number_of_games(games: Any) -> None:
    with pytest.raises(ParameterError, match="the number of games of a match"):
        play_match("hog", players(dicegym.game("hog")), 5, games)


def test_it_is_known_who_plays_while_they_are_played() -> None:
    game = NUMBERED[0]
    told: list[tuple[int, int]] = []
    for _ in batch_players.play_tables(game, players(game), 0, 3, lambda *who: told.append(who)):
        pass
    assert {number for number, _ in told} <= {0, 1, 2}
    assert {player for _, player in told} == {0, 1}
    heartbeat = Heartbeat.private()
    before = heartbeat.read().move
    play_match(game, players(game), 0, 3, heartbeat)
    assert heartbeat.read().phase == PLAYING
    assert heartbeat.read().actor in (0, 1)
    moves = 2 * len(list(itertools.groupby(number for number, _ in told)))
    assert heartbeat.read().move - before == moves, "a game that never ends would have no limit of time"


def test_whoever_is_no_table_is_asked() -> None:
    game = NUMBERED[0]
    who = players(game)
    assert batch_players.tables_alone(game, who)
    mixed: list[Any] = [who[0], dicegym.agent(game, game.spec.baseline)]
    assert not batch_players.tables_alone(game, mixed)


@pytest.mark.parametrize("lowest", [-1, 0])
def test_a_table_is_kept_in_small_numbers(lowest: int) -> None:
    """It is sent to a process for each match."""
    for highest, size in ((10, 1), (300, 2), (70_000, 4)):
        table = TabledPlayer("table", np.array([lowest, highest]))
        assert table.actions.tolist() == [lowest, highest]
        assert table.actions.itemsize == size
