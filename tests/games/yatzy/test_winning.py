"""Yatzy at tables: the luck of rolls, and the agent that plays for the first place."""

from __future__ import annotations

import importlib.util
import json
import zlib
from types import ModuleType

import numpy as np
import pytest
from oracles import winner_table

import dicegym
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.games.parts import VALUES, need
from dicegym.games.yatzy.rules import bonus
from dicegym.games.yatzy.solving import points
from dicegym.play.player import Player
from dicegym.players.roster import agents_folder, opponent

solve_once = points.solve_once
"""Before tests put a small table in its place."""
ALL = (1 << 15) - 1
OPEN = (1, 5, 6, 13)
"""Boxes, from 0, that are open in the positions below."""
CLOSED = ALL - sum(1 << box for box in OPEN)


@pytest.fixture(scope="module")
def small() -> np.ndarray:
    """Solve for a few boxes alone, which takes no time."""
    return points.solve(CLOSED)


@pytest.fixture(autouse=True)
def few_boxes(monkeypatch: pytest.MonkeyPatch, small: np.ndarray) -> None:
    """Let everything know these positions alone."""
    monkeypatch.setattr(points, "solve_once", lambda progress=None: small)


def begun(game: Game, games: int, seed: int = 0, alike: bool = False) -> np.ndarray:
    """Return games with a few boxes open, the others filled at random, in which player 0 has just rolled.

    If they are to be ``alike``, the first rolls are all that differs.
    """
    states, rows = game.new_states(games), np.arange(games)
    loops.begin_rows(states, rows, game.blank, np.full(games, seed, np.uint64), rows.astype(np.uint64))
    rng = np.random.default_rng(seed)
    for seat in range(game.players):
        for box in set(range(15)).difference(OPEN):
            points = (box + 1) * rng.integers(1, 5, games) if box < 6 else rng.integers(0, 12, games)
            states["scores"][:, seat, box] = points
            states["totals"][:, seat] += points
            if box < 6:
                states["upper"][:, seat] += points
    if alike:
        for field in ("scores", "totals", "upper"):
            states[field] = states[field][0]
    states["round_number"] = 16 - len(OPEN)
    return states


def shares(states: np.ndarray, players: int) -> np.ndarray:
    totals = states["totals"][:, :players] + np.vectorize(bonus)(states["upper"][:, :players])
    first = totals == totals.max(axis=1, keepdims=True)
    found: np.ndarray = first / first.sum(axis=1, keepdims=True)
    return found


def play(game: Game, players: list[Player], states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Play games to their end; return the shares of the first place and the luck, by game and seat."""
    rows = np.arange(len(states))
    meter = need(game, VALUES).meter(game, players, np.tile(np.arange(game.players), (len(states), 1)))
    assert meter is not None
    meter.begin(states, rows)
    while len(rows):
        movers, actions = states["player"][rows].astype(np.int64), np.empty(len(rows), np.int64)
        for seat, player in enumerate(players):
            mine = movers == seat
            if mine.any():
                actions[mine] = player.act_rows(game, states, rows[mine], movers[mine])
        before = states.copy()
        loops.step_rows(states, rows, actions, np.zeros(len(rows), np.int64))
        meter.add(before, rows, actions, states)
        rows = rows[~states["over"][rows]]
    return shares(states, game.players), meter.luck


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("names", [("planner", "planner"), ("planner", "gather"), ("at_once", "gather", "planner")])
def test_luck_has_no_mean_and_explains_results(names: tuple[str, ...]) -> None:
    game = dicegym.game("yatzy", players=len(names))
    found, luck = play(game, [opponent(game, name) for name in names], begun(game, 1500, 1, alike=True))
    assert abs(luck.sum(axis=1)).max() < 1e-6
    assert (abs(luck.mean(axis=0)) < 3.5 * luck.std(axis=0) / len(luck) ** 0.5).all()
    if set(names) == {"planner"}:
        assert found.var() > 5 * (found - luck).var()


def test_a_roll_is_compared_with_its_mean() -> None:
    """Of all that one die may show, luck has the mean 0."""
    game = dicegym.game("yatzy", players=3)
    meter_of = need(game, VALUES).meter
    before = begun(game, 1)
    found = []
    for face in range(1, 7):
        after = before.copy()
        after["dice"][0, 4], after["rolls_left"] = face, before["rolls_left"] - 1
        meter = meter_of(game, [], np.zeros((1, 3), np.int64))
        assert meter is not None
        meter.add(before, np.zeros(1, np.int64), np.array([256 + 16]), after)
        found.append(meter.luck[0])
    assert np.mean(found, axis=0) == pytest.approx(0, abs=1e-12)
    assert np.abs(found).max() > 0.001


@pytest.fixture(scope="module")
def winner() -> ModuleType:
    """Return the agent's file as a module."""
    place = importlib.util.spec_from_file_location("winner", agents_folder("yatzy") / "winner.py")
    assert place is not None
    assert place.loader is not None
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


def test_the_winner_computes_the_last_boxes_exactly(small: np.ndarray, winner: ModuleType) -> None:
    for n in range(12, 15):
        filled, sums = winner_table.level(n, CLOSED)
        for k in range(0, len(filled), 9):
            found = winner.to_come(int(filled[k]), int(sums[k]))
            assert found.sum() == pytest.approx(1)
            assert found @ np.arange(len(found)) == pytest.approx(small[filled[k], sums[k]], abs=2e-3)


@pytest.mark.slow
def test_the_winner_knows_means_by_heart(winner: ModuleType) -> None:
    values, rng = solve_once(), np.random.default_rng(1)
    errors = []
    for n in range(12):
        filled, sums = winner_table.level(n)
        for k in rng.integers(0, len(filled), 12):
            mean, _, bonus, _ = winner.summary(int(filled[k]), int(sums[k]))
            errors.append(mean + 50 * bonus - values[filled[k], sums[k]])
    assert np.std(errors) < 0.5


def test_the_summary_has_the_means_of_the_exact_values(small: np.ndarray) -> None:
    moments = np.zeros((winner_table.POSITIONS, 2, 3))
    moments[:, 0, 0] = 1.0
    for n in range(14, 10, -1):
        winner_table.add_level(small, *winner_table.level(n, CLOSED), moments)
    filled, sums = winner_table.level(11, CLOSED)
    for k in range(0, len(filled), 7):
        found = moments[winner_table.position_of(filled[k], sums[k])]
        assert found[:, 0].sum() == pytest.approx(1)
        assert found[:, 1].sum() + 50 * found[1, 0] == pytest.approx(small[filled[k], sums[k]], abs=1e-9)


@pytest.mark.slow
def test_the_winner_s_table_is_what_comes_out() -> None:
    told, _, columns = (agents_folder("yatzy") / "winner.table").read_bytes().partition(b"\n")
    found, _, other = winner_table.written(solve_once()).partition(b"\n")
    assert json.loads(told)["ranks"] == json.loads(found)["ranks"]
    assert json.loads(told)["steps"] == pytest.approx(json.loads(found)["steps"], rel=1e-3)
    assert len(zlib.decompress(columns)) == len(zlib.decompress(other))
