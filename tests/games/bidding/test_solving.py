"""Hands of Liar's Dice for two: public values, linear programs, slow counting, and what solving leaves on disk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import dicegym
from dicegym.errors import DamagedFileError, ParameterError
from dicegym.games.bidding.solving import solution
from dicegym.games.bidding.solving.cfr import Learner, Strategy
from dicegym.games.bidding.solving.equilibrium import (
    Solver,
    Worth,
    ending_values,
    exploitability,
    groups_of,
    worths,
)
from dicegym.games.bidding.solving.hand import NOT_ALLOWED, Hand, Rolls, Start, number_nodes, tabulate
from dicegym.games.bidding.solving.hand_values import EquilibriumValues
from dicegym.games.bidding.solving.solution import EquilibriumSolution
from dicegym.games.parts import VALUES, need
from dicegym.games.solved import tables_folder
from dicegym.games.worth import Progress

CLASSIC, SPOT_ON = dicegym.game("liarsdice", players=2, dice=2), dicegym.game("liarsdice_spot_on", players=2, dice=2)
ONE_DIE = tuple(dicegym.game(name, players=2, dice=1) for name in ("liarsdice", "liarsdice_spot_on"))
FEWER_FACES = (
    dicegym.game("liarsdice", players=2, dice=1, faces=3),
    dicegym.game("liarsdice_spot_on", players=2, dice=2, faces=2),
)
SILENT: Progress = lambda done, of, text: None  # noqa: E731 - a name of its own says what it is for


def alone(hand: Hand) -> np.ndarray:
    """Return the values of endings if the game is this hand alone: whoever loses a die loses."""
    return np.array([float(ending.first == hand.dice[0]) for ending in hand.endings])


def bracket(hand: Hand, values: np.ndarray, steps: int) -> tuple[float, float]:
    """Return bounds of the opener's win probability: what a best reply leaves it, and what its own best reply gets."""
    learning = Learner(hand)
    for _ in range(steps):
        learning.learn(values)
    strategy = learning.strategy()
    return 1 - strategy.win_chance(values, 1, best=True), strategy.win_chance(values, 0, best=True)


def simple_hand(faces: int, quantities: int, calls: int = 1, wild: bool = False, seed: int = -1) -> Hand:
    """Return a hand of one die each; with a seed, what calls come to is drawn."""
    n_bids = faces * quantities
    counting, outcome = np.zeros((2, n_bids, faces), np.int64), np.zeros((2, n_bids, calls, 3), np.int64)
    for place, bid in product((0, 1), range(n_bids)):
        counting[:, bid] = [die == bid % faces or (wild and die == faces - 1) for die in range(faces)]
        outcome[place, bid] = [1 - place if found > bid // faces else place for found in range(3)]
    endings = [Start(1, 0, 0), Start(0, 1, 1)]
    if seed >= 0:
        outcome = np.random.default_rng(seed).integers(0, 5, outcome.shape)
        endings = [Start(1, 1, number % 2) for number in range(5)]
    rolls = Rolls(np.eye(faces, 6, dtype=np.int8), np.full(faces, 1 / faces))
    numbers = tuple(range(180, 180 + calls))
    order, *tree = number_nodes(np.triu(np.ones((n_bids, n_bids), bool), 1))
    nothing = (NOT_ALLOWED, NOT_ALLOWED), np.zeros(0, np.int64)
    return Hand((1, 1), (rolls, rolls), order, (numbers, numbers), *tree, counting, outcome, tuple(endings), *nothing)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    ("dice", "value"),
    [((1, 1), -1 / 9), ((2, 1), 212027 / 771552), ((1, 2), -22 / 81)],
    ids=["one die each", "two against one", "one against two"],
)
def test_single_hands_without_wild_faces_have_the_values_of_linear_programs(
    dice: tuple[int, int], value: float
) -> None:
    """Solutions of Koller and Megiddo's linear programs for the game, from -1 to 1 for who opens; they are public."""
    hand = tabulate(CLASSIC, *dice)
    lower, upper = bracket(hand, alone(hand), 60)
    assert 2 * lower - 1 - 1e-12 <= value <= 2 * upper - 1 + 1e-12
    assert upper - lower < 0.01


def test_uniform_play_is_as_far_from_an_equilibrium_as_in_openspiel() -> None:
    """The NashConv of uniform play of ``liars_dice`` there: one die each, the highest face is wild."""
    hand = simple_hand(6, 2, wild=True)
    even = Strategy(hand, *(np.ones(shape, np.uint16) for shape in hand.shapes))
    best = [even.win_chance(np.array([1.0, 0.0]), place, best=True) for place in (0, 1)]
    assert 2 * sum(best) - 2 == pytest.approx(1.561488646384479, abs=1e-12)


def by_linear_program(hand: Hand, values: np.ndarray) -> float:
    """Return the opener's win probability as a linear program over its sequences finds it, built by other means.

    The opener chooses the plan that leaves most to it against the best reply: minimax with one variable for the value
    of each of the other's rolls at each node where the other moves.
    """
    n_bids, (mine, theirs) = len(hand.bids), hand.sizes.tolist()
    paths = [path for size in range(n_bids + 1) for path in _rising(hand, size)]
    columns: dict[tuple[object, ...], int] = {}

    def column(*key: object) -> int:
        return columns.setdefault(key, len(columns))

    equal: list[tuple[dict[int, float], float]] = []
    below: list[tuple[dict[int, float], float]] = []

    def plan(roll: int, path: tuple[int, ...]) -> int:
        """The sequence of my moves on a path: its last one is mine."""
        return column("plan", roll, path)

    for path, roll in product(paths, range(mine)):
        if len(path) % 2 == 0:
            row = {plan(roll, (*path, bid)): 1.0 for bid in _next(hand, path)}
            if path:
                row |= {plan(roll, (*path, -1 - call)): 1.0 for call in range(hand.n_calls[0])}
                row[plan(roll, path[:-1])] = -1.0
            equal.append((row, 0.0 if path else 1.0))
    for path, roll in product(paths, range(theirs)):
        value = column("value", roll, path)
        if len(path) % 2 == 1:
            for bid in _next(hand, path):
                below.append(({value: 1.0, column("value", roll, (*path, bid)): -1.0}, 0.0))
            for call in range(hand.n_calls[1]):
                row = {value: 1.0}
                for own in range(mine):
                    row[plan(own, path)] = -_won(hand, values, 1, path, call, own, roll) * hand.rolls[0].chances[own]
                below.append((row, 0.0))
        else:
            row = {value: 1.0} | {column("value", roll, (*path, bid)): -1.0 for bid in _next(hand, path)}
            for call in range(hand.n_calls[0] if path else 0):
                for own in range(mine):
                    won = _won(hand, values, 0, path, call, own, roll)
                    row[plan(own, (*path, -1 - call))] = -won * hand.rolls[0].chances[own]
            below.append((row, 0.0))
    costs = np.zeros(len(columns))
    for roll, chance in enumerate(hand.rolls[1].chances):
        costs[column("value", roll, ())] = -chance

    def matrix(rows: Sequence[tuple[dict[int, float], float]]) -> tuple[np.ndarray, np.ndarray]:
        out = np.zeros((len(rows), len(columns)))
        for number, (row, _) in enumerate(rows):
            out[number, list(row)] = list(row.values())
        return out, np.array([right for _, right in rows])

    bounds = [(0, None) if key[0] == "plan" else (None, None) for key in columns]
    a, b = matrix(below)
    found = linprog(costs, a, b, *matrix(equal), bounds=bounds)
    return -float(found.fun)


def _next(hand: Hand, path: tuple[int, ...]) -> range:
    return range(int(hand.first[path[-1] + 1]) if path else 0, len(hand.bids))


def _rising(hand: Hand, size: int) -> list[tuple[int, ...]]:
    if size == 0:
        return [()]
    return [(*path, bid) for path in _rising(hand, size - 1) for bid in _next(hand, path)]


def _won(hand: Hand, values: np.ndarray, caller: int, path: tuple[int, ...], call: int, own: int, roll: int) -> float:
    bid = path[-1]
    return float(values[hand.outcome[caller, bid, call, hand.counting[0, bid, own] + hand.counting[1, bid, roll]]])


@pytest.mark.parametrize(("faces", "quantities", "calls"), [(3, 2, 1), (3, 1, 3)])
def test_small_hands_with_any_outcomes_agree_with_linear_programs(faces: int, quantities: int, calls: int) -> None:
    """What calls come to is drawn, by pair of dice, and so is what that is worth: nothing of any rules helps."""
    hand = simple_hand(faces, quantities, calls, seed=faces)
    values = np.random.default_rng(1).random(5)
    lower, upper = bracket(hand, values, 1500)
    assert upper - lower < 2e-4
    assert lower - 1e-6 <= by_linear_program(hand, values) <= upper + 1e-6


@pytest.mark.parametrize("game", [CLASSIC, SPOT_ON], ids=lambda game: game.name)
@pytest.mark.parametrize("dice", [(1, 1), (2, 1), (2, 2)])
def test_tables_of_a_hand_say_what_the_rules_do(game: dicegym.Game, dice: tuple[int, int]) -> None:
    """Random hands are played by the rules and looked up in the tables, bid by bid, to the call."""
    hand, rng = tabulate(game, *dice), np.random.default_rng(sum(dice))
    for opener in (0, 1) * 20:
        state = game.new_game()[0]
        state["player"] = opener
        state["left"][[opener, 1 - opener]] = state["rolled"][[opener, 1 - opener]] = dice
        rolls = [int(rng.integers(size)) for size in hand.sizes]
        state["hands"][[opener, 1 - opener]] = [hand.rolls[place].counts[roll] for place, roll in enumerate(rolls)]
        last, place = -1, 0
        while True:
            legal = game.legal(state)
            following = hand.bids[hand.first[last + 1] :]
            assert set(following) == set(np.flatnonzero(legal[:180])) - set(hand.impossible)
            calls = hand.calls[place] if last >= 0 else ()
            assert list(calls) == list(np.flatnonzero(legal[180:]) + 180)
            if last >= 0 and (len(following) == 0 or rng.random() < 0.3):
                break
            last = int(rng.integers(hand.first[last + 1], len(hand.bids)))
            game.step(state, int(hand.bids[last]))
            place = 1 - place
        number = int(rng.integers(len(calls)))
        game.step(state, calls[number])
        matching = hand.counting[0, last, rolls[0]] + hand.counting[1, last, rolls[1]]
        ending = hand.endings[hand.outcome[place, last, number, matching]]
        assert ending[:2] == (state["left"][opener], state["left"][1 - opener])
        assert state["over"] or ending.opener == (0 if state["player"] == opener else 1)


def test_hands_are_learned_after_those_that_they_lead_to_and_bids_go_by_levels() -> None:
    assert groups_of(CLASSIC) == [((1, 1),), ((1, 2),), ((2, 1),), ((2, 2),)]
    assert groups_of(SPOT_ON) == [((1, 1), (2, 1), (2, 2))]
    follow = np.zeros((3, 3), bool)
    follow[0, 1] = follow[1, 2] = True
    with pytest.raises(ParameterError, match="no levels"):
        number_nodes(follow)


def test_what_a_tree_leaves_out_would_be_found_by_the_best_reply() -> None:
    """If losing a die by a bid above all dice were the best that can happen, the best reply would make it."""
    hand = tabulate(dicegym.game("liarsdice", players=2, dice=2, faces=3), 1, 2)
    learning = Learner(hand)
    values = alone(hand)
    learning.learn(values)
    strategy = learning.strategy()
    assert min(hand.overbid) > NOT_ALLOWED
    assert strategy.win_chance(values, 0, best=True) < 0.99
    values[hand.overbid[0]] = 1
    assert strategy.win_chance(values, 0, best=True) == pytest.approx(1)
    values[:] = 1
    values[hand.overbid[1]] = 0
    assert strategy.win_chance(values, 1, best=True) == pytest.approx(1)


def test_threads_make_no_difference() -> None:
    tables = []
    for threads in (1, 2, 3):
        solver = Solver(ONE_DIE[0], threads)
        for _ in range(6):
            solver.step()
        tables.append(solver.learners[1, 1])
    for other in tables[1:]:
        assert tables[0].bid_regrets.any()
        assert np.array_equal(tables[0].bid_regrets, other.bid_regrets)
        assert np.array_equal(tables[0].call_totals, other.call_totals)


@cache
def values_of(game: dicegym.Game) -> EquilibriumValues:
    """Return values by a strategy that was learned for a moment."""
    solver = Solver(game)
    while solver.steps < 12:
        solver.step()
    strategies = solver.current()
    played = worths(solver.groups, strategies, best=False)
    return EquilibriumValues(game, strategies, exploitability(solver.groups, strategies), played)


@pytest.mark.parametrize("game", [*ONE_DIE, pytest.param(SPOT_ON, marks=pytest.mark.slow), *FEWER_FACES], ids=repr)
def test_values_are_those_of_the_policy(game: dicegym.Game) -> None:
    """A value is the mean, by the policy, of what comes then; an action's, the mean over what is believed."""
    valuer, rng = values_of(game), np.random.default_rng(3)
    for seed in range(2 if game.all_parameters["dice"] == 1 else 1):
        state = game.new_game(seed)[0]
        while not state["over"]:
            me = int(state["player"])
            policy, told = valuer.policy(state), valuer.action_values(state).values
            assert policy.sum() == pytest.approx(1)
            assert set(np.flatnonzero(policy)) <= set(np.flatnonzero(~np.isnan(told)))
            hidden = state.copy()
            hidden["hands"][1 - me] = 0
            assert np.array_equal(valuer.policy(hidden), policy)
            assert np.array_equal(valuer.action_values(hidden).values, told, equal_nan=True)
            mean = 0.0
            for action in np.flatnonzero(policy):
                after = state.copy()
                game.step(after, int(action))
                ended = after["over"] or after["finished"] > state["finished"]
                worth = valuer.between(after, me) if ended else valuer.value(after, me)
                mean += policy[action] * worth
            assert valuer.value(state, me) == pytest.approx(mean, abs=1e-12)
            assert valuer.value(state, 0) + valuer.value(state, 1) == pytest.approx(1)
            game.step(state, int(rng.choice(np.flatnonzero(game.legal(state)))))
        assert valuer.value(state, int(np.argmax(game.returns(state)))) == 1


@pytest.mark.parametrize("game", ONE_DIE, ids=lambda game: game.name)
def test_action_values_are_means_over_beliefs(game: dicegym.Game) -> None:
    """Beliefs are counted here by going through both rolls: chances times what the policy does with each."""
    valuer = values_of(game)
    for first, seed in ((0, 1), (3, 2), (4, 3)):
        start = game.new_game(seed)[0]
        me, other = int(start["player"]), 1 - int(start["player"])
        asked = []
        for face in range(6):
            state = start.copy()
            state["hands"][other] = np.eye(6, dtype=np.int8)[face]
            game.step(state, first)
            asked.append((state, valuer.policy(state)))
        second = int(sum(policy for _, policy in asked)[:180].argmax())
        weights = np.array([policy[second] for _, policy in asked])
        assert weights.sum() > 0.01
        worth = np.zeros(6)
        for face, (state, _) in enumerate(asked):
            game.step(state, second)
            told = valuer.action_values(state).values
            game.step(state, 180)
            worth[face] = valuer.between(state, me)
        assert told[180] == pytest.approx(worth @ weights / weights.sum())


def test_bids_above_all_dice_and_what_is_not_allowed() -> None:
    """They are priced by what the rules make of them."""
    valuer = values_of(SPOT_ON)
    state = SPOT_ON.new_game(2)[0]
    me = int(state["player"])
    assert valuer.action_value(state, 180) == 0  # disqualified
    assert valuer.action_value(state, 10**9) == pytest.approx(valuer.action_value(state, 100))
    lost = valuer.hands.follows[2, 1]
    assert valuer.action_value(state, 100) == pytest.approx(lost)
    SPOT_ON.step(state, 4 * 6)  # five ones
    assert valuer.policy(state)[180] == 1
    assert valuer.value(state, me) == pytest.approx(lost)
    SPOT_ON.step(state, 3 * 6 - 1)  # three sixes are worth more, and are true at times
    assert 0 <= valuer.value(state, me) <= 1
    assert valuer.policy(state).sum() == pytest.approx(1)
    assert values_of(ONE_DIE[0]).action_value(ONE_DIE[0].new_game()[0], -1) == 0
    state = SPOT_ON.new_game(2)[0]
    state["left"][me] = state["rolled"][me] = 1  # a hand that never comes about
    state["hands"][me] = (1, 0, 0, 0, 0, 0)
    with pytest.raises(ParameterError, match="never comes about"):
        valuer.value(state, 0)


def test_best_replies_over_the_whole_game_are_never_worse_than_playing_along() -> None:
    game = SPOT_ON
    strategies = values_of(game).strategies
    best, played = worths(groups_of(game), strategies, best=True), worths(groups_of(game), strategies, best=False)
    for dice, value in played.opens.items():
        assert best.opens[dice] >= value - 1e-6
        assert best.follows[dice] >= played.follows[dice] - 1e-6
        assert value + played.follows[dice] == pytest.approx(1, abs=1e-6)
    certain = Worth(dict.fromkeys(best.opens, 1.0), dict.fromkeys(best.opens, 1.0))
    hand = tabulate(game, 2, 2)
    assert ending_values(hand, certain, 0).max() == 1


# --- what is kept --------------------------------------------------------------------------------------------


def the_solution(game: dicegym.Game) -> EquilibriumSolution:
    found = need(game, VALUES).solution(game)
    assert isinstance(found, EquilibriumSolution)
    return found


def test_a_solution_is_kept_and_found_again() -> None:
    solving, folder = the_solution(SPOT_ON), tables_folder(SPOT_ON)
    assert solving.quality(folder) is None
    with pytest.raises(ParameterError, match="dicegym values solve liarsdice_spot_on -p"):
        solution.load_values(SPOT_ON)
    quality = solving.solve(folder, goal=0.03, seconds=None, threads=2, progress=SILENT)
    assert quality == solving.quality(folder)
    assert 0 < quality <= 0.03
    valuer = solution.load_values(SPOT_ON)
    assert valuer.exploitability == quality
    assert exploitability(groups_of(SPOT_ON), valuer.strategies) == pytest.approx(quality)
    file = folder / solution.FILE
    file.write_bytes(file.read_bytes()[:-1000])
    with pytest.raises(DamagedFileError, match=r"cannot be read.*remove the folder"):
        solution.load_values(SPOT_ON)


def test_what_was_solved_stays_when_it_is_stopped(tmp_path: Path) -> None:
    """Tables of the last look stay, and better ones take their place."""
    solving = EquilibriumSolution(ONE_DIE[1], 100, "")
    worse = solving.solve(tmp_path, goal=1.0, seconds=None, threads=1, progress=SILENT)
    assert solving.solve(tmp_path, goal=0.0, seconds=0.0, threads=1, progress=SILENT) == worse
    assert solving.solve(tmp_path, goal=worse / 2, seconds=None, threads=1, progress=SILENT) <= worse / 2
    assert [path.name for path in (tmp_path / solution.FILE).parent.iterdir()] == ["tables.npz"]


@pytest.mark.slow
@pytest.mark.parametrize("game", [SPOT_ON, dicegym.game("liarsdice_spot_on", players=2, dice=3)], ids=repr)
def test_large_games_reach_their_goal(game: dicegym.Game, tmp_path: Path) -> None:
    solving = the_solution(game)
    assert solving.solve(tmp_path, goal=solving.goal, seconds=None, threads=2, progress=SILENT) <= solving.goal
