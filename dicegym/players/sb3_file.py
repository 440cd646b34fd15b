"""The files of Stable-Baselines3: which algorithm saved one, and how it is loaded. Needs the extra ``train``."""

from __future__ import annotations

import importlib
import os
from typing import Any

from dicegym.engine.game import Game
from dicegym.errors import DependencyError, ModelError, ParameterError, one_line, unknown_name
from dicegym.players.archive import ModelArchive
from dicegym.players.sb3_plain import ASYMMETRIC, rebuilt
from dicegym.players.unpickling import load_sb3

ALGORITHMS = {
    "FastMaskablePPO": "dicegym.learning.fast_ppo",
    "MaskablePPO": "sb3_contrib",
    "QRDQN": "sb3_contrib",
    "PPO": "stable_baselines3",
    "A2C": "stable_baselines3",
    "DQN": "stable_baselines3",
    "DAgger": "dicegym.learning.dagger",
}
"""Algorithms with discrete actions whose policies can play, and the package or module of each."""
_HOMES = {
    "sb3_contrib.common.maskable.policies": "MaskablePPO",
    "sb3_contrib.qrdqn.policies": "QRDQN",
    "stable_baselines3.dqn.policies": "DQN",
    "sb3_contrib.common.recurrent.policies": "RecurrentPPO",
    ASYMMETRIC: "MaskablePPO",
}
"""Modules of policy classes that one algorithm alone uses."""
_MARKS = {"n_quantiles": "QRDQN", "exploration_rate": "DQN", "clip_range": "PPO", "gae_lambda": "A2C"}
"""What a file of Stable-Baselines3 holds if it is of this algorithm, and of none before it in this list."""


def algorithm(name: str) -> Any:
    """Return the algorithm class ``name``. Raises UnknownNameError, or DependencyError without the extra."""
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, list(ALGORITHMS))
    try:
        return getattr(importlib.import_module(ALGORITHMS[name]), name)
    except ImportError as error:
        raise DependencyError.for_extra(str(error.name), "train", f"a {name} model") from error


def algorithm_of(path: str | os.PathLike[str]) -> str:
    """Return the name of the algorithm that saved a file of Stable-Baselines3, read without running anything.

    Raises ModelError if the file holds no such thing, or an algorithm whose policies cannot play.
    """
    with ModelArchive(path) as archive:
        data = archive.json("data")
    about = data.get("policy_class")
    if not isinstance(about, dict):
        raise ModelError(f"{path} cannot be read as a model of Stable-Baselines3: it does not say what its policy is")
    module = one_line(about.get("__module__", ""), 80)
    name = _HOMES.get(module) or next((name for mark, name in _MARKS.items() if mark in data), module)
    if name not in ALGORITHMS:
        raise ModelError(f"{path} was saved by {name}; those that can play are {', '.join(ALGORITHMS)}")
    return name


def load_file(
    path: str | os.PathLike[str],
    name: str,
    game: Game,
    device: str = "cpu",
    trust: bool = False,
    to_go_on: bool = False,
) -> Any:
    """Return the Stable-Baselines3 model in a file.

    Args:
        path: the file.
        name: its algorithm.
        game: what it plays.
        device: where its network is to be: "cpu", "cuda", ... or "auto".
        trust: unpickle what it holds, which runs whatever its author wrote. Otherwise it is built from plain data; see
            `dicegym.players.sb3_plain`.
        to_go_on: whether it is to be trained further.

    Raises:
        DependencyError: without the extra.
        ModelError: there is no such algorithm, or the file cannot be loaded: it is damaged, does not fit the game,
            needs ``trust``, or with it a class that cannot be imported.
        ParameterError: there is no such device.
    """
    if name not in ALGORITHMS:
        raise ModelError(f"{path}: {unknown_name('algorithm', one_line(name, 80), list(ALGORITHMS))}")
    kind = algorithm(name)
    where = checked_device(device)
    if not trust:
        return rebuilt(path, kind, game, where, to_go_on)
    # A million empty memories help nobody to play.
    return load_sb3(kind, path, where, {"buffer_size": 1} if name in ("DQN", "QRDQN") else None)


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
