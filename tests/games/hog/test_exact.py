"""Exact values of Hog, of players with and without memory: a slow solver, anchors, the engine, the shipped table."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from oracles.hog_values import outcomes, slow_win_rate
from variants import one_always

import dicegym
from dicegym.bots.export import export_source
from dicegym.errors import AgentError, ModelError, ParameterError
from dicegym.games.hog import exact as hog
from dicegym.games.hog.adapter import CODE, strategy_source
from dicegym.games.hog.rules import FIRST_NUMBER, LONGEST_RUN, MOST_DICE, N_ACTIONS
from dicegym.games.hog.solving import sweeps
from dicegym.games.hog.solving.strategies import Duel
from dicegym.games.parts import solver
from dicegym.learning.evaluate import evaluate
from dicegym.play.player import FunctionPlayer, RandomPlayer
from dicegym.play.turn import Turn
from dicegym.players.model import PolicyPlayer
from dicegym.players.roster import agent_names

GAME = dicegym.game("hog")
SHIPPED_TRIALS = 1000
SHIPPED = Path(__file__).resolve().parents[3] / "agents" / "hog" / "best_by_scores.py"


HIDDEN = LONGEST_RUN + 1, 2
"""What else a table of a player that remembers is indexed by: its run, and its exchanges modulo 2."""


def always(number: int, goal: int = 100) -> np.ndarray:
    return np.full((goal, goal), number, np.int8)


def drawn(seed: int, goal: int = 100, numbers: Sequence[int] = range(-1, 11), memory: int = 0) -> np.ndarray:
    """Return a table of a player that draws among some numbers once and for all."""
    shape = (goal, goal, *HIDDEN[: 2 * memory])
    return np.random.default_rng(seed).choice(np.array(numbers), shape).astype(np.int8)


def improvements(start: np.ndarray, opponent: np.ndarray, game: dicegym.Game) -> Iterator[tuple[float, np.ndarray]]:
    """Yield (win rate, table) after each sweep from ``start`` on, as `best_table` climbs."""
    first, rival = hog.fitting([start, opponent], game)
    yield from Duel(rival, rival).improve(first)


# --- a second implementation, written from the rule text ---------------------------------------------------


@pytest.mark.nojit
@pytest.mark.boundscheck
@pytest.mark.parametrize("seed", one_always(range(3)))
@pytest.mark.parametrize(("goal", "memory"), [(10, 0), (17, 0), (10, 1)])
def test_small_goals_agree_with_a_slow_solver(goal: int, memory: int, seed: int) -> None:
    game = dicegym.game("hog", goal=goal, memory=memory)
    a, b = drawn(seed, goal, memory=memory), drawn(seed + 100, goal, [-1, 0, 1, 2, 3, 4], memory)
    by_scores = drawn(seed + 200, goal, [-1, 1, 2])
    assert hog.win_rate(a, b, game) == pytest.approx(slow_win_rate(a, b, goal), abs=1e-12)
    assert hog.win_rate(b, by_scores, game) == pytest.approx(slow_win_rate(b, by_scores, goal), abs=1e-12)


@pytest.mark.parametrize(
    ("goal", "memory", "first", "second"),
    [
        pytest.param(31, 0, [-1, 0, 1, 2, 3], [-1, 0, 2, 5, 9], marks=pytest.mark.slow),
        (125, 0, [0], [0, 1]),  # the last two digits of three decide on a swap; few dice keep the slow tree small
        (20, 1, [-1, 0, 1, 2, 3], [-1, 0, 2, 5]),
    ],
)
def test_larger_goals_agree_with_a_slow_solver(goal: int, memory: int, first: list[int], second: list[int]) -> None:
    game = dicegym.game("hog", goal=goal, memory=memory)
    a, b = drawn(1, goal, first, memory), drawn(2, goal, second, memory)
    assert hog.win_rate(a, b, game) == pytest.approx(slow_win_rate(a, b, goal), abs=1e-12)


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


def simulate(game: dicegym.Game, a: np.ndarray, b: np.ndarray, games: int, seed: int) -> float:
    """Win rate of ``a`` over games in which it moves first in every other one."""
    batch, rows = game.batch(games, seed), np.arange(games)
    tables = np.stack([a, b]).astype(np.int64)
    wins, finished = 0, np.zeros(games, np.bool_)
    while not finished.all():
        states, player = batch.states, batch.states["player"].astype(np.int64)
        scores, who = states["scores"], (player != rows % 2).astype(np.int64)
        remembered = (states["runs"][rows, player], states["exchanges"][rows, player] % 2)[: a.ndim - 2]
        numbers = tables[who, scores[rows, player], scores[rows, 1 - player], *remembered]
        batch.step(numbers - FIRST_NUMBER)
        new = batch.overs & ~finished
        wins += int((batch.results[rows, rows % 2][new] > 0).sum())
        finished |= new
    return wins / games


PAIRS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "with memory": lambda: (drawn(3, 100, [-1, 4, 6, 8, 10], 1), drawn(4, 100, [-1, 0, 5, 9], 1)),
    "exchanges, bacon and many": lambda: (drawn(4, 100, [-1, 0, 10]), drawn(5, 100, [-1, 0, 9])),
    "six against five": lambda: (always(6), always(5)),
    "bacon against many": lambda: (always(0), always(10)),
    "random against random": lambda: (drawn(1), drawn(2)),
    "exchanges on one side": lambda: (drawn(3, 100, [-1, 4, 8]), always(6)),
}


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("pair", PAIRS)
def test_exact_agrees_with_the_engine(pair: str) -> None:
    a, b = PAIRS[pair]()
    game = dicegym.game("hog", memory=int(a.ndim > 2))
    exact, games = hog.win_rate(a, b, game), 20_000
    assert abs(simulate(game, a, b, games, seed=11) - exact) < 4 * np.sqrt(exact * (1 - exact) / games)


# --- properties ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", [0, 1])
def test_one_of_both_wins(memory: int) -> None:
    game = dicegym.game("hog", goal=40, memory=memory)
    a, b = drawn(1, 40, memory=memory), drawn(2, 40, [0, 4, 5, 6])
    first, second = hog.win_rates(a, b, game)
    assert hog.win_rate(a, b, game) == (first + second) / 2
    assert hog.win_rates(b, a, game) == pytest.approx((1 - second, 1 - first), abs=1e-12)
    assert hog.win_rate(a, a, game) == pytest.approx(0.5, abs=1e-12)


def test_who_uses_no_memory_fares_as_without() -> None:
    a, b = drawn(1, 30), drawn(2, 30)
    plain, remembering = (dicegym.game("hog", goal=30, memory=memory) for memory in (0, 1))
    first = hog.win_rates(a, b, plain)
    assert hog.win_rates(a, b, remembering) == first
    spread = np.broadcast_to(a[:, :, None, None], (30, 30, *HIDDEN))
    assert hog.win_rates(spread, b, remembering) == pytest.approx(first, abs=1e-12)
    matrix = hog.win_rate_matrix([a, b, drawn(3, 30, memory=1)], remembering)
    assert matrix[0, 1] == pytest.approx(sum(first) / 2, abs=1e-12)
    assert matrix + matrix.T == pytest.approx(np.ones((3, 3)))
    five = always(5, 30)  # who never exchanges and is by scores has the best reply without memory
    replies = [hog.best_response(five, game)[0] for game in (plain, remembering)]
    assert replies[0] == pytest.approx(replies[1], abs=1e-12)


def test_the_matrix_is_the_win_rates_and_told_of_every_pair() -> None:
    game = dicegym.game("hog", goal=20)
    tables = [drawn(seed, 20) for seed in (0, 1, 2, 0)]
    separately = [[hog.win_rate(a, b, game) if a is not b else 0.5 for b in tables] for a in tables]
    told: list[tuple[int, int, str]] = []
    matrix = hog.win_rate_matrix(tables, game, progress=lambda *step: told.append(step))
    assert matrix.dtype == np.float64
    assert (np.tril(matrix, -1) == np.tril(separately, -1)).all()
    assert matrix + matrix.T == pytest.approx(np.ones((4, 4)))
    assert told == [(done, 6, "pairs") for done in range(1, 7)]


def test_the_matrix_stops_soon_after_a_key_is_pressed(monkeypatch: pytest.MonkeyPatch) -> None:
    swept: list[int] = []
    sweep = sweeps.sweep
    monkeypatch.setattr(sweeps, "sweep", lambda *given: swept.append(1) or sweep(*given))

    def press(*step: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hog.win_rate_matrix([drawn(seed, 10) for seed in range(60)], dicegym.game("hog", goal=10), progress=press)
    assert len(swept) < 1770 / 2


@pytest.mark.parametrize(
    ("memory", "seed"), [(0, 0), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((0, 1), (0, 2), (1, 0)))]
)
def test_who_sees_more_wins_more(memory: int, seed: int) -> None:
    game = dicegym.game("hog", goal=20, memory=memory)
    opponent = drawn(seed, 20, [-1, 0, 3, 4, 5], memory)
    seeing, policy = hog.best_response(opponent, game)
    value, table = hog.best_table(opponent, game, seed=seed, trials=2 - memory)
    assert policy.shape == (20, 20, *((2,) * (1 + memory)), 4, 4)
    assert table.shape == opponent.shape
    assert value == pytest.approx(hog.win_rate(table, opponent, game), abs=1e-12)
    assert seeing >= value
    for other in [*(always(number, 20) for number in range(-1, 11)), drawn(seed, 20)]:
        assert value >= hog.win_rate(other, opponent, game)
    if memory:
        by_scores = drawn(8, 20, [-1, 0, 3, 4, 5])
        without = hog.best_table(by_scores, dicegym.game("hog", goal=20), trials=1)[0]
        assert without < hog.best_table(by_scores, game, trials=0)[0]


@pytest.mark.boundscheck
@pytest.mark.parametrize(("memory", "changes"), [(0, 1200), (1, 15), pytest.param(1, 200, marks=pytest.mark.slow)])
def test_every_sweep_improves_and_at_the_end_no_single_choice_does(memory: int, changes: int) -> None:
    """Without memory, of all single choices; with it, of some."""
    game, opponent = dicegym.game("hog", goal=10, memory=memory), drawn(9, 10, [-1, 0, 1, 2], memory)
    start = drawn(10, 10, memory=memory)
    found = list(improvements(start, opponent, game))
    values = [hog.win_rate(start, opponent, game), *(value for value, _ in found)]
    assert all(later >= earlier - 1e-12 for earlier, later in pairwise(values))
    assert values[-1] > values[0]
    for value, table in found[:: len(found) - 1]:
        assert value == pytest.approx(hog.win_rate(table, opponent, game), abs=1e-12)
    value, table = found[-1]
    choices = [(*place, number) for place in np.ndindex(table.shape) for number in range(FIRST_NUMBER, MOST_DICE + 1)]
    for at in np.random.default_rng(0).permutation(len(choices))[:changes]:
        changed = table.copy()
        *place, number = choices[at]
        changed[tuple(place)] = number
        assert hog.win_rate(changed, opponent, game) <= value + 1e-11


def test_same_seed_same_table() -> None:
    """Where another seed finds another table."""
    game, opponent = dicegym.game("hog", goal=16), drawn(3, 16, [-1, 0, 3, 4, 5])
    first, again, other = (hog.best_table(opponent, game, seed=seed, trials=1) for seed in (3, 3, 1))
    assert first[0] == again[0]
    assert (first[1] == again[1]).all()
    assert (first[1] != other[1]).any()


# --- tables of players --------------------------------------------------------------------------------------


def test_players_and_functions_are_strategies_and_asked_once_for_each_pair() -> None:
    asked = []

    def strategy(score: int, opponent_score: int) -> int:
        asked.append((score, opponent_score))
        return (score + 2 * opponent_score) % 12 - 1

    table = hog.tabulate(strategy, dicegym.game("hog", goal=20))
    assert sorted(asked) == [(score, other) for score in range(20) for other in range(20)]
    assert table.dtype == np.int8
    assert all(table[score, other] == (score + 2 * other) % 12 - 1 for score, other in asked)
    assert set(np.unique(hog.tabulate(RandomPlayer(), dicegym.game("hog", goal=50)))) == set(range(-1, 11))
    five = dicegym.agent("hog", "always_roll(5)")
    assert (hog.tabulate(five, GAME) == 5).all()
    assert round(hog.win_rate(dicegym.agent("hog", "always_roll(8)"), five, GAME), 6) == 0.630940
    assert round(hog.win_rate(lambda score, opponent_score: 0, five, GAME), 6) == 0.102878
    assert round(hog.best_response(five, GAME)[0], 6) == 0.844743


@pytest.mark.parametrize("answer", [11, -2, 2.5, None, "5", ZeroDivisionError])
def test_an_answer_that_is_no_number_of_dice_is_refused(answer: object) -> None:
    def strategy(score: int, opponent_score: int) -> object:
        if answer is ZeroDivisionError and score == 3:
            raise ZeroDivisionError
        return answer if (score, opponent_score) == (3, 4) else 5

    with pytest.raises(AgentError, match="ZeroDivisionError" if answer is ZeroDivisionError else r"\(3, 4\)"):
        hog.tabulate(strategy, dicegym.game("hog", goal=10))
    forgets = FunctionPlayer(lambda turn: 99 if turn.view.run == 2 and turn.view.score == 3 else 5, "fails")
    with pytest.raises(AgentError, match=r"final_strategy\(3, 0\)"):
        hog.tabulate(forgets, to(10))


@pytest.mark.parametrize(
    ("goal", "table"),
    [
        *((100, table) for table in (always(5, 99), always(11), always(-2), np.full((100, 100), 5.0), np.full(100, 5))),
        *((10, np.ones((10, 10, *shape), np.int8)) for shape in ((4,), (2, 4), (4, 2, 1))),
    ],
)
def test_what_is_no_table_is_refused(goal: int, table: np.ndarray) -> None:
    game = dicegym.game("hog", goal=goal, memory=1)
    for ask in (lambda: hog.win_rate(table, always(5, goal), game), lambda: hog.best_response(table, game)):
        with pytest.raises(ParameterError, match="give "):
            ask()
    with pytest.raises(ParameterError, match="give "):
        hog.best_table(table, game)
    with pytest.raises(ParameterError, match="give whole numbers of shape"):
        hog.win_rate(drawn(0, 10, memory=1), always(5, 10), dicegym.game("hog", goal=10))


def test_every_game_of_hog_is_solved() -> None:
    assert [solver(game) for game in (GAME, dicegym.game("hog", memory=1))] == [hog] * 2


def strategy_in(path: Path) -> Callable[[int, int], int]:
    found: Callable[[int, int], int] = runpy.run_path(str(path))["final_strategy"]
    return found


def test_a_strategy_survives_its_file(tmp_path: Path) -> None:
    table, path = drawn(5), tmp_path / "hog.py"
    path.write_text(strategy_source(table, "A random strategy."), encoding="utf-8")
    strategy = strategy_in(path)
    assert (hog.tabulate(strategy, GAME) == table).all()
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
    table = hog.tabulate(strategy_in(SHIPPED), GAME)
    value = hog.win_rate(table, always(5), GAME)
    assert value >= 0.8107
    assert text == strategy_source(table, shipped_heading(value))
    assert len(list(improvements(table, always(5), GAME))) == 1  # not a choice in it can be bettered


@pytest.mark.slow
def test_the_shipped_table_can_be_made_again() -> None:
    value, table = hog.best_table(dicegym.agent(GAME, "always_roll(5)"), GAME, trials=SHIPPED_TRIALS)
    assert strategy_source(table, shipped_heading(value)) == SHIPPED.read_text(encoding="utf-8")


# --- players that remember, and models of them -----------------------------------------------------------------

REMEMBERING = dicegym.game("hog", memory=1)


def to(goal: int) -> dicegym.Game:
    return dicegym.game("hog", goal=goal, memory=1)


def by_memory(turn: Turn) -> int:
    """Roll more after a Pig out, and exchange the dice once."""
    view = turn.view
    return 0 if view.score == 7 and view.exchanges % 2 == 0 else 3 + view.run


@pytest.mark.parametrize("pure", [False, True])
def test_a_player_is_asked_with_all_that_it_may_remember(pure: bool) -> None:
    table = hog.tabulate(FunctionPlayer(by_memory, "by memory", pure=pure), to(12))
    assert table.shape == (12, 12, *HIDDEN)
    assert (table[3, 5, :, 0] == [2, 3, 4, 5]).all()
    assert (table[7, 5, 2] == [-1, 4]).all()
    assert (hog.tabulate(FunctionPlayer(by_memory, "by memory"), dicegym.game("hog", goal=12))[3] == 2).all()


def test_bots_of_the_original_interface_are_asked_for_both_scores_alone() -> None:
    asked = []

    def strategy(score: int, opponent_score: int) -> int:
        asked.append((score, opponent_score))
        return 5

    assert hog.tabulate(strategy, to(20)).shape == (20, 20)
    assert hog.tabulate(dicegym.agent(to(20), strategy), to(20)).shape == (20, 20)
    assert len(asked) == 800
    for name in ("always_roll(7)", "streak"):
        found = hog.tabulate(dicegym.agent(REMEMBERING, name), REMEMBERING)
        assert (found == hog.tabulate(dicegym.agent("hog", name), GAME)).all()


def test_a_bots_file_carries_no_memory() -> None:
    with pytest.raises(ParameterError, match=r"in 1[0-9] of 144 pairs.*asked once for each pair of scores"):
        export_source(FunctionPlayer(lambda turn: 1 if turn.view.run and turn.view.score == 3 else 5), to(12), "hog.py")
    assert "def final_strategy" in export_source(FunctionPlayer(lambda turn: 5), to(12), "hog.py")


def test_models_are_offered_where_they_can_play_and_say_elsewhere_what_they_need() -> None:
    assert not {"memory", "memory_taught"} & set(agent_names("hog"))
    assert set(agent_names(REMEMBERING)) == {*agent_names("hog"), "memory", "memory_taught"}
    for name in ("memory", "memory_taught"):
        with pytest.raises(ModelError, match=r"make the game as it was in training: -p memory=1"):
            dicegym.agent("hog", name)


def test_a_model_that_remembers_nothing_plays_where_others_remember_as_it_does_elsewhere() -> None:
    player = dicegym.agent(REMEMBERING, "ppo")
    assert isinstance(player, PolicyPlayer)
    here, there = REMEMBERING.batch(64, seed=3), GAME.batch(64, seed=3)
    rows, seats = np.arange(64), np.zeros(64, np.int64)
    for _ in range(10):
        chosen = player.act_rows(REMEMBERING, here.states, rows, seats)
        assert (chosen == player.act_rows(GAME, there.states, rows, seats)).all()
        one = player.join(REMEMBERING, 0, 0)(Turn(REMEMBERING, here.states[5], 0))
        assert one == chosen[5]
        here.step(chosen)
        there.step(chosen)
    with pytest.raises(ModelError, match="cannot play"):
        dicegym.agent(dicegym.game("hog", goal=50, memory=1), "ppo")
    with pytest.raises(ModelError, match="cannot play"):
        player.check_fit(REMEMBERING)  # which is asked by whoever trains it further, or writes it down for the game


@pytest.mark.slow
def test_a_model_that_remembers_nothing_wins_as_often_where_others_remember() -> None:
    assert evaluate(REMEMBERING, "ppo").value == pytest.approx(evaluate("hog", "ppo").value, abs=1e-12)


def test_the_model_is_measured_exactly_and_plays_no_better_than_tables_can() -> None:
    score = evaluate(REMEMBERING, "memory")
    assert score.measure == "exact win rate"
    assert 0.8109 < score.value < 0.8447  # more than any known table by scores
    sampled = evaluate(REMEMBERING, "memory", games=500, exact=False)
    assert sampled.low - 0.01 < score.value < sampled.high + 0.01
