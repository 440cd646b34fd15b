"""Models of Stable-Baselines3 in files, built from plain data without their pickles.

Stable-Baselines3 writes weights as tensors, and everything else as JSON where JSON can hold it. What it cannot hold,
such as a class, stands there as a pickle with a text beside it that says what it is: "<class
'torch.nn.modules.activation.ReLU'>". Tensors' names and shapes tell the networks and those texts the activation
between layers. A network of anything else is one that only its author's program can build: its pickles are read only
from who is trusted (`dicegym.players.trust`).
Needs the extra ``train``.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dicegym.bots.network import Network
from dicegym.engine.game import Game
from dicegym.engine.validate import MOST
from dicegym.errors import DependencyError, ModelError, one_line, unknown_name
from dicegym.players.model_file import (
    ALGORITHMS,
    ASYMMETRIC,
    OPTIMIZER_MEMBER,
    SETTINGS_MEMBER,
    TENSORS_MEMBER,
    ModelFile,
)
from dicegym.players.torch_policy import check_device, other_game
from dicegym.players.trust import is_sealed, load_sb3, trust_error
from dicegym.players.zip_archive import no_weights, state_in, tensors_in


class _Form(NamedTuple):
    """What the policies of an algorithm are made of."""

    module: str
    """Where their class is."""
    networks: Mapping[str, str]
    """Key of ``net_arch`` -> what the names of a network's layers begin with."""
    heads: tuple[str, ...]
    """Layers that stand alone."""
    activation: str
    """Between layers, if nothing is said."""


_ACTOR_CRITIC = {"pi": "mlp_extractor.policy_net", "vf": "mlp_extractor.value_net"}
_VALUE_HEAD = "value_net"
_HEADS = ("action_net", _VALUE_HEAD)
_ON_POLICY = _Form("stable_baselines3.common.policies", _ACTOR_CRITIC, _HEADS, "Tanh")
_MASKED = _ON_POLICY._replace(module="sb3_contrib.common.maskable.policies")
_FORMS = {
    "PPO": _ON_POLICY,
    "A2C": _ON_POLICY,
    "MaskablePPO": _MASKED,
    "FastMaskablePPO": _MASKED,
    "DAgger": _MASKED,
    "DQN": _Form("stable_baselines3.dqn.policies", {"": "q_net.q_net", "target": "q_net_target.q_net"}, (), "ReLU"),
    "QRDQN": _Form(
        "sb3_contrib.qrdqn.policies",
        {"": "quantile_net.quantile_net", "target": "quantile_net_target.quantile_net"},
        (),
        "ReLU",
    ),
}
_CLASS = re.compile(r"<class '([\w.]+)'>")
_EXTRACTOR = "<class 'stable_baselines3.common.torch_layers.FlattenExtractor'>"
_EMPTY = ("features_extractor_kwargs", "optimizer_kwargs", "use_sde", "squash_output")
"""Arguments of policies that are usual if they are empty or false."""
_NO_MATTER = ("net_arch", "ortho_init", "n_quantiles", "log_std_init", "normalize_images", "share_features_extractor")
"""Arguments of policies that tensors tell, that the beginning of a training alone needs, or that a vector of numbers
from 0 to 1 does not."""
_NUMBER = r"([-+.\w]+)"
_LINEAR = rf"LinearSchedule\(start={_NUMBER}, end={_NUMBER}, end_fraction={_NUMBER}\)"
_SCHEDULE = re.compile(rf"(?:value_schedule=)?(?:ConstantSchedule\(val={_NUMBER}\)|{_LINEAR})")
_SET_UP = "_setup_model"
"""What Stable-Baselines3's own ``load`` calls, too, when spaces are known and there are no games yet."""
_MOST_SEEN = 1 << 20
"""Numbers that a critic may see beyond an observation: more is damage."""
_MOST_MEMORY = 1 << 31
"""Bytes of the rollout that a model may ask for to continue its training."""
_OF_THE_RUN = ("_last_obs", "_last_original_obs", "_last_episode_starts", "ep_info_buffer", "ep_success_buffer")
"""What Stable-Baselines3 saves of the games that were going on, which a checkpoint holds as plain data."""
_OF_THE_MACHINE = ("tensorboard_log",)
"""A path there, which is nobody's business who gets the file."""


def algorithm(name: str) -> Any:
    """Return the algorithm class ``name``. Raises UnknownNameError, or DependencyError without the extra."""
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, list(ALGORITHMS))
    try:
        return getattr(importlib.import_module(ALGORITHMS[name]), name)
    except ImportError as error:
        raise DependencyError.for_extra(str(error.name), "train", f"a {name} model") from error


def sb3_bytes(model: Any, to_go_on: bool) -> bytes:
    """Return the bytes that Stable-Baselines3 saves a model as; see `dicegym.players.model.save`."""
    file, optimizer = io.BytesIO(), model.policy.optimizer
    remembered = optimizer.state
    if not to_go_on:
        optimizer.state = type(remembered)(remembered.default_factory)
    try:
        model.save(file, exclude=_OF_THE_RUN if to_go_on else _OF_THE_RUN + _OF_THE_MACHINE)
    finally:
        optimizer.state = remembered
    return file.getvalue()


def load_file(file: ModelFile, game: Game, device: str = "cpu", trust: bool = False, to_go_on: bool = False) -> Any:
    """Return the Stable-Baselines3 model in a file.

    Args:
        file: the file.
        game: what it plays.
        device: where its network is to be: "cpu", "cuda", ... or "auto".
        trust: unpickle what it holds, which runs whatever its author wrote; so is what this user sealed. Otherwise it
            is built from plain data.
        to_go_on: whether it is to be trained further.

    Raises:
        DependencyError: without the extra.
        ModelError: there is no such algorithm, or the file cannot be loaded: it holds a network alone, is damaged, does
            not fit the game, needs ``trust``, or with it a class that cannot be imported.
        ParameterError: there is no such device.
    """
    if SETTINGS_MEMBER not in file.names:
        raise _network_alone(file)
    if (name := file.algorithm) not in ALGORITHMS:
        raise ModelError(f"{file.path}: {unknown_name('algorithm', one_line(name, 80), list(ALGORITHMS))}")
    kind, where = algorithm(name), check_device(device)
    if TENSORS_MEMBER in file.names and (trust or is_sealed(Path(file.path))):  # plain arrays need no trust
        # A million empty memories help nobody to play.
        return load_sb3(kind, file.path, where, {"buffer_size": 1} if name in ("DQN", "QRDQN") else None)
    return _rebuilt(file, kind, game, where, to_go_on)


def _network_alone(file: ModelFile) -> ModelError:
    """Return the error for a file that plays, and does not say how Stable-Baselines3 would train it."""
    return ModelError(f"{file.path} holds a network alone, which can play, and no model of Stable-Baselines3 to train")


def _rebuilt(file: ModelFile, kind: Any, game: Game, device: Any, to_go_on: bool) -> Any:
    """Return the Stable-Baselines3 model in a file, built from plain data alone; see `load_file`.

    Args:
        file: the file.
        kind: the class of its algorithm.
        game: what it plays.
        device: a ``torch.device``.
        to_go_on: also what only training needs: the algorithm's settings and what the optimizer remembers.
    """
    from gymnasium.spaces import Box, Discrete

    path, name, data = file.path, kind.__name__, file.settings
    called = f"{path}: its {OPTIMIZER_MEMBER}"
    has_optimizer = to_go_on and OPTIMIZER_MEMBER in file.names
    remembered = tensors_in(file.read(OPTIMIZER_MEMBER), called) if has_optimizer else None
    weights = _weights(file)
    privileged = _privileged(path, name, data)
    _check_spaces(path, data, game, privileged)
    policy = _policy_arguments(path, name, data, weights, game)
    arguments = _arguments(file, kind, game, to_go_on)
    try:
        made: Any = "MlpPolicy"
        if privileged:
            from dicegym.players.asymmetric import AsymmetricPolicy

            made, policy["privileged"] = AsymmetricPolicy, privileged
        model = kind(made, None, policy_kwargs=policy, device=device, _init_setup_model=False, **arguments)
        model.observation_space = Box(0.0, 1.0, (game.observation_size + privileged,), np.float32)
        model.action_space = Discrete(game.n_actions)
        model.n_envs = _whole(data.get("n_envs"), 1) if to_go_on else 1
        getattr(model, _SET_UP)()
        # Without a critic its own one begins anew.
        model.policy.load_state_dict(weights, strict=TENSORS_MEMBER in file.names)
    except (RuntimeError, AssertionError, ValueError, TypeError, AttributeError) as error:
        text = f"{type(error).__name__}: {one_line(error)}"
        raise ModelError(f"{path} cannot be built as a {name} model: {text}") from None
    if to_go_on:
        model.seed = data.get("seed") if isinstance(data.get("seed"), int) else None
        for key in ("num_timesteps", "_n_updates", "_episode_num"):
            setattr(model, key, _whole(data.get(key), 0))
    if remembered is not None:
        check_optimizer(remembered, model.policy.optimizer, called)
        model.policy.optimizer.load_state_dict(remembered)
    return model


def weights_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the tensors of a model file's policy by name, whatever network they are of.

    Those of its value network are missing where it was left out of the file, as in models that ship.

    Raises ModelError if the file is damaged, or holds a network that Stable-Baselines3 does not know.
    """
    return _weights(ModelFile(path))


def _weights(file: ModelFile) -> dict[str, Any]:
    if TENSORS_MEMBER in file.names:
        return state_in(file.read(TENSORS_MEMBER), f"{file.path}: its {TENSORS_MEMBER}")
    actor = file.network if SETTINGS_MEMBER in file.names else None
    if actor is None:
        raise _network_alone(file)
    critic = file.critic
    return _tensors(actor, "pi", "action_net") | ({} if critic is None else _tensors(critic, "vf", _VALUE_HEAD))


def has_critic(weights: Mapping[str, Any]) -> bool:
    """Return whether tensors of a policy, by name, have those of a value network."""
    return f"{_VALUE_HEAD}.weight" in weights


def arrays_suffice(file: ModelFile, kind: Any, game: Game) -> bool:
    """Return whether plain arrays and settings tell all of a model that Stable-Baselines3 has saved.

    Args:
        file: what it has saved.
        kind: the class of its algorithm.
        game: what it plays.
    """
    name = kind.__name__
    if name not in _FORMS or _FORMS[name].networks is not _ACTOR_CRITIC:
        return False
    try:
        _policy_arguments(file.path, name, file.settings, _weights(file), game)
        _arguments(file, kind, game, to_go_on=True)
    except ModelError:  # they say what else it holds
        return False
    return True


def check_optimizer(state: Any, optimizer: Any, called: str) -> None:
    """Raise ModelError unless ``state`` is what an optimizer like ``optimizer`` says of itself.

    What it remembers of each weight has that weight's shape; its settings are of the same kind as they are now.
    """
    import torch

    fresh = optimizer.state_dict()
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    if not isinstance(state, dict) or set(state) != set(fresh) or not isinstance(state["state"], dict):
        raise no_weights(called, "it is not the state of an optimizer")
    groups = state["param_groups"]
    if not isinstance(groups, list) or len(groups) != len(fresh["param_groups"]):
        raise no_weights(called, "it is that of an optimizer of other weights")
    for group, wanted in zip(groups, fresh["param_groups"], strict=True):
        if not isinstance(group, dict) or set(group) - {"initial_lr"} != set(wanted) - {"initial_lr"}:
            raise no_weights(called, "it is that of another kind of optimizer")
        if not isinstance(group.get("initial_lr", 0.0), int | float):
            raise no_weights(called, "its initial_lr is not a number")
        for name, value in wanted.items():
            if not _alike(group.get(name, value), value):
                raise no_weights(called, f"its {name} is another kind of value than {one_line(value, 60)}")
    for number, remembered in state["state"].items():
        if not isinstance(number, int) or not 0 <= number < len(weights) or not isinstance(remembered, dict):
            raise no_weights(called, "it remembers of weights that there are not")
        shapes = (weights[number].shape, torch.Size([]))
        for value in remembered.values():
            if not (isinstance(value, int | float) or (isinstance(value, torch.Tensor) and value.shape in shapes)):
                raise no_weights(called, f"what it remembers of weight {number} has another shape")


def _alike(value: Any, wanted: Any) -> bool:
    """Return whether a setting is of the kind of ``wanted``: a number for a number, the same for anything else."""
    if isinstance(wanted, tuple | list):
        several = isinstance(value, tuple | list) and len(value) == len(wanted)
        return several and all(_alike(one, other) for one, other in zip(value, wanted, strict=True))
    if isinstance(wanted, float) or (isinstance(wanted, int) and not isinstance(wanted, bool)):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is type(wanted) and value == wanted


def _tensors(network: Network, key: str, head: str) -> dict[str, Any]:
    """Return the tensors of plain layers by the names that an actor-critic policy gives them."""
    import torch

    begin, found = _ACTOR_CRITIC[key], {}
    for number, layer in enumerate(network.layers):
        name = head if layer is network.layers[-1] else f"{begin}.{2 * number}"  # between them stand activations
        found[f"{name}.weight"] = torch.tensor(layer.weight.T, dtype=torch.float32)
        found[f"{name}.bias"] = torch.tensor(layer.bias, dtype=torch.float32)
    return found


def _privileged(path: Any, name: str, data: Mapping[str, Any]) -> int:
    """Return how many of the last numbers of its observations only the critic of a model sees. Raises ModelError."""
    kind, said = data.get("policy_class"), data.get("policy_kwargs")
    if not (isinstance(kind, dict) and kind.get("__module__") == ASYMMETRIC and isinstance(said, dict)):
        return 0
    found = said.get("privileged", 0)
    if _FORMS[name].module != _FORMS["MaskablePPO"].module or type(found) is not int or not 0 <= found <= _MOST_SEEN:
        raise ModelError(f"{path} says that its critic sees {one_line(found, 40)} numbers more: it is damaged")
    return found


def _check_spaces(path: Any, data: Mapping[str, Any], game: Game, privileged: int) -> None:
    """Raise ModelError unless a model saw and did what the game's seats do, by the file's texts."""
    seen, done = data.get("observation_space"), data.get("action_space")
    if not isinstance(seen, dict) or not isinstance(done, dict):
        raise ModelError(f"{path} does not say what it was trained on, as every model of Stable-Baselines3 does")
    shape, n_actions = seen.get("_shape"), one_line(done.get("n"), 20)
    wanted = game.observation_size + privileged
    if shape != [wanted] or n_actions != str(game.n_actions) or one_line(done.get("start", 0)) != "0":
        told = f"({', '.join(map(str, shape))},)" if isinstance(shape, list) else one_line(shape, 60)
        raise other_game(path, one_line(told, 60), n_actions, wanted, game)


def _policy_arguments(
    path: Any, name: str, data: Mapping[str, Any], weights: Mapping[str, Any], game: Game
) -> dict[str, Any]:
    """Return what the algorithm's policy is made with."""
    import torch

    form = _FORMS[name]
    kind = data.get("policy_class")
    module = kind.get("__module__") if isinstance(kind, dict) else None
    if module != form.module and not (module == ASYMMETRIC and form.module == _FORMS["MaskablePPO"].module):
        raise trust_error(path, f"its policy is a class of {one_line(module, 80)!r}")
    said = data.get("policy_kwargs")
    if not isinstance(said, dict):
        raise ModelError(f"{path} does not say what its policy was made with, as every model of Stable-Baselines3 does")
    sizes = _layers(path, form, weights)
    if form.networks is _ACTOR_CRITIC and not has_critic(weights):
        sizes["vf"] = sizes["pi"]
    found: dict[str, Any] = {"net_arch": sizes, "activation_fn": getattr(torch.nn, form.activation)}
    if "" in sizes:
        *hidden, last = sizes[""] or [0]
        found["net_arch"] = hidden
        if name == "QRDQN":
            found["n_quantiles"] = last // game.n_actions
    for key, value in said.items():
        if key in (":type:", ":serialized:", "privileged", *_NO_MATTER):
            continue
        is_usual = key in _EMPTY and not value
        if key == "activation_fn":
            found[key] = _class_named(value, torch.nn.modules.activation, torch.nn.Module)
        elif key == "optimizer_class":
            found[key] = _class_named(value, torch.optim, torch.optim.Optimizer)
        elif key == "optimizer_kwargs" and isinstance(value, dict) and all(map(_is_setting, value.values())):
            found[key] = dict(value)
        elif key == "features_extractor_class":
            is_usual = value == _EXTRACTOR
        if not is_usual and found.get(key) is None:
            raise trust_error(path, f"its policy was made with {one_line(key, 40)}={one_line(value, 80)}")
    return found


def _class_named(value: Any, home: Any, base: Any) -> Any:
    """Return the class of a module that a text names, None if it names none that derives from ``base``."""
    named = _CLASS.fullmatch(value) if isinstance(value, str) else None
    is_there = named is not None and named[1].startswith(f"{home.__name__}.")
    found = getattr(home, named[1].rpartition(".")[2], None) if named and is_there else None
    return found if inspect.isclass(found) and issubclass(found, base) else None


def _layers(path: Any, form: _Form, weights: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return the sizes of each network's layers by the names and shapes of tensors.

    Raises ModelError if they are of other networks.
    """
    known = {f"{head}.{part}" for head in form.heads for part in ("weight", "bias")}
    found: dict[str, list[int]] = {}
    for key, begin in form.networks.items():
        sizes = found[key] = []
        while (name := f"{begin}.{2 * len(sizes)}.bias") in weights:  # between them stand activations
            sizes.append(weights[name].numel())
            known |= {name, name.replace(".bias", ".weight")}
    if others := [name for name in weights if name not in known]:
        raise trust_error(
            path,
            f"its network has {one_line(others[0], 80)!r}, which the policies of Stable-Baselines3 do not have for a "
            "vector of numbers",
        )
    return found


def _arguments(file: ModelFile, kind: Any, game: Game, to_go_on: bool) -> dict[str, Any]:
    """Return the arguments of an algorithm's class: for further training, the file's plain values and its schedules."""
    found: dict[str, Any] = {}
    taken, data = inspect.signature(kind).parameters, file.settings if to_go_on else {}
    for key, parameter in taken.items():
        value = data.get(key)
        if key in ("learning_rate", "clip_range", "clip_range_vf") and isinstance(value, dict):
            found[key] = _schedule(file.path, key, value)
        elif key in ("policy", "env", "seed", "device", "verbose", "tensorboard_log", "_init_setup_model"):
            continue
        elif _is_number(value) and (_is_number(parameter.default) or parameter.default is None):
            whole = isinstance(parameter.default, int) and not isinstance(value, float)
            found[key] = _whole(value, 1) if whole and not isinstance(value, bool) else value
    steps, games = found.get("n_steps", 1), _whole(data.get("n_envs"), 1)
    if steps * games * (game.observation_size + game.n_actions + 8) * 4 > _MOST_MEMORY:
        raise ModelError(
            f"{file.path} asks for a rollout of {steps:,} steps of {games:,} games, more than there is memory for"
        )
    return found | ({"buffer_size": 1} if "buffer_size" in taken else {})  # a million empty memories help nobody


def _schedule(path: Any, key: str, value: Mapping[str, Any]) -> Any:
    """Return a schedule by the texts beside its pickle."""
    from stable_baselines3.common.utils import ConstantSchedule, LinearSchedule

    kind = one_line(value.get(":type:"), 100)
    parts = ", ".join(f"{name}={text}" for name, text in value.items() if name[:1] != ":")
    if (known := _CLASS.fullmatch(kind)) and known[1].rpartition(".")[0] == "stable_baselines3.common.utils":
        parts = parts if parts.startswith("value_schedule=") else f"{known[1].rpartition('.')[2]}({parts})"
    told = _SCHEDULE.fullmatch(parts)
    with contextlib.suppress(ValueError):  # what is not a number
        numbers = [float(text) for text in told.groups() if text] if told else []
        if numbers and all(map(math.isfinite, numbers)):
            return ConstantSchedule(*numbers) if len(numbers) == 1 else LinearSchedule(*numbers)
    raise trust_error(path, f"its {key} is {one_line(parts or kind, 80)}")


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value))


def _is_setting(value: Any) -> bool:
    return all(map(_is_number, value)) if isinstance(value, list) else _is_number(value)


def _whole(value: Any, least: int) -> int:
    """Return a count that a file says, or the least there is if it says none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and least <= value < MOST else least
