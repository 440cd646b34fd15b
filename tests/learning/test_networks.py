"""New models: own networks and extractors by configuration, devices, and defaults that suit a thousand games."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch

from dicegym.envs.sb3 import SB3VecEnv
from dicegym.errors import ModelError, ParameterError, UnknownNameError
from dicegym.learning.building import ROLLOUT, new_model
from dicegym.learning.configuration import override, read_config
from dicegym.learning.learner import keep_generators
from dicegym.learning.train import train
from dicegym.learning.training_settings import TrainingSettings
from dicegym.players import model as models

OWN = """
from dataclasses import dataclass

import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

@dataclass
class Scale:
    by: float

class Gated(BaseFeaturesExtractor):
    def __init__(self, observation_space, width=8):
        super().__init__(observation_space, width)
        size = observation_space.shape[0]
        self.gate, self.value = torch.nn.Linear(size, width), torch.nn.Linear(size, width)
        self.scale = Scale(2.0)

    def forward(self, observations):
        return self.scale.by * torch.sigmoid(self.gate(observations)) * self.value(observations)

class Mine(MaskableActorCriticPolicy):
    pass
"""


@pytest.fixture
def own(tmp_path: Path) -> str:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    return str(path)


def made(*overrides: str, games: int = 4) -> Any:
    settings = override(TrainingSettings(), ["algorithm.n_steps=8", "algorithm.batch_size=16", *overrides])
    return new_model(settings, SB3VecEnv("hog", games, seed=0), 1, None)


def test_an_extractor_from_a_file(own: str) -> None:
    plain = "algorithm.name=MaskablePPO"
    model = made(plain, f"network.features_extractor_class={own}:Gated", "network.features_extractor_kwargs={width=12}")
    assert type(model.policy.features_extractor).__name__ == "Gated"
    assert model.policy.mlp_extractor.policy_net[0].in_features == 12


def test_other_arguments_of_policies_and_a_policy_of_ones_own(own: str) -> None:
    model = made(
        "algorithm.name=MaskablePPO",
        f"network.policy={own}:Mine",
        "network.ortho_init=false",
        "network.optimizer_class=torch.optim:RMSprop",
    )
    assert type(model.policy).__name__ == "Mine"
    assert isinstance(model.policy.optimizer, torch.optim.RMSprop)
    assert model.policy.ortho_init is False


@pytest.mark.parametrize(
    ("setting", "error", "match"),
    [
        ("network.policy=MlpPolcy", UnknownNameError, "policy of FastMaskablePPO 'MlpPolcy'. Did you mean 'MlpPolicy'"),
        ("network.ortho_int=false", UnknownNameError, "Did you mean 'ortho_init'"),
        ("network.features_extractor_class=OWN:Gatd", UnknownNameError, "Did you mean 'Gated'"),
        ("network.features_extractor_class=Gated", ParameterError, "write 'file.py:name'"),
        ("network.features_extractor_kwargs=5", ParameterError, "give a table of arguments"),
        ("network.features_extractor_kwargs={width=3}", ParameterError, "width"),
        ("run.device=quantum", ParameterError, "device 'quantum' cannot be used here .*give 'cpu', 'auto'"),
    ],
)
def test_networks_that_cannot_be_are_refused(own: str, setting: str, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        made(setting.replace("OWN", own))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_a_missing_device_is_refused_instead_of_replaced() -> None:
    with pytest.raises(ParameterError, match=r"device 'cuda' cannot be used here"):
        made("run.device=cuda")
    assert made("run.device=auto").device.type in ("cpu", "mps")


@pytest.mark.parametrize("games", [4, 1024, 40_000])
@pytest.mark.parametrize("name", ["MaskablePPO", "PPO"])
def test_where_nothing_is_said_a_rollout_suits_the_number_of_games(name: str, games: int) -> None:
    """Stable-Baselines3's own 2,048 decisions of each of 1,024 games are longer than many a training."""
    settings = override(TrainingSettings(), [f"algorithm.name={name}"])
    model = new_model(settings, SB3VecEnv("hog", games, seed=0), 1, None)
    rollout = model.n_steps * games
    assert rollout == max(ROLLOUT, 2 * games)
    assert model.batch_size * 4 == rollout


@pytest.mark.parametrize("name", ["A2C", "DQN", "QRDQN"])
def test_other_algorithms_have_their_own_defaults(name: str) -> None:
    theirs = models.algorithm(name)("MlpPolicy", SB3VecEnv("hog", 4))
    ours = new_model(override(TrainingSettings(), [f"algorithm.name={name}"]), SB3VecEnv("hog", 4), 1, None)
    for key in ("n_steps", "batch_size", "gamma", "learning_rate"):
        assert getattr(ours, key, None) == getattr(theirs, key, None)


def test_a_game_without_a_configuration_has_one_that_suits_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from dicegym.learning import configuration

    shipped = configuration.shipped_folder("training") / "configs/default.toml"
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/default.toml").write_text(shipped.read_text())
    monkeypatch.setattr(configuration, "shipped_folder", lambda name: tmp_path)
    settings = read_config("hog")
    assert settings == configuration.from_plain(configuration.tomllib.loads(shipped.read_text()))
    assert settings.opponents == {}
    assert settings.algorithm.n_steps * settings.run.games < settings.run.evaluate_every


def test_the_states_of_generators_come_back() -> None:
    with keep_generators():
        first = torch.rand(3), np.random.rand(3), random.random()  # noqa: NPY002 - the global one is what is kept
    second = torch.rand(3), np.random.rand(3), random.random()  # noqa: NPY002 - as above
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_a_run_with_an_extractor_of_ones_own_goes_on_and_its_model_plays_without_the_file(
    own: str, tmp_path: Path
) -> None:
    """Past selves and models hold the class by value; going on takes it from its file."""
    overrides = [
        *("run.games=16", "run.torch_threads=1", "algorithm.n_steps=16", "algorithm.batch_size=64"),
        *("run.steps=512", "run.evaluate_every=512", "run.checkpoint_every=256", "run.card_games=0"),
        *("self_play.games=2", "self_play.snapshot_every=256", 'opponents={"self"=1}', "run.evaluate_games=4"),
        "algorithm.name=MaskablePPO",
        f"network.features_extractor_class={own}:Gated",
    ]
    run = train("hog", tmp_path / "run", overrides=overrides)
    assert "Gated" in run.league.members[-1].player.policy.reason
    more = train("hog", tmp_path / "run", overrides=["run.steps=768"], resume=True)
    assert more.model.num_timesteps == 768
    Path(own).unlink()
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]
    player = models.load(tmp_path / "run/model.zip")
    moved = Path(shutil.copy(tmp_path / "run/model.zip", tmp_path / "moved.zip"))  # without its seal
    with pytest.raises(ModelError, match=r"not plain layers.* --trust"):
        models.load(moved)
    assert models.load(moved, trust=True).game == player.game
    seen = np.random.default_rng(0).random((5, player.game.observation_size), np.float32)
    learned = more.model.policy.get_distribution(torch.as_tensor(seen)).distribution.logits.detach().numpy()
    assert np.allclose(player.scores(seen), learned, atol=1e-2)
    with pytest.raises(ParameterError, match=r"there is no file .*own\.py"):
        train("hog", tmp_path / "other", overrides=overrides)
