"""An observation in words: every part by name and place, and what it says where that is plain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from variants import each_variant, states_of

import dicegym
from dicegym.engine.game import Game
from dicegym.engine.observation_forms import Flags, OneHot, Ones, Over
from dicegym.errors import ParameterError


@each_variant
def test_parts_cover_the_observation_in_order(game: Game) -> None:
    for state in states_of(game)[::7]:
        for seat in range(game.players):
            observation = game.observe(state, seat)
            described = game.describe(observation)
            assert [part.name for part in described] == list(game.features)
            assert [part.start for part in described] == [0, *(part.stop for part in described[:-1])]
            assert described[-1].stop == game.observation_size
            for part in described:
                assert part.values == tuple(observation[part.start : part.stop].tolist())
                assert part.meaning, f"the rules page says nothing of {part.name}"
            text = str(described)
            assert len({line.partition(" ")[0] for line in text.splitlines() if line[0] != " "}) == len(described)


@each_variant
def test_parts_declared_by_a_form_can_always_be_read(game: Game) -> None:
    forms = getattr(game.spec.features, "forms", {})
    for state in states_of(game)[::7]:
        for part in game.describe(game.observe(state, int(state["player"]))):
            if part.name in forms:
                assert forms[part.name].fits(np.array(part.values)), (part.name, part.values)


def test_what_is_read_is_what_the_state_holds() -> None:
    game = dicegym.game("yatzy", players=3)
    for state in states_of(game)[::5]:
        seat = int(state["player"])
        described = game.describe(game.observe(state, seat))
        assert described["sorted dice"].read == sorted(state["dice"].tolist())
        assert described["counts"].read == np.bincount(state["dice"], minlength=7)[1:].tolist()
        assert described["rolls left"].read == int(state["rolls_left"])
        assert described["open"].read == (np.flatnonzero(state["scores"][seat] < 0) + 1).tolist()
        assert described["presence"].read == [1, 2]
    game = dicegym.game("liarsdice")
    for state in states_of(game)[:10]:
        seat = int(state["player"])
        described = game.describe(game.observe(state, seat))
        assert described["own dice"].read == state["hands"][seat].tolist()
        assert described["bid face"].read == (None if not state["n_bids"] else game.view(state, seat).bids[-1].face)
        assert described["all dice"].read == int(state["rolled"].sum())
    game = dicegym.game("lucky")
    state = states_of(game)[-1]
    assert game.describe(game.observe(state, 0))["dice"].read == state["dice"][0].tolist()


def test_a_table_is_printed() -> None:
    game = dicegym.game("hog")
    lines = str(game.describe(game.observe(game.new_game(0)[0], 0))).splitlines()
    assert lines[0] == "0..1    scores          0 0   own and opponent's score over goal, at most 1"
    assert lines[3] == "4..13   own tens        0     one-hot: tens digit of the own score"
    assert max(map(len, lines)) <= 100


def test_a_part_is_found_by_name() -> None:
    described = dicegym.game("hog").describe(np.zeros(62))
    assert described["bacon"] == described[9]
    assert described["own tens"].read is None
    with pytest.raises(KeyError, match="there is no part 'score': the parts are scores"):
        described["score"]


@pytest.mark.parametrize(
    ("observation", "reason"),
    [
        (np.zeros((3, 62)), r"shape \(3, 62\).*of a batch one row"),
        (np.zeros(61), r"give one of shape \(62,\)"),
        ({"observation": np.zeros(62)}, r"of a dict observation\['observation'\]"),
        ("score", "type str"),
    ],
)
def test_what_is_no_observation_is_refused(observation: Any, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        dicegym.game("hog").describe(observation)


def test_values_that_a_form_does_not_fit_are_shown_as_they_are() -> None:
    """Such as observations that a wrapper has scaled."""
    described = dicegym.game("hog").describe(np.full(62, 0.5))
    assert described["own tens"].read == (0.5,) * 10
    assert described["leading"].read == 0.5


@pytest.mark.parametrize(
    ("form", "values", "read"),
    [
        (OneHot(3, first=1), [0, 1, 0], 2),
        (OneHot(3), [0, 0, 0], None),
        (OneHot(3), [1, 1, 0], "no"),
        (OneHot(2, rows=2), [0, 1, 1, 0], [1, 0]),
        (Ones(3), [1, 1, 0], 2),
        (Ones(3), [1, 0, 1], "no"),
        (Ones(2, rows=2), [1, 1, 0, 0], [2, 0]),
        (Flags(3, first=1), [1, 0, 1], [1, 3]),
        (Flags(3), [1, 0.5, 1], "no"),
        (Flags(2, rows=2), [1, 0, 0, 0], [[0], []]),
        (Over(10), [0.3], 3),
        (Over(10), [0.35], "no"),
        (Over((10, 20), 2), [0.5, 0.5], [5, 10]),
    ],
)
def test_forms(form: Any, values: list[float], read: Any) -> None:
    array = np.array(values, np.float64)
    assert form.length == len(values)
    assert form.fits(array) == (read != "no")
    if read != "no":
        assert form.read(array) == read
