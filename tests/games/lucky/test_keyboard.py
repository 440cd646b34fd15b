"""Lucky & Co at the keyboard: orders that are typed, and rounds that are told."""

from __future__ import annotations

from typing import Any

import pytest

import dicegym
from dicegym.errors import ParameterError
from dicegym.games.keyboard import Place
from dicegym.games.lucky.catalogue import DONE, order_actions
from dicegym.games.lucky.controls import ending, read, table, tell

pytestmark = pytest.mark.nojit
GAME = dicegym.game("lucky", players=3)
PLACE = Place(GAME, 0, ("you", "bot", "bot 2"))


def rich(money: int = 100) -> Any:
    state = GAME.new_game(1)[0]
    state["money"][:3] = state["left"][:3] = money
    return state


def order(**counts: int) -> list[int]:
    return order_actions([counts.get(f"die{kind}", 0) for kind in range(22)])


TWO_KINDS = ["2x3 1x7", "2*3, 7", "2 x 3 and 1 x 7", "3 3 7", "buy 2x3 1x7"]


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        *((text, order(die3=2, die7=1)) for text in TWO_KINDS),
        ("two of 3", order(die3=2)),
        ("20x0", order(die0=20)),
        ("nothing", [DONE]),
        ("none", [DONE]),
        ("fast", [DONE] * 10),
        ("fast 3", [DONE] * 3),
        ("fast 3 rounds", [DONE] * 3),
    ],
)
def test_a_whole_order_is_typed_at_once(text: str, actions: list[int]) -> None:
    state = rich()
    assert read(PLACE, state, text) == actions
    if "fast" not in text:
        for action in actions:
            assert GAME.step(state, action) == 0
        assert state["player"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1x22", "there is no die 22: they are numbered 0 to 21"),
        ("1x-1", "there is no die -1"),
        ("0x3", "means nothing here"),
        ("21x0", "the shop has 20 of die 0, not 21"),
        ("999999999x0", "the shop has 20 of die 0"),
        ("5x6", "5x6 costs 105, and you have 100: order less"),
        ("1x21", "1x21 costs 170, and you have 100"),
        ("fast 0", "`fast` and a number of rounds"),
        ("fast x", "`fast` and a number of rounds"),
        ("twice", "means nothing here: type an order such as `2x3 1x7`"),
        ("", "means nothing here"),
        ("buy", "means nothing here"),
    ],
)
def test_what_is_no_order_is_explained(text: str, message: str) -> None:
    with pytest.raises(ParameterError) as error:
        read(PLACE, rich(), text)
    assert message in str(error.value)


def test_what_is_sold_out_is_said() -> None:
    state = rich()
    state["shop"][3] = 0
    with pytest.raises(ParameterError, match="the shop has 0 of die 3, not 1"):
        read(PLACE, state, "3")


def test_the_shop_tells_what_a_die_brings() -> None:
    state = rich(10)
    state["dice"][0, 6] = 2  # 12 points a round
    text = table(PLACE, state, False)
    assert "Your dice make about 12.0 points a round." in text
    rows = {int(row.split()[0]): row for row in text.splitlines() if row.split()[0].isdecimal()}
    assert [*rows] == [0, 1, 2, 3, 7]
    assert " 3.5  even chances" in rows[3]
    assert " 2.0  times r/3" in rows[7]  # 12 * (3.5 / 3 - 1)
    assert len([row for row in table(PLACE, state, True).splitlines() if row.split()[0].isdecimal()]) == 22
    state["money"][0] = 0
    assert "You can pay for nothing" in table(PLACE, state, False)


def round_of(state: Any, *orders: str) -> list[str]:
    """Return what is told of a round with these orders."""
    lines: list[str] = []
    for seat, text in enumerate(orders):
        for action in read(PLACE._replace(seat=seat), state, text):
            before = state.copy()
            GAME.step(state, action)
            lines += tell(PLACE, before, action, state, "", False)
    return lines


def test_a_round_is_told_with_its_dice() -> None:
    state = rich()
    lines = round_of(state, "2x6 1x10", "1x6", "nothing")
    assert lines[0] == "Round 1, points = money:"
    assert lines[1].split("  ")[-1].strip().startswith("bought 2x6 1x10; rolled ⚅6 ⚅6 ")
    assert lines[2].split("  ")[-1].strip() == "bought 1x6; rolled ⚅6"
    assert lines[3].split("  ")[-1].strip() == "nothing"


def test_what_nobody_gets_is_told_to_who_wanted_it() -> None:
    state = rich()
    state["shop"][6] = 1
    assert round_of(state, "1x6 1x0", "1x6", "nothing")[-1] == (
        "You did not get 1x6: all orders together were more than the shop had."
    )


def test_fast_rounds_take_a_line() -> None:
    state = rich()
    before = state.copy()
    for _ in range(3):
        before = state.copy()
        GAME.step(state, DONE)
    assert tell(PLACE, before, DONE, state, "", True) == ["Round 1: you +0 = 100, bot +0 = 100, bot 2 +0 = 100."]


def test_who_has_won() -> None:
    state = rich()
    state["over"], state["played"] = True, 7
    state["money"][:3] = 10, 300, 20
    assert ending(PLACE, state) == "bot wins after 7 rounds: bot 300, bot 2 20, you 10."
