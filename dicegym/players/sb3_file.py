"""The files of Stable-Baselines3: which algorithm saved one, and how it is loaded. Needs the extra ``train``."""

from __future__ import annotations

import json
import os
import zipfile
from typing import Any

from dicegym.errors import DependencyError, ModelError, ParameterError, one_line, unknown_name

ALGORITHMS = {
    "MaskablePPO": "sb3_contrib",
    "QRDQN": "sb3_contrib",
    "PPO": "stable_baselines3",
    "A2C": "stable_baselines3",
    "DQN": "stable_baselines3",
}
"""Algorithms with discrete actions whose policies can play, and the package of each."""
_HOMES = {
    "sb3_contrib.common.maskable.policies": "MaskablePPO",
    "sb3_contrib.qrdqn.policies": "QRDQN",
    "stable_baselines3.dqn.policies": "DQN",
    "sb3_contrib.common.recurrent.policies": "RecurrentPPO",
}
"""Modules of policy classes that one algorithm alone uses."""
_MARKS = {"n_quantiles": "QRDQN", "exploration_rate": "DQN", "clip_range": "PPO", "gae_lambda": "A2C"}
"""What a file of Stable-Baselines3 holds if it is of this algorithm, and of none before it in this list."""


def algorithm(name: str) -> Any:
    """Return the algorithm class ``name``. Raises UnknownNameError, or DependencyError without the extra."""
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, list(ALGORITHMS))
    try:
        return getattr(__import__(ALGORITHMS[name]), name)
    except ImportError as error:
        raise DependencyError.for_extra(ALGORITHMS[name], "train", f"a {name} model") from error


def algorithm_of(path: str | os.PathLike[str]) -> str:
    """Return the name of the algorithm that saved a file of Stable-Baselines3, read without running anything.

    Raises ModelError if the file holds no such thing, or an algorithm whose policies cannot play.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            data = json.loads(archive.read("data"))
        module = str(data["policy_class"].get("__module__", ""))
    except (OSError, KeyError, AttributeError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise ModelError(f"{path} cannot be read as a model of Stable-Baselines3: {one_line(error)}") from None
    name = _HOMES.get(module) or next((name for mark, name in _MARKS.items() if mark in data), module)
    if name not in ALGORITHMS:
        raise ModelError(f"{path} was saved by {name}; those that can play are {', '.join(ALGORITHMS)}")
    return name


def load_file(path: str | os.PathLike[str], name: str, device: str = "cpu") -> Any:
    """Return the Stable-Baselines3 model in a file.

    Args:
        path: the file.
        name: its algorithm.
        device: where its network is to be: "cpu", "cuda", ... or "auto".

    Raises:
        DependencyError: without the extra.
        UnknownNameError: there is no such algorithm.
        ParameterError: there is no such device.
        ModelError: the file cannot be loaded, such as for a class of somebody's that cannot be imported.
    """
    kind = algorithm(name)
    where = checked_device(device)
    custom = {"buffer_size": 1} if name in ("DQN", "QRDQN") else None  # a million empty memories help nobody to play
    try:
        return kind.load(path, device=where, custom_objects=custom)
    except ModuleNotFoundError as error:
        raise ModelError(
            f"{path} needs the module {error.name!r}, in which a class of its policy is defined: run from the folder "
            "where that module is, or add it to PYTHONPATH"
        ) from error
    except Exception as error:  # whatever unpickling somebody's classes may raise
        text = f"{type(error).__name__}: {one_line(error)}"
        raise ModelError(f"{path} cannot be loaded as a {name} model ({text})") from error


def checked_device(device: str) -> Any:
    """Return a ``torch.device``. Raises ParameterError if there is none of this name here."""
    import torch
    from stable_baselines3.common.utils import get_device

    try:
        found = get_device(device) if device == "auto" else torch.device(device)  # the former replaces what is missing
        torch.zeros(1, device=found)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ParameterError(
            f"device {device!r} cannot be used here ({one_line(error, 120)}): give 'cpu', 'auto', or one that "
            "PyTorch finds, such as 'cuda'"
        ) from None
    return found
