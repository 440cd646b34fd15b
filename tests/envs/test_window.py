"""Windows of `render_mode="human"`: they open, take pictures, close, and without a display say so once and print."""

from __future__ import annotations

import copy
import pickle
import time
from typing import Any

import gymnasium as gym
import numpy as np
import pettingzoo
import pytest

from dicegym.envs import window
from dicegym.envs.render import MOST_SHOWN, Renderer, _beside
from dicegym.envs.single import SingleAgentEnv
from dicegym.envs.vector import BatchEnv
from dicegym.envs.window import Window


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


@pytest.fixture
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    for name in ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(window.sys, "platform", "linux")
    monkeypatch.setattr(window, "_SAID", set())


def test_a_window_shows_games_and_closes(display: None, capsys: pytest.CaptureFixture[str]) -> None:
    env: Any = SingleAgentEnv("hog", render_mode="human", seat=0)
    env._renderer._window._pause = 0.0
    env.reset(seed=0)
    process = env._renderer._window._process
    assert process is not None
    env.step(3)
    assert env.render() is None
    assert process.poll() is None
    assert capsys.readouterr().out == ""
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert other._renderer._window._process is None
        other.close()
    env.close()
    assert process.returncode == 0
    env.close()


def test_a_window_that_was_closed_by_hand_stays_closed(display: None) -> None:
    shown = Window("dice", 1000)
    assert shown.opens()
    process = shown._process
    assert process is not None
    process.terminate()
    process.wait()
    picture = np.zeros((400, 640, 3), np.uint8)
    for _ in range(3):
        shown.show(picture)
        assert shown.opens()
    assert shown._process is None
    shown.close()
    assert shown.opens()  # another one: the environment was closed in between
    assert shown._process is not None
    shown.close()


def test_pictures_stay_as_long_as_an_environment_says(display: None) -> None:
    shown = Window("dice", 10)
    assert shown.opens()
    begin = time.monotonic()
    for _ in range(3):
        shown.show(np.zeros((160, 160, 3), np.uint8))
    assert 0.2 <= time.monotonic() - begin < 5
    shown.close()


def test_without_a_display_games_are_printed_and_it_is_said_once(
    no_display: None, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        env = gym.make("dicegym/Hog-v0", render_mode="human")
        env.reset(seed=0)
        env.close()
    told = capsys.readouterr()
    assert told.out.count("Hog") == 2
    assert told.err.count("no display") == told.err.count("RecordVideo") == 1


def test_without_pygame_it_says_what_to_install(
    no_display: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(window.importlib.util, "find_spec", lambda name: None)
    env = pettingzoo.make("aec", "dicegym/LiarsDice-v0", render_mode="human")
    env.reset(seed=0)
    told = capsys.readouterr()
    assert "Liar's Dice" in told.out
    assert "pip install 'dicegym[render]'" in told.err


def test_a_window_that_does_not_come_up_is_no_window(
    no_display: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "there-is-no-such-driver")
    assert not Window("dice", 2).opens()
    assert "not available" in capsys.readouterr().err


def test_a_batch_is_shown_side_by_side(display: None) -> None:
    pictures = [np.full((16, 32, 3), number, np.uint8) for number in range(5)]
    whole = _beside(pictures)
    assert whole.shape == (32, 96, 3)
    assert whole[16:, 32:64].max() == 4
    envs = BatchEnv("hog", MOST_SHOWN + 3, opponent="bacon", render_mode="human")
    envs.reset(seed=0)
    assert envs.render() is None
    process = envs._renderer._window._process
    assert process is not None
    envs.close()
    assert process.returncode == 0


@pytest.mark.parametrize("name", ["hog", "yatzy"])
def test_notebooks_show_tables(name: str) -> None:
    env = SingleAgentEnv(name, seat=0)
    assert env._repr_svg_() is None
    env.reset(seed=3)
    assert env._repr_svg_() == Renderer(env.game, None).drawing(env.state, 0).svg()
    envs = BatchEnv(name, MOST_SHOWN + 1)
    assert envs._repr_html_() is None
    envs.reset(seed=0)
    assert envs._repr_html_().count("<svg") == MOST_SHOWN
    assert f"of {MOST_SHOWN + 1} games" in envs._repr_html_()
