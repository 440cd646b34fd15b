"""Files of a small model, for tests of what files may hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dicegym


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
    """A model file of it."""
    return dicegym.save_model(learner, tmp_path_factory.mktemp("own") / "own.zip", dicegym.game("hog"))


@pytest.fixture(scope="module")
def theirs(learner: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file as Stable-Baselines3 alone writes it."""
    path = tmp_path_factory.mktemp("theirs") / "theirs.zip"
    learner.save(path)
    return path
