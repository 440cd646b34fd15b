"""Games at the keyboard: what is typed, and what is told that the golden transcripts do not show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from bidding_tables import bid

import dicegym
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.keyboard import Place
from dicegym.games.liarsdice_spot_on.rules import GAIN_ONE, LIAR, LOSE_TWO
from dicegym.games.lucky.catalogue import DONE, add_dice, order_actions
from dicegym.games.parts import CONTROLS, need
from dicegym.games.yatzy.rules import BOXES, FIRST_BOX, ROLL_PLACES, SERVER_TURN, SETS

pytestmark = pytest.mark.nojit
HOG, YATZY, LUCKY = dicegym.game("hog"), dicegym.game("yatzy"), dicegym.game("lucky", players=3)
CLASSIC, SPOT_ON = (dicegym.game(name, players=3) for name in ("liarsdice", "liarsdice_spot_on"))
hog, yatzy, lucky, classic, spot_on = (need(game, CONTROLS) for game in (HOG, YATZY, LUCKY, CLASSIC, SPOT_ON))
each_liars_dice = pytest.mark.parametrize("game", [CLASSIC, SPOT_ON], ids=lambda game: game.name)


def place_of(game: Game, *names: str, seat: int = 0) -> Place:
    return Place(game, seat, names)


DUEL, YATZY_TABLE = place_of(HOG, "you", "rival"), place_of(YATZY, "you", "rival")
SHOP = place_of(LUCKY, "you", "bot", "bot 2")


def at(own: int = 0, other: int = 0, **fields: Any) -> Any:
    """Return a record of Hog in which it is the person's turn at these scores."""
    state = HOG.new_game(1)[0]
    for name, value in ({"scores": (own, other)} | fields).items():
        state[name] = value
    return state


def shows(*dice: int, rolls: int = 2, filled: Sequence[int] = ()) -> Any:
    """Return a record of Yatzy with these dice, in which boxes (from 1) are filled with 4 points."""
    state = YATZY.new_game(1)[0]
    state["dice"], state["rolls_left"] = dice, rolls
    for number in filled:
        state["scores"][0, number - 1] = 4
    return state


def rich(money: int = 100) -> Any:
    state = LUCKY.new_game(1)[0]
    state["money"][:3] = state["left"][:3] = money
    return state


def after(game: Game, *actions: int) -> tuple[Place, Any]:
    """Return the place of whoever is to move at Liar's Dice after these actions, and the record."""
    state = game.new_game(1)[0]
    for action in actions:
        assert game.step(state, action) == 0
    seat = int(state["player"])
    return place_of(game, *("you" if other == seat else f"bot {other}" for other in range(3)), seat=seat), state


def told_of(place: Place, state: Any, action: int, brief: bool = False) -> list[str]:
    before = state.copy()
    fault = place.game.step(state, action)
    found: list[str] = need(place.game, CONTROLS).tell(
        place, before, action, state, place.game.spec.faults[fault], brief
    )
    return found


# --- what is typed ---------------------------------------------------------------------------------------------


def keep(*faces: int) -> int:
    return SETS.index(faces)


def box(number: int) -> int:
    return FIRST_BOX + number - 1


def order(counts: dict[int, int]) -> list[int]:
    return order_actions([counts.get(kind, 0) for kind in range(22)])


TYPED: list[tuple[Game, list[int], Iterable[str]]] = [
    (HOG, [6], ["5", "roll 5", "roll five dice", "five"]),
    (HOG, [11], ["10"]),
    (HOG, [2], ["1", "1 die"]),
    (HOG, [1], ["0", "bacon", "free bacon", "take bacon"]),
    (HOG, [0], ["-1", "exchange", "ham hijinks"]),
    (YATZY, [keep(6, 6)], ["keep 6 6", "keep 66"]),
    (YATZY, [keep(1, 6, 6)], ["keep 6, 6 and 1"]),
    (YATZY, [keep(3)], ["hold 3"]),
    (YATZY, [keep()], ["keep none", "roll all"]),
    (YATZY, [keep(4, 6, 6)], ["roll 1 3", "reroll 1 and 3"]),
    (YATZY, [box(13)], ["score full house", "full house", "score 13"]),
    *((YATZY, [box(number)], [text]) for number, text in ((14, "chance"), (7, "one pair"), (8, "two pairs"))),
    *((YATZY, [box(number)], [text]) for number, text in ((3, "score threes"), (6, "sixes"), (12, "large"))),
    *((YATZY, [box(number)], [text]) for number, text in ((11, "small straight"), (15, "cross yatzy"))),
    (LUCKY, order({3: 2, 7: 1}), ["2x3 1x7", "2*3, 7", "2 x 3 and 1 x 7", "3 3 7", "buy 2x3 1x7"]),
    (LUCKY, order({3: 2}), ["two of 3"]),
    (LUCKY, order({0: 20}), ["20x0"]),
    (LUCKY, [DONE], ["nothing", "none"]),
    (LUCKY, [DONE] * 10, ["fast"]),
    (LUCKY, [DONE] * 3, ["fast 3", "fast 3 rounds"]),
    *((game, [bid(3, 4)], ["3 4", "3 fours", "three fours", "three four", "three 4s"]) for game in (CLASSIC, SPOT_ON)),
    *((game, [bid(3, 4)], ["3x4", "3 x 4", "34", "3, 4", "(3, 4)", "bid 3 4"]) for game in (CLASSIC, SPOT_ON)),
    *((game, [bid(12, 6)], ["12 6", "126", "12 sixes"]) for game in (CLASSIC, SPOT_ON)),
    *((game, [bid(10, 1)], ["ten ones", "i bid 10 1!"]) for game in (CLASSIC, SPOT_ON)),
]


def begun(game: Game) -> tuple[Place, Any]:
    """Return the beginning at which things are typed."""
    if game.name.startswith("liarsdice"):
        return after(game)
    return {HOG: (DUEL, at()), YATZY: (YATZY_TABLE, shows(6, 1, 3, 6, 4, filled=[2])), LUCKY: (SHOP, rich())}[game]


@pytest.mark.parametrize(("game", "actions", "text"), [(*row, text) for *row, texts in TYPED for text in texts])
def test_what_is_typed_is_read(game: Game, actions: list[int], text: str) -> None:
    place, state = begun(game)
    assert need(game, CONTROLS).read(place, state, text) == actions
    for action in actions[: 1 if "fast" in text else None]:
        assert game.step(state, action) == 0
    assert game is not LUCKY or state["player"] == 1


NOTHING = "means nothing here"
REFUSED: dict[Game, dict[str, str]] = {
    HOG: {
        "11": "11 dice cannot be rolled: type 1 to 10",
        "-2": "-2 dice cannot be rolled",
        "swap": "a Swine Swap comes by itself",
        "5.5": f"'5.5' {NOTHING}: type 1 to 10",
    }
    | dict.fromkeys(["", "roll", "5 6", "²"], NOTHING),
    YATZY: {text: f"{text!r} {NOTHING}" for text in ("keep", "roll two", "score", "6 6", "6", "keep 7", "nonsense")}
    | {
        "nonsens": f"'nonsens' {NOTHING}: type `keep 6 6`",
        "keep 5": "there is no five among your dice: they are 6 1 3 6 4",
        "keep 6 6 6": "there is no more six among your dice",
        "keep 6 1 3 6 4": "to keep all dice is to score",
        "roll 5": "there is no five",
        "straight": "'straight' may be `small straight` or `large straight`",
        "three": "'three' may be `threes` or `three of a kind`",
        "score 16": "there is no box 16",
        "score twos": "Twos is filled already, with 4 points",
    },
    LUCKY: {
        "1x22": "there is no die 22: they are numbered 0 to 21",
        "1x-1": "there is no die -1",
        "21x0": "the shop has 20 of die 0, not 21",
        "999999999x0": "the shop has 20 of die 0",
        "5x6": "5x6 costs 105, and you have 100: order less",
        "1x21": "1x21 costs 170, and you have 100",
        "twice": f"{NOTHING}: type an order such as `2x3 1x7`",
    }
    | dict.fromkeys(["fast 0", "fast x"], "`fast` and a number of rounds")
    | dict.fromkeys(["0x3", "", "buy"], NOTHING),
}


@pytest.mark.parametrize(("game", "text"), [(game, text) for game, texts in REFUSED.items() for text in texts])
def test_what_is_no_move_is_explained(game: Game, text: str) -> None:
    place, state = begun(game)
    with pytest.raises(ParameterError, match=re.escape(REFUSED[game][text])):
        need(game, CONTROLS).read(place, state, text)


def test_what_cannot_be_had_any_more_is_explained() -> None:
    for text in ("keep 6", "roll 1", "roll all"):
        with pytest.raises(ParameterError, match="there is no roll left: type `score` and a box"):
            yatzy.read(YATZY_TABLE, shows(6, 1, 3, 6, 4, rolls=0), text)
    state = rich()
    state["shop"][3] = 0
    with pytest.raises(ParameterError, match="the shop has 0 of die 3, not 1"):
        lucky.read(SHOP, state, "3")


NO_BIDS = {
    "2 4": "2 fours is not higher than 3 fours: type at least 4 ones, 4 twos, 4 threes, 4 fours, 3 fives or",
    "3 4": "3 fours is not higher than 3 fours",
    "3 7": "no die shows a 7",
    "3 0": "no die shows a 0",
    "0 3": "invalid quantity 0: bid at least one",
    "-1 3": "invalid quantity -1: bid at least one",
    "99 3": "99 threes is more than can be bid: at most",
    "1 2 3": f"{NOTHING}: type a bid such as `3 4`",
    "what": f"'what' {NOTHING}",
} | dict.fromkeys(["3 four score", ""], NOTHING)
NO_BIDS |= dict.fromkeys(["3", "fours"], "how many of which face")


@each_liars_dice
def test_bids_that_are_none_are_explained_and_challenges_need_a_bid(game: Game) -> None:
    read = need(game, CONTROLS).read
    for text, message in NO_BIDS.items():
        place, state = after(game, bid(3, 4))
        wanted = message.replace("3 fives or", "4 fives or 2 sixes") if game is SPOT_ON else message
        with pytest.raises(ParameterError, match=re.escape(wanted)):
            read(place, state, text)
    for text in ("liar", "call", "liar!", "doubt", "call liar"):
        assert read(*after(game, bid(3, 4)), text) == [LIAR]
        with pytest.raises(ParameterError, match="there is no bid to challenge yet"):
            read(*after(game), text)


def test_spot_on() -> None:
    place, state = after(SPOT_ON, bid(3, 4))
    assert spot_on.read(place, state, "spot on") == [LOSE_TWO]
    with pytest.raises(ParameterError, match="you have lost no die that you could gain"):
        spot_on.read(place, state, "gain one")
    state["left"][place.seat] = 4
    for action, texts in {
        LOSE_TWO: ["spot on, lose two", "spot-on lose two", "lose two"],
        GAIN_ONE: ["spot on: gain one", "gain one", "gain"],
    }.items():
        for text in texts:
            assert spot_on.read(place, state, text) == [action]
    for text, reason in (("spot on", r"spot on for what\?"), ("0", "how many of which face")):
        with pytest.raises(ParameterError, match=reason):
            spot_on.read(place, state, text)
    with pytest.raises(ParameterError, match="there is no bid to challenge yet"):
        spot_on.read(*after(SPOT_ON), "spot on")
    with pytest.raises(ParameterError, match="there is no spot on in this game"):
        classic.read(*after(CLASSIC, bid(3, 4)), "spot on")


@pytest.mark.parametrize(
    ("picked", "rolled"), [([], 31), ([0], 30), ([2], 27), ([3, 4], 7), ([1, 2, 3], 17), ([0, 2, 3, 4], 2)]
)
def test_dice_that_are_picked_in_a_form_stay_also_where_others_show_the_same(picked: list[int], rolled: int) -> None:
    dice = [3, 1, 3, 3, 6]
    state = shows(*dice)
    (action,) = yatzy.read_form(YATZY_TABLE, state, "roll", {"keep": [str(place) for place in picked]})
    by_places = state.copy()
    YATZY.step(state, action)
    YATZY.step(by_places, ROLL_PLACES + rolled)
    assert state.tobytes() == by_places.tobytes()
    assert all(state["dice"][place] == dice[place] for place in picked)


# --- what is shown and told ------------------------------------------------------------------------------------


def test_hog_works_out_what_is_certain_with_multiplier_and_swap() -> None:
    text = hog.table(DUEL, at(10, 37, runs=(2, 0)), True)
    assert "The dice have six sides (10 + 37 is no multiple of seven)." in text
    assert "After your 2 Pig outs a turn without one counts 2 times." in text
    assert "bacon  16 points: you 26, rival 37" in text
    assert "-1     2 points: you 12, rival 37; the dice are exchanged" in text
    text = hog.table(DUEL, at(67, 27, exchanges=(0, 1)), True)
    assert "The dice have four sides (67 + 27 is no multiple of seven, and they are exchanged)" in text
    assert "bacon  8 points: you 75, rival 27" in text
    assert "bacon  5 points: you 42, rival 24 by a Swine Swap" in hog.table(DUEL, at(19, 42), True)
    (row,) = (line for line in hog.table(DUEL, at(1, 2), True).splitlines() if "mean points" in line)
    two = [a + b if a > 1 and b > 1 else 1 for a in range(1, 7) for b in range(1, 7)]
    assert [float(cell) for cell in row.split()[2:]][:2] == [3.5, round(sum(two) / 36, 1)]


def test_hog_tells_every_part_of_a_turn() -> None:
    assert "\n".join(told_of(DUEL, at(10, 37, runs=(3, 0)), 1)) == (
        "You take Free bacon (1 + the largest digit of 37), 8 times 3 after 3 Pig outs: 24 points.\n  You 34, rival 37."
    )
    assert "Swine Swap! 24 and 42 change places.\n  You 42, rival 24." in "\n".join(told_of(DUEL, at(19, 42), 1))
    assert "11 dice, which is out of range: disqualified" in told_of(DUEL, at(player=1), 12)[0]
    assert hog.ending(DUEL, at(30, 104, over=True, winner=1)) == "rival wins, 104 to 30."
    assert hog.ending(DUEL, at(over=True, winner=0)) == "You win, the other being disqualified."


def test_yatzy_shows_what_is_open_and_tells_bonus_errors_and_ends() -> None:
    worth = "Full House 22, Sixes 18, Three of a Kind 18, Two Pairs 16, One Pair 12, Twos 4; any other open box 0."
    shown = yatzy.table(YATZY_TABLE, shows(6, 6, 6, 2, 2, rolls=1, filled=[14]), False)
    assert shown == f"Your dice: ⚅6 ⚅6 ⚅6 ⚁2 ⚁2   (1 roll left)\nWorth now: {worth}"
    assert "no rolls left: score a box" in yatzy.table(YATZY_TABLE, shows(1, 1, 1, 1, 1, rolls=0), True)
    state = shows(1, 1, 1, 2, 3)
    state["upper"][0], state["totals"][0] = 60, 60
    (line,) = told_of(YATZY_TABLE, state, box(1))
    assert line == "You score 3 points in Ones, and earn the bonus of 50; your total is 113."
    state = shows(6, 6, 2, 3, 1)
    state["player"] = 1
    assert told_of(YATZY_TABLE, state, 999)[1:] == []  # errors of others are not told
    assert told_of(YATZY_TABLE, state, SERVER_TURN)[0].startswith("  rival scores ")
    state["scores"][:], state["over"] = 0, True
    for totals, text in (
        ((200, 100), "You win: you 200, rival 100."),
        ((100, 100), "You and rival share the first place: you 100, rival 100."),
    ):
        state["totals"][:2] = totals
        assert yatzy.ending(YATZY_TABLE, state).endswith(text)
    assert yatzy.ending(YATZY_TABLE, state).count("\n") == BOXES + 3
    alone, state["players"] = dicegym.game("yatzy", players=1), 1
    assert yatzy.ending(place_of(alone, "you"), state).endswith("That makes 100 points.")


def test_the_shop_of_lucky_tells_what_a_die_brings_and_who_got_none() -> None:
    state = rich(10)
    state["dice"][0, 6] = 2  # 12 points a round
    text = lucky.table(SHOP, state, False)
    assert "Your dice make about 12.0 points a round." in text
    rows = {int(row.split()[0]): row for row in text.splitlines() if row.split()[0].isdecimal()}
    assert [*rows] == [0, 1, 2, 3, 7]
    assert " 3.5  even chances" in rows[3]
    assert " 2.0  times r/3" in rows[7]  # 12 * (3.5 / 3 - 1)
    state["money"][0] = state["left"][0] = 0
    assert "You can pay for nothing" in lucky.table(SHOP, state, False)
    state, lines = rich(), []
    state["shop"][6] = 1
    for seat, text in enumerate(["1x6 1x0", "1x6", "nothing"]):
        for action in lucky.read(SHOP._replace(seat=seat), state, text):
            lines = told_of(SHOP, state, action)
    assert lines[-1] == "You did not get 1x6: all orders together were more than the shop had."
    state = rich()
    brief = [told_of(SHOP, state, DONE, brief=True) for _ in range(3)][-1]
    assert brief == ["Round 1: you +0 = 100, bot +0 = 100, bot 2 +0 = 100."]


def test_an_order_that_has_begun_leaves_less_to_buy() -> None:
    state = rich(10)
    LUCKY.step(state, 3)  # of its 10 money 1 is left
    assert lucky.list_facts(SHOP, state) == ["At most you can order one of these: 1x0."]
    rows = [row.split()[:4] for row in lucky.table(SHOP, state, False).splitlines() if row.split()[0].isdecimal()]
    assert rows == [["0", "1", "20", "1"]]
    state = rich(100)
    LUCKY.step(state, add_dice(0, 15))  # 5 of 20 are left in the shop
    assert ": 5x0, 20x1," in lucky.list_facts(SHOP, state)[0]


def test_a_regained_die_is_told() -> None:
    place, state = after(SPOT_ON)
    state["left"][0] = state["rolled"][0] = 4
    state["hands"][:3] = [(4, 0, 0, 0, 0, 0), (0, 5, 0, 0, 0, 0), (0, 5, 0, 0, 0, 0)]
    state["player"] = 2
    SPOT_ON.step(state, bid(4, 1))
    assert "You gain 1 die and have 5 now." in told_of(place._replace(seat=0), state, GAIN_ONE)[-1]


@each_liars_dice
def test_own_dice_alone_are_shown_and_chances_are_by_them(game: Game) -> None:
    place, state = after(game, bid(1, 2))
    state["hands"][place.seat] = [0, 0, 0, 5, 0, 0]
    text = need(game, CONTROLS).table(place, state, True)
    assert text.count("⚃4 ⚃4 ⚃4 ⚃4 ⚃4") == 1
    assert text.count("▢ ▢ ▢ ▢ ▢") == 2
    sixths = 1 if game is CLASSIC else 2
    assert f"`liar` {(1 - sixths / 6) ** 10:.0%}" in text
    if game is SPOT_ON:
        assert f"`spot on` {10 * (1 / 3) * (2 / 3) ** 9:.0%}" in text
    assert ("1 four 100%" if game is CLASSIC else "2 fours 100%") in text


@each_liars_dice
def test_a_showdown_is_told(game: Game) -> None:
    place, state = after(game, bid(1, 2), bid(10, 3))
    state["hands"][:3] = [[0, 0, 2, 0, 0, 3], [0, 5, 0, 0, 0, 0], [0, 5, 0, 0, 0, 0]]
    bidder = (place.seat - 1) % 3
    lines = told_of(place, state, LIAR)
    assert lines[0] == ("You call liar on" if game is CLASSIC else 'You say "Liar" to') + f" bot {bidder}'s 10 threes."
    assert sum("⚅6 ⚅6 ⚅6 ⚂3 ⚂3" in line for line in lines) == 1
    assert lines[-2] == ("There are 2 threes." if game is CLASSIC else "There are 5 threes (sixes count).")
    assert lines[-1].startswith(f"bot {bidder} loses 1 die and has 4 left. ")
    assert lines[-1].endswith(" the next hand.")


def test_what_is_not_allowed_is_told() -> None:
    place, state = after(CLASSIC, bid(2, 2))
    lines = told_of(place._replace(seat=0, names=("you", "bot 1", "bot 2")), state, bid(1, 1))
    assert lines[0].startswith("bot 1 makes an illegal play: a bid that is not higher than the last one")
    assert lines[1] == "bot 1 is taken to call liar on your 2 twos."
    place, state = after(SPOT_ON)
    watcher = place._replace(seat=(place.seat + 1) % 3, names=("a", "b", "c"))
    assert told_of(watcher, state, LIAR)[-1] == f"{'abc'[place.seat]} is disqualified, and out."
    assert told_of(watcher, state, bid(3, 4)) == ["You bid 3 fours."]
