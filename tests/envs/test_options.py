"""Options that several environments share: documented and checked in one place."""

import re
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pettingzoo
import pytest

import dicegym
from dicegym.engine.dice import game_key
from dicegym.engine.seats import learner_seat
from dicegym.envs.multi import TurnEnv
from dicegym.envs.options import DOCUMENTATION, seat_rule
from dicegym.envs.render import render_games
from dicegym.envs.simultaneous import SimultaneousEnv
from dicegym.envs.single import SingleAgentEnv
from dicegym.envs.vector import BatchEnv
from dicegym.errors import ParameterError, StepError, UnknownArgumentError, UnknownNameError
from dicegym.players.prompts import observation_text

CLASSES: list[tuple[Any, str]] = [
    (SingleAgentEnv, "hog"),
    (BatchEnv, "hog"),
    (TurnEnv, "hog"),
    (SimultaneousEnv, "lucky"),
]
each_class = pytest.mark.parametrize(("cls", "game"), CLASSES, ids=lambda value: getattr(value, "__name__", None))


@each_class
def test_every_argument_of_an_environment_is_documented(cls: Any, game: str) -> None:
    assert not re.search(r"<\w+>", cls.__doc__)
    assert all(len(line) <= 112 for text in DOCUMENTATION.values() for line in text.split("\n"))
    names = cls.__init__.__code__.co_varnames[1 : cls.__init__.__code__.co_argcount]
    for name in (*names, r"\*\*parameters"):
        assert re.search(rf"^        {name}: \w*", cls.__doc__, re.MULTILINE), name


@each_class
@pytest.mark.parametrize(
    "option",
    [
        {"on_illegal": "never"},
        {"illegal_reward": "x"},
        {"illegal_reward": float("nan")},
        {"illegal_reward": -5},  # which nothing would give
        {"render_mode": "ascii"},
        {"render_mode": "3d"},
    ],
    ids=str,
)
def test_options_that_cannot_be_are_refused_alike(cls: Any, game: str, option: dict[str, Any]) -> None:
    (name,) = option
    with pytest.raises(ParameterError, match=f"^{name}="):
        cls(game, **option)


@each_class
def test_nothing_is_drawn_before_reset(cls: Any, game: str) -> None:
    with pytest.raises(StepError, match=r"render\(\) was called with no game going on"):
        cls(game, render_mode="ansi").render()


@pytest.mark.parametrize("seat", [-1, 2, True, 0.0, "first", None])
def test_seats_that_cannot_be_are_refused_and_the_rules_are_named(seat: Any) -> None:
    with pytest.raises(ParameterError, match=r"seat=.* give a whole number from 0 to 1, 'random' or 'alternate'"):
        seat_rule(dicegym.game("hog"), seat)


def test_seats_are_given_drawn_or_taken_in_turn() -> None:
    game = dicegym.game("liarsdice", players=4)
    keys = [game_key(5, episode) for episode in range(400)]

    def seats(rule: Any) -> list[int]:
        number = seat_rule(game, rule)
        return [int(learner_seat(number, np.uint64(key), np.uint64(n), game.players)) for n, key in enumerate(keys)]

    assert seats(2) == [2] * 400
    assert seats("alternate") == [0, 1, 2, 3] * 100
    assert np.bincount(seats("random")).min() > 70


def test_rendering_in_every_mode(capsys: pytest.CaptureFixture[str]) -> None:
    game = dicegym.game("hog")
    states = game.new_game(0)
    tables = [(states[0], None), (states[0], 1)]
    texts = render_games("ansi", game, tables)
    scenes = game.scene(states[0]).text(), game.scene(states[0], 1).text()
    assert texts == (scenes[0], observation_text(game, states[0], 1))
    assert texts[1].startswith(scenes[1])
    pictures = render_games("rgb_array", game, tables)
    assert pictures is not None
    assert [picture.dtype for picture in pictures] == [np.uint8] * 2
    assert render_games("human", game, tables) is None
    assert capsys.readouterr().out == "\n\n".join(scenes) + "\n"


@pytest.mark.parametrize(
    "make",
    [
        lambda **given: gym.make("dicegym/Hog-v0", **given),
        lambda **given: gym.make_vec("dicegym/Hog-v0", num_envs=2, **given),
        lambda **given: gym.make_vec("dicegym/Hog-v0", num_envs=2, vectorization_mode="sync", **given),
        lambda **given: pettingzoo.make("aec", "dicegym/Hog-v0", **given),
        lambda **given: pettingzoo.make("parallel", "dicegym/Lucky-v0", **given),
        lambda **given: dicegym.game("hog", **given),
    ],
    ids=["make", "make_vec", "sync", "aec", "parallel", "game"],
)
def test_an_argument_that_there_is_not_is_pythons_error_too(make: Callable[..., Any]) -> None:
    """Libraries try arguments of other environments and take a TypeError for no (torchrl's ``frameskip``)."""
    for kind in (TypeError, LookupError, UnknownNameError, UnknownArgumentError):
        with pytest.raises(kind, match=r"got an unexpected keyword argument 'frameskip'"):
            make(frameskip=4)
    for given, meant in (("oponent", "opponent"), ("render_modes", "render_mode"), ("gaol", "goal"), ("seats", "seat")):
        with pytest.raises(TypeError, match=f"argument '{given}': .* Did you mean '{meant}'"):
            gym.make("dicegym/Hog-v0", **{given: 1})


@each_class
def test_seeds_of_numpy_are_taken_and_others_refused_in_words(cls: Any, game: str) -> None:
    env = cls(game)
    with np.errstate(over="ignore"):  # without compilation, numbers of episodes that wrap are warned of
        env.reset(seed=np.int64(5))
    for seed in (-1, 1.5, 2**64, True, "x"):
        with pytest.raises(ParameterError, match=f"seed={seed!r} cannot be used"):
            env.reset(seed=seed)
