"""Yatzy at the keyboard: what is typed, and what is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import dicegym
from dicegym.errors import ParameterError
from dicegym.games.keyboard import Place
from dicegym.games.yatzy.controls import ending, read, read_form, table, tell
from dicegym.games.yatzy.rules import FIRST_BOX, ROLL_PLACES, SERVER_TURN
from dicegym.games.yatzy.tables import BOXES, SETS

pytestmark = pytest.mark.nojit
GAME = dicegym.game("yatzy", players=2)
PLACE = Place(GAME, 0, ("you", "rival"))


def shows(*dice: int, rolls: int = 2, filled: Sequence[int] = ()) -> Any:
    """Return a record in which the person's dice show this, and these boxes (from 1) are filled with 4 points."""
    state = GAME.new_game(1)[0]
    state["dice"] = dice
    state["rolls_left"] = rolls
    for box in filled:
        state["scores"][0, box - 1] = 4
    return state


def keep(*faces: int) -> int:
    return SETS.index(faces)


def box(number: int) -> int:
    return FIRST_BOX + number - 1


TYPED = {
    keep(6, 6): ["keep 6 6", "keep 66"],
    keep(1, 6, 6): ["keep 6, 6 and 1"],
    keep(3): ["hold 3"],
    keep(): ["keep none", "roll all"],
    keep(4, 6, 6): ["roll 1 3", "reroll 1 and 3"],
    box(13): ["score full house", "full house", "score 13"],
    box(14): ["chance"],
    box(7): ["one pair"],
    box(15): ["cross yatzy"],
    box(8): ["two pairs"],
    box(3): ["score threes"],
    box(6): ["sixes"],
    box(11): ["small straight"],
    box(12): ["large"],
}


@pytest.mark.parametrize(("text", "action"), [(text, action) for action, texts in TYPED.items() for text in texts])
def test_dice_are_named_by_what_they_show_and_boxes_by_their_names(text: str, action: int) -> None:
    assert read(PLACE, shows(6, 1, 3, 6, 4), text) == [action]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "'nonsense' means nothing here: type `keep 6 6`"),
        *((text, f"{text!r} means nothing here") for text in ("keep", "keep 7", "roll two", "score", "6 6", "6")),
        ("keep 5", "there is no five among your dice: they are 6 1 3 6 4"),
        ("keep 6 6 6", "there is no more six among your dice"),
        ("keep 6 1 3 6 4", "to keep all dice is to score"),
        ("roll 5", "there is no five"),
        ("straight", "'straight' may be `small straight` or `large straight`"),
        ("three", "'three' may be `threes` or `three of a kind`"),
        ("score 16", "there is no box 16"),
        ("score twos", "Twos is filled already, with 4 points"),
    ],
)
def test_what_is_no_move_is_explained(text: str, message: str) -> None:
    with pytest.raises(ParameterError) as error:
        read(PLACE, shows(6, 1, 3, 6, 4, filled=[2]), text)
    assert message in str(error.value)


@pytest.mark.parametrize("text", ["keep 6", "roll 1", "roll all"])
def test_without_rolls_left_a_box_is_scored(text: str) -> None:
    with pytest.raises(ParameterError, match="there is no roll left: type `score` and a box"):
        read(PLACE, shows(6, 1, 3, 6, 4, rolls=0), text)


def test_what_is_open_and_worth_something_is_shown() -> None:
    text = table(PLACE, shows(6, 6, 6, 2, 2, rolls=1, filled=[14]), False)
    assert text.splitlines() == [
        "Your dice: ⚅6 ⚅6 ⚅6 ⚁2 ⚁2   (1 roll left)",
        "Worth now: Full House 22, Sixes 18, Three of a Kind 18, Two Pairs 16, One Pair 12, Twos 4; "
        "any other open box 0.",
    ]
    assert "no rolls left: score a box" in table(PLACE, shows(1, 1, 1, 1, 1, rolls=0), True)
    assert "15 Yatzy" in table(PLACE, shows(1, 1, 1, 1, 1, rolls=0), True)


def told_of(state: Any, action: int) -> list[str]:
    before = state.copy()
    fault = GAME.step(state, action)
    return tell(PLACE, before, action, state, GAME.spec.faults[fault], False)


def faces(dice: Sequence[int]) -> str:
    return " ".join("⚀⚁⚂⚃⚄⚅"[face - 1] + str(face) for face in dice)


def test_rolls_and_boxes_are_told() -> None:
    state = shows(6, 6, 2, 3, 1)
    (line,) = told_of(state, keep(6, 6))
    assert line == f"You keep 6 6; the others show {faces(state['dice'][2:])}."
    state["upper"][0], state["totals"][0] = 60, 60
    state["dice"] = 1, 1, 1, 2, 3
    assert told_of(state, box(1)) == ["You score 3 points in Ones, and earn the bonus of 50; your total is 113."]
    rolled = state["dice"].tolist()
    lines = told_of(state, keep())
    assert lines[0] == f"rival rolls {faces(rolled)}."
    assert lines[1].startswith("  rival rolls all again: ")
    state["dice"] = 1, 2, 3, 4, 6
    assert told_of(state, box(15)) == ["  rival scores 0 points in Yatzy, which crosses it out; rival's total is 0."]


def test_errors_of_others_are_not_told_but_what_the_server_scores_is() -> None:
    state = shows(6, 6, 2, 3, 1)
    state["player"] = 1
    assert told_of(state, 999)[1:] == []
    (line,) = told_of(state, SERVER_TURN)
    assert line.startswith("  rival scores ")


def test_who_has_won() -> None:
    state = shows(1, 1, 1, 1, 1)
    state["scores"][:] = 0
    state["over"] = True
    state["totals"][:2] = 200, 100
    assert ending(PLACE, state).endswith("You win: you 200, rival 100.")
    state["totals"][:2] = 100, 100
    assert ending(PLACE, state).endswith("You and rival share the first place: you 100, rival 100.")
    assert ending(PLACE, state).count("\n") == BOXES + 3
    alone = dicegym.game("yatzy", players=1)
    state["players"] = 1
    assert ending(Place(alone, 0, ("you",)), state).endswith("That makes 100 points.")


@pytest.mark.parametrize(
    ("picked", "rolled"), [([], 31), ([0], 30), ([2], 27), ([3, 4], 7), ([1, 2, 3], 17), ([0, 2, 3, 4], 2)]
)
def test_dice_that_are_picked_in_a_form_stay_also_where_others_show_the_same(picked: list[int], rolled: int) -> None:
    dice = [3, 1, 3, 3, 6]
    state = shows(*dice)
    (action,) = read_form(PLACE, state, "roll", {"keep": [str(at) for at in picked]})
    by_places = state.copy()
    GAME.step(state, action)
    GAME.step(by_places, ROLL_PLACES + rolled)
    assert state.tobytes() == by_places.tobytes()
    assert all(state["dice"][at] == dice[at] for at in picked)
