"""Measuring players: exactly where possible, otherwise by games with an interval."""

from __future__ import annotations

import itertools
import random
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import dicegym
from dicegym.engine.game import Game
from dicegym.errors import UnknownNameError
from dicegym.games.parts import Z_95
from dicegym.learning.evaluate import FRESH_SEED, Score, as_duel, evaluate, overall, wilson
from dicegym.play.player import FunctionPlayer, RandomPlayer
from dicegym.play.turn import Act
from dicegym.registry import GAMES


def test_hog_is_measured_exactly() -> None:
    score = evaluate(dicegym.game("hog"), "always_roll(8)")
    assert score.value == pytest.approx(0.630940, abs=5e-7)
    assert (score.low, score.high, score.games) == (score.value, score.value, 0)
    assert str(score) == "0.6309 exact win rate against always_roll(5)"
    # The rate does not depend on memory, which bots of the contest do not have.
    assert evaluate(dicegym.game("hog", memory=1), "always_roll(8)")[:4] == score[:4]
    with pytest.raises(UnknownNameError):
        evaluate(dicegym.game("hog"), "bacon", "bakon")


@pytest.mark.parametrize("less_luck", [False, True])
def test_one_game_alone_has_no_interval(less_luck: bool) -> None:
    score = evaluate(dicegym.game("yatzy", players=1), "thrifty", games=1, less_luck=less_luck)
    assert str(score).endswith("against nobody, 1 game, too few for an interval")


def test_played_games_agree_with_the_exact_value() -> None:
    game = dicegym.game("hog")
    exact = evaluate(game, "swap", "bacon").value
    played = evaluate(game, "swap", "bacon", games=2_000, exact=False)
    error = np.sqrt(exact * (1 - exact) / 2_000)
    assert abs(played.value - exact) < 4 * error
    assert played.low < played.value < played.high
    assert played.high - played.low == pytest.approx(2 * 1.96 * error, rel=0.04)
    illegal = FunctionPlayer(lambda turn: game.n_actions + 5, "hopeless", pure=True)
    assert evaluate(game, illegal, "bacon", games=20, exact=False).value == 0  # losing by the rules counts as lost
    assert evaluate(game, FunctionPlayer(lambda turn: 6, "middle"), illegal, games=20, exact=False).value == 1
    score = evaluate(dicegym.game("liarsdice", players=2), "even", "even", games=200)  # without exact values
    assert score.measure == "win rate"
    assert score.low < 0.5 < score.high


def drawn_and_fixed() -> list[tuple[Any, bool]]:
    generator, counted = random.Random(1), itertools.count()
    return [
        ("haphazard", True),
        (lambda score, opponent_score: generator.choice([4, 5, 6]), True),
        (lambda score, opponent_score: 4 + next(counted) % 7 % 3, True),  # it remembers
        ("course_project", False),
        (lambda score, opponent_score: 5 if score < 15 else 4, False),
        ("ppo", False),
    ]


@pytest.mark.parametrize(("player", "draws"), drawn_and_fixed())
def test_a_player_that_draws_has_no_exact_score(player: Any, draws: bool) -> None:
    game = dicegym.game("hog", goal=100 if player == "ppo" else 20)
    for score in (evaluate(game, player, "bacon"), evaluate(game, "bacon", player)):
        assert score.games == 0
        assert ("exact" in str(score)) is not draws
        assert score.known_by == ("one draw" if draws else "exact")


def test_a_player_that_may_draw_plays_where_its_table_would_cost_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """It plays where the solver would ask millions of questions; known agents still have exact values."""
    game = dicegym.game("liarsdice", dice=1)
    assert evaluate(game, "even", "honest").known_by == "exact"
    monkeypatch.setattr("dicegym.games.liarsdice.exact._explore", None)
    for player, rival in (("bluffer", "even"), ("even", "bayes"), (lambda me, hands, history: 0, "even")):
        score = evaluate(game, player, rival, 100)
        assert (score.measure, score.games) == ("win rate", 100)
        assert score.low < score.high
    hog = dicegym.game("hog")
    assert evaluate(hog, "haphazard").known_by == "one draw"
    monkeypatch.setattr("dicegym.games.parts.MOST_QUESTIONS", 9_999)
    assert evaluate(hog, "haphazard", games=10).games == 10
    assert evaluate(hog, "swap").known_by == "exact"


@pytest.mark.parametrize("name", GAMES)
def test_every_seat_is_played_and_the_seed_decides(name: str) -> None:
    game = dicegym.game(name, **({"rounds": 10} if name == "lucky" else {}))
    seats: list[int] = []

    class Noting(RandomPlayer):
        def join(self, game: Game, seat: int, seed: int) -> Act:
            seats.append(seat)
            return super().join(game, seat, seed)

    first = evaluate(game, Noting(), RandomPlayer(), games=42, exact=False, seed=3)
    assert {seat: seats.count(seat) for seat in seats} == dict.fromkeys(range(game.players), 42 // game.players)
    assert first == evaluate(game, Noting(), RandomPlayer(), games=42, exact=False, seed=3)
    assert first != evaluate(game, Noting(), RandomPlayer(), games=42, exact=False, seed=4)
    usual = evaluate(game, Noting(), RandomPlayer(), games=42, exact=False)  # no games that select models
    assert usual == evaluate(game, Noting(), RandomPlayer(), games=42, exact=False, seed=FRESH_SEED)


def test_number_of_games_at_once_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    game = dicegym.game("hog")
    whole = evaluate(game, RandomPlayer(), "bacon", games=90, exact=False)
    monkeypatch.setattr("dicegym.learning.blocks.SIDE_BY_SIDE", 7)
    assert evaluate(game, RandomPlayer(), "bacon", games=90, exact=False) == whole


def test_a_list_of_opponents_shares_the_table_and_moves_on() -> None:
    game = dicegym.game("liarsdice", players=4)
    seated: list[tuple[str, int]] = []

    class Noting(RandomPlayer):
        def join(self, game: Game, seat: int, seed: int) -> Act:
            seated.append((self.name, seat))
            return super().join(game, seat, seed)

    players = [Noting() for _ in range(4)]
    for player, name in zip(players, "abcd", strict=True):
        player.name = name
    score = evaluate(game, players[0], players[1:], games=24)
    assert score.opponent == "b, c, d"
    assert {place: seated.count(place) for place in seated} == {(n, s): 6 for n in "abcd" for s in range(4)}
    assert evaluate(game, players[0], [players[1]], games=24) == evaluate(game, players[0], players[1], games=24)


def test_several_scores_are_combined() -> None:
    a, b = Score("win rate", "a", 0.5, 0.4, 0.6, 100), Score("win rate", "b", 0.3, 0.2, 0.35, 50)
    mean = overall([a, b])
    assert (mean.value, mean.games, mean.opponent) == (0.4, 150, "2 opponents")
    assert (mean.low, mean.high) == pytest.approx((0.3, 0.475))
    assert overall([a, b], "worst") == b
    assert overall([a], "mean") == a
    assert [as_duel(1 / n, n) for n in (2, 4, 7)] == pytest.approx([0.5] * 3)
    assert as_duel(0.6, 2) == pytest.approx(0.6)
    assert (as_duel(0.0, 5), as_duel(1.0, 5)) == (0, 1)


@pytest.mark.parametrize(
    ("rate", "n", "low", "high"), [(0.5, 100, 0.4038, 0.5962), (0.0, 10, 0.0, 0.2775), (1, 10, 0.7225, 1)]
)
def test_wilson_interval_against_published_values(rate: float, n: int, low: float, high: float) -> None:
    """Brown, Cai and DasGupta, Statistical Science 16 (2001), give the formula; values computed by hand from it."""
    assert wilson(rate, n) == pytest.approx((low, high), abs=5e-5)
    assert pytest.approx(NormalDist().inv_cdf(0.975), rel=4e-16) == Z_95
