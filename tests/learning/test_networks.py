"""New models: networks by configuration, devices, and defaults that suit a thousand games."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from stable_baselines3.common.vec_env import VecEnvWrapper, VecMonitor, VecNormalize

import dicegym
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.learning.building import ROLLOUT, new_games, new_model
from dicegym.learning.configuration import override, read_config
from dicegym.learning.learner import keep_generators
from dicegym.learning.training_settings import TrainingSettings
from dicegym.players import sb3_models
from dicegym.players.pool import Pool


def made(*overrides: str, games: int = 4) -> Any:
    settings = override(TrainingSettings(), ["algorithm.n_steps=8", "algorithm.batch_size=16", *overrides])
    return new_model(settings, SB3VecEnv("hog", games, seed=0), None)


OF_SECTIONS = r"DQN cannot be made of \[algorithm\] and \[network\]"


def test_other_arguments_of_policies_are_taken() -> None:
    assert made("algorithm.name=MaskablePPO", "network.ortho_init=false").policy.ortho_init is False


@pytest.mark.parametrize(
    ("setting", "error", "match"),
    [
        ("network.policy=MlpPolcy", UnknownNameError, "policy of FastMaskablePPO 'MlpPolcy'. Did you mean 'MlpPolicy'"),
        ("network.ortho_int=false", ParameterError, "unexpected keyword argument 'ortho_int'"),
        ("run.device=quantum", ParameterError, "device 'quantum' cannot be used here .*give 'cpu', 'auto'"),
        ('algorithm={nme="PPO"}', ParameterError, "argument of FastMaskablePPO 'nme'.*Did you mean 'name'"),
        ("algorithm._init_setup_model=false", ParameterError, "no argument of FastMaskablePPO '_init_setup_model'"),
        ("algorithm.target_kl=small", ParameterError, "algorithm.target_kl='small' is a text: give a number"),
        ('algorithm={name="DQN",learning_starts="x"}', ParameterError, "algorithm.learning_starts='x' is a text"),
        ('algorithm={name="DQN",optimize_memory_usage=true}', ParameterError, OF_SECTIONS),
        (
            'algorithm={name="DQN",train_freq=0}',
            ParameterError,
            "train_freq=0 cannot be used: give a whole",
        ),
        (
            'algorithm={name="DQN",gradient_steps=0.5}',
            ParameterError,
            "gradient_steps=0.5 cannot be used",
        ),
    ],
)
def test_models_that_cannot_be_are_refused(setting: str, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        made(setting)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_a_missing_device_is_refused_instead_of_replaced() -> None:
    with pytest.raises(ParameterError, match=r"device 'cuda' cannot be used here \(.*\): give (?!.*'cuda')"):
        made("run.device=cuda")
    assert made("run.device=auto").device.type in ("cpu", "mps")


@pytest.mark.parametrize(("name", "games"), [("MaskablePPO", 4), ("PPO", 1024), ("MaskablePPO", 40_000)])
def test_the_default_rollout_suits_the_number_of_games(name: str, games: int) -> None:
    """Stable-Baselines3's default, 2,048 decisions of each of 1,024 games, is longer than many trainings."""
    settings = override(TrainingSettings(), [f"algorithm.name={name}"])
    model = new_model(settings, SB3VecEnv("hog", games, seed=0), None)
    rollout = model.n_steps * games
    assert rollout == max(ROLLOUT, 2 * games)
    assert model.batch_size * 4 == rollout


@pytest.mark.parametrize("name", ["A2C", "DQN"])
def test_other_algorithms_have_their_own_defaults(name: str) -> None:
    theirs = sb3_models.algorithm(name)("MlpPolicy", SB3VecEnv("hog", 4))
    ours = new_model(override(TrainingSettings(), [f"algorithm.name={name}"]), SB3VecEnv("hog", 4), None)
    for key in ("n_steps", "batch_size", "gamma", "learning_rate"):
        assert getattr(ours, key, None) == getattr(theirs, key, None)


def test_a_number_with_a_whole_default_may_be_a_fraction() -> None:
    """DQN declares ``max_grad_norm: float = 10``."""
    settings = override(TrainingSettings(), ['algorithm={name="DQN",max_grad_norm=0.5,buffer_size=1e3}'])
    model = new_model(settings, SB3VecEnv("hog", 4), None)
    assert (model.max_grad_norm, repr(model.buffer_size)) == (0.5, "1000")


def test_a_game_without_a_configuration_uses_the_default_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from dicegym.learning import configuration

    shipped = configuration.shipped_folder("training") / "configs/default.toml"
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/default.toml").write_text(shipped.read_text())
    monkeypatch.setattr(configuration, "shipped_folder", lambda name: tmp_path)
    settings = read_config("hog")
    assert settings == configuration.from_plain(configuration.tomllib.loads(shipped.read_text()))
    assert settings.opponents == {}
    assert settings.algorithm.n_steps * settings.run.games < settings.run.evaluate_every


def test_the_states_of_generators_are_restored() -> None:
    with keep_generators():
        first = torch.rand(3), np.random.rand(3), random.random()  # noqa: NPY002 - the global one is what is kept
    second = torch.rand(3), np.random.rand(3), random.random()  # noqa: NPY002 - as above
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


# --- the learner's games ------------------------------------------------------------------------------------------


def games(*overrides: str, game: str = "hog") -> Any:
    settings = override(TrainingSettings(), ["run.games=8", *overrides])
    table = dicegym.game(game)
    return new_games(table, settings, Pool.of(table, table.spec.baseline))


def legal(env: Any, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in env.env_method("action_masks")])


def play(env: Any, steps: int, seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, list[Any]]]:
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        yield env.step(legal(env, rng))


def test_the_section_takes_what_batches_take() -> None:
    env = games("environment.seat=1", "environment.max_episode_steps=3")
    env.reset()
    seen = [info for step in play(env, 12) for info in step[3] if info]
    assert {info["seat"] for info in seen} == {1}
    assert max(info["episode"]["l"] for info in seen) == 3


@pytest.mark.parametrize("wrapper", [VecMonitor, lambda env: VecNormalize(env, norm_obs=False)])
def test_wrappers_of_stable_baselines3_learn_with_masks(wrapper: Any) -> None:
    from sb3_contrib import MaskablePPO

    env = wrapper(SB3VecEnv("liarsdice", 8, seed=0, on_illegal="raise"))
    assert isinstance(env, VecEnvWrapper)
    MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=32, n_epochs=1, seed=0).learn(128)


@pytest.mark.parametrize("setting", ["copy=false", "autoreset_mode=Disabled", "opponent=bacon", "num_envs=2", "seed=1"])
def test_arguments_that_the_training_sets_are_not_settings_of_its_games(setting: str) -> None:
    """Without copies, the next step would overwrite observations that an algorithm keeps."""
    with pytest.raises(UnknownNameError, match=r"\[environment\] setting"):
        games(f"environment.{setting}")
