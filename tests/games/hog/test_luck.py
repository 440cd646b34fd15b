"""Hog's luck: what dice are worth has the mean 0 for any players, and results vary less without it."""

from __future__ import annotations

import numpy as np

import dicegym
from dicegym.analysis.variance_reduction import luck_of
from dicegym.engine.game import Game
from dicegym.games.hog import exact
from dicegym.games.hog.rules import N_ACTIONS
from dicegym.play.player import FunctionPlayer, Player


def played(
    game: Game, players: list[Player], seats: np.ndarray, known: list[Player | None]
) -> tuple[np.ndarray, np.ndarray, list[list[int]]]:
    """Return (who won: 1 or 0 by seat, luck by seat, actions) of games of seed 5."""
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
    return wins, luck_of(game, known, seats, 5, range(len(seats)), actions), actions


def test_of_others_the_dice_alone_are_luck() -> None:
    game = dicegym.game("hog")
    rng = np.random.default_rng(0)
    players = [
        FunctionPlayer(lambda turn: int(rng.integers(4, 8)), "some dice"),
        FunctionPlayer(lambda turn: int(rng.integers(N_ACTIONS)), "haphazard"),
        dicegym.agent(game, "always_roll(5)"),
    ]
    seats = np.array([(0, 1), (1, 0), (0, 2), (2, 0)] * 100)
    known: list[Player | None] = [players[0], None, players[2]]
    wins, luck, actions = played(game, players, seats, known)
    assert np.abs(luck.sum(axis=1)).max() < 1e-9
    error = luck[:, 0].std() / np.sqrt(len(luck))
    assert abs(luck[:, 0].mean()) < 3 * error
    left = (wins - luck)[:, 0]
    assert left.std() < 0.75 * wins[:, 0].std()
    assert luck_of(game, [None] * 3, seats, 5, range(len(seats)), actions).tolist() == luck.tolist()


def test_results_less_luck_have_the_exact_mean() -> None:
    game = dicegym.game("hog", goal=40)
    players = [dicegym.agent(game, name) for name in ("always_roll(5)", "swap")]
    wins, luck, _ = played(game, players, np.array([(0, 1), (1, 0)] * 200), list(players))
    left = (wins - luck)[np.arange(400), np.arange(400) % 2]
    assert abs(left.mean() - exact.win_rate(*players, game)) < 4 * left.std() / np.sqrt(400)


def test_a_number_out_of_range_is_no_luck() -> None:
    game = dicegym.game("hog")
    luck = luck_of(game, [None], [(0, 0)], 5, [0], [[N_ACTIONS + 5]])
    assert luck.tolist() == [[0, 0]]
