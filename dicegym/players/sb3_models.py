"""The way into Stable-Baselines3 and out of it: its models in files. Needs the extra ``train``.

A model whose actor and critic are plain layers is built of their arrays and of the settings that Stable-Baselines3
wrote as JSON: nothing is unpickled.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import math
import os
import re
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from dicegym.bots.network import Network
from dicegym.engine.game import Game
from dicegym.engine.validate import MOST
from dicegym.errors import DependencyError, ModelError, one_line, unknown_name
from dicegym.players.model_file import ALGORITHMS, SETTINGS_MEMBER, ModelFile
from dicegym.players.torch_policy import check_device

_ACTOR_CRITICS = ("PPO", "A2C", "MaskablePPO", "FastMaskablePPO", "DAgger")
"""Algorithms with an actor and a critic, which arrays may tell all of."""
_ASYMMETRIC = "dicegym.players.asymmetric"
_POLICIES = ("stable_baselines3.common.policies", "sb3_contrib.common.maskable.policies", _ASYMMETRIC)
"""Modules of policies that nobody else has written."""
_OPTIMIZERS = ("Adam", "RMSprop")
"""Optimizers that these algorithms have by themselves; the second is A2C's."""
_NUMBER = r"([-+.\w]+)"
_LINEAR = rf"LinearSchedule\(start={_NUMBER}, end={_NUMBER}, end_fraction={_NUMBER}\)"
_SCHEDULE = re.compile(rf"(?:value_schedule=)?(?:ConstantSchedule\(val={_NUMBER}\)|{_LINEAR})")
"""The texts of schedules, beside their pickles."""
_KIND = re.compile(r"<class 'stable_baselines3\.common\.utils\.(\w+)'>")
_SET_UP = "_setup_model"
"""What Stable-Baselines3's own ``load`` calls, too, when spaces are known and there are no games yet."""
_MOST_MEMORY = 1 << 31
"""Bytes of the rollout that a model may ask for to continue its training."""
_LEFT_OUT = (
    *("_last_obs", "_last_original_obs", "_last_episode_starts", "ep_info_buffer", "ep_success_buffer"),
    "tensorboard_log",
)
"""What Stable-Baselines3 saves of the games that were going on, and a path on this machine."""


def algorithm(name: str) -> Any:
    """Return the algorithm class ``name``. Raises UnknownNameError, or DependencyError without the extra."""
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, list(ALGORITHMS))
    try:
        return getattr(importlib.import_module(ALGORITHMS[name]), name)
    except ImportError as error:
        raise DependencyError.for_extra(str(error.name), "train", f"a {name} model") from error


def settings_of(model: Any) -> bytes:
    """Return the settings of a model, as Stable-Baselines3 writes them: JSON."""
    file = io.BytesIO()
    model.save(file, exclude=_LEFT_OUT)
    with zipfile.ZipFile(file) as archive:
        return archive.read(SETTINGS_MEMBER)


def arrays_suffice(model: Any, settings: Mapping[str, Any], network: Network, critic: Network | None) -> bool:
    """Return whether plain arrays and settings, Stable-Baselines3's ``data``, tell all of a model in memory."""
    policy = model.policy
    return (
        type(model).__name__ in _ACTOR_CRITICS
        and type(policy).__module__ in _POLICIES
        and type(policy.optimizer).__name__ in _OPTIMIZERS
        and critic is not None
        and tensors_of(network, critic).keys() == policy.state_dict().keys()
        and None not in _schedules(settings).values()
    )


def tensors_of(actor: Network, critic: Network | None) -> dict[str, Any]:
    """Return the tensors of plain layers by the names that an actor-critic policy gives them."""
    import torch

    found: dict[str, Any] = {}
    for network, begin, head in (
        (actor, "mlp_extractor.policy_net", "action_net"),
        (critic, "mlp_extractor.value_net", "value_net"),
    ):
        for number, layer in enumerate(network.layers if network else ()):
            last = network is not None and layer is network.layers[-1]
            name = head if last else f"{begin}.{2 * number}"  # between them stand activations
            found[f"{name}.weight"] = torch.tensor(layer.weight.T, dtype=torch.float32)
            found[f"{name}.bias"] = torch.tensor(layer.bias, dtype=torch.float32)
    return found


def weights_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the tensors of a model file's policy by name.

    Those of its value network are missing where it was left out of the file, as in models that ship.

    Raises ModelError if the file is damaged, or holds a network alone.
    """
    file = ModelFile(path)
    actor = file.network
    if actor is None or SETTINGS_MEMBER not in file.names:
        raise _network_alone(file)
    return tensors_of(actor, file.critic)


def load_file(file: ModelFile, device: str = "cpu") -> Any:
    """Return the Stable-Baselines3 model in a file, to train it further; ``device``: "cpu", "cuda", ... or "auto".

    A value network that was left out begins anew.

    Raises:
        DependencyError: without the extra.
        ModelError: there is no such algorithm, the file holds a network alone, or it is damaged.
        ParameterError: there is no such device.
    """
    import torch
    from gymnasium.spaces import Box, Discrete

    path, name, actor = file.path, file.algorithm, file.network
    if SETTINGS_MEMBER not in file.names or actor is None:
        raise _network_alone(file)
    if name not in _ACTOR_CRITICS:
        raise ModelError(f"{path}: {unknown_name('algorithm', one_line(name, 80), list(_ACTOR_CRITICS))}")
    kind, where, game, data, critic = algorithm(name), check_device(device), file.game, file.settings, file.critic
    networks = {"pi": actor, "vf": critic or actor}
    used = {layer.activation for one in networks.values() for layer in one.layers[:-1]} or {"Tanh"}
    if len(used) > 1:
        raise ModelError(f"{path} cannot be trained: it has several activations, {', '.join(sorted(used))}")
    policy: dict[str, Any] = {
        "net_arch": {key: [len(layer.bias) for layer in one.layers[:-1]] for key, one in networks.items()},
        "activation_fn": getattr(torch.nn, used.pop()),
    }
    said = data.get("policy_kwargs")
    options = said.get("optimizer_kwargs") if isinstance(said, dict) else None
    if isinstance(options, dict) and all(map(_is_number, options.values())):
        policy["optimizer_kwargs"] = dict(options)
    privileged = 0 if critic is None else critic.layers[0].weight.shape[0] - game.observation_size
    made: Any = "MlpPolicy"
    try:
        if privileged:
            from dicegym.players.asymmetric import AsymmetricPolicy

            made, policy["privileged"] = AsymmetricPolicy, privileged
        arguments = _arguments(file, kind, game)
        model = kind(made, None, policy_kwargs=policy, device=where, _init_setup_model=False, **arguments)
        model.observation_space = Box(0.0, 1.0, (game.observation_size + privileged,), np.float32)
        model.action_space = Discrete(game.n_actions)
        model.n_envs = _whole(data.get("n_envs"), 1)
        getattr(model, _SET_UP)()
        model.policy.load_state_dict(tensors_of(actor, critic), strict=critic is not None)
    except (RuntimeError, AssertionError, ValueError, TypeError, AttributeError) as error:
        text = f"{type(error).__name__}: {one_line(error)}"
        raise ModelError(f"{path} cannot be built as a {name} model: {text}") from None
    model.seed = data.get("seed") if isinstance(data.get("seed"), int) else None
    for key in ("num_timesteps", "_n_updates", "_episode_num"):
        setattr(model, key, _whole(data.get(key), 0))
    return model


def _arguments(file: ModelFile, kind: Any, game: Game) -> dict[str, Any]:
    """Return the arguments of an algorithm's class: the file's plain values and its schedules."""
    data, taken = file.settings, inspect.signature(kind).parameters
    found = {key: value for key, value in _schedules(data).items() if key in taken}
    if strange := [key for key, value in found.items() if value is None]:
        raise ModelError(f"{file.path} cannot be trained: its {strange[0]} is not a schedule of Stable-Baselines3")
    not_numbers = ("policy", "env", "seed", "device", "verbose", "tensorboard_log", "_init_setup_model")
    for key, parameter in taken.items():
        value, usual = data.get(key), parameter.default
        if key not in (*found, *not_numbers) and _is_number(value) and (_is_number(usual) or usual is None):
            whole = isinstance(usual, int) and not isinstance(value, float)
            found[key] = _whole(value, 1) if whole and not isinstance(value, bool) else value
    steps, games = found.get("n_steps", 1), _whole(data.get("n_envs"), 1)
    if steps * games * (game.observation_size + game.n_actions + 8) * 4 > _MOST_MEMORY:
        raise ModelError(
            f"{file.path} asks for a rollout of {steps:,} steps of {games:,} games, more than there is memory for"
        )
    return found


def _schedules(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schedules in settings by the texts beside their pickles; None for one of another kind."""
    from stable_baselines3.common.utils import ConstantSchedule, LinearSchedule

    found: dict[str, Any] = {}
    for key in ("learning_rate", "clip_range", "clip_range_vf"):
        value = data.get(key)
        if not isinstance(value, dict):
            continue
        kind = _KIND.fullmatch(one_line(value.get(":type:"), 100))
        parts = ", ".join(f"{name}={text}" for name, text in value.items() if name[:1] != ":")
        text = parts if parts.startswith("value_schedule=") or not kind else f"{kind[1]}({parts})"
        told = _SCHEDULE.fullmatch(text)
        found[key] = None
        with contextlib.suppress(ValueError):  # what is not a number
            numbers = [float(number) for number in told.groups() if number] if told else []
            if numbers and all(map(math.isfinite, numbers)):
                found[key] = ConstantSchedule(*numbers) if len(numbers) == 1 else LinearSchedule(*numbers)
    return found


def _network_alone(file: ModelFile) -> ModelError:
    """Return the error for a file that plays, and does not say how Stable-Baselines3 would train it."""
    return ModelError(f"{file.path} holds a network alone, which can play, and no model of Stable-Baselines3 to train")


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value))


def _whole(value: Any, least: int) -> int:
    """Return a count that a file says, or the least there is if it says none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and least <= value < MOST else least
