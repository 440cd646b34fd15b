"""The learner's games: wrapped by a hook of the settings, shaped, and going on where they were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from stable_baselines3.common.vec_env import VecEnvWrapper, VecMonitor, VecNormalize

import dicegym
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.learning.building import continue_games, games_of, new_games, state_of
from dicegym.learning.configuration import override
from dicegym.learning.training_settings import TrainingSettings
from dicegym.players.pool import Pool

HOOKS = """
import numpy as np
from stable_baselines3.common.vec_env import VecEnvWrapper, VecFrameStack, VecNormalize

class Doubled(VecEnvWrapper):
    def reset(self):
        return self.venv.reset()

    def step_wait(self):
        observations, rewards, dones, infos = self.venv.step_wait()
        return observations, 2 * rewards, dones, infos

def shaped(games):
    return Doubled(games)

def stacked(games):
    return VecFrameStack(games, 2)

def normalised(games):
    return VecNormalize(games)

def forgetful(games):
    print("returns nothing")

nothing = 5
"""


@pytest.fixture
def hooks(tmp_path: Path) -> str:
    path = tmp_path / "hooks.py"
    path.write_text(HOOKS)
    return str(path)


def games(*overrides: str, game: str = "hog") -> Any:
    settings = override(TrainingSettings(), ["run.games=8", *overrides])
    table = dicegym.game(game)
    return new_games(table, settings, 5, Pool.of(table, table.spec.baseline))


def legal(env: Any, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in env.env_method("action_masks")])


def play(env: Any, steps: int, seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, list[Any]]]:
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        yield env.step(legal(env, rng))


def test_a_hook_wraps_the_games(hooks: str) -> None:
    plain, wrapped = games(), games(f"environment.wrap={hooks}:Doubled")
    assert isinstance(games_of(wrapped), SB3VecEnv)
    assert type(wrapped).__name__ == "Doubled"
    plain.reset()
    wrapped.reset()
    total = 0.0
    for mine, theirs in zip(play(plain, 60), play(wrapped, 60), strict=True):
        assert np.array_equal(mine[0], theirs[0])
        assert np.array_equal(2 * mine[1], theirs[1])
        assert [info.get("episode") for info in mine[3]] == [info.get("episode") for info in theirs[3]]
        total += np.abs(theirs[1]).sum()
    assert total > 0


@pytest.mark.parametrize(
    ("setting", "error", "match"),
    [
        ("environment.wrap=HOOKS:forgetful", ParameterError, "returned None, which does not wrap"),
        ("environment.wrap=HOOKS:stacked", ParameterError, "observation_space"),
        ("environment.wrap=HOOKS:normalised", ParameterError, "norm_obs=False"),
        ("environment.wrap=HOOKS:shapd", UnknownNameError, "Did you mean 'shaped'"),
        ("environment.wrap=HOOKS:nothing", ParameterError, "is 5: name a function or a class"),
        ("environment.wrap=HOOKS", ParameterError, "write 'file.py:name'"),
        ("environment.wrap=nowhere.py:wrap", ParameterError, "there is no file nowhere.py"),
        ("environment.wrap=no.such.module:wrap", ParameterError, "No module named 'no'"),
        ("environment.max_steps=5", UnknownNameError, "Did you mean 'max_episode_steps'"),
        ("environment.seat=9", ParameterError, "seat=9"),
        ("environment.wrap=5", ParameterError, "give a text"),
    ],
)
def test_hooks_that_cannot_work_are_refused(hooks: str, setting: str, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        games(setting.replace("HOOKS", hooks))


def test_a_file_that_cannot_be_loaded_says_where(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("x = 1\ny = x / 0\n")
    with pytest.raises(ParameterError, match=r"ZeroDivisionError: division by zero, broken\.py line 2"):
        games(f"environment.wrap={path}:wrap")
    path.write_text("wrap = lambda games: games  # mended\n\n")
    assert isinstance(games(f"environment.wrap={path}:wrap"), SB3VecEnv)


def test_the_section_takes_what_batches_take() -> None:
    env = games("environment.seat=1", "environment.max_episode_steps=3")
    env.reset()
    seen = [info for step in play(env, 12) for info in step[3] if info]
    assert {info["seat"] for info in seen} == {1}
    assert max(info["episode"]["l"] for info in seen) == 3


def test_wrappers_that_remember_go_on(hooks: str) -> None:
    env = games(f"environment.wrap={hooks}:shaped")
    env.reset()
    list(play(env, 10, 1))
    state = state_of(env)
    then = [step[1].copy() for step in play(env, 30, 2)]
    other = games(f"environment.wrap={hooks}:shaped")
    other.reset()
    list(play(other, 3, 7))
    continue_games(other, state)
    assert np.array_equal(then, [step[1].copy() for step in play(other, 30, 2)])


@pytest.mark.parametrize("wrapper", [VecMonitor, lambda env: VecNormalize(env, norm_obs=False)])
def test_wrappers_of_stable_baselines3_learn_with_masks(wrapper: Any) -> None:
    from sb3_contrib import MaskablePPO

    env = wrapper(SB3VecEnv("liarsdice", 8, seed=0, on_illegal="raise"))
    assert isinstance(env, VecEnvWrapper)
    MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=32, n_epochs=1, seed=0).learn(128)
