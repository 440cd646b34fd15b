"""Hog at the keyboard: what is typed, and what is told."""

from __future__ import annotations

import re
from typing import Any

import pytest

import dicegym
from dicegym.errors import ParameterError
from dicegym.games.hog.controls import ending, read, table, tell
from dicegym.games.keyboard import Place

pytestmark = pytest.mark.nojit
GAME = dicegym.game("hog")
PLACE = Place(GAME, 0, ("you", "rival"))


def at(own: int, other: int, **fields: Any) -> Any:
    """Return a record in which it is the person's turn at these scores."""
    state = GAME.new_game(1)[0]
    state["scores"] = own, other
    for name, value in fields.items():
        state[name] = value
    return state


TYPED = {
    5: ["5", "roll 5", "roll five dice", "five"],
    10: ["10"],
    1: ["1", "1 die"],
    0: ["0", "bacon", "free bacon", "take bacon"],
    -1: ["-1", "exchange", "ham hijinks"],
}


@pytest.mark.parametrize(("text", "number"), [(text, number) for number, texts in TYPED.items() for text in texts])
def test_a_number_is_a_number_of_dice(text: str, number: int) -> None:
    assert read(PLACE, at(0, 0), text) == [number + 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("11", "11 dice cannot be rolled: type 1 to 10"),
        ("-2", "-2 dice cannot be rolled"),
        ("swap", "a Swine Swap comes by itself"),
        ("5.5", "'5.5' means nothing here: type 1 to 10"),
        *((text, "means nothing here") for text in ("", "roll", "5 6", "²")),
    ],
)
def test_what_is_no_move_is_explained(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        read(PLACE, at(0, 0), text)


def test_what_is_certain_is_worked_out_with_multiplier_and_swap() -> None:
    text = table(PLACE, at(10, 37, runs=(2, 0)), True)
    assert "The dice have six sides (10 + 37 is no multiple of seven)." in text
    assert "After your 2 Pig outs a turn without one counts 2 times." in text
    assert "bacon  16 points: you 26, rival 37" in text
    assert "-1     2 points: you 12, rival 37; the dice are exchanged" in text
    text = table(PLACE, at(67, 27, exchanges=(0, 1)), True)
    assert "The dice have six sides (67 + 27 is no multiple of seven, and they are exchanged)" not in text
    assert "The dice have four sides (67 + 27 is no multiple of seven, and they are exchanged)" in text
    assert "bacon  8 points: you 75, rival 27" in text
    assert "bacon  5 points: you 42, rival 24 by a Swine Swap" in table(PLACE, at(19, 42), True)


def test_mean_points_are_those_of_the_dice() -> None:
    """One six-sided die scores 1 to 6; two score 1 if one of them shows a 1."""
    (row,) = (line for line in table(PLACE, at(1, 2), True).splitlines() if "mean points" in line)
    means = [float(cell) for cell in row.split()[2:]]
    assert means[0] == 3.5
    two = [a + b if a > 1 and b > 1 else 1 for a in range(1, 7) for b in range(1, 7)]
    assert means[1] == round(sum(two) / 36, 1)


def told_of(state: Any, number: int) -> str:
    before = state.copy()
    fault = GAME.step(state, number + 1)
    return "\n".join(tell(PLACE, before, number + 1, state, GAME.spec.faults[fault], False))


def test_every_part_of_a_turn_is_told() -> None:
    text = told_of(at(10, 37, runs=(3, 0)), 0)
    assert text == (
        "You take Free bacon (1 + the largest digit of 37), 8 times 3 after 3 Pig outs: 24 points.\n  You 34, rival 37."
    )
    assert "Swine Swap! 24 and 42 change places.\n  You 42, rival 24." in told_of(at(19, 42), 0)
    text = told_of(at(0, 5, player=1), -1)
    assert text == "rival exchanges the dice: 1 point.\n  You 0, rival 6."
    state = at(1, 1, player=1, runs=(0, 1))
    text = told_of(state, 10)
    faces = [str(face) for face in state["rolled"][1].tolist()]
    assert text.startswith("rival rolls 10 six-sided dice: ")
    assert [word[1:] for word in text.partition(": ")[2].split()[:10]] == [
        f"{face}{',' if i == 9 and '1' in faces else ':' if i == 9 else ''}" for i, face in enumerate(faces)
    ]
    assert "a Pig out, number 2 in a row: 1 point." in text
    assert "11 dice, and that is no number: disqualified" in told_of(at(0, 0, player=1), 11)


def test_who_has_won() -> None:
    assert ending(PLACE, at(101, 30, over=True, winner=0)) == "You win, 101 to 30."
    assert ending(PLACE, at(30, 104, over=True, winner=1)) == "rival wins, 104 to 30."
    assert ending(PLACE, at(0, 0, over=True, winner=0)) == "You win, the other being disqualified."
