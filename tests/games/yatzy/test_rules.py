"""The rules of Yatzy as tables worked out by hand: one table per rule of the server's text and per ruling."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import dice as oracle_dice
from variants import play

import dicegym
from dicegym.engine.game import Game
from dicegym.games.yatzy.rules import record_of
from dicegym.pictures.watched import action_in

pytestmark = pytest.mark.nojit

SOLO = dicegym.game("yatzy", players=1)
TWO = dicegym.game("yatzy")
(ONES, TWOS, THREES, FOURS, FIVES, SIXES, PAIR, TWO_PAIRS, THREE, FOUR, SMALL, LARGE, FULL_HOUSE, CHANCE, YATZY) = (
    range(15)
)
SERVER_TURN = 1000
BAD_COMMAND, NO_ROLLS_LEFT, USED_BOX, NOT_SHOWN, NO_DICE, SERVER_PLAYS = range(1, 7)
NAMES = ["Ones", "Twos", "Threes", "Fours", "Fives", "Sixes", "One Pair", "Two Pairs", "Three of a Kind"]
NAMES += ["Four of a Kind", "Small Straight", "Large Straight", "Full House", "Chance", "Yatzy"]
MOST = [5, 10, 15, 20, 25, 30, 12, 22, 18, 24, 15, 20, 28, 30, 50]
"""The most points of each box."""


def at(dice: tuple[int, ...] | None = None, rolls_left: int = 2, game: Game = SOLO, **fields: Any) -> Any:
    """Return a state in the middle of a game; ``boxes`` are {box: points} by seat, all others being open."""
    state = game.new_game(7)[0]
    if dice is not None:
        state["dice"] = dice
    state["rolls_left"] = rolls_left
    for seat, boxes in enumerate(fields.pop("boxes", [])):
        for box, points in boxes.items():
            state["scores"][seat, box] = points
        state["totals"][seat] = sum(boxes.values())
        state["upper"][seat] = sum(points for box, points in boxes.items() if box < 6)
    for name, value in fields.items():
        state[name] = value
    return state


def best(box: int) -> int:
    """The action that scores a box with its best dice."""
    return 210 + box


def chosen(box: int, *places: int) -> int:
    """The wide action that scores a box with the dice in these places."""
    return 512 + 32 * box + sum(1 << place for place in places)


def rolling(*places: int) -> int:
    """The wide action that rolls the dice in these places."""
    return 256 + sum(1 << place for place in places)


def keeping(*faces: int) -> int:
    """The action that keeps these faces, found by its name."""
    name = f"keep {'-'.join(map(str, faces))}" if faces else "roll all"
    return next(action for action in range(210) if SOLO.action_name(action) == name)


def filled(n: int) -> dict[int, int]:
    """The first n boxes, crossed out."""
    return dict.fromkeys(range(n), 0)


# --- the rules 1 to 15, and rulings 5 and 6: what each box makes of the dice -----------------------------------------

BEST_DICE = {
    ONES: {"11111": 5, "13145": 2, "23456": 0},
    TWOS: {"22134": 4},
    THREES: {"33313": 12},
    FOURS: {"41122": 4, "11223": 0},
    FIVES: {"55555": 25},
    SIXES: {"66612": 18},
    PAIR: {"55661": 12, "33331": 6, "11234": 2, "12346": 0, "66666": 12},
    TWO_PAIRS: {"55661": 22, "33355": 16, "33335": 0, "44444": 0, "11234": 0},
    THREE: {"33355": 9, "66661": 18, "22222": 6, "66551": 0},
    FOUR: {"33335": 12, "66666": 24, "66655": 0},
    SMALL: {"53124": 15, "23456": 0, "12344": 0},
    LARGE: {"62435": 20, "12345": 0, "12346": 0},
    FULL_HOUSE: {"66655": 28, "11222": 8, "44444": 0, "44445": 0, "44556": 0},
    CHANCE: {"66666": 30, "12246": 15},
    YATZY: {"11111": 50, "66666": 50, "66665": 0},
}


@pytest.mark.parametrize("box", BEST_DICE)
def test_a_box_is_scored_with_its_best_dice(box: int) -> None:
    for (shown, points), rolls_left in product(BEST_DICE[box].items(), (0, 1, 2)):
        dice = tuple(map(int, shown))
        for order in (dice, dice[::-1], dice[2:] + dice[:2]):
            state = at(order, rolls_left)
            assert SOLO.step(state, best(box)) == 0
            assert state["scores"][0].tolist() == [points if other == box else -1 for other in range(15)], shown
            assert SOLO.returns(state).tolist() == [points]
            assert (state["round_number"], state["rolls_left"]) == (2, 2)


CHOSEN_DICE = {
    (PAIR, "55661"): {"01": 10, "23": 12, "12": 0, "012": 0, "0": 0, "": 0, "01234": 0},
    (PAIR, "55561"): {"012": 0},
    (TWO_PAIRS, "55661"): {"0123": 22, "01234": 0},
    (TWO_PAIRS, "55566"): {"0234": 22},
    (TWO_PAIRS, "55556"): {"0123": 0},
    (THREE, "33335"): {"013": 9, "0123": 0},
    (THREE, "33135"): {"01": 0},
    (FOUR, "33333"): {"0134": 12, "01234": 0},
    (FOUR, "33311"): {"0123": 0},
    (SMALL, "12345"): {"01234": 15, "0123": 0},
    (LARGE, "65432"): {"01234": 20, "1234": 0},
    (FULL_HOUSE, "66655"): {"01234": 28, "0134": 0},
    (CHANCE, "61122"): {"01234": 12, "0123": 0},
    (YATZY, "22222"): {"01234": 50, "0123": 0},
    (SIXES, "66162"): {"013": 18, "0": 6, "0123": 0, "": 0},
    (ONES, "56113"): {"23": 2, "0": 0},
}
"""Points by the places of the dice that are chosen."""


@pytest.mark.parametrize(("box", "shown"), CHOSEN_DICE)
def test_chosen_dice_must_be_exactly_what_the_box_asks_for(box: int, shown: str) -> None:
    for places, points in CHOSEN_DICE[box, shown].items():
        state = at(tuple(map(int, shown)))
        assert SOLO.step(state, chosen(box, *map(int, places))) == 0
        assert state["scores"][0, box] == points, places


# --- the bonus and ruling 4 ----------------------------------------------------------------------------------------


TO_FIVES = {TWOS: 6, THREES: 9, FOURS: 12, FIVES: 15}


@pytest.mark.parametrize(
    ("upper", "box", "shown", "total"),
    [
        ({ONES: 3} | TO_FIVES, SIXES, "66612", 63 + 50),
        ({ONES: 2} | TO_FIVES, SIXES, "66612", 62),
        ({ONES: 4} | TO_FIVES, SIXES, "66612", 64 + 50),
        ({FOURS: 20, FIVES: 25}, SIXES, "66622", 63 + 50),
        ({FOURS: 20, FIVES: 25}, CHANCE, "66622", 67),
        ({ONES: 3, SIXES: 30, FIVES: 25, FOURS: 20}, TWOS, "22113", 82 + 50),
    ],
)
def test_the_bonus_comes_at_sixty_three_in_the_upper_boxes(
    upper: dict[int, int], box: int, shown: str, total: int
) -> None:
    state = at(tuple(map(int, shown)), boxes=[upper])
    SOLO.step(state, best(box))
    assert SOLO.returns(state).tolist() == [total]


def test_the_bonus_is_paid_once_and_when_it_is_reached() -> None:
    state = at((6, 6, 6, 1, 2), boxes=[{FOURS: 16, FIVES: 20, THREES: 12}])
    paid = [float(SOLO.returns(state)[0])]
    for box, dice in ((SIXES, (6, 6, 6, 1, 2)), (TWOS, (2, 2, 1, 1, 3)), (CHANCE, (1, 1, 1, 1, 2))):
        state["dice"] = dice
        SOLO.step(state, best(box))
        paid.append(float(SOLO.returns(state)[0]))
    assert np.diff(paid).tolist() == [68, 4, 6]


# --- ruling 3: a turn begins with five dice and two rolls left -------------------------------------------------------


@pytest.mark.parametrize("players", [1, 2, 6])
def test_turns_begin_with_a_roll_made_and_two_left_and_go_round_fifteen_times(players: int) -> None:
    game = dicegym.game("yatzy", players=players)
    state = game.new_game(11)[0]
    key = int(state["key"])
    for turn in range(15 * players):
        number, seat = divmod(turn, players)
        assert not state["over"]
        assert (state["player"], state["round_number"], state["rolls_left"]) == (seat, number + 1, 2)
        assert state["dice"].tolist() == [oracle_dice.die(key, seat, number + 1, place, 6) for place in range(5)]
        game.step(state, keeping(int(state["dice"][0])))
        assert (state["player"], state["round_number"], state["rolls_left"]) == (seat, number + 1, 1)
        game.step(state, best(14 - number))
    assert state["over"]
    assert state["round_number"] == 15
    assert (state["scores"][:players] >= 0).all()
    assert not game.legal(state).any()


# --- what is legal, and names of actions ----------------------------------------------------------------------------


@pytest.mark.parametrize("rolls_left", [0, 1, 2])
@pytest.mark.parametrize("dice", [(1, 2, 3, 4, 5), (6, 6, 6, 6, 6), (3, 3, 2, 2, 2), (5, 1, 5, 2, 2)])
def test_what_is_legal(dice: tuple[int, ...], rolls_left: int) -> None:
    """The parts of the hand that leave something to roll, and the open boxes."""
    state = at(dice, rolls_left, boxes=[{ONES: 3, YATZY: 0, PAIR: 12}])
    parts = {tuple(sorted(part)) for n in range(5) for part in combinations(dice, n)} if rolls_left else set()
    expected = {keeping(*part) for part in parts} | {best(box) for box in range(15) if box not in (ONES, YATZY, PAIR)}
    assert set(np.flatnonzero(SOLO.legal(state)).tolist()) == expected


def test_no_two_actions_mean_the_same() -> None:
    """210 sets of up to four dice in the order that the rules page gives, and fifteen boxes."""
    names = [SOLO.action_name(action) for action in range(SOLO.n_actions)]
    assert len(set(names)) == 225
    sets = {1: "1", 6: "6", 7: "1-1", 27: "6-6", 28: "1-1-1", 83: "6-6-6", 84: "1-1-1-1", 209: "6-6-6-6"}
    assert {action: names[action] for action in sets} == {action: f"keep {shown}" for action, shown in sets.items()}
    assert names[0] == "roll all"
    assert names[210:] == NAMES
    assert SOLO.action_name(rolling(0, 4)) == "roll dice in places 1, 5"
    assert SOLO.action_name(chosen(PAIR, 1, 2)) == "One Pair with dice in places 2, 3"
    assert SOLO.action_name(SERVER_TURN) == "let the server play"
    assert SOLO.action_name(-1) == "-1 (no action)"


def test_actions_by_place_are_told_by_what_lies_there() -> None:
    state = SOLO.new_game(0)[0]
    state["dice"] = [3, 1, 3, 6, 1]
    told = {
        rolling(0, 4): "keep 1 3 6",
        rolling(0, 1, 2, 3, 4): "roll all",
        chosen(PAIR, 0, 2): "One Pair with 3-3",
        210 + PAIR: "score 6 in One Pair",
        SERVER_TURN: "let the server play",
    }
    assert {action: action_in(SOLO, state, action) for action in told} == told
    assert "roll" in action_in(SOLO, state, rolling())


# --- ruling 7: errors, and the server that plays ---------------------------------------------------------------------

ILLEGAL = {
    BAD_COMMAND: [-1, 225, 255, 288, 511, 512 + 15 * 32, 999, 1001, 2**62],
    NO_DICE: [rolling()],
    NOT_SHOWN: [keeping(4), keeping(1, 1, 1)],
    USED_BOX: [best(SIXES), chosen(SIXES, 0), best(ONES), chosen(ONES, 2, 3)],
}


@pytest.mark.parametrize("fault", ILLEGAL)
def test_an_error_changes_nothing(fault: int) -> None:
    for action in ILLEGAL[fault]:
        state = at((5, 6, 1, 1, 3), boxes=[{SIXES: 12, ONES: 0}], game=TWO)
        before = state.copy()
        assert TWO.step(state, action) == fault
        assert TWO.spec.faults[fault]
        assert state["errors"] == 1
        state["errors"] = 0
        assert state.tobytes() == before.tobytes()


def test_no_roll_without_rolls_left() -> None:
    for action in (0, keeping(1), keeping(4), rolling(0), rolling()):
        state = at((5, 6, 1, 1, 3), 0)
        assert SOLO.step(state, action) == NO_ROLLS_LEFT
        assert state["dice"].tolist() == [5, 6, 1, 1, 3]


@pytest.mark.parametrize(
    ("dice", "boxes", "box", "points"),
    [
        ((6, 6, 6, 6, 6), {}, YATZY, 50),
        ((6, 6, 6, 6, 6), {YATZY: 0}, SIXES, 30),  # as much as chance, which comes later
        ((6, 6, 6, 6, 6), {YATZY: 0, SIXES: 0}, CHANCE, 30),
        ((6, 6, 5, 5, 5), {}, FULL_HOUSE, 27),  # chance is worth the same
        ((1, 3, 3, 4, 6), {CHANCE: 0, PAIR: 0}, THREES, 6),  # sixes are worth the same
        ((1, 2, 2, 4, 6), filled(10) | {CHANCE: 3}, SMALL, 0),  # nothing fits: the first open box is crossed out
    ],
)
def test_the_server_scores_the_best_box_of_equal_ones_the_first(
    dice: tuple[int, ...], boxes: dict[int, int], box: int, points: int
) -> None:
    state = at(dice, 2, boxes=[boxes], round_number=len(boxes) + 1)
    assert SOLO.step(state, SERVER_TURN) == SERVER_PLAYS
    assert state["scores"][0, box] == points
    assert (state["scores"][0] >= 0).sum() == len(boxes) + 1
    assert state["helped"][0] == 1


def test_the_tenth_error_in_a_turn_makes_the_server_play_it() -> None:
    """Errors are counted anew each turn, and a good command in between takes none back."""
    state = at((5, 6, 1, 1, 3), game=TWO)
    for number in range(1, 10):
        assert TWO.step(state, -1) == BAD_COMMAND
        assert (state["player"], state["errors"]) == (0, number)
        if number == 5:
            assert TWO.step(state, rolling(0)) == 0
            state["dice"] = (5, 6, 1, 1, 3)
    assert TWO.step(state, -1) == BAD_COMMAND
    for _ in range(9):
        assert (state["player"], state["scores"][0, CHANCE]) == (1, 16)
        TWO.step(state, -1)
    TWO.step(state, best(CHANCE))
    assert state["helped"].tolist() == [1, 0, 0, 0, 0, 0]
    assert state["errors"] == 0


def test_at_the_second_time_the_server_plays_the_rest_of_the_game() -> None:
    state = at(game=TWO, helped=(1, 0, 0, 0, 0, 0))
    key = int(state["key"])
    TWO.step(state, SERVER_TURN)
    for number in range(1, 16):
        assert state["player"] == 1
        assert state["round_number"] == number
        assert (state["scores"][0] >= 0).sum() == number
        before = state["scores"][0].copy()
        TWO.step(state, best(number - 1))
        if number < 15:  # the server scores the first roll of the next round as it lies
            (box,) = np.flatnonzero(state["scores"][0] != before).tolist()
            alone = at(tuple(oracle_dice.die(key, 0, number + 1, place, 6) for place in range(5)))
            alone["scores"][0] = before
            SOLO.step(alone, SERVER_TURN)
            assert alone["scores"][0, box] == state["scores"][0, box]
    assert state["over"]


@pytest.mark.parametrize(("players", "turns"), [(1, 2), (3, 6)])
def test_the_server_plays_a_lonely_game_and_a_whole_table_to_the_end(players: int, turns: int) -> None:
    game = dicegym.game("yatzy", players=players)
    state = game.new_game(5)[0]
    assert game.spec.forfeit == SERVER_TURN
    for _ in range(turns):
        assert not state["over"]
        game.step(state, SERVER_TURN)
    assert state["over"]
    assert (state["scores"][:players] >= 0).all()


# --- rewards ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("totals", "upper", "pay"),
    [
        ((200, 190), (0, 0), (1, -1)),
        ((190, 200), (0, 0), (-1, 1)),
        ((200, 200), (0, 0), (0, 0)),
        ((200, 160), (40, 63), (-1, 1)),
        ((200, 160), (40, 62), (1, -1)),
        ((210, 160), (40, 63), (0, 0)),
        ((3, 2, 1), (0, 0, 0), (1, 0, -1)),
        ((3, 3, 1), (0, 0, 0), (0.5, 0.5, -1)),
        ((5, 7, 7, 7), (0,) * 4, (-1, 1 / 3, 1 / 3, 1 / 3)),
        ((1, 2, 3, 4, 5, 6), (0,) * 6, (-1, -0.6, -0.2, 0.2, 0.6, 1)),
    ],
)
def test_the_mean_result_against_the_others(
    totals: tuple[int, ...], upper: tuple[int, ...], pay: tuple[float, ...]
) -> None:
    game = dicegym.game("yatzy", players=len(totals))
    state = game.new_game()[0]
    state["totals"][: len(totals)], state["upper"][: len(totals)] = totals, upper
    assert game.returns(state).tolist() == [0] * len(totals)
    state["over"] = True
    assert game.returns(state).tolist() == pytest.approx(pay)
    assert sum(pay) == pytest.approx(0)


# --- what a player sees ----------------------------------------------------------------------------------------------


@given(st.integers(1, 6), st.integers(0, 2**63), st.integers(0, 200), st.integers(0, 5))
@settings(max_examples=40)
def test_the_observation_is_what_the_rules_page_says(players: int, seed: int, decisions: int, seat: int) -> None:
    game = dicegym.game("yatzy", players=players)
    seat %= players
    state = play(game, seed, decisions)
    if seed % 3 == 0:  # random play never gets far up
        state["upper"][:players] += seed % 60
        state["totals"][:players] += seed % 60
    scores = state["scores"].tolist()
    dice, left = sorted(state["dice"].tolist()), int(state["rolls_left"])
    still_open = [box for box in range(15) if scores[seat][box] < 0]
    upper = int(state["upper"][seat])
    par = sum(scores[seat][box] - 3 * (box + 1) for box in range(6) if box not in still_open)
    reachable = upper + sum(5 * (box + 1) for box in range(6) if box in still_open)
    totals = [int(t) + 50 * (int(u) >= 63) for t, u in zip(state["totals"], state["upper"], strict=True)]
    others = [(seat + i) % players for i in range(1, players)]

    def padded(values: list[Any], length: int) -> list[float]:
        return [float(value) for value in values] + [0.0] * (length - len(values))

    now = []
    for box in range(15):
        trial = at(tuple(dice), 0)
        SOLO.step(trial, best(box))
        now.append(int(trial["scores"][0, box]) / MOST[box] if box in still_open else 0)
    leads = [totals[seat] - totals[other] for other in others]
    parts = {
        "counts": [dice.count(face) > n for face in range(1, 7) for n in range(5)],
        "sorted dice": [die == face for die in dice for face in range(1, 7)],
        "own turn": [state["player"] == seat],
        "rolls left": np.eye(3)[left],
        "rounds left": [len(still_open) / 15],
        "open": [box in still_open for box in range(15)],
        "now": now,
        "in sight": None,  # compared with all throws written out in test_oracle.py
        "upper": [min(upper / 63, 1), max(63 - upper, 0) / 63, upper >= 63, reachable >= 63],
        "par": np.eye(21)[10 + max(-10, min(10, par))],
        "total": [totals[seat] / 374],
        "presence": padded([1] * len(others), 5),
        "totals": padded([totals[other] / 374 for other in others], 5),
        "leads": padded([x for d in leads for x in (0.5 + d / 748, max(0, min(1, 0.5 + d / 100)))], 10),
        "uppers": padded([min(int(state["upper"][other]) / 63, 1) for other in others], 5),
        "their open": padded([scores[other][box] < 0 for other in others for box in range(15)], 75),
    }
    seen = np.split(game.observe(state, seat), np.cumsum([*game.features.values()])[:-1])
    assert list(parts) == list(game.features)
    for (name, expected), values in zip(parts.items(), seen, strict=True):
        if expected is None:
            assert (values[[box for box in range(15) if box not in still_open]] == 0).all()
        else:
            assert values.tolist() == pytest.approx([float(value) for value in expected], abs=1e-6), name


def test_equal_hands_look_equal() -> None:
    """Whatever order the dice lie in, the learner sees and may do the same."""
    seen = set()
    for dice in ((1, 2, 2, 5, 6), (6, 5, 2, 2, 1), (2, 6, 1, 2, 5)):
        state = at(dice, 1)
        seen.add((SOLO.observe(state, 0).tobytes(), SOLO.legal(state).tobytes()))
    assert len(seen) == 1


def test_the_view_shows_the_table() -> None:
    state = at((5, 6, 1, 1, 3), 1, game=TWO, boxes=[{SIXES: 12}, {CHANCE: 20, ONES: 0}], player=1, round_number=3)
    shown = TWO.view(state, 0)._asdict()
    filled_in = [{box: points for box, points in enumerate(row) if points >= 0} for row in shown.pop("scores")]
    assert filled_in == [{SIXES: 12}, {CHANCE: 20, ONES: 0}]
    assert shown == {"seat": 0, "player": 1, "round_number": 3, "rolls_left": 1, "dice": (5, 6, 1, 1, 3)}


@given(st.integers(0, 2**63), st.integers(0, 100), st.integers(1, 6))
@settings(max_examples=30)
def test_a_view_can_be_made_a_record_again(seed: int, decisions: int, players: int) -> None:
    game = dicegym.game("yatzy", players=players)
    state = play(game, seed, decisions)
    copy = record_of(game, game.view(state, 0))
    copy["key"] = state["key"]
    assert copy.tobytes() == state.tobytes()
