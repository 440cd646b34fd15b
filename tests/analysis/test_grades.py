"""Grades over many games: those of an analysis of each, and the same however games are asked about."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from made_up_values import MadeUp, ManyMadeUp
from variants import each_game

import dicegym
from dicegym.analysis.decisions import analyse
from dicegym.analysis.grades import grade
from dicegym.analysis.valuers import valuer
from dicegym.errors import ParameterError
from dicegym.play.drive import Referee
from dicegym.play.player import FunctionPlayer, Player, RandomPlayer


def test_a_grade_is_what_analyses_say() -> None:
    game = dicegym.game("hog", goal=30)
    asked = valuer(game)
    players = [dicegym.agent(game, "bacon"), dicegym.agent(game, "always_roll(5)")]
    totals = []
    for number in range(6):
        seat = number % 2
        referee = Referee(game, game.new_game(5, number), [players[seat], players[1 - seat]])
        states = [referee.states.copy()]
        for _ in referee.moves():
            states.append(referee.states.copy())
        totals.append(analyse(game, states, referee.actions, valuer=asked).totals[seat])
    found = grade(players[0], game, [players[1]], games=6, seed=5)
    assert found.cost.mean == pytest.approx(np.mean([one.cost for one in totals]), abs=1e-12)
    unforced = sum(one.unforced for one in totals)
    assert found.unforced == unforced / 6
    rate = sum(one.error_rate * one.unforced for one in totals) / unforced
    assert found.error_rate.mean == pytest.approx(rate, abs=1e-12)
    assert found.marks == {sign: sum(one.marks[sign] for one in totals) / 6 for sign in ("?!", "?", "??")}


def test_the_best_player_and_answers_that_are_no_actions_have_no_regret() -> None:
    class Mute(RandomPlayer):
        def has_answered(self, game: dicegym.Game, states: np.ndarray) -> np.ndarray:
            return np.zeros(len(states), np.bool_)

    game = dicegym.game("hog", goal=30)
    mute, heard = (grade(player, game, games=4) for player in (Mute(), RandomPlayer()))
    assert (mute.unforced, mute.error_rate.mean) == (0, 0)
    assert heard.unforced > 0
    assert mute.cost == heard.cost
    assert heard.error_rate.mean > 0.02
    asked = valuer(game)
    best = FunctionPlayer(lambda turn: int(np.nanargmax(asked.action_values(turn.record).values)), "best", pure=True)
    found = grade(best, game, [RandomPlayer()], games=20)  # who plays the best gives nothing away
    assert (found.name, found.cost.mean, found.error_rate.mean) == ("best", 0, 0)
    with pytest.raises(ParameterError, match="games"):
        grade(RandomPlayer(), game, games=0)
    with pytest.raises(ParameterError, match="do not fit"):
        grade(RandomPlayer(), game, [RandomPlayer()] * 2)


@each_game
def test_every_game_can_be_graded(name: str) -> None:
    game = dicegym.game(name)
    baseline = dicegym.agent(game, game.spec.baseline)
    one = grade(RandomPlayer(), game, [baseline] if game.players > 1 else (), 2, valuer=MadeUp(game))
    many = grade(RandomPlayer(), game, [baseline] if game.players > 1 else (), 2, valuer=ManyMadeUp(game))
    assert one == many
    assert one.cost.half > 0
    assert one.unknown == 0


def test_followers_are_told() -> None:
    game = dicegym.game("liarsdice", players=3)
    told: list[int] = []

    class Follower:
        def __call__(self, turn: Any) -> int:
            return int(np.flatnonzero(turn.mask)[-1])

        def follow(self, turn: Any) -> None:
            told.append(turn.seat)

    class Following(Player):
        name = "following"

        def join(self, game: Any, seat: int, seed: int) -> Any:
            return Follower()

    grade(Following(), game, [RandomPlayer()], 2, valuer=MadeUp(game))
    assert told
