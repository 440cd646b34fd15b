"""Both Liar's Dice games at the keyboard: what is typed, and what is told."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from bidding_tables import bid

import dicegym
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.keyboard import Place
from dicegym.games.liarsdice import controls as classic
from dicegym.games.liarsdice_spot_on import controls as spot_on
from dicegym.games.liarsdice_spot_on.rules import GAIN_ONE, LOSE_TWO

pytestmark = pytest.mark.nojit
CLASSIC, SPOT_ON = dicegym.game("liarsdice", players=3), dicegym.game("liarsdice_spot_on", players=3)
BOTH = pytest.mark.parametrize(("game", "keyboard"), [(CLASSIC, classic), (SPOT_ON, spot_on)], ids=lambda one: "")
LIAR = 180


def after(game: Game, *actions: int) -> tuple[Place, Any]:
    """Return the place of whoever is to move after these actions, and the record."""
    state = game.new_game(1)[0]
    for action in actions:
        assert game.step(state, action) == 0
    seat = int(state["player"])
    return Place(game, seat, tuple("you" if other == seat else f"bot {other}" for other in range(3))), state


TYPED = {
    bid(3, 4): ["3 4", "3 fours", "three fours", "three four", "three 4s", "3x4", "3 x 4", "34", "3, 4", "(3, 4)"],
    bid(2, 5): ["bid 2 5", "i bid 2 5!"],
    bid(12, 6): ["12 6", "126", "12 sixes"],
    bid(10, 1): ["ten ones"],
}


@BOTH
@pytest.mark.parametrize(("text", "action"), [(text, action) for action, texts in TYPED.items() for text in texts])
def test_a_bid_is_a_quantity_and_a_face(game: Game, keyboard: ModuleType, text: str, action: int) -> None:
    place, state = after(game)
    assert keyboard.read(place, state, text) == [action]


@BOTH
@pytest.mark.parametrize("text", ["liar", "call", "liar!", "doubt", "call liar"])
def test_a_challenge(game: Game, keyboard: ModuleType, text: str) -> None:
    place, state = after(game, bid(3, 4))
    assert keyboard.read(place, state, text) == [LIAR]
    place, state = after(game)
    with pytest.raises(ParameterError, match="there is no bid to challenge yet"):
        keyboard.read(place, state, text)


@BOTH
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3", "how many of which face"),
        ("fours", "how many of which face"),
        ("3 7", "no die shows a 7"),
        ("3 0", "no die shows a 0"),
        ("0 3", "invalid quantity 0: bid at least one"),
        ("-1 3", "invalid quantity -1: bid at least one"),
        ("99 3", "99 threes is more than can be bid: at most"),
        ("2 4", "2 fours is not higher than 3 fours: type at least 4 ones, 4 twos, 4 threes, 4 fours, 3 fives or"),
        ("3 4", "3 fours is not higher than 3 fours"),
        ("1 2 3", "means nothing here: type a bid such as `3 4`"),
        ("what", "'what' means nothing here"),
        ("3 four score", "means nothing here"),
        ("", "means nothing here"),
    ],
)
def test_what_is_no_move_is_explained(game: Game, keyboard: ModuleType, text: str, message: str) -> None:
    place, state = after(game, bid(3, 4))
    if game is SPOT_ON:
        message = message.replace("3 fives or", "4 fives or 2 sixes")
    with pytest.raises(ParameterError) as error:
        keyboard.read(place, state, text)
    assert message in str(error.value)


SPOT_ON_TYPED = {
    LOSE_TWO: ["spot on, lose two", "spot-on lose two", "lose two"],
    GAIN_ONE: ["spot on: gain one", "gain one", "gain"],
}


def test_spot_on() -> None:
    place, state = after(SPOT_ON, bid(3, 4))
    state["left"][place.seat] = 4
    for action, texts in SPOT_ON_TYPED.items():
        for text in texts:
            assert spot_on.read(place, state, text) == [action]
    for text in ("spot on", "0"):
        with pytest.raises(ParameterError, match=r"spot on for what\?|how many of which face"):
            spot_on.read(place, state, text)


def test_spot_on_of_who_has_lost_nothing_is_lose_two() -> None:
    place, state = after(SPOT_ON, bid(3, 4))
    assert spot_on.read(place, state, "spot on") == [LOSE_TWO]
    with pytest.raises(ParameterError, match="you have lost no die that you could gain"):
        spot_on.read(place, state, "gain one")
    place, state = after(SPOT_ON)
    with pytest.raises(ParameterError, match="there is no bid to challenge yet"):
        spot_on.read(place, state, "spot on")
    place, state = after(CLASSIC, bid(3, 4))
    with pytest.raises(ParameterError, match="there is no spot on in this game"):
        classic.read(place, state, "spot on")


@BOTH
def test_own_dice_alone_are_shown_and_chances_are_by_them(game: Game, keyboard: ModuleType) -> None:
    place, state = after(game, bid(1, 2))
    state["hands"][place.seat] = [0, 0, 0, 5, 0, 0]
    text = keyboard.table(place, state, True)
    assert text.count("⚃4 ⚃4 ⚃4 ⚃4 ⚃4") == 1
    assert text.count("▢ ▢ ▢ ▢ ▢") == 2
    sixths = 1 if game is CLASSIC else 2
    none = (1 - sixths / 6) ** 10
    assert f"`liar` {none:.0%}" in text
    if game is SPOT_ON:
        assert f"`spot on` {10 * (1 / 3) * (2 / 3) ** 9:.0%}" in text
    assert ("1 four 100%" if game is CLASSIC else "2 fours 100%") in text


@BOTH
def test_a_showdown_is_told(game: Game, keyboard: ModuleType) -> None:
    place, state = after(game, bid(1, 2), bid(10, 3))
    state["hands"][:3] = [[0, 0, 2, 0, 0, 3], [0, 5, 0, 0, 0, 0], [0, 5, 0, 0, 0, 0]]
    before, caller = state.copy(), int(state["player"])
    assert game.step(state, LIAR) == 0
    lines = keyboard.tell(place, before, LIAR, state, "", False)
    bidder = (caller - 1) % 3
    assert lines[0] == ("You call liar on" if game is CLASSIC else 'You say "Liar" to') + f" bot {bidder}'s 10 threes."
    assert sum("⚅6 ⚅6 ⚅6 ⚂3 ⚂3" in line for line in lines) == 1
    assert lines[-2] == ("There are 2 threes." if game is CLASSIC else "There are 5 threes (sixes count).")
    assert lines[-1].startswith(f"bot {bidder} loses 1 die and has 4 left. ")
    assert lines[-1].endswith(" the next hand.")
    place, state = after(game, bid(1, 6))
    state["hands"][:3] = [[5, 0, 0, 0, 0, 0]] * 3
    before = state.copy()
    game.step(state, LIAR)
    assert "There are no sixes." in keyboard.tell(place, before, LIAR, state, "", False)


def test_bids_and_what_is_not_allowed_are_told() -> None:
    place, state = after(CLASSIC, bid(2, 2))
    place = place._replace(seat=0, names=("you", "bot 1", "bot 2"))
    before = state.copy()
    fault = CLASSIC.step(state, bid(1, 1))
    lines = classic.tell(place, before, bid(1, 1), state, CLASSIC.spec.faults[fault], False)
    assert lines[0].startswith("bot 1 plays what is not allowed: a bid that is not higher than the last one")
    assert lines[1] == "bot 1 is taken to call liar on your 2 twos."
    place, state = after(SPOT_ON)
    mover = int(state["player"])
    watcher = place._replace(seat=(mover + 1) % 3, names=("a", "b", "c"))
    before = state.copy()
    fault = SPOT_ON.step(state, LIAR)
    lines = spot_on.tell(watcher, before, LIAR, state, SPOT_ON.spec.faults[fault], False)
    assert lines[-1] == f"{'abc'[mover]} is disqualified, and out."
    before = state.copy()
    mover = int(state["player"])
    SPOT_ON.step(state, bid(3, 4))
    lines = spot_on.tell(watcher, before, bid(3, 4), state, "", False)
    assert lines == ["You bid 3 fours." if mover == watcher.seat else f"{'abc'[mover]} bids 3 fours."]
