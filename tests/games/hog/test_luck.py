"""Hog's luck: of known players nothing is left but the exact win rate; of others it has the mean 0."""

from __future__ import annotations

import numpy as np
import pytest

import dicegym
from dicegym.analysis.variance_reduction import luck_of
from dicegym.engine.game import Game
from dicegym.games.hog import exact
from dicegym.games.hog.rules import N_ACTIONS
from dicegym.play.player import FunctionPlayer, Player


def played(
    game: Game, players: list[Player], seats: np.ndarray, known: list[Player | None]
) -> tuple[np.ndarray, np.ndarray]:
    """Return (who won: 1 or 0 by seat, luck by seat) of games of seed 5."""
    wins, actions = np.zeros((len(seats), 2)), []
    for number, seated in enumerate(seats):
        state = game.new_game(5, number)[0]
        acts = [players[who].join(game, seat, number) for seat, who in enumerate(seated)]
        chosen = []
        while not state["over"]:
            seat = int(state["player"])
            chosen.append(acts[seat](dicegym.play.turn.Turn(game, state, seat)))
            game.step(state, chosen[-1])
        wins[number, int(state["winner"])] = 1
        actions.append(chosen)
    return wins, luck_of(game, known, seats, 5, range(len(seats)), actions)


@pytest.mark.parametrize("goal", [100, 40])
def test_of_known_players_nothing_is_left_but_the_exact_win_rate(goal: int) -> None:
    game = dicegym.game("hog", goal=goal)
    players = [dicegym.agent(game, name) for name in ("always_roll(5)", "swap", "ham")]
    seats = np.array([(0, 1), (1, 0), (2, 1), (1, 2), (2, 0), (0, 2)] * 4)
    wins, luck = played(game, players, seats, list(players))
    rates = exact.win_rate_matrix(players, game)
    assert np.abs(wins - luck - rates[seats[:, 0], seats[:, 1]][:, None] * [1, -1] - [0, 1]).max() < 1e-9


def test_who_remembers_is_measured_by_the_dice_alone() -> None:
    """And who does not, in the same game, by the exact win rate."""
    game = dicegym.game("hog", goal=40, memory=1)
    players = [
        dicegym.agent(game, "always_roll(5)"),
        dicegym.agent(game, "swap"),
        FunctionPlayer(lambda turn: 6 + turn.view.run, "by its run", pure=True),
    ]
    seats = np.array([(0, 1), (1, 0)] * 10 + [(0, 2), (2, 0)] * 150)
    wins, luck = played(game, players, seats, list(players))
    left = (wins - luck)[:, 0]
    rate = exact.win_rate(players[0], players[1], game)
    assert np.abs(left[:20:2] - rate).max() < 1e-9
    rate = exact.win_rate(players[0], players[2], game)
    mean = np.where(np.arange(300) % 2, 1 - left[20:], left[20:])
    assert abs(mean.mean() - rate) < 4 * mean.std() / np.sqrt(300)
    assert 0 < mean.std() < wins[20:, 0].std()


def test_who_moves_first_is_no_luck_if_it_was_decided() -> None:
    game = dicegym.game("hog")
    players = [dicegym.agent(game, name) for name in ("always_roll(5)", "swap")]
    seats = np.array([(1, 0)] * 4)
    wins, luck = played(game, players, seats, list(players))
    assert np.abs((wins - luck)[:, 0] - exact.win_rates(*reversed(players), game)[0]).max() < 1e-9


def test_of_others_the_dice_alone_are_luck() -> None:
    game = dicegym.game("hog")
    rng = np.random.default_rng(0)
    players = [
        FunctionPlayer(lambda turn: int(rng.integers(4, 8)), "some dice"),
        FunctionPlayer(lambda turn: int(rng.integers(N_ACTIONS)), "haphazard"),
        dicegym.agent(game, "always_roll(5)"),
    ]
    seats = np.array([(0, 1), (1, 0), (0, 2), (2, 0)] * 150)
    known: list[Player | None] = [players[0], None, players[2]]
    wins, luck = played(game, players, seats, known)
    assert np.abs(luck.sum(axis=1)).max() < 1e-9
    error = luck[:, 0].std() / np.sqrt(len(luck))
    assert abs(luck[:, 0].mean()) < 3 * error
    assert (wins - luck)[:, 0].std() < 0.75 * wins[:, 0].std()


def test_a_number_out_of_range_is_no_luck() -> None:
    game = dicegym.game("hog")
    luck = luck_of(game, [None], [(0, 0)], 5, [0], [[N_ACTIONS + 5]])
    assert luck.tolist() == [[0, 0]]
