"""Short texts that stand for states: what went in comes out, and what a seat may not know never goes in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dicegym
from dicegym.analysis.hidden import hidden_fields, known, open_fields
from dicegym.analysis.positions import position, position_id
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.registry import GAMES

TABLES = [dicegym.game(name) for name in GAMES] + [
    dicegym.game("hog", goal=300, memory=1),
    dicegym.game("yatzy", players=6),
    dicegym.game("liarsdice", players=5, dice=3),
    dicegym.game("lucky", players=2, rounds=9_999, lead=1_000_000),
]


def played(game: Game, seed: int, steps: int) -> np.ndarray:
    """Return the record after so many random actions, or at the end."""
    states = game.new_game(seed)
    generator = np.random.default_rng(seed)
    for _ in range(steps):
        if states[0]["over"]:
            break
        game.step(states[0], int(generator.choice(np.flatnonzero(game.legal(states[0])))))
    return states


@pytest.mark.parametrize("game", TABLES, ids=repr)
@given(seed=st.integers(0, 2**64 - 1), steps=st.integers(0, 60))
@settings(max_examples=12)
def test_a_text_stands_for_its_state(game: Game, seed: int, steps: int) -> None:
    states = played(game, seed, steps)
    found = position(position_id(game, states[0]))
    assert (found.game, found.seat) == (game, None)
    assert found.state.tobytes() == states.tobytes()
    for seat in range(game.players):
        found = position(position_id(game, states[0], seat))
        assert (found.game, found.seat) == (game, seat)
        assert found.state.tobytes() == known(game, states[0], seat).tobytes()


@pytest.mark.parametrize("game", TABLES, ids=repr)
def test_a_text_for_a_seat_tells_nothing_else(game: Game) -> None:
    """Whatever is hidden from the seat, its text is the same; what it may know is all there."""
    states = played(game, 7, 20)
    seat = int(states[0]["player"])
    text = position_id(game, states[0], seat)
    other = states.copy()
    other["key"] = 99
    for name in game.spec.secret:
        other[name] = 1
    for name in hidden_fields(game):
        for one in set(range(game.players)) - {seat}:
            other[name][0, one] = 1
    assert position_id(game, other[0], seat) == text
    found = position(text).state[0]
    assert found["key"] == 0
    assert np.array_equal(game.observe(found, seat), game.observe(states[0], seat))
    assert np.array_equal(game.legal(found), game.legal(states[0]))


def test_what_lies_open_is_told() -> None:
    """Hog's dice are rolled before everybody's eyes, though programs are not told of them."""
    game = dicegym.game("hog")
    assert open_fields(game) == game.spec.private
    assert hidden_fields(dicegym.game("liarsdice")) == {"hands"}


@pytest.mark.parametrize("name", GAMES)
def test_a_wrong_text_is_refused(name: str) -> None:
    game = dicegym.game(name)
    text = position_id(game, played(game, 3, 9)[0])
    head = len(name) + 1
    for place in range(head, len(text)):  # each letter another one, the last two but for bits that mean nothing
        wrong = text[:place] + ("A" if text[place] != "A" else "Q") + text[place + 1 :]
        with pytest.raises(ParameterError, match="cut or mistyped"):
            position(wrong)
    for cut in range(head + 1, len(text)):
        with pytest.raises(ParameterError, match="cut or mistyped"):
            position(text[:cut])
    others = {"hog", "yatzy"} - {name}
    with pytest.raises(ParameterError, match="cut or mistyped"):
        position(others.pop() + text[len(name) :])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "begins with the name of a game"),
        ("hog", "begins with the name of a game"),
        ("hog-", "begins with the name of a game"),
        ("nim-AAAA", "no game 'nim'"),
        ("hog-A", "cut or mistyped"),
        ("hog-" + "A" * 5000, "begins with the name of a game"),
        ("hog-\x1b[2JAAAA", "begins with the name of a game"),
    ],
)
def test_what_is_no_text_of_a_state_is_refused(text: str, says: str) -> None:
    with pytest.raises(ParameterError, match=says) as caught:
        position(text)
    assert "\x1b" not in str(caught.value)


def test_a_seat_that_there_is_not_is_refused() -> None:
    game = dicegym.game("hog")
    with pytest.raises(ParameterError, match="seat 2 is no seat"):
        position_id(game, game.new_game()[0], 2)


def test_texts_are_short() -> None:
    """As long as a person pastes without a thought: a new game's, and one's in the middle."""
    for name, longest in (("hog", 60), ("liarsdice", 110), ("yatzy", 100)):
        game = dicegym.game(name)
        assert len(position_id(game, game.new_game(1)[0], 0)) <= 30
        assert len(position_id(game, played(game, 1, 14)[0], 0)) <= longest
