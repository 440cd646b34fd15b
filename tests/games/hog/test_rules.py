"""The rules of Hog as tables worked out by hand: one table per rule of the contest's text and per ruling."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import dice as oracle_dice
from variants import play

import dicegym
from dicegym.engine.game import Game
from dicegym.games.hog.rules import OUT_OF_RANGE

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


# --- single turns ------------------------------------------------------------------------------------------


class Turn(NamedTuple):
    """A turn of ``player``; scores, runs and exchanges are by seat."""

    scores: tuple[int, int]
    number: int
    after: tuple[int, int]
    shown: str = ""
    """What the dice show."""
    runs: tuple[int, int] = (0, 0)
    runs_after: tuple[int, int] | None = None
    """None: the player's own run ends."""
    player: int = 0
    goal: int = 100
    winner: int | None = None
    sides: int = 6
    exchanges: tuple[int, int] = (0, 0)


PIG_OUT = {"2": 2, "6": 6, "1": 1, "66": 12, "234": 9, "561": 1, "165": 1, "11": 1, "111": 1, "6166": 1, "6543": 18}
BACON = {0: 1, 1: 2, 5: 6, 9: 10, 10: 2, 19: 10, 50: 6, 47: 8, 74: 8, 99: 10, 33: 4}
BACON |= {107: 8, 700: 8, 250: 6, 111: 2, 998: 10}  # all three digits count
SWAPPING = [(2, 20), (107, 70), (81, 118), (20, 2), (12, 21), (45, 54), (30, 3), (109, 90), (100, 0), (110, 1)]
STAYING = [(71, 107), (20, 40), (2, 21), (2, 2), (12, 12), (102, 2), (13, 3), (23, 31), (1, 0), (100, 10)]
STAYING += [(11, 11), (55, 55), (99, 99)]  # which swap without a trace
FEST = [(2, "54", 9), (1, "3", 3), (0, "", 6), (-1, "", 1)]
TURNS = {
    # rule 1, Pig out: 3 + 5 is no multiple of seven, so the dice have six sides
    **{
        f"{shown} scores {points}": Turn((3, 5), len(shown), (3 + points, 5), shown, runs_after=("1" in shown, 0))
        for shown, points in PIG_OUT.items()
    },
    "the other's run": Turn((3, 5), 1, (3, 6), "1", runs=(2, 0), runs_after=(2, 1), player=1),
    # rule 2, Free bacon: one plus the largest digit of the other's score
    **{f"bacon of {other}": Turn((30, other), 0, (30 + got, other), goal=999) for other, got in BACON.items()},
    # rule 4 and ruling 5, Swine Swap: after the points of -1 are added, whoever moved; a turn scores one at least
    **{
        f"{pair} by {player}": Turn(
            (pair[0] - 1, pair[1]) if player == 0 else (pair[0], pair[1] - 1),
            -1,
            pair[::-1] if pair in SWAPPING else pair,
            player=player,
            goal=200,
        )
        for pair in SWAPPING + STAYING
        for player in (0, 1)
        if pair[player] > 0
    },
    "a roll swaps": Turn((14, 12), 2, (12, 21), "34"),
    "bacon of 12 makes 22": Turn((19, 12), 0, (22, 12)),
    "bacon of 12 swaps 21": Turn((18, 12), 0, (12, 21)),
    # rule 6 and ruling 6, Pig Fest: a turn without a Pig out is multiplied and ends the run
    **{
        f"{number} after {run}": Turn((4, 25), number, (4 + points * max(run, 1), 25), shown, runs=(run, 2))
        for run in range(4)
        for number, shown, points in FEST
    },
    # ruling 1: the game ends after the swap, and the higher score wins
    "99 to 100": Turn((98, 50), -1, (99, 50)),
    "100": Turn((99, 50), -1, (100, 50), winner=0),
    "bacon to 100": Turn((94, 50), 0, (100, 50), winner=0),
    "bacon to 99": Turn((93, 50), 0, (99, 50)),
    "tripled bacon": Turn((82, 50), 0, (100, 50), runs=(3, 0), winner=0),
    "00 and 00": Turn((99, 0), -1, (0, 100), winner=1),  # the swap comes before the end test
    "116": Turn((107, 81), 0, (116, 81), winner=0),
    "118": Turn((109, 81), 0, (81, 118), winner=1),
    **{f"{goal} less one": Turn((goal - 2, 0), -1, (goal - 1, 0), goal=goal) for goal in (10, 50, 999)},
    "101 less one": Turn((99, 0), -1, (0, 100), goal=101),
    "to 50": Turn((49, 0), -1, (50, 0), goal=50, winner=0),
    "to 101": Turn((100, 0), -1, (101, 0), goal=101, winner=0),
    "to 999": Turn((998, 0), -1, (999, 0), goal=999, winner=0),
    # ruling 2: 20 + 8 is wild before the turn; what the roll makes of the sum does not matter
    "sides before": Turn((20, 8), 2, (25, 8), "23", sides=4),
    "fest before swap": Turn((13, 12), 1, (12, 21), "4", runs=(2, 0)),  # 4 alone would make 17
    "pig before fest": Turn((13, 5), 2, (14, 5), "61", runs=(3, 0), runs_after=(3, 0)),
    "own things stay": Turn((1, 20), -1, (20, 2), runs=(1, 2), exchanges=(4, 7)),
}


@pytest.mark.parametrize("name", TURNS)
def test_a_turn(name: str) -> None:
    turn = TURNS[name]
    player, faces, game = turn.player, tuple(map(int, turn.shown)), dicegym.game("hog", goal=turn.goal)
    key = key_rolling(faces, turn.sides, player)
    state = at(turn.scores, player, key, game, runs=turn.runs, exchanges=turn.exchanges)
    assert choose(state, turn.number) == 0
    assert rolled(state, player) == list(faces)
    assert scores(state) == turn.after
    ended = tuple(0 if seat == player else run for seat, run in enumerate(turn.runs))
    assert tuple(state["runs"].tolist()) == (ended if turn.runs_after is None else turn.runs_after)
    exchanged = [turn.number == -1 and seat == player for seat in (0, 1)]
    assert (state["exchanges"] - turn.exchanges).tolist() == exchanged
    pay = {None: [0, 0], 0: [1, -1], 1: [-1, 1]}[turn.winner]
    assert game.returns(state).tolist() == pay
    assert bool(state["over"]) is (turn.winner is not None)
    assert turn.winner is not None or state["player"] == 1 - player


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


def test_pig_outs_in_a_row_count_to_three_and_are_never_multiplied() -> None:
    """The example of the text: 12 * 3 = 36."""
    state = at((31, 61), game=dicegym.game("hog", goal=200))
    rows = [(1, 32), (2, 33), (3, 34), (3, 35), (3, 36), (0, 36 + 36)]
    for turn, (run, own) in enumerate(rows):
        faces = (4, 1) if run else (6, 6)
        state["player"] = 0
        state["key"] = key_rolling(faces, 4 if sum(scores(state)) % 7 == 0 else 6, 0, turn)
        choose(state, 2)
        assert rolled(state, 0) == list(faces)
        assert state["runs"][0] == run
        assert scores(state) == (own, 61)


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
@settings(max_examples=50)
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
@settings(max_examples=25)
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
