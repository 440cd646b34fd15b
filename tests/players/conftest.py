"""Files of a small model, for tests of what files may hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.players import model as models
from dicegym.players import model_file


@pytest.fixture(scope="module")
def learner() -> Any:
    """A small learner of Stable-Baselines3."""
    pytest.importorskip("sb3_contrib")
    from sb3_contrib import MaskablePPO

    from dicegym.envs.sb3 import SB3VecEnv

    small: dict[str, Any] = {"n_steps": 8, "batch_size": 16, "policy_kwargs": {"net_arch": [4]}, "device": "cpu"}
    return MaskablePPO("MlpPolicy", SB3VecEnv(dicegym.game("hog"), 2, seed=0), **small).learn(16)


@pytest.fixture(scope="module")
def own(learner: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file with all that there may be in one: plain arrays beside what Stable-Baselines3 writes, no seal."""
    from dicegym.players.sb3_models import members_of

    path = dicegym.save_model(learner, tmp_path_factory.mktemp("own") / "own.zip", dicegym.game("hog"))
    model_file.write(path, models.facts(path), models.load(path).plain_network(), None, members_of(learner))
    return path


@pytest.fixture(scope="module")
def arrays(learner: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model as plain arrays, each network once."""
    return dicegym.save_model(learner, tmp_path_factory.mktemp("arrays") / "arrays.zip", dicegym.game("hog"))


@pytest.fixture(scope="module")
def theirs(learner: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file as Stable-Baselines3 alone writes it."""
    path = tmp_path_factory.mktemp("theirs") / "theirs.zip"
    learner.save(path)
    return path
