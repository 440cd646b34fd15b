"""Yatzy at tables: the distributions of points still to come, shares of the first place, and the luck of rolls."""

from __future__ import annotations

import importlib.util
import itertools
import json
import zlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from oracles import winner_table

import dicegym
from dicegym.analysis.valuers import valuer
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.errors import DamagedFileError
from dicegym.games.parts import LUCK, need
from dicegym.games.yatzy.exact import OptimalPlayer
from dicegym.games.yatzy.rules import SERVER_TURN, bonus
from dicegym.games.yatzy.solving import alone, distributions, one_turn
from dicegym.games.yatzy.tables import DICE, FACES, KEEPS, SETS, hand_of
from dicegym.games.yatzy.values import WinningPlayer
from dicegym.play.player import Player
from dicegym.players.roster import agents_folder, opponent

alone_module_values = alone.values
"""Before tests put a small table in its place."""
ALL = (1 << 15) - 1
OPEN = (1, 5, 6, 13)
"""Boxes, from 0, that are open in the positions below."""
Small = tuple[np.ndarray, distributions.Rows]
CLOSED = ALL - sum(1 << box for box in OPEN)


@pytest.fixture(scope="module")
def small() -> Small:
    """Solve for a few boxes alone, which takes no time: means, and distributions."""
    values = alone.new_values()
    alone.solve(values, CLOSED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alone, "values", lambda progress=None: values)
        return values, distributions.compute_distributions(closed=CLOSED)


@pytest.fixture(autouse=True)
def few_boxes(monkeypatch: pytest.MonkeyPatch, small: Small) -> None:
    """Let everything know these positions alone."""
    monkeypatch.setattr(alone, "values", lambda progress=None: small[0])
    monkeypatch.setattr(distributions, "distributions", lambda progress=None: small[1])


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
    meter = need(game, LUCK).meter(game, players, np.tile(np.arange(game.players), (len(states), 1)))
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


def test_positions_are_numbered_without_gaps() -> None:
    numbers = [
        one_turn.position_of(filled, upper)
        for n in range(16)
        for filled, upper in zip(*one_turn.level(n, CLOSED & 31), strict=True)
    ]
    assert len(set(numbers)) == len(numbers)
    everything = sum(len(one_turn.level(n)[0]) for n in range(16))
    assert everything == one_turn.POSITIONS == 1_430_528


def row_of(small: Small, filled: int, upper: int) -> np.ndarray:
    row = np.zeros(one_turn.TOTALS)
    distributions.add_row(small[1], one_turn.position_of(filled, upper), 0, 1.0, row)
    return row


def test_distributions_have_the_means_of_the_exact_values(
    small: Small,
) -> None:
    for n in range(len(OPEN) + 1):
        for filled, upper in zip(*one_turn.level(15 - n, CLOSED), strict=True):
            row = row_of(small, int(filled), int(upper))
            assert row.sum() == pytest.approx(1, abs=1e-12)
            assert row @ np.arange(len(row)) == pytest.approx(small[0][filled, upper], abs=2e-3)


def test_the_last_box_by_all_rolls(small: Small) -> None:
    """Sixes alone: who keeps all of them has each of five dice a six with 1 - (5/6)**3."""
    six = 1 - (5 / 6) ** 3
    row = row_of(small, ALL - (1 << 5), 50)
    for n in range(6):
        ways = len(list(itertools.combinations(range(5), n)))
        points = 6 * n + (50 if 50 + 6 * n >= 63 else 0)
        assert row[points] == pytest.approx(ways * six**n * (1 - six) ** (5 - n), abs=1e-5)


def test_games_end_as_the_distributions_say(small: Small) -> None:
    game = dicegym.game("yatzy", players=1)
    states = begun(game, 4000, alike=True)
    first, upper = int(states["totals"][0, 0]), int(states["upper"][0, 0])
    rows = np.arange(len(states))
    while len(rows):
        actions = OptimalPlayer().act_rows(game, states, rows, np.zeros(len(rows), np.int64))
        loops.step_rows(states, rows, actions, np.zeros(len(rows), np.int64))
        rows = rows[~states["over"][rows]]
    points = states["totals"][:, 0] - first + np.vectorize(bonus)(states["upper"][:, 0]) - bonus(upper)
    likely = row_of(small, CLOSED, min(upper, 63)).cumsum()
    found = np.bincount(points, minlength=len(likely)).cumsum() / len(points)
    assert abs(found - likely).max() < 1.63 / len(points) ** 0.5  # Kolmogorov and Smirnov, 1 %


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(("players", "games"), [(2, 2), (2, 5), (3, 5), (6, 5)])
def test_values_are_shares_and_rolls_have_no_luck_on_average(players: int, games: int) -> None:
    game = dicegym.game("yatzy", players=players)
    states, judge = begun(game, games), valuer(game, "distributions")
    for state in states:
        assert sum(judge.value(state, seat) for seat in range(players)) == pytest.approx(1, abs=1e-9)
        worth = judge.action_values(state).values
        assert np.array_equal(np.isnan(worth), ~game.legal(state))
        assert np.nanmax(worth) == pytest.approx(judge.value(state, 0), abs=1e-9)
        assert judge.policy(state)[np.nanargmax(worth)] == 1
        action = int(np.nanargmax(worth[:KEEPS]))
        assert judge.action_value(state, action) == pytest.approx(worth[action], abs=1e-9)
        kept = list(SETS[action])
        if DICE - len(kept) > 2:
            continue
        mean = 0.0  # over all that could be rolled
        for rolled in itertools.product(range(1, FACES + 1), repeat=DICE - len(kept)):
            after = state.copy()
            after["dice"], after["rolls_left"] = (*kept, *rolled), state["rolls_left"] - 1
            mean += judge.value(after, 0) / FACES ** len(rolled)
        assert mean == pytest.approx(worth[action], abs=1e-9)


@pytest.mark.parametrize("players", [2, 4])
def test_the_last_decision_is_priced_by_all_that_may_follow(players: int) -> None:
    """Everybody else is done; the player to move fills its last box: values are the results themselves."""
    game = dicegym.game("yatzy", players=players)
    judge = valuer(game, "distributions")
    for state in begun(game, 20, seed=3):
        state["round_number"], state["player"], state["rolls_left"] = 15, players - 1, 0
        for seat in range(players):
            for box in OPEN[: len(OPEN) - (seat == players - 1)]:
                state["scores"][seat, box] = 0
        for action in np.flatnonzero(game.legal(state)):
            after = state.copy()
            game.step(after, int(action))
            assert after["over"]
            share = shares(np.atleast_1d(after), players)[0]
            assert judge.action_value(state, int(action)) == pytest.approx(share[players - 1], abs=1e-9)
            assert [judge.value(after, seat) for seat in range(players)] == pytest.approx(share, abs=1e-9)


def test_wide_and_illegal_actions_are_priced() -> None:
    game = dicegym.game("yatzy")
    state, judge = begun(game, 1)[0], valuer(game, "distributions")
    value = judge.value(state, 0)
    assert judge.action_value(state, -1) == pytest.approx(value, abs=1e-12)
    assert judge.action_value(state, SERVER_TURN) <= value + 1e-9
    assert judge.action_value(state, 256 + 31) == pytest.approx(judge.action_value(state, 0), abs=1e-12)
    assert judge.action_value(state, 512 + 32 * 13) < judge.action_value(state, 210 + 13)  # chance without dice


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("names", [("planner", "planner"), ("planner", "thrifty"), ("thrifty", "haphazard", "planner")])
def test_luck_has_no_mean_and_explains_results(names: tuple[str, ...]) -> None:
    game = dicegym.game("yatzy", players=len(names))
    found, luck = play(game, [opponent(game, name) for name in names], begun(game, 1500, 1, alike=True))
    assert abs(luck.sum(axis=1)).max() < 1e-6
    assert (abs(luck.mean(axis=0)) < 3.5 * luck.std(axis=0) / len(luck) ** 0.5).all()
    if set(names) == {"planner"}:
        assert found.var() > 20 * (found - luck).var()


@pytest.mark.slow
def test_alone_luck_is_points() -> None:
    game = dicegym.game("yatzy", players=1)
    states = begun(game, 2000, alike=True)
    _, luck = play(game, [opponent(game, "planner")], states)
    points = states["totals"][:, 0] + np.vectorize(bonus)(states["upper"][:, 0])
    assert abs(luck.mean()) < 3.5 * luck.std() / len(luck) ** 0.5
    assert points.var() > 30 * (points - luck[:, 0]).var()


@pytest.mark.slow
def test_playing_to_win_wins_more_than_playing_for_points() -> None:
    game = dicegym.game("yatzy")
    found, luck = play(game, [WinningPlayer(), opponent(game, "planner")], begun(game, 1500))
    swapped, other = play(game, [opponent(game, "planner"), WinningPlayer()], begun(game, 1500))
    less = ((found - luck)[:, 0] + (swapped - other)[:, 1]) / 2
    assert less.mean() - 3 * less.std() / len(less) ** 0.5 > 0.5


def test_one_who_sits_chooses_as_the_batch_does() -> None:
    game = dicegym.game("yatzy", players=3)
    states, player = begun(game, 10), WinningPlayer()
    rows = np.arange(len(states))
    batch = player.act_rows(game, states, rows, np.zeros(len(rows), np.int64))
    act = player.join(game, 0, 0)
    assert [act(dicegym.play.turn.Turn(game, state, 0)) for state in states] == batch.tolist()
    assert all(hand_of(state["dice"]) >= 0 for state in states)


def test_tables_are_kept_and_damage_is_found(small: Small, tmp_path: Path) -> None:
    distributions.write(tmp_path, small[1])
    distributions.check(tmp_path)
    for known, read in zip(small[1], distributions.read(tmp_path), strict=True):
        assert np.array_equal(known, read)
    file = tmp_path / "weights.npy"
    changed = bytearray(file.read_bytes())
    changed[-1000] ^= 1
    file.write_bytes(changed)
    with pytest.raises(DamagedFileError, match=r"dicegym values solve yatzy distributions"):
        distributions.check(tmp_path)
    file.write_bytes(changed[:5000])
    with pytest.raises(DamagedFileError, match="weights"):
        distributions.read(tmp_path)


@pytest.fixture(scope="module")
def winner() -> ModuleType:
    """Return the agent's file as a module."""
    place = importlib.util.spec_from_file_location("winner", agents_folder("yatzy") / "winner.py")
    assert place is not None
    assert place.loader is not None
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


def test_the_winner_computes_the_last_boxes_exactly(small: Small, winner: ModuleType) -> None:
    for n in range(12, 15):
        filled, sums = one_turn.level(n, CLOSED)
        for k in range(0, len(filled), 9):
            known = row_of(small, int(filled[k]), int(sums[k]))
            assert winner.to_come(int(filled[k]), int(sums[k])).cumsum() == pytest.approx(known.cumsum(), abs=1e-4)


@pytest.mark.slow
def test_the_winner_knows_means_by_heart(winner: ModuleType) -> None:
    values, rng = alone_module_values(), np.random.default_rng(1)
    errors = []
    for n in range(12):
        filled, sums = one_turn.level(n)
        for k in rng.integers(0, len(filled), 12):
            mean, _, bonus, _ = winner.summary(int(filled[k]), int(sums[k]))
            errors.append(mean + 50 * bonus - values[filled[k], sums[k]])
    assert np.std(errors) < 0.5


def test_the_winner_shares_the_first_place_as_the_values_do(small: Small, winner: ModuleType) -> None:
    game = dicegym.game("yatzy", players=4)
    judge = valuer(game, "distributions")
    for state in begun(game, 4, seed=2):
        for seat in range(4):
            state["scores"][seat, OPEN[0]] = 0  # three boxes are open: all is exact
        rows = [",".join("-" if s < 0 else str(s) for s in state["scores"][seat]) for seat in range(4)]
        worth = winner.worth_of_boxes(rows[0], rows[1:])[hand_of(state["dice"])]
        for box in OPEN[1:]:
            assert worth[box] == pytest.approx(judge.action_value(state, 210 + box), abs=1e-4)


def test_the_summary_is_as_exact_as_it_says(small: Small) -> None:
    """Moments by the sweep are those of the distributions."""
    moments = np.zeros((one_turn.POSITIONS, 2, 3))
    moments[:, 0, 0] = 1.0
    for n in range(14, 10, -1):
        winner_table.add_level(small[0], *one_turn.level(n, CLOSED), moments)
    filled, sums = one_turn.level(11, CLOSED)
    for k in range(0, len(filled), 7):
        row, found = row_of(small, int(filled[k]), int(sums[k])), moments[one_turn.position_of(filled[k], sums[k])]
        with_bonus = found[:, 1].sum() + 50 * found[1, 0]
        assert found[:, 0].sum() == pytest.approx(1)
        assert with_bonus == pytest.approx(row @ np.arange(len(row)), abs=2e-3)
        squares = found[0, 2] + found[1, 2] + 100 * found[1, 1] + 2500 * found[1, 0]
        assert squares == pytest.approx(row @ np.arange(len(row)) ** 2, abs=0.5)


@pytest.mark.slow
def test_the_winner_s_table_is_what_comes_out() -> None:
    told, _, columns = (agents_folder("yatzy") / "winner.table").read_bytes().partition(b"\n")
    found, _, other = winner_table.written(alone_module_values()).partition(b"\n")
    assert json.loads(told)["ranks"] == json.loads(found)["ranks"]
    assert json.loads(told)["steps"] == pytest.approx(json.loads(found)["steps"], rel=1e-3)
    assert len(zlib.decompress(columns)) == len(zlib.decompress(other))
