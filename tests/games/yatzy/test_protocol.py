"""The messages of a Yatzy server: what they say, what is read from them, and that nothing breaks the reader."""

from __future__ import annotations

import contextlib
import itertools
import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from variants import play

import dicegym
from dicegym import arena
from dicegym.games.yatzy import protocol
from dicegym.games.yatzy.protocol import CommandError, action_of, command_in, state_of
from dicegym.play.turn import Turn
from dicegym.players.roster import agent

pytestmark = pytest.mark.nojit

TWO = dicegym.game("yatzy")
NAMES = ["Bot1Anna", "DumBot"]
EXAMPLE: dict[str, Any] = {
    "key": "STANDING",
    "roundNumber": 1,
    "standing": [
        {"playerName": "Bot1Anna", "rating": 1200, "score": "-,-,-,-,-,-,-,-,-,-,-,-,-,-,-"},
        {"playerName": "DumBot", "rating": 1000, "score": "-,-,-,-,-,-,-,-,-,-,-,-,-,-,-"},
    ],
    "currentPlayer": {"playerName": "Bot1Anna", "rollsLeft": 2, "dice": [5, 6, 1, 1, 3]},
}


def changed(**changes: Any) -> dict[str, Any]:
    """The example of the server's text, with changes ("rollsLeft" and "dice" are those of the player to move)."""
    message = json.loads(json.dumps(EXAMPLE))
    for name, value in changes.items():
        place = message["currentPlayer"] if name in ("rollsLeft", "dice", "playerName") else message
        place[name] = value
    return message


def scored(text: object) -> dict[str, Any]:
    """The example with another score of the first player."""
    first, second = EXAMPLE["standing"]
    return changed(standing=[first | {"score": text}, second])


# --- what is said ----------------------------------------------------------------------------------------------------


def test_the_example_of_the_servers_text() -> None:
    state, seat = state_of(EXAMPLE, "DumBot", TWO)
    assert seat == 1
    assert protocol.standing_message(TWO, state, NAMES, [1200, 1000]) == EXAMPLE


def test_used_and_crossed_out_boxes() -> None:
    state = TWO.new_game()[0]
    state["dice"] = (1, 1, 6, 6, 6)
    TWO.step(state, 512 + 3)  # the two ones
    state["dice"] = (1, 1, 6, 6, 6)
    TWO.step(state, 210 + 14)  # no Yatzy
    message = protocol.standing_message(TWO, state, NAMES, [1200, 1200])
    assert [row["score"] for row in message["standing"]] == [
        "2,-,-,-,-,-,-,-,-,-,-,-,-,-,-",
        "-,-,-,-,-,-,-,-,-,-,-,-,-,-,0",
    ]
    assert message["roundNumber"] == 2
    assert message["currentPlayer"]["playerName"] == "Bot1Anna"
    json.dumps(message)


def test_final_message() -> None:
    game = dicegym.game("yatzy", players=4)
    state = game.new_game()[0]
    state["scores"][:4] = 0
    state["scores"][:4, 5] = (10, 30, 20, 20)
    state["totals"][:4], state["upper"][:4] = (10, 80, 20, 20), (10, 63, 20, 20)
    state["over"] = True
    message = protocol.final_message(game, state, list("abcd"), [1, 2, 3, 4])
    assert message["key"] == "FINAL"
    found = [(row["playerName"], row["total"], row["place"], row["rating"]) for row in message["standing"]]
    assert found == [("b", 130, 1, 2), ("c", 20, 2, 3), ("d", 20, 2, 4), ("a", 10, 4, 1)]
    assert message["standing"][0]["score"].split(",")[5] == "30"
    json.dumps(message)


def test_errors_and_logins() -> None:
    assert protocol.error_message("used-box", "no") == {"key": "ERROR", "code": "used-box", "message": "no"}
    assert protocol.login_message("s") == {"key": "LOGIN", "secret": "s"}
    assert protocol.login_of({"key": "LOGIN", "secret": "s"}) == (None, "s")
    assert protocol.login_of({"type": "LOGIN", "secret": "s", "more": 1}) == (None, "s")
    for bad in ({"key": "LOGIN", "secret": 5}, {"key": "ROLL_DICE", "secret": "s"}, [], None):
        with pytest.raises(CommandError):
            protocol.login_of(bad)
    codes = [protocol.fault_error(fault).code for fault in range(1, 6)]
    assert codes == ["bad-command", "no-rolls-left", "used-box", "bad-dice", "no-dice"]
    error = pickle.loads(pickle.dumps(CommandError("a", "b")))
    assert (error.code, error.message, str(error)) == ("a", "b", "b")


# --- what the page for bots shows ------------------------------------------------------------------------------------


def shown_messages(root: Path) -> dict[str, Any]:
    page = (root / "docs" / "bots" / "yatzy.md").read_text(encoding="utf-8")
    found = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    return {protocol.word_of(message): message for message in found}


def test_the_page_shows_every_message_as_it_is(root: Path) -> None:
    shown = shown_messages(root)
    assert list(shown) == ["LOGIN", "WELCOME", "STANDING", "ROLL_DICE", "SCORE_BOX", "ERROR", "FINAL"]
    assert protocol.login_of(shown["LOGIN"]) == ("anna", "open sesame please")
    assert shown["WELCOME"] == protocol.welcome_message("anna", 1200)
    names, standing = protocol.names_of(shown["STANDING"]), shown["STANDING"]
    ratings = [row["rating"] for row in standing["standing"]]
    state, _ = state_of(standing, "anna", TWO)
    assert protocol.standing_message(TWO, state, names, ratings) == standing
    for word in ("ROLL_DICE", "SCORE_BOX"):
        assert TWO.step(state.copy(), action_of(shown[word])) == 0
    after = state.copy()
    TWO.step(after, action_of(shown["SCORE_BOX"]))
    assert after["scores"][0, 6] == 2
    assert shown["ERROR"] == protocol.error_message("used-box", protocol.fault_error(3).message)
    rows = shown["FINAL"]["standing"]
    for row in rows:
        boxes = [int(points) for points in row["score"].split(",")]
        assert row["total"] == sum(boxes) + 50 * (sum(boxes[:6]) >= 63)
    assert [set(row) for row in rows] == [{"playerName", "rating", "score", "total", "place"}] * 2
    assert protocol.final_text(shown["FINAL"]).startswith("1. anna 301 (1200), 2. thrifty")


def test_the_page_lists_every_code(root: Path) -> None:
    from dicegym.server import wire

    page = (root / "docs" / "bots" / "yatzy.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`([a-z]+(?:-[a-z]+)*)`", page.partition("**ERROR**")[2].partition("```")[0])) - {"code"}
    codes = {value for name, value in vars(protocol).items() if name.startswith("BAD_") and isinstance(value, str)}
    known = codes - {"bad-standing"}
    known |= set(protocol.FAULT_CODES.values())
    known |= {wire.NOT_YOUR_TURN, wire.FULL, wire.STOPPED, *wire.REFUSALS}
    known |= {wire.parse("x").code, wire.parse("x" * 5000).code}
    assert listed == known


# --- as the original server does -------------------------------------------------------------------------------------


def test_clients_of_the_original_log_in_with_a_secret_and_nothing_more() -> None:
    login = {"key": "LOGIN", "secret": "s"}
    ours = [protocol.login_message("s", "anna"), protocol.login_message("s", client="mine")]
    assert protocol.original_login(login)
    assert protocol.original_login(protocol.login_message("s"))
    others = [{"type": "LOGIN", "secret": "s"}, login | {"type": "LOGIN"}, {"key": "LOGIN"}, None]
    for other in [*ours, *others, {"key": "LOGIN", "playerName": "anna"}]:
        assert not protocol.original_login(other)


@given(st.integers(0, 2**63), st.integers(0, 200))
@settings(max_examples=25)
def test_scores_may_be_arrays(seed: int, decisions: int) -> None:
    state = play(TWO, seed, decisions)
    standing = protocol.standing_message(TWO, state, NAMES, [1200, 1000])
    original = json.loads(json.dumps(protocol.as_original(standing)))
    assert [row["score"] for row in original["standing"]] == state["scores"][:2].tolist()
    assert original["currentPlayer"] == standing["currentPlayer"]
    for seat, name in enumerate(NAMES):
        assert state_of(original, name, TWO)[0].tobytes() == state_of(standing, name, TWO)[0].tobytes()
        assert protocol.open_boxes(original, name) == (state["scores"][seat] < 0).sum()
    assert protocol.continues(standing, original)


@given(st.integers(0, 2**63), st.lists(st.sampled_from([1000, -1, None]), min_size=200, max_size=200))
@settings(max_examples=10)
def test_turns_of_those_who_have_given_up_are_seen_one_by_one(seed: int, choices: list[int | None]) -> None:
    """Each table that is shown differs from the one before in the box that its player has filled."""
    game = dicegym.game("yatzy", players=4)
    state = game.new_game(seed)[0]
    for choice in choices:
        if state["over"]:
            break
        action = int(game.legal(state).nonzero()[0][-1]) if choice is None else choice
        before = state.copy()
        between = protocol.interludes(game, state, action)
        assert state.tobytes() == before.tobytes()
        gone = before["helped"] >= 2
        game.step(state, action)
        tables = [before, *between, state]
        for one, next_one in itertools.pairwise(tables):
            filled = (one["scores"] != next_one["scores"]).nonzero()
            assert len(filled[0]) <= 1, "no two changes at once"
            assert all(seat == one["player"] for seat in filled[0])
        assert all(table["rolls_left"] == 2 and state["helped"][table["player"]] >= 2 for table in between)
        if not gone.any():
            assert not between


# --- commands --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["type", "key"])
def test_commands_are_named_under_type_or_key(word: str) -> None:
    """The two examples of the server's text."""
    assert action_of({word: "ROLL_DICE", "dice": [0, 1, 4]}) == 256 + 0b10011
    assert action_of({word: "SCORE_BOX", "box": 1, "dice": [2, 3]}) == 512 + 0b01100
    assert action_of({word: "SCORE_BOX", "box": 15, "dice": [4, 3, 2, 1, 0]}) == 512 + 14 * 32 + 31
    assert action_of({word: "SCORE_BOX", "box": 15, "dice": [], "note": "extra"}) == 512 + 14 * 32
    assert action_of({word: "ROLL_DICE", "dice": []}) == 256  # understood, and for the rules to refuse
    assert action_of({"type": "ROLL_DICE", "key": "ROLL_DICE", "dice": [0]}) == 257  # both may say the same


DEEP: list[Any] = []
for _ in range(200):
    DEEP = [DEEP]

SCORE_ONE = {"type": "SCORE_BOX", "box": 1}
NO_PLACES: list[Any] = [None, "01", 3, {"0": 1}, [5], [-1], [1.0], [True], ["1"], [None], [[0]], [0, 0], [10**5000]]
NO_PLACES += [[0, 1, 2, 3, 4, 0], [float("nan")], [1e400], DEEP, list(range(4000))]
MALFORMED: dict[str, list[Any]] = {
    "bad-command": [None, 5, "ROLL_DICE", [], {}, {"dice": [0]}]
    + [{"type": word, "dice": [0]} for word in (1, [], "ROLL", "roll_dice", "STANDING", True)]
    + [{"type": "ROLL_DICE", "key": "x", "dice": [0]}, {"type": {"a": DEEP}}, {"type": "x" * 5000}],
    "bad-index": [{"type": "ROLL_DICE"}, SCORE_ONE, SCORE_ONE | {"dice": [2, 2]}]
    + [{"type": "ROLL_DICE", "dice": places} for places in NO_PLACES],
    "bad-box": [{"type": "SCORE_BOX", "dice": [0]}]
    + [{"type": "SCORE_BOX", "box": box, "dice": [0]} for box in (0, 16, "1", 1.0, True, -(10**5000), [1])],
}


@pytest.mark.parametrize("code", MALFORMED)
def test_malformed_commands_are_refused_with_a_reason(code: str) -> None:
    for command in MALFORMED[code]:
        with pytest.raises(CommandError) as error:
            action_of(command)
        assert error.value.code == code
        assert 10 < len(error.value.message) < 300


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


@given(
    JSON
    | st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["ROLL_DICE", "SCORE_BOX", "STANDING", "LOGIN"]) | JSON,
            "key": st.sampled_from(["ROLL_DICE", "SCORE_BOX", "STANDING", "LOGIN"]) | JSON,
            "dice": st.lists(st.integers(-1, 6), max_size=6) | JSON,
            "box": st.integers(-1, 17) | JSON,
            "standing": st.lists(st.dictionaries(st.sampled_from(["playerName", "score"]), JSON)) | JSON,
            "currentPlayer": JSON,
        },
    )
)
@settings(max_examples=40)
def test_whatever_json_can_say_is_an_action_or_a_command_error(message: object) -> None:
    for read in (action_of, protocol.login_of, protocol.names_of, lambda value: state_of(value, "a", TWO)):
        with contextlib.suppress(CommandError):
            assert read(message) is not None
    with contextlib.suppress(CommandError):
        assert TWO.step(TWO.new_game()[0], action_of(message)) in (0, 2, 3, 5)
    assert TWO.step(TWO.new_game()[0], protocol.UNREADABLE) == 1


# --- from actions to commands ----------------------------------------------------------------------------------------


@given(st.integers(0, 2**63), st.integers(0, 60))
@settings(max_examples=25)
def test_a_command_does_what_its_action_does(seed: int, decisions: int) -> None:
    """Each legal action, and what is read back from its command, lead to the same state."""
    state = play(TWO, seed, decisions)
    for action in np.flatnonzero(TWO.legal(state)).tolist():
        command = command_in(action, state)
        assert command["type"] == command["key"]
        one, two = state.copy(), state.copy()
        assert TWO.step(one, action) == TWO.step(two, action_of(json.loads(json.dumps(command)))) == 0
        assert one.tobytes() == two.tobytes()


def test_wide_actions_are_their_commands_and_others_have_none() -> None:
    state = TWO.new_game()[0]
    state["dice"] = [5, 6, 1, 1, 3]
    for action in [*range(257, 288), *range(512, 512 + 15 * 32, 7)]:
        assert action_of(command_in(action, state)) == action
    for action in (-1, 225, 255, 288, 511, 992, 1000, 2**70, 4, 84):
        with pytest.raises(CommandError, match="no command means"):
            command_in(action, state)
    assert command_in(210 + 14, state)["dice"] == [0, 1, 2, 3, 4]  # crossed out with all dice
    assert command_in(210, state)["dice"] == [2, 3]


# --- a standing read -------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**63), st.integers(0, 200), st.integers(1, 6))
@settings(max_examples=30)
def test_a_standing_read_is_the_state_again(seed: int, decisions: int, players: int) -> None:
    game = dicegym.game("yatzy", players=players)
    state = play(game, seed, decisions)
    names = [f"n{i}" for i in range(players)]
    message = json.loads(json.dumps(protocol.standing_message(game, state, names, [1200] * players)))
    assert protocol.names_of(message) == names
    for seat, name in enumerate(names):
        copy, own = state_of(message, name, game)
        assert own == seat
        assert game.view(copy, seat) == game.view(state, seat)
        assert np.array_equal(game.observe(copy, seat), game.observe(state, seat))
        assert np.array_equal(game.legal(copy), game.legal(state))
        assert copy["over"] == state["over"]


ANNA = {"playerName": "Bot1Anna"}
NO_STANDINGS: dict[str, list[Any]] = {
    "invalid message": [None],
    "expected a STANDING": [{"key": "FINAL"}],
    "a list of players": [changed(standing=None), changed(standing=[1])],
    "not one of": [changed(standing=[]), *(changed(playerName=name) for name in ("Eve", None, [1]))],
    "invalid currentPlayer": [changed(currentPlayer=None), changed(currentPlayer=[])],
    "give five dice": [changed(dice=[1, 2, 3, 4]), changed(dice="12345")],
    "invalid face of a die": [changed(dice=[1, 2, 3, 4, face]) for face in (7, 0, 5.0, True, 10**500)],
    "rolls left": [changed(rollsLeft=left) for left in (3, -1, None)],
    "fields": [changed(standing=[ANNA | {"score": "-"}, {"playerName": "DumBot"}]), scored("9" * 5000)],
    "give each player a different name": [changed(standing=[ANNA, ANNA]), changed(standing=[ANNA, {"playerName": 5}])],
    "invalid standing of 1 players": [changed(standing=EXAMPLE["standing"][:1])],
    "give 15 numbers": [scored([-1] * 14)],
    "invalid score of a box": [scored(",".join([text] * 15)) for text in ("x", "51", "-1", "²")]
    + [scored([-1] * 14 + [points]) for points in (51, -2, True, "-")],
}


@pytest.mark.parametrize("reason", NO_STANDINGS)
def test_a_standing_that_is_none_is_refused_with_a_reason(reason: str) -> None:
    for message in NO_STANDINGS[reason]:
        with pytest.raises(CommandError, match=reason):
            state_of(message, "Bot1Anna", TWO)
    with pytest.raises(CommandError, match='"Eve" is not one of'):
        state_of(EXAMPLE, "Eve", TWO)


@pytest.mark.parametrize(
    ("read", "message", "says"),
    [
        (protocol.login_of, {"key": "LOGIN", "secret": 7}, '7 is not a text: send {"key": "LOGIN", "secret": "..."}'),
        (protocol.login_of, {"key": "ROLL_DICE"}, 'log in first: send {"key": "LOGIN", "secret": "..."}'),
        (protocol.login_of, {"secret": None}, '{"secret": null} does not say what it is'),
        (protocol.login_of, [True], "invalid message [true]"),
        (action_of, {"key": "SCORE_BOX", "box": True, "dice": []}, "invalid box true"),
        (action_of, {"key": "ROLL_DICE", "dice": None}, "invalid dice null"),
        (action_of, {"key": "ROLL_DICE", "dice": ["a"]}, 'invalid place of a die "a"'),
        (action_of, {"key": "ROLL_DICE"}, 'the command names no dice: add "dice"'),
    ],
)
def test_hints_are_written_in_json(read: Callable[[object], object], message: object, says: str) -> None:
    with pytest.raises(CommandError) as caught:
        read(message)
    assert caught.value.message.startswith(says)


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint8, np.longlong])
def test_whole_numbers_of_numpy_are_places_and_boxes(kind: Any) -> None:
    for command in ({"type": "ROLL_DICE", "dice": [1, 4]}, {"type": "SCORE_BOX", "box": 15, "dice": [0, 2]}):
        given = {name: value if name == "type" else kind(value) for name, value in command.items()}
        found = action_of(given | {"dice": [*map(kind, command["dice"])]})
        assert type(found) is int
        assert found == action_of(command)
    for wrong in (np.True_, np.float64(1), True):
        with pytest.raises(CommandError):
            action_of({"type": "ROLL_DICE", "dice": [wrong]})


# --- bots in files ---------------------------------------------------------------------------------------------------


def test_a_bot_reads_standings_of_its_own_seat(write: Callable[..., Path]) -> None:
    source = "seen = []\ndef command(standing):\n    seen.append(standing)\n    return None\n"
    bot = agent(TWO, write(source), keep=True)
    state = TWO.new_game(4)[0]
    TWO.step(state, 210)
    assert bot.join(TWO, 1, 0)(Turn(TWO, state, 1)) == -1
    (standing,) = bot._program.namespace["seen"]
    points = int(state["scores"][0, 0])
    assert standing == {
        "key": "STANDING",
        "roundNumber": 1,
        "standing": [
            {"playerName": "player_0", "rating": 1200, "score": f"{points}" + ",-" * 14},
            {"playerName": "player_1", "rating": 1200, "score": "-" + ",-" * 14},
        ],
        "currentPlayer": {"playerName": "player_1", "rollsLeft": 2, "dice": state["dice"].tolist()},
    }
    assert all(type(face) is int for face in standing["currentPlayer"]["dice"])


@pytest.mark.slow
def test_check(write: Callable[..., Path]) -> None:
    assert arena.check("gather", TWO).ok
    report = arena.check(write("def command(standing):\n    return 1 / 0\n"), TWO)
    assert "ZeroDivisionError" in report.reason
