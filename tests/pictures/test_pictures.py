"""Pictures of all games: of one size, escaped, and without anything that a seat may not know."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dicegym
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.pictures.drawing import draw
from dicegym.pictures.naming import with_names
from dicegym.pictures.raster import pixels
from dicegym.play.drive import walk
from dicegym.registry import GAMES

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script>&\"'\u202e\x00" + "x" * 400


def some_states(game: Game, seed: int = 0, most: int = 200) -> Iterator[Any]:
    draws = np.random.default_rng(seed)
    game_states = walk(
        game, game.new_game(seed)[0], lambda state, _: int(draws.choice(np.flatnonzero(game.legal(state)))), most
    )
    for number, state in enumerate(game_states):
        if number % 11 == 0 or state["over"]:
            yield state


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("most", [False, True])
def test_all_pictures_of_a_game_have_one_size(name: str, most: bool) -> None:
    low, high = dicegym.game(name).spec.players
    game = dicegym.game(name, players=high if most else max(low, 2))
    sizes = set()
    for state in some_states(game):
        for seat in (None, 0):
            made = draw(game, state, seat)
            sizes.add((made.width, made.height))
            ET.fromstring(made.svg())
            assert all(tile.x >= 0 and tile.x + tile.width <= made.width for tile in made.tiles)
            assert all(tile.y >= 0 and tile.y + tile.height <= made.height for tile in made.tiles)
    assert len(sizes) == 1
    width, height = sizes.pop()
    assert width % 16 == height % 16 == 0
    assert pixels(made).shape == (height, width, 3)


@pytest.mark.parametrize("name", GAMES)
def test_a_picture_shows_a_seat_nothing_that_it_may_not_know(name: str) -> None:
    game = dicegym.game(name, players=max(2, dicegym.game(name).spec.players[0]))
    draws = np.random.default_rng(1)
    for state in some_states(game, 1):
        other = state.copy()
        for field in game.spec.secret:
            other[field] = draws.integers(0, 3, other[field].shape)
        for field in game.spec.private:
            told = other[field]
            told[1:] = draws.integers(0, 3, told[1:].shape)
        assert draw(game, state, 0) == draw(game, other, 0)


@pytest.mark.parametrize("name", GAMES)
def test_names_of_others_are_text_and_fit(name: str) -> None:
    game = dicegym.game(name)
    svg = draw(game, game.new_game(0)[0], None, [f"{HOSTILE}{seat}" for seat in range(game.players)]).svg()
    assert not list(ET.fromstring(svg).iter(f"{SVG}script"))
    assert "\u202e" not in svg


def test_a_picture_of_no_seat_is_refused() -> None:
    game = dicegym.game("hog")
    with pytest.raises(ParameterError, match="seat=2 cannot be used as a seat"):
        draw(game, game.new_game(0)[0], 2)
    with pytest.raises(ParameterError, match="do not name the 2 seats"):
        draw(game, game.new_game(0)[0], None, ["ann"])
    for names in ([1, 2], "ab"):
        with pytest.raises(ParameterError, match="do not name the 2 seats"):
            draw(game, game.new_game(0)[0], None, names)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"give dicegym.game\('hog'\)"):
        draw("hog", game.new_game(0)[0])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "names", "said"),
    [
        ("player 0 called liar; player 1 loses one die", ["ann", "you"], "ann called liar; you lose one die"),
        ("players 0 and 1 tie", ["ann", "bo"], "ann and bo tie"),
        ("player 7 wins", ["ann"], "player 7 wins"),
        ("player 1 against player 10", ["a", "b"], "b against player 10"),
    ],
)
def test_players_are_called_by_their_names(text: str, names: list[str], said: str) -> None:
    assert with_names(text, names) == said


@pytest.mark.parametrize("name", GAMES)
def test_what_a_picture_shows_is_said_to_whoever_looks_in_sentences(name: str) -> None:
    game = dicegym.game(name, players=2)
    for state in some_states(game, 2):
        said = draw(game, state, 0, ["you", "Ada"]).title
        assert "Ada" in said
        assert not any(wrong in said for wrong in ("you wins", "you loses", "player ", ". ."))
        if not state["over"]:
            assert ("you to move" if state["player"] == 0 else "Ada to move") in said


def test_dice_that_are_not_drawn_are_counted() -> None:
    game = dicegym.game("lucky")
    state = game.new_game(0)[0].copy()
    state["rolled"][0, 0] = 10
    assert "+" not in draw(game, state).svg()
    state["rolled"][0, 0] = 24
    assert ">+14<" in draw(game, state).svg()
