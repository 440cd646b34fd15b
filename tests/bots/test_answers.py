"""What a bot answers in a process of its own means what it means here: the same action, in the same words."""

from __future__ import annotations

import json
import math
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dicegym
from dicegym.bots.answers import DEEPEST, LARGEST, LONGEST_TEXT, MOST_ITEMS, TooMuchError, decode, encode
from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.games.parts import ADAPTER, need
from dicegym.play.turn import Turn
from dicegym.registry import GAMES
from dicegym.sandbox.remote import RemoteProgram

Pair = namedtuple("Pair", "quantity face")  # as bots' authors make them


class Whole(int):
    """A number of a class of its own."""


class Word(str):
    """A text of a class of its own."""


class Several(list[Any]):
    """A list of a class of its own."""


class Index:
    """What can be looked at as a whole number."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value

    def __repr__(self) -> str:
        return f"Index({self.value})"


class Evil:
    """Whatever is asked of it goes wrong."""

    def __int__(self) -> int:
        raise ZeroDivisionError("evil")

    __index__ = __repr__ = __str__ = __iter__ = __len__ = __eq__ = __hash__ = __bool__ = __int__  # type: ignore[assignment]  # as bots have it


numbers = st.one_of(
    st.integers(-3, 70), st.integers(), st.sampled_from([10**400, -(10**400)]), st.floats(), st.booleans(), st.none()
)
arrays: st.SearchStrategy[Any] = st.one_of(
    st.integers(-3, 70).flatmap(
        lambda n: st.sampled_from([np.int8(n), np.int64(n), np.longlong(n), np.float64(n), np.float32(n)])
    ),
    st.integers(0, 255).map(np.uint8),
    st.sampled_from([np.True_, np.float64("nan"), np.float16(0.5)]),
)
WORDS = ("spot on", "liar", "25", "ROLL_DICE", "SCORE_BOX", "chance", "dice", "type", "box", "command", "", "é\0\ud800")
texts = st.one_of(st.sampled_from(WORDS), st.text(max_size=10))
single = st.one_of(numbers, texts)
plain: st.SearchStrategy[Any] = st.recursive(
    single,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=3).map(tuple),
        st.tuples(inner, inner),
        st.dictionaries(texts, inner, max_size=3),
    ),
    max_leaves=8,
)
small = st.integers(-3, 70)
derived: st.SearchStrategy[Any] = st.one_of(
    small.map(Whole),
    texts.map(Word),
    st.builds(Pair, small, small),
    st.lists(small, max_size=3).map(Several),
    st.dictionaries(texts, single, max_size=3).map(OrderedDict),
    arrays,
    st.dictionaries(texts, arrays, max_size=3),
    st.tuples(small.map(Whole), small),
    st.lists(small.map(Whole), max_size=3),
    st.tuples(arrays, arrays),
    st.lists(arrays, max_size=3),
)
values = st.one_of(texts, small, st.lists(small, max_size=5))
commands = st.fixed_dictionaries({}, optional=dict.fromkeys(("command", "dice", "box", "type", "key"), values))


def sent(value: object) -> Any:
    """Return what a referee reads of an answer, which arrives on one line."""
    text = encode(value)
    assert text.isascii()
    assert "\n" not in text
    return decode(json.loads(text))


def meant(game: Game, value: object) -> tuple[object, str]:
    """Return what an answer means: an action or None, and in which words."""
    program = RemoteProgram("bot")
    act = need(game, ADAPTER).sit(program, lambda *_: value, game, 0)
    try:
        action: int | None = act(Turn(game, game.new_game(0, 0)[0], 0))
    except AgentError as error:
        return None, error.reason
    return action, program.explain()


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("name", GAMES)
@settings(max_examples=60, deadline=None)
@given(value=st.one_of(plain, commands))
def test_an_answer_means_the_same_from_another_process(name: str, value: Any) -> None:
    game = dicegym.game(name)
    assert meant(game, sent(value)) == meant(game, value)


@pytest.mark.parametrize("name", GAMES)
@settings(max_examples=40, deadline=None)
@given(value=derived)
def test_an_answer_of_numpy_or_a_class_of_its_own_is_the_same_action(name: str, value: Any) -> None:
    game = dicegym.game(name)
    assert meant(game, sent(value))[0] == meant(game, value)[0]


ODD = [Decimal(5), Fraction(1, 2), complex(4), b"25", frozenset({1}), np.array([1, 2]), len, int, Evil, ...]
WRAPPED = [lambda one: one, lambda one: [one], lambda one: (one, 1), lambda one: {"command": one}]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("wrap", WRAPPED)
@pytest.mark.parametrize("odd", [*ODD, Evil()], ids=lambda one: type(one).__name__)
def test_odd_answers_are_at_most_a_fault(name: str, wrap: Callable[[object], object], odd: object) -> None:
    action, words = meant(dicegym.game(name), sent(wrap(odd)))
    assert action is not None or words


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_odd_answers_are_quoted(odd: object) -> None:
    found = sent(odd)
    assert (repr(found), type(found).__name__) == (repr(odd), type(odd).__name__)
    assert not callable(found)
    with pytest.raises(TypeError):
        int(found)
    _, words = meant(dicegym.game("hog"), found)
    assert f"a {type(odd).__name__} instead" in words.replace("an ", "a ")


@pytest.mark.parametrize(
    "found",
    [
        {"n": ["int8", 3]},
        {"o": ["x", "y", None]},
        {"o": ["x", 5]},
        {"o": ["x\0", "y"]},
        {"d": [[1]]},
        {"d": [[[1], 2]]},
        {"t": 3},
        {"x": 1},
        {},
        {"d": [], "t": []},
    ],
)
def test_what_stands_for_no_answer_is_refused(found: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        decode(found)


class Number(int):
    def __str__(self) -> str:
        return "forged"

    __repr__ = __format__ = __str__


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "forged"


@pytest.mark.parametrize(
    "value",
    [
        *(0, -1, 12345678901234567890, LARGEST - 1, 0.1, -math.inf, True, False, None),
        *('say "\\', "two\nlines", "naïve ☃ 🎲", "\x00\x7f\u2028", "", [], (), {}, [[]], ((),), [{}]),
        *([1, (2, "three")], {"type": "SCORE_BOX", "box": 6, "dice": [0]}, {1: "a", None: (1,), (1, 2): {}}),
    ],
)
def test_plain_values_arrive_as_they_are(value: object) -> None:
    found = sent(value)
    assert found == value
    assert type(found) is type(value)


def test_of_classes_of_their_own_arrives_what_they_are_derived_from() -> None:
    found = sent([Number(5), Text("five"), np.bool_(True), np.int64(5), np.float32(0.5), np.float64(0.5), Index(7)])
    assert found == [5, "five", True, 5, 0.5, 0.5, 7]
    assert [type(one) for one in found] == [int, str, bool, int, float, float, int]


def test_what_is_larger_than_any_interface_asks_for_is_cut_or_refused() -> None:
    assert sent(10**5000) == sent(10**2000) == LARGEST
    assert sent(-(10**5000)) == -LARGEST
    assert sent("x" * 10 * LONGEST_TEXT) == "x" * LONGEST_TEXT
    assert sent("\ud800") == "\ud800"
    deep: list[Any] = []
    for _ in range(DEEPEST):
        deep = [deep]
    assert sent(deep) == deep
    within_itself: list[Any] = []
    within_itself.append(within_itself)
    for much in ([deep], within_itself, [0] * MOST_ITEMS, {number: number for number in range(MOST_ITEMS // 2)}):
        with pytest.raises(TooMuchError):
            encode(much)
