"""The rules of Hog as tables worked out by hand: one table per rule of the contest's text and per ruling."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import dice as oracle_dice
from variants import play

import dicegym
from dicegym.engine.game import Game
from dicegym.games.hog.rules import N_ACTIONS, OUT_OF_RANGE

pytestmark = pytest.mark.nojit

HOG = dicegym.game("hog")


@lru_cache(maxsize=256)
def key_rolling(faces: tuple[int, ...], sides: int, seat: int = 0, turn: int = 0) -> int:
    """Return the first key under which a turn shows ``faces``: dice cannot be forced, but keys can be searched."""
    assert max(faces, default=1) <= sides
    key = 0
    while any(oracle_dice.die(key, seat, turn, number, sides) != face for number, face in enumerate(faces)):
        key += 1
    return key


def at(scores: tuple[int, int] = (0, 0), player: int = 0, key: int = 0, game: Game = HOG, **fields: Any) -> Any:
    """Return a state in the middle of a game."""
    state = game.new_game()[0]
    for name, value in ({"scores": scores, "player": player, "key": key} | fields).items():
        state[name] = value
    return state


def choose(state: Any, number: int) -> int:
    """Play a number of dice: action 0 means -1."""
    return HOG.step(state, number + 1)


def scores(state: Any) -> tuple[int, ...]:
    return tuple(state["scores"].tolist())


def rolled(state: Any, seat: int) -> list[int]:
    return [face for face in state["rolled"][seat].tolist() if face]


@lru_cache
def telling_key(seat: int, turn: int) -> tuple[int, list[int]]:
    """Return a key under which ten six-sided dice show a 5 or a 6, and what they show."""
    for key in range(100):
        faces = [oracle_dice.die(key, seat, turn, number, 6) for number in range(10)]
        if max(faces) > 4:
            return key, faces
    raise AssertionError


def sides_used(state: Any) -> int:
    """Return 4 or 6: which dice are rolled now, told by ten dice that show a 5 or 6 if they can."""
    seat = int(state["player"])
    state["key"], with_six = telling_key(seat, int(state["turns"][seat]))
    choose(state, 10)
    return 6 if rolled(state, seat) == with_six else 4


# --- rule 1, Pig out ---------------------------------------------------------------------------------------


PIG_OUT = {"2": 2, "6": 6, "1": 1, "66": 12, "234": 9, "561": 1, "165": 1, "11": 1, "111": 1, "6166": 1, "6543": 18}


@pytest.mark.parametrize(("shown", "points"), PIG_OUT.items())
def test_pig_out_scores_one(shown: str, points: int) -> None:
    faces = tuple(map(int, shown))
    state = at((3, 5), key=key_rolling(faces, 6))  # 3 + 5 is no multiple of seven: six sides
    assert choose(state, len(faces)) == 0
    assert rolled(state, 0) == list(faces)
    assert scores(state) == (3 + points, 5)
    assert state["runs"].tolist() == [int(1 in faces), 0]


def test_up_to_ten_dice_are_rolled_and_shown() -> None:
    for number in range(1, 11):
        state = at((3, 5), key=5)
        choose(state, number)
        assert rolled(state, 0) == [oracle_dice.die(5, 0, 0, n, 6) for n in range(number)]
        assert state["chosen"][0] == number


# --- rule 2, Free bacon ------------------------------------------------------------------------------------


BACON = {0: 1, 1: 2, 5: 6, 9: 10, 10: 2, 19: 10, 50: 6, 47: 8, 74: 8, 99: 10, 33: 4}
BACON_OF_THREE_DIGITS = {107: 8, 700: 8, 250: 6, 111: 2, 998: 10}


@pytest.mark.parametrize(("opponent", "points"), (BACON | BACON_OF_THREE_DIGITS).items())
def test_free_bacon_is_one_plus_the_largest_digit(opponent: int, points: int) -> None:
    state = at((30, opponent), game=dicegym.game("hog", goal=999))
    assert choose(state, 0) == 0
    assert scores(state) == (30 + points, opponent)
    assert rolled(state, 0) == []
    assert state["runs"].tolist() == [0, 0]


# --- rules 3 and 5, Hog wild turned over by exchanges ------------------------------------------------------


WILD = {0: True, 1: False, 6: False, 7: True, 14: True, 15: False, 21: True, 35: True, 98: True, 99: False}
WILD |= {154: True, 155: False}
ODD = {(0, 0): False, (1, 0): True, (0, 1): True, (1, 1): False, (2, 0): False, (2, 1): True, (3, 0): True}
ODD |= {(127, 129): False, (300, 1): True}


@pytest.mark.parametrize("player", [0, 1])
def test_hog_wild_turned_over_by_an_odd_number_of_exchanges(player: int) -> None:
    for total, exchanges in [*product(WILD, [(0, 0), (1, 0)]), *product((7, 15), ODD)]:
        low = max(0, total - 99)
        state = at((low, total - low), player, exchanges=exchanges)
        assert sides_used(state) == (4 if WILD[total] != ODD[exchanges] else 6), (total, exchanges)


@pytest.mark.parametrize("player", [0, 1])
def test_exchanging_scores_one_and_counts_from_the_next_turn_on(player: int) -> None:
    state = at((12, 12), player)  # 24: six sides; then 25: would be six, are four
    assert choose(state, -1) == 0
    assert scores(state) == ((13, 12) if player == 0 else (12, 13))
    assert state["exchanges"].tolist() == [1 - player, player]
    assert rolled(state, player) == []
    assert sides_used(state) == 4


def test_the_sample_game_of_the_contest_text() -> None:
    """Two dice for six points must be four-sided, four dice for ten points six-sided, without a 1."""

    def fits(key: int) -> bool:
        two = [oracle_dice.die(key, 1, 0, n, 4) for n in range(2)]
        four = [oracle_dice.die(key, 0, 1, n, 6) for n in range(4)]
        return sum(two) == 6 and sum(four) == 10 and 1 not in two + four

    key = next(key for key in range(100_000) if fits(key))
    state = at(key=key)
    for number, after in [(-1, (1, 0)), (2, (1, 6)), (4, (11, 6)), (-1, (11, 7))]:
        assert choose(state, number) == 0
        assert scores(state) == after
    assert state["player"] == 0
    assert state["exchanges"].tolist() == [1, 1]
    assert sides_used(state) == 6


# --- rule 4 and ruling 5, Swine Swap -----------------------------------------------------------------------

SWAPPING = [(2, 20), (107, 70), (81, 118), (20, 2), (12, 21), (45, 54), (30, 3), (109, 90), (100, 0), (110, 1)]
STAYING = [(71, 107), (20, 40), (2, 21), (2, 2), (12, 12), (102, 2), (13, 3), (23, 31), (1, 0), (100, 10)]
STAYING += [(11, 11), (55, 55), (99, 99)]  # which swap without a trace


@pytest.mark.parametrize(
    ("after", "player", "swap"),
    [
        (pair, player, pair in SWAPPING)
        for pair in SWAPPING + STAYING
        for player in (0, 1)
        if pair[player] > 0  # a turn scores at least one point
    ],
)
def test_swine_swap(after: tuple[int, int], player: int, swap: bool) -> None:
    """The pair stands after the points of -1 are added, whoever moved."""
    game = dicegym.game("hog", goal=200)
    before = (after[0] - 1, after[1]) if player == 0 else (after[0], after[1] - 1)
    state = at(before, player, game=game)
    choose(state, -1)
    assert scores(state) == (after[::-1] if swap else after)


def test_swap_follows_a_roll_and_bacon_too() -> None:
    state = at((14, 12), key=key_rolling((3, 4), 6))
    choose(state, 2)
    assert scores(state) == (12, 21)
    state = at((19, 12))  # bacon 1 + 2 makes 22, no swap; from 18 it makes 21
    choose(state, 0)
    assert scores(state) == (22, 12)
    state = at((18, 12))
    choose(state, 0)
    assert scores(state) == (12, 21)


# --- rule 6 and ruling 6, Pig Fest -------------------------------------------------------------------------


@pytest.mark.parametrize(("run", "times"), [(0, 1), (1, 1), (2, 2), (3, 3)])
@pytest.mark.parametrize(("number", "faces", "points"), [(2, (5, 4), 9), (1, (3,), 3), (0, (), 6), (-1, (), 1)])
def test_a_turn_without_a_pig_out_is_multiplied_and_ends_the_run(
    run: int, times: int, number: int, faces: tuple[int, ...], points: int
) -> None:
    state = at((4, 25), key=key_rolling(faces, 6), runs=(run, 2))
    choose(state, number)
    assert scores(state) == (4 + points * times, 25)
    assert state["runs"].tolist() == [0, 2]  # the opponent's run is its own


def test_pig_outs_in_a_row_count_to_three_and_are_never_multiplied() -> None:
    game = dicegym.game("hog", goal=200)
    state = at((31, 61), game=game)
    for turn, (run, own) in enumerate([(1, 32), (2, 33), (3, 34), (3, 35), (3, 36)]):
        state["player"] = 0
        sides = 4 if sum(scores(state)) % 7 == 0 else 6
        state["key"] = key_rolling((4, 1), sides, 0, turn)
        choose(state, 2)
        assert rolled(state, 0) == [4, 1]
        assert state["runs"][0] == run
        assert scores(state) == (own, 61)
    state["player"] = 0
    state["key"] = key_rolling((6, 6), 6, 0, 5)
    choose(state, 2)
    assert scores(state) == (36 + 36, 61)  # the example of the text: 12 * 3 = 36
    assert state["runs"][0] == 0


def test_a_pig_out_leaves_the_opponents_run_alone() -> None:
    state = at((3, 5), player=1, key=key_rolling((1,), 6, 1), runs=(2, 0))
    choose(state, 1)
    assert state["runs"].tolist() == [2, 1]


# --- ruling 1, the end -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "number", "runs", "after", "winner"),
    [
        ((98, 50), -1, (0, 0), (99, 50), None),
        ((99, 50), -1, (0, 0), (100, 50), 0),
        ((94, 50), 0, (0, 0), (100, 50), 0),
        ((93, 50), 0, (0, 0), (99, 50), None),
        ((82, 50), 0, (3, 0), (100, 50), 0),
        ((99, 0), -1, (0, 0), (0, 100), 1),  # 00 and 00: the swap comes before the end test
        ((107, 81), 0, (0, 0), (116, 81), 0),
        ((109, 81), 0, (0, 0), (81, 118), 1),
    ],
)
def test_the_game_ends_after_the_swap_and_the_higher_score_wins(
    before: tuple[int, int], number: int, runs: tuple[int, int], after: tuple[int, int], winner: int | None
) -> None:
    state = at(before, runs=runs)
    choose(state, number)
    assert scores(state) == after
    assert bool(state["over"]) is (winner is not None)
    pay = {None: [0, 0], 0: [1, -1], 1: [-1, 1]}[winner]
    assert HOG.returns(state).tolist() == pay
    if winner is None:
        assert state["player"] == 1
    else:
        assert state["winner"] == winner


@pytest.mark.parametrize("goal", [10, 50, 101, 999])
def test_the_goal_is_a_parameter(goal: int) -> None:
    game = dicegym.game("hog", goal=goal)
    for own, over in ((goal - 2, False), (goal - 1, True)):
        state = at((own, 0), game=game)
        choose(state, -1)
        assert bool(state["over"]) is over


def test_a_game_begins_with_player_0_at_nothing() -> None:
    for seed in range(20):
        state = HOG.new_game(seed)[0]
        assert scores(state) == (0, 0)
        assert state["player"] == 0
        assert not state["over"]
        assert not state["runs"].any()
        assert not state["exchanges"].any()


# --- rulings 3 and 7, illegal numbers ----------------------------------------------------------------------


@pytest.mark.parametrize("number", [-2, -3, 11, 12, 100, -128, 127, 255, 2**31, -(2**31) - 1, 2**63 - 2, -(2**63)])
@pytest.mark.parametrize("player", [0, 1])
def test_a_number_out_of_range_disqualifies(number: int, player: int) -> None:
    state = at((40, 30), player)
    assert HOG.step(state, max(number + 1, -(2**63))) == OUT_OF_RANGE
    assert HOG.spec.faults[OUT_OF_RANGE]
    assert state["over"]
    assert state["winner"] == 1 - player
    assert HOG.returns(state)[player] == -1
    assert scores(state) == (40, 30)


def test_every_number_from_minus_one_to_ten_is_legal() -> None:
    state = at((40, 30))
    assert HOG.legal(state).tolist() == [True] * 12
    for action in range(N_ACTIONS):
        assert HOG.step(state.copy(), action) == 0


# --- ruling 2, the order inside a turn ---------------------------------------------------------------------


def test_dice_are_picked_from_the_scores_before_the_turn() -> None:
    """20 + 8 is wild before the turn; what the roll makes of the sum does not matter, nor this turn's -1."""
    faces = (2, 3)
    state = at((20, 8), key=key_rolling(faces, 4))
    choose(state, 2)
    assert rolled(state, 0) == list(faces)
    assert scores(state) == (25, 8)


def test_pig_fest_comes_before_the_swap() -> None:
    """4 * 2 makes 21 against 12 and swaps; 4 alone would make 17, and 17 * 2 is nothing."""
    state = at((13, 12), key=key_rolling((4,), 6), runs=(2, 0))
    choose(state, 1)
    assert scores(state) == (12, 21)


def test_pig_out_comes_before_pig_fest() -> None:
    state = at((13, 5), key=key_rolling((6, 1), 6), runs=(3, 0))
    choose(state, 2)
    assert scores(state) == (14, 5)
    assert state["runs"][0] == 3


def test_scores_are_swapped_but_runs_and_exchanges_stay_with_their_players() -> None:
    state = at((1, 20), runs=(1, 2), exchanges=(4, 7))
    choose(state, -1)
    assert scores(state) == (20, 2)
    assert state["runs"].tolist() == [0, 2]
    assert state["exchanges"].tolist() == [5, 7]


# --- what a game's dice depend on --------------------------------------------------------------------------


def test_the_number_of_dice_changes_nobodys_later_dice() -> None:
    """Whatever player 0 rolls, player 1 and player 0's next turn meet the same dice."""
    dice_met = set()
    for number in range(-1, 11):
        state = at((20, 40), key=77)
        choose(state, number)
        state["scores"], state["exchanges"] = (20, 41), 0  # the same sides for everybody
        choose(state, 10)
        state["scores"] = (20, 41)
        choose(state, 10)
        dice_met.add((*rolled(state, 1), *rolled(state, 0)))
    assert len(dice_met) == 1
    assert len(dice_met.pop()) == 20


def test_both_seats_and_every_turn_have_dice_of_their_own() -> None:
    met = set()
    for player in (0, 1):
        for turn in range(50):
            state = at((20, 41), player, key=77, turns=(turn, turn))
            choose(state, 10)
            met.add(tuple(rolled(state, player)))
    assert len(met) == 100


# --- what a player sees ------------------------------------------------------------------------------------


def digits(score: int) -> tuple[int, int]:
    text = f"{score:03d}"
    return int(text[-2]), int(text[-1])


def would_swap(own: int, opponent: int, points: int) -> int:
    """Would that many points swap?"""
    return int(digits(own + points) == digits(opponent)[::-1])


@given(
    st.sampled_from([10, 100, 999]),
    st.data(),
    st.integers(0, 1),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
    st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
def test_the_observation_is_what_the_rules_page_says(
    goal: int, data: st.DataObject, seat: int, runs: tuple[int, int], exchanges: tuple[int, int]
) -> None:
    pair = [data.draw(st.integers(0, goal + 20)) for _ in (0, 1)]
    own, opponent = pair[seat], pair[1 - seat]
    bacon = 1 + max(int(digit) for digit in str(opponent))
    lead = min(max((own - opponent) / goal, -1), 1)
    to_swap = next(points for points in range(1, 101) if would_swap(own, opponent, points))
    parts: dict[str, list[float]] = {
        "scores": [min(own / goal, 1), min(opponent / goal, 1)],
        "lead": [(lead + 1) / 2],
        "leading": [float(own > opponent)],
        "own tens": np.eye(10)[digits(own)[0]].tolist(),
        "own units": np.eye(10)[digits(own)[1]].tolist(),
        "opponent tens": np.eye(10)[digits(opponent)[0]].tolist(),
        "opponent units": np.eye(10)[digits(opponent)[1]].tolist(),
        "sum modulo 7": np.eye(7)[(own + opponent) % 7].tolist(),
        "to swap": [to_swap / 100, min(to_swap / 20, 1)],
        "bacon": [bacon / 10],
        "bacon swaps": [would_swap(own, opponent, bacon * times) for times in (1, 2, 3)],
        "bacon wild": [float((own + bacon + opponent) % 7 == 0)],
        "exchange swaps": [would_swap(own, opponent, times) for times in (1, 2, 3)],
        "exchange wild": [float((own + 1 + opponent) % 7 == 0)],
        "run": np.eye(4)[runs[seat]].tolist(),
        "exchanges": np.eye(2)[exchanges[seat] % 2].tolist(),
    }
    for memory in (0, 1):
        game = dicegym.game("hog", goal=goal, memory=memory)
        state = at((pair[0], pair[1]), game=game, runs=runs, exchanges=exchanges)
        found = dict(
            zip(
                game.features,
                np.split(game.observe(state, seat), np.cumsum([*game.features.values()])[:-1]),
                strict=True,
            )
        )
        assert list(found) == list(parts)[: len(found)]
        for name, values in found.items():
            assert values.tolist() == pytest.approx(parts[name], abs=1e-6), name


def test_the_view_is_what_a_strategy_may_know() -> None:
    """Scores alone, or with what it can remember; the observation knows no more and no less."""
    state = at((31, 42), 1, runs=(2, 1), exchanges=(5, 3))
    for memory in (0, 1):
        state["memory"] = memory
        assert HOG.view(state, 0)._asdict() == {
            "score": 31,
            "opponent_score": 42,
            "goal": 100,
            "run": 2 * memory,
            "exchanges": 5 * memory,
        }
        assert HOG.view(state, 1)._asdict() == {
            "score": 42,
            "opponent_score": 31,
            "goal": 100,
            "run": memory,
            "exchanges": 3 * memory,
        }


@given(st.integers(0, 2**64 - 1), st.sampled_from([10, 100, 999]))
def test_the_sum_of_scores_grows_every_turn(seed: int, goal: int) -> None:
    """What makes one sweep over the pairs of scores enough to solve the game."""
    sums = [-1]

    def visit(state: Any) -> None:
        assert sum(scores(state)) > sums[-1]
        sums.append(sum(scores(state)))

    state = play(dicegym.game("hog", goal=goal), seed, 2000, visit)
    assert state["over"]
    assert state["scores"][state["winner"]] >= goal
    assert state["scores"][state["winner"]] > state["scores"][1 - state["winner"]]
