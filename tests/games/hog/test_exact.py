"""Exact values of Hog: anchors, the engine, a slow solver written from the rule text, and the shipped table."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from oracles.hog_values import outcomes, slow_win_rate
from variants import one_always

import dicegym
from dicegym.errors import AgentError, ParameterError
from dicegym.games.hog import exact as hog
from dicegym.games.hog.adapter import CODE, strategy_source
from dicegym.games.hog.rules import FIRST_NUMBER, LONGEST_RUN, MOST_DICE, N_ACTIONS
from dicegym.games.hog.solving import sweeps
from dicegym.games.parts import solver
from dicegym.play.player import RandomPlayer

from .improving import improvements

GAME = dicegym.game("hog")
SHIPPED_TRIALS = 1000
SHIPPED = Path(__file__).resolve().parents[3] / "agents" / "hog" / "best_by_scores.py"


def always(number: int, goal: int = 100) -> np.ndarray:
    return np.full((goal, goal), number, np.int8)


def random_table(seed: int, goal: int = 100) -> np.ndarray:
    return np.random.default_rng(seed).integers(-1, 11, (goal, goal)).astype(np.int8)


def mixed_table(seed: int, numbers: list[int], goal: int = 100) -> np.ndarray:
    return np.random.default_rng(seed).choice(numbers, (goal, goal)).astype(np.int8)


# --- a second implementation, written from the rule text ---------------------------------------------------


@pytest.mark.nojit
@pytest.mark.boundscheck
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("goal", [10, 17])
def test_small_goals_agree_with_a_slow_solver(goal: int, seed: int) -> None:
    game = dicegym.game("hog", goal=goal)
    a, b = random_table(seed, goal), mixed_table(seed + 100, [-1, 0, 1, 2, 3, 4], goal)
    assert hog.win_rate(a, b, game) == pytest.approx(slow_win_rate(a, b, goal), abs=1e-12)
    assert hog.win_rate(b, always(2, goal), game) == pytest.approx(slow_win_rate(b, always(2, goal), goal), abs=1e-12)


def test_a_larger_goal_agrees_with_a_slow_solver() -> None:
    game = dicegym.game("hog", goal=31)
    a, b = mixed_table(1, [-1, 0, 1, 2, 3], 31), mixed_table(2, [-1, 0, 2, 5, 9], 31)
    assert hog.win_rate(a, b, game) == pytest.approx(slow_win_rate(a, b, 31), abs=1e-12)


def test_goals_above_a_hundred_agree_with_a_slow_solver() -> None:
    """There the last two digits of three decide on a swap; bacon and one die keep the slow solver's tree small."""
    game = dicegym.game("hog", goal=125)
    a, b = always(0, 125), mixed_table(3, [0, 1], 125)
    assert hog.win_rate(a, b, game) == pytest.approx(slow_win_rate(a, b, 125), abs=1e-12)


# --- anchors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "rate"), [(5, 0.5), (8, 0.630940), (0, 0.102878), (-1, 0.018759)])
def test_anchors_of_an_independent_solver(number: int, rate: float) -> None:
    assert round(hog.win_rate(always(number), always(5), GAME), 6) == rate


def test_best_response_of_an_independent_solver() -> None:
    value, policy = hog.best_response(always(5), GAME)
    assert round(value, 6) == 0.844743
    assert policy.shape == (100, 100, 2, 4, 4)
    assert policy.dtype == np.int8
    assert policy.min() >= FIRST_NUMBER
    assert policy.max() <= MOST_DICE


def test_chances_of_rolls() -> None:
    assert LONGEST_RUN + 1 == sweeps.RUNS == 4  # the sums that look_ahead writes out
    rolls = sweeps.roll_chances()
    for sides in (4, 6):
        for number in range(1, MOST_DICE + 1):
            assert rolls[sides, number].sum() == pytest.approx(1, abs=1e-12)
            by_points = {points: chance for chance, points, _ in outcomes(number, sides)}
            for points, chance in by_points.items():
                assert rolls[sides, number, points] == pytest.approx(chance, abs=1e-12)
    assert rolls[6, 2, 4] == pytest.approx(1 / 36)
    assert rolls[4, 1, 1] == pytest.approx(1 / 4)


# --- the engine ---------------------------------------------------------------------------------------------


def simulate(a: np.ndarray, b: np.ndarray, games: int, seed: int) -> float:
    """Win rate of ``a`` over games in which it moves first in every other one."""
    batch = GAME.batch(games, seed)
    tables = np.stack([a, b]).astype(np.int64)
    wins, finished = 0, np.zeros(games, np.bool_)
    rows = np.arange(games)
    seat_of_a = rows % 2
    while not finished.all():
        player = batch.states["player"].astype(np.int64)
        scores = batch.states["scores"]
        who = (player != seat_of_a).astype(np.int64)
        numbers = tables[who, scores[rows, player], scores[rows, 1 - player]]
        batch.step(numbers - FIRST_NUMBER)
        new = batch.overs & ~finished
        wins += int((batch.results[rows, seat_of_a][new] > 0).sum())
        finished |= new
    return wins / games


PAIRS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "six against five": lambda: (always(6), always(5)),
    "bacon against many": lambda: (always(0), always(10)),
    "random against random": lambda: (random_table(1), random_table(2)),
    "exchanges on one side": lambda: (mixed_table(3, [-1, 4, 8]), always(6)),
    "exchanges, bacon and many": lambda: (mixed_table(4, [-1, 0, 10]), mixed_table(5, [-1, 0, 9])),
}


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("pair", PAIRS)
def test_exact_agrees_with_the_engine(pair: str) -> None:
    a, b = PAIRS[pair]()
    exact = hog.win_rate(a, b, GAME)
    games = 40_000
    error = np.sqrt(exact * (1 - exact) / games)
    assert abs(simulate(a, b, games, seed=11) - exact) < 4 * error


# --- properties ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_one_of_both_wins(seed: int) -> None:
    a, b = random_table(seed), mixed_table(seed, [0, 4, 5, 6])
    assert hog.win_rate(a, b, GAME) + hog.win_rate(b, a, GAME) == pytest.approx(1, abs=1e-12)
    first, second = hog.win_rates(a, b, GAME)
    assert hog.win_rate(a, b, GAME) == (first + second) / 2
    assert hog.win_rates(b, a, GAME) == pytest.approx((1 - second, 1 - first), abs=1e-12)
    assert hog.win_rate(a, a, GAME) == pytest.approx(0.5, abs=1e-12)


def test_matrix_is_the_win_rates() -> None:
    game = dicegym.game("hog", goal=30)
    tables = [random_table(seed, 30) for seed in range(4)] + [always(4, 30)]
    matrix = hog.win_rate_matrix(tables, game)
    assert matrix.dtype == np.float64
    assert matrix == pytest.approx(np.array([[hog.win_rate(a, b, game) for b in tables] for a in tables]))
    assert matrix + matrix.T == pytest.approx(np.ones((5, 5)))


def test_the_matrix_of_equal_strategies_is_computed_once_and_told_of_every_pair(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = dicegym.game("hog", goal=20)
    tables = [random_table(seed % 3, 20) for seed in range(12)]
    separately = np.array(
        [[hog.win_rate(tables[i], tables[j], game) for j in range(i)] + [0.5] * (12 - i) for i in range(12)]
    )
    computed: list[int] = []
    told: list[tuple[int, int, str]] = []
    sweep = sweeps.sweep
    monkeypatch.setattr(sweeps, "sweep", lambda *given: computed.append(1) or sweep(*given))
    matrix = hog.win_rate_matrix(tables, game, progress=lambda *step: told.append(step))
    assert (np.tril(matrix, -1) == np.tril(separately, -1)).all()
    assert told == [(done, 66, "pairs") for done in range(1, 67)]
    assert len(computed) == 9  # each of three against each, itself included


def test_the_matrix_stops_soon_after_a_key_is_pressed(monkeypatch: pytest.MonkeyPatch) -> None:
    game = dicegym.game("hog", goal=20)
    computed: list[int] = []
    sweep = sweeps.sweep
    monkeypatch.setattr(sweeps, "sweep", lambda *given: computed.append(1) or sweep(*given))

    def press(*step: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hog.win_rate_matrix([random_table(seed, 20) for seed in range(60)], game, progress=press)
    assert len(computed) < 1770 / 2


@pytest.mark.parametrize("seed", one_always(range(3)))
def test_who_sees_more_wins_more(seed: int) -> None:
    game = dicegym.game("hog", goal=30)
    opponent = mixed_table(seed, [-1, 0, 3, 4, 5], 30)
    seeing, _ = hog.best_response(opponent, game)
    value, table = hog.best_table(opponent, game, seed=seed, trials=2)
    assert value == pytest.approx(hog.win_rate(table, opponent, game), abs=1e-12)
    assert seeing >= value
    for other in [*(always(number, 30) for number in range(-1, 11)), random_table(seed, 30)]:
        assert value >= hog.win_rate(other, opponent, game)


@pytest.mark.boundscheck
@pytest.mark.parametrize("start", [always(6, 40), random_table(9, 40)], ids=["always six", "random"])
def test_every_sweep_improves(start: np.ndarray) -> None:
    game, five = dicegym.game("hog", goal=40), always(5, 40)
    before = hog.win_rate(start, five, game)
    found = list(improvements(start, five, game))
    values = [before, *(value for value, _ in found)]
    assert all(later >= earlier - 1e-12 for earlier, later in pairwise(values))
    assert values[-1] > before
    for value, table in found[:: len(found) - 1]:
        assert value == pytest.approx(hog.win_rate(table, five, game), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_costs_of_choices_add_up_to_the_difference_of_the_win_rates(seed: int) -> None:
    game = dicegym.game("hog", goal=30)
    strategy, better, opponent = (random_table(10 * seed + i, 30) for i in range(3))
    costs = hog.costs(strategy, better, opponent, game)
    difference = hog.win_rate(better, opponent, game) - hog.win_rate(strategy, opponent, game)
    assert costs.sum() == pytest.approx(difference, abs=1e-12)
    assert not costs[strategy == better].any()
    assert (strategy == better).any()


def test_a_single_other_choice_costs_what_it_changes() -> None:
    game = dicegym.game("hog", goal=30)
    better, opponent = mixed_table(1, [0, 4, 6], 30), always(5, 30)
    strategy = better.copy()
    strategy[0, 0] = -1
    costs = hog.costs(strategy, better, opponent, game)
    assert np.flatnonzero(costs).tolist() == [0]
    difference = hog.win_rate(better, opponent, game) - hog.win_rate(strategy, opponent, game)
    assert costs[0, 0] == pytest.approx(difference, abs=1e-12)
    assert abs(difference) > 0.01


def test_no_single_choice_betters_the_end_of_a_climb() -> None:
    game, goal = dicegym.game("hog", goal=10), 10
    opponent = mixed_table(7, [-1, 0, 1, 2], goal)
    *_, (value, table) = improvements(always(1, goal), opponent, game)
    for own in range(goal):
        for other in range(goal):
            for number in range(FIRST_NUMBER, MOST_DICE + 1):
                changed = table.copy()
                changed[own, other] = number
                assert hog.win_rate(changed, opponent, game) <= value + 1e-11


def test_same_seed_same_table() -> None:
    """Where another seed finds another table."""
    game, opponent = dicegym.game("hog", goal=30), mixed_table(1, [-1, 0, 3, 4, 5], 30)
    first, again, other = (hog.best_table(opponent, game, seed=seed, trials=1) for seed in (3, 3, 1))
    assert first[0] == again[0]
    assert (first[1] == again[1]).all()
    assert (first[1] != other[1]).any()


# --- tables of players --------------------------------------------------------------------------------------


def test_each_pair_is_asked_once() -> None:
    asked = []

    def strategy(score: int, opponent_score: int) -> int:
        asked.append((score, opponent_score))
        return (score + 2 * opponent_score) % 12 - 1

    table = hog.tabulate(strategy, dicegym.game("hog", goal=20))
    assert sorted(asked) == [(score, other) for score in range(20) for other in range(20)]
    assert table.dtype == np.int8
    assert all(table[score, other] == (score + 2 * other) % 12 - 1 for score, other in asked)


def test_players_and_functions_are_strategies() -> None:
    five = dicegym.agent("hog", "always_roll(5)")
    assert round(hog.win_rate(dicegym.agent("hog", "always_roll(8)"), five, GAME), 6) == 0.630940
    assert round(hog.win_rate(lambda score, opponent_score: 0, five, GAME), 6) == 0.102878
    assert round(hog.best_response(five, GAME)[0], 6) == 0.844743


def test_a_player_becomes_a_table() -> None:
    assert (hog.tabulate(dicegym.agent("hog", "always_roll(7)"), GAME) == 7).all()
    table = hog.tabulate(RandomPlayer(), dicegym.game("hog", goal=50))
    assert set(np.unique(table)) == set(range(-1, 11))


@pytest.mark.parametrize("answer", [11, -2, 2.5, None, "5"])
def test_an_answer_that_is_no_number_of_dice_is_refused(answer: object) -> None:
    def strategy(score: int, opponent_score: int) -> object:
        return answer if (score, opponent_score) == (3, 4) else 5

    with pytest.raises(AgentError, match=r"\(3, 4\)"):
        hog.tabulate(strategy, dicegym.game("hog", goal=10))


def test_a_strategy_that_fails_is_refused() -> None:
    with pytest.raises(AgentError, match="ZeroDivisionError"):
        hog.tabulate(lambda score, other: 1 // (score - other), GAME)


@pytest.mark.parametrize("table", [always(5, 99), always(11), always(-2), np.full((100, 100), 5.0), np.full(100, 5)])
def test_what_is_no_table_is_refused(table: np.ndarray) -> None:
    with pytest.raises(ParameterError, match="give "):
        hog.win_rate(table, always(5), GAME)
    with pytest.raises(ParameterError, match="give "):
        hog.best_response(table, GAME)
    with pytest.raises(ParameterError, match="give "):
        hog.best_table(table, GAME)


def test_solvers_are_found_by_the_name_of_the_game() -> None:
    assert solver("hog") is hog
    assert solver("a game without one") is None
    assert solver(GAME) is hog
    assert solver(dicegym.game("hog", memory=1)) is hog
    assert solver("nothing") is None
    assert solver("nothing.at_all") is None


# --- files --------------------------------------------------------------------------------------------------


def load(path: Path) -> dict[str, object]:
    return runpy.run_path(str(path))


def table_in(path: Path) -> np.ndarray:
    strategy = load(path)["final_strategy"]
    assert callable(strategy)
    return hog.tabulate(strategy, GAME)


def test_a_strategy_survives_its_file(tmp_path: Path) -> None:
    table = random_table(5)
    path = tmp_path / "hog.py"
    path.write_text(strategy_source(table, "A random strategy."), encoding="utf-8")
    assert (table_in(path) == table).all()
    strategy = load(path)["final_strategy"]
    assert callable(strategy)
    for score, nearest in [(-5, 0), (100, 99), (250, 99)]:
        assert strategy(score, 50) == table[nearest, 50]
        assert strategy(50, score) == table[50, nearest]
    assert len(CODE) == len(set(CODE)) == N_ACTIONS


def shipped_heading(value: float) -> str:
    return f"""\
The best strategy found for Hog to 100 that knows both scores alone, against always_roll(5).

It wins {value:.6f} of its games, the first to move drawn by a fair coin: exact, by dynamic programming over all states.
dicegym.games.hog.exact.best_table found it with seed=0 and trials={SHIPPED_TRIALS}."""


def test_the_shipped_table_is_what_it_says() -> None:
    text = SHIPPED.read_text(encoding="utf-8")
    table = table_in(SHIPPED)
    value = hog.win_rate(table, always(5), GAME)
    assert value >= 0.8107
    assert text == strategy_source(table, shipped_heading(value))
    assert len(list(improvements(table, always(5), GAME))) == 1  # not a choice in it can be bettered


@pytest.mark.slow
def test_the_shipped_table_can_be_made_again() -> None:
    value, table = hog.best_table(dicegym.agent(GAME, "always_roll(5)"), GAME, trials=SHIPPED_TRIALS)
    assert strategy_source(table, shipped_heading(value)) == SHIPPED.read_text(encoding="utf-8")
