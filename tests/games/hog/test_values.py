"""Values of Hog with full sight: a recursion from the rule text, exact win rates, and what decisions cost."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import dicegym
from dicegym.analysis.valuers import sources, valuer
from dicegym.engine.jit import records
from dicegym.games.hog import exact
from dicegym.games.hog.exact import best_table, win_rate
from dicegym.games.hog.rules import N_ACTIONS, free_bacon, settle, sides
from dicegym.games.hog.solving.strategies import Duel, full_sight
from dicegym.games.hog.solving.sweeps import roll_chances
from dicegym.games.hog.values import FullSight, choices, reply_values

SMALL = 10
"""A goal at which a slow recursion takes a second."""


def slow_value(goal: int) -> Any:
    """A recursion over whole games: how likely the player to move wins from (own, opponent's, parity, runs)."""
    rolls = roll_chances()

    def after(own: int, opponent: int, points: int, parity: int, runs: tuple[int, int]) -> float:
        own, opponent = settle(own, opponent, points)
        if max(own, opponent) >= goal:
            return float(own > opponent)
        return 1 - value(opponent, own, parity, runs)

    @cache
    def value(own: int, opponent: int, parity: int, runs: tuple[int, int]) -> float:
        other_run, run = runs
        times = max(1, run)
        found = [
            after(own, opponent, times, 1 - parity, (0, other_run)),
            after(own, opponent, times * free_bacon(opponent), parity, (0, other_run)),
        ]
        for number in range(1, 11):
            chances = rolls[sides(own, opponent, parity), number]
            pig_out = chances[1] * after(own, opponent, 1, parity, (min(run + 1, 3), other_run))
            other = (
                chances[k] * after(own, opponent, times * k, parity, (0, other_run))
                for k in range(2 * number, len(chances))
                if chances[k]
            )
            found.append(pig_out + sum(other))
        return max(found)

    return value


def test_values_agree_with_a_recursion_over_whole_games() -> None:
    slow, values = slow_value(SMALL), full_sight(SMALL)
    for own, opponent in [(0, 0), (3, 5), (0, 9), (9, 9), (7, 1)]:
        for parity in range(2):
            for runs in [(0, 0), (2, 1), (0, 3)]:
                expected = slow(own, opponent, parity, runs)
                assert values[own * SMALL + opponent, parity, *runs] == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    ("memory", "rival", "few"), [(0, 0, True), (0, 0, False), (0, 1, False), (1, 0, False), (1, 1, False)]
)
def test_a_choice_in_a_reply_is_worth_what_playing_it_changes(memory: int, rival: int, few: bool) -> None:
    """A player knows the same at most once in a game: another choice there changes its win rate by as much as it comes
    there, times what the choices differ by. Each place tries all twelve choices; with ``few``, a third tries four."""
    generator = np.random.default_rng(memory)
    shapes = [(SMALL, SMALL, *(4, 2)[: 2 * number]) for number in (memory, rival)]
    table, other = (generator.integers(-1, 11, shape).astype(np.int8) for shape in shapes)
    with_memory = dicegym.game("hog", goal=SMALL, memory=1)
    before, worth = win_rate(table, other, with_memory), choices(table, other)
    assert worth.shape == (*table.shape, 12)
    met = 0
    places = list(np.ndindex(*table.shape))
    for place in map(tuple, generator.permutation(places)[: len(places) // 3]) if few else places:
        old, shares = int(table[place]) + 1, []
        for new in generator.choice(12, 4, replace=False) if few else range(12):
            table[place] = new - 1
            changed = win_rate(table, other, with_memory) - before
            gained = worth[(*place, new)] - worth[(*place, old)]
            assert abs(changed) <= abs(gained) + 1e-12
            if abs(gained) > 1e-3:
                shares.append(changed / gained)
        table[place] = old - 1
        if shares:
            assert np.ptp(shares) < 1e-9
            met += shares[0] > 0
    assert met > SMALL
    assert win_rate(best_table(other, with_memory, trials=0)[1], other, with_memory) > before + 0.1


@pytest.mark.parametrize("memory", [0, 1])
def test_replies_are_asked_by_what_players_see(memory: int) -> None:
    game = dicegym.game("hog", goal=SMALL, memory=memory)
    rival = np.random.default_rng(1).integers(-1, 11, (SMALL, SMALL)).astype(np.int8)
    table = best_table(rival, game, trials=0)[1]
    told = reply_values(lambda own, opponent: rival[own, opponent], game)
    states = every_state(SMALL)
    found = told(states)
    places = [states["scores"][:, 0], states["scores"][:, 1], states["runs"][:, 0], states["exchanges"][:, 0] % 2]
    np.testing.assert_array_equal(found, choices(table, rival)[tuple(places[: table.ndim])])
    mirrored = states.copy()
    mirrored["player"] = 1
    for name in ("scores", "runs", "exchanges"):
        mirrored[name] = states[name][:, ::-1]
    np.testing.assert_array_equal(told(mirrored), found)


def every_state(goal: int) -> np.ndarray:
    """Return a record for each state of `dicegym.games.hog.solving.sweeps`, in its order, seat 0 to move."""
    game = dicegym.game("hog", goal=goal)
    pair, parity, other_run, run = (a.ravel() for a in np.indices((goal * goal, 2, 4, 4)))
    states = records(len(pair), game.spec.state)
    states[:] = game.new_game()[0]
    states["scores"] = np.stack(np.divmod(pair, goal), axis=1)
    states["exchanges"][:, 1] = parity
    states["runs"] = np.stack([run, other_run], axis=1)
    return states


@pytest.mark.parametrize(("a", "b"), [("always_roll(8)", "ham"), ("swap", "wild")])
def test_costs_of_all_games_are_the_difference_of_exact_win_rates(a: str, b: str) -> None:
    game = dicegym.game("hog", goal=20)
    tables = [exact.tabulate(dicegym.agent(game, name), game) for name in (a, b)]
    states = every_state(20)
    judge = FullSight(game)
    worth, choices = judge.values_rows(states)[:, 0], judge.action_values_rows(states).values
    assert np.abs(choices.max(axis=1) - worth).max() < 1e-12

    duel = Duel(*tables)
    duel.spread()
    pairs = np.repeat(np.arange(400), 32)
    paid = []
    for seat, table in enumerate(tables):
        chosen = choices[np.arange(len(states)), table.ravel()[pairs] + 1]
        paid.append(float((duel.reach[seat].ravel() * (worth - chosen)).sum()))
    assert min(paid) > 0.01
    assert exact.win_rate(*tables, game) == pytest.approx(0.5 - paid[0] + paid[1], abs=1e-9)


def test_a_game_is_its_first_value_less_costs_plus_luck() -> None:
    game = dicegym.game("hog")
    judge = valuer(game)
    assert (judge.name, judge.kind, judge.unit, judge.sees_all) == ("exact", "exact", "win rate", True)
    for seed in range(5):
        state = game.new_game(seed)[0]
        rng = np.random.default_rng(seed)
        start, costs, luck = judge.value(state, 0), 0.0, 0.0
        assert start == pytest.approx(0.5352817895065385, abs=1e-12)
        while not state["over"]:
            mover, action = int(state["player"]), int(rng.integers(N_ACTIONS))
            sign = 1 if mover == 0 else -1
            found = judge.action_values(state)
            assert (found.errors == 0).all()
            assert found.values[action] == judge.action_value(state, action)
            assert found.values.max() == pytest.approx(judge.value(state, mover), abs=1e-12)
            assert judge.policy(state)[found.values.argmax()] == 1
            costs += sign * (found.values.max() - found.values[action])
            chosen = judge.action_value(state, action)
            game.step(state, action)
            assert judge.value(state, 0) + judge.value(state, 1) == 1
            luck += sign * (judge.value(state, mover) - chosen)
        assert judge.values_rows(np.array([state])).tolist() == [[judge.value(state, 0), judge.value(state, 1)]]
        assert float(state["winner"] == 0) == pytest.approx(start - costs + luck, abs=1e-12)
        assert np.isnan(judge.action_values(state).values).all()


def test_the_mean_over_dice_is_the_value_of_the_choice() -> None:
    game = dicegym.game("hog")
    judge, state = valuer(game), game.new_game()[0]
    state["scores"], state["runs"], state["exchanges"] = (40, 23), (2, 1), (1, 0)
    for action in (0, 1, 4):
        found = []
        for key in range(500):
            after = state.copy()
            after["key"] = key
            game.step(after, action)
            found.append(judge.value(after, 0))
        error = np.std(found) / np.sqrt(len(found))
        assert np.mean(found) == pytest.approx(judge.action_value(state, action), abs=4 * error + 1e-12)


def test_wide_numbers_of_dice_lose_and_memory_changes_nothing() -> None:
    game = dicegym.game("hog")
    state = game.new_game()[0]
    assert valuer(game).action_value(state, N_ACTIONS) == valuer(game).action_value(state, -1) == 0
    remembering = dicegym.game("hog", memory=1)
    assert {source.name: source.ready() for source in sources(remembering)}["exact"]
    assert valuer(remembering).value(remembering.new_game()[0], 1) == valuer(game).value(state, 1)
