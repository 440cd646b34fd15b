"""A window for `render_mode="human"`: opened where there is a display, and the table as text where there is none."""

from __future__ import annotations

import subprocess
import sys

import gymnasium as gym
import pytest

import dicegym
from dicegym.registry import ENVIRONMENTS

PLAY = """
import sys, gymnasium as gym, dicegym
env = gym.make("dicegym/Hog-v0", render_mode="human", goal=20)
env.unwrapped._window._pause = 0
env.reset(seed=0)
over = False
while not over:
    _, _, terminated, truncated, info = env.step(5)
    over = terminated or truncated
pygame = sys.modules.get("pygame")
print("WINDOW", env.unwrapped._window._window.size if pygame else None)
env.close()
env.close()
print("CLOSED", env.unwrapped._window._window)
"""


def played(**variables: str) -> subprocess.CompletedProcess[str]:
    clean = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", **variables}
    return subprocess.run([sys.executable, "-c", PLAY], capture_output=True, text=True, env=clean, check=True)


def test_a_window_is_opened_and_closed() -> None:
    pytest.importorskip("pygame")
    run = played(SDL_VIDEODRIVER="dummy", NUMBA_DISABLE_JIT="1")
    assert "WINDOW (640, " in run.stdout
    assert run.stdout.endswith("CLOSED None\n")
    assert "score" not in run.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a display")
def test_without_a_display_the_table_is_printed_and_why_is_said_once() -> None:
    run = played(NUMBA_DISABLE_JIT="1")
    assert "Hog to 20" in run.stdout
    assert run.stderr.count("there is no display to open a window on") == 1
    assert "WINDOW None" in run.stdout


@pytest.mark.parametrize("env_id", [environment.full_id for environment in ENVIRONMENTS])
def test_a_notebook_shows_the_table(env_id: str) -> None:
    env = gym.make(env_id).unwrapped
    env.reset(seed=0)
    assert env._repr_html_().startswith("<svg")
    assert dicegym.draw(env.game, env._state, 0)._repr_svg_().startswith("<svg")
