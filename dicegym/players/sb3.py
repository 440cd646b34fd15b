"""The files of Stable-Baselines3: which algorithm saved one, and its model, built anew without their pickles.

Stable-Baselines3 writes weights as tensors, and everything else as JSON where JSON can hold it. What it cannot hold,
such as a class, stands there as a pickle with a text beside it that says what it is: "<class
'torch.nn.modules.activation.ReLU'>". Tensors' names and shapes tell the networks and those texts the activation
between layers. A network of anything else is one that only its author's program can build: its pickles are read only
from who is trusted (`dicegym.players.unpickling`). Needs the extra ``train``.
"""

from __future__ import annotations

import importlib
import inspect
import math
import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dicegym.bots.network import Network
from dicegym.engine.game import Game
from dicegym.engine.validate import MOST
from dicegym.errors import DependencyError, ModelError, ParameterError, one_line, unknown_name
from dicegym.players.archive import ModelArchive
from dicegym.players.model_file import SETTINGS_MEMBER, critic_in, network_in, trained_on
from dicegym.players.unpickling import load_sb3, untrusted
from dicegym.players.weights import check_optimizer, state_in, tensors_in


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
_TENSORS = "policy.pth"
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
_ACTIVATIONS = "torch.nn.modules.activation."
_OPTIMIZERS = "torch.optim."
_EXTRACTOR = "stable_baselines3.common.torch_layers.FlattenExtractor"
_NO_MATTER = ("net_arch", "ortho_init", "n_quantiles", "log_std_init", "normalize_images", "share_features_extractor")
"""Arguments of policies that tensors tell, that the beginning of a training alone needs, or that a vector of numbers
from 0 to 1 does not."""
_SCHEDULE = re.compile(r"(?:value_schedule=)?(ConstantSchedule|LinearSchedule)\(([^()]*)\)")
_NUMBER_OF = re.compile(r"(\w+)=([-+.\w]+)")
_SET_UP = "_setup_model"
"""What Stable-Baselines3's own ``load`` calls, too, when spaces are known and there are no games yet."""
ASYMMETRIC = "dicegym.players.asymmetric"
"""The module of the policy whose critic sees more, which plain data tells too."""
_MOST_SEEN = 1 << 20
"""Numbers that a critic may see beyond an observation: more is damage."""
_MOST_MEMORY = 1 << 31
"""Bytes of the rollout that a model may ask for which goes on training."""


def rebuilt(path: Any, kind: Any, game: Game, device: Any, to_go_on: bool = False) -> Any:
    """Return the Stable-Baselines3 model in a file, built from plain data alone.

    Args:
        path: the file.
        kind: the class of its algorithm.
        game: what it plays.
        device: a ``torch.device``.
        to_go_on: also what only training needs: the algorithm's settings and what the optimizer remembers.

    Raises:
        ModelError: it is damaged, does not fit the game, or plain data does not tell how to build it.
    """
    from gymnasium.spaces import Box, Discrete

    name = kind.__name__
    with ModelArchive(path) as archive:
        data = archive.json(SETTINGS_MEMBER)
        is_whole = _TENSORS in archive.names
        has_optimizer = to_go_on and "policy.optimizer.pth" in archive.names
        remembered = (
            tensors_in(archive.read("policy.optimizer.pth"), f"{path}: its policy.optimizer.pth")
            if has_optimizer
            else None
        )
    weights = weights_of(path)
    privileged = _privileged(path, name, data)
    _check_spaces(path, data, game, privileged)
    policy = _policy_arguments(path, name, data, weights, game)
    arguments = _arguments(path, kind, data, game) if to_go_on else _small(kind)
    n_envs = _whole(data.get("n_envs"), 1) if to_go_on else 1
    try:
        made: Any = "MlpPolicy"
        if privileged:
            from dicegym.players.asymmetric import AsymmetricPolicy

            made, policy["privileged"] = AsymmetricPolicy, privileged
        model = kind(made, None, policy_kwargs=policy, device=device, _init_setup_model=False, **arguments)
        model.observation_space = Box(0.0, 1.0, (game.observation_size + privileged,), np.float32)
        model.action_space = Discrete(game.n_actions)
        model.n_envs = n_envs
        getattr(model, _SET_UP)()
        model.policy.load_state_dict(weights, strict=is_whole)  # without a critic its own one begins anew
    except (RuntimeError, AssertionError, ValueError, TypeError, AttributeError) as error:
        text = f"{type(error).__name__}: {one_line(error)}"
        raise ModelError(f"{path} cannot be built as a {name} model: {text}") from None
    if to_go_on:
        model.seed = data.get("seed") if isinstance(data.get("seed"), int) else None
        for key in ("num_timesteps", "_n_updates", "_episode_num"):
            setattr(model, key, _whole(data.get(key), 0))
    if remembered is not None:
        check_optimizer(remembered, model.policy.optimizer, f"{path}: its policy.optimizer.pth")
        model.policy.optimizer.load_state_dict(remembered)
    return model


def weights_of(path: Any) -> dict[str, Any]:
    """Return the tensors of a model file's policy by name, whatever network they are of.

    Those of its value network are missing where it was left out of the file, as in models that ship.

    Raises ModelError if the file is damaged, or holds a network that Stable-Baselines3 does not know.
    """
    with ModelArchive(path) as archive:
        if _TENSORS in archive.names:
            return state_in(archive.read(_TENSORS), f"{path}: its {_TENSORS}")
        is_trained = SETTINGS_MEMBER in archive.names
    actor = network_in(path, trained_on(path)) if is_trained else None
    if actor is None:
        raise network_alone(path)
    critic = critic_in(path)
    return _tensors(actor, "pi", "action_net") | ({} if critic is None else _tensors(critic, "vf", _VALUE_HEAD))


def network_alone(path: Any) -> ModelError:
    """Return the error for a file that plays, and does not say how Stable-Baselines3 would train it."""
    return ModelError(f"{path} holds a network alone, which can play, and no model of Stable-Baselines3 to train")


def has_critic(weights: Mapping[str, Any]) -> bool:
    """Return whether tensors of a policy, by name, have those of a value network."""
    return f"{_VALUE_HEAD}.weight" in weights


def arrays_suffice(path: Any, kind: Any, game: Game) -> bool:
    """Return whether plain arrays and its settings tell all of a model that Stable-Baselines3 has saved.

    Args:
        path: the file.
        kind: the class of its algorithm.
        game: what it plays.
    """
    form = _FORMS.get(kind.__name__)
    if form is None or form.networks is not _ACTOR_CRITIC:
        return False
    with ModelArchive(path) as archive:
        data = archive.json(SETTINGS_MEMBER)
    try:
        _policy_arguments(path, kind.__name__, data, weights_of(path), game)
        _arguments(path, kind, data, game)
    except ModelError:  # they say what else it holds
        return False
    return True


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
    """Raise ModelError unless a model saw and did what the game's seats do, as far as the file's texts tell."""
    seen, done = data.get("observation_space"), data.get("action_space")
    if not isinstance(seen, dict) or not isinstance(done, dict):
        raise ModelError(f"{path} does not say what it was trained on, as every model of Stable-Baselines3 does")
    shape, n_actions = seen.get("_shape"), one_line(done.get("n"), 20)
    wanted = game.observation_size + privileged
    if shape != [wanted] or n_actions != str(game.n_actions) or one_line(done.get("start", 0)) != "0":
        told = f"({', '.join(map(str, shape))},)" if isinstance(shape, list) else one_line(shape, 60)
        raise ModelError(
            f"model {str(path)!r} was trained on observations {one_line(told, 60)} and {n_actions} actions, {game!r} "
            f"has ({wanted},) and {game.n_actions}: name the game, the players and the parameters that "
            "it was trained on"
        )


def _policy_arguments(
    path: Any, name: str, data: Mapping[str, Any], weights: Mapping[str, Any], game: Game
) -> dict[str, Any]:
    """Return what the algorithm's policy is made with."""
    form = _FORMS[name]
    kind = data.get("policy_class")
    module = kind.get("__module__") if isinstance(kind, dict) else None
    if module != form.module and not (module == ASYMMETRIC and form.module == _FORMS["MaskablePPO"].module):
        raise untrusted(path, f"its policy is a class of {one_line(module, 80)!r}")
    said = data.get("policy_kwargs")
    if not isinstance(said, dict):
        raise ModelError(f"{path} does not say what its policy was made with, as every model of Stable-Baselines3 does")
    sizes = _layers(path, form, weights)
    if form.networks is _ACTOR_CRITIC and not has_critic(weights):
        sizes["vf"] = sizes["pi"]
    found: dict[str, Any] = {"net_arch": sizes, "activation_fn": _torch(form.activation)}
    if "" in sizes:
        *hidden, last = sizes[""] or [0]
        found["net_arch"] = hidden
        if name == "QRDQN":
            found["n_quantiles"] = last // game.n_actions
    for key, value in said.items():
        if key in (":type:", ":serialized:", "privileged", *_NO_MATTER):
            continue
        named = _CLASS.fullmatch(value) if isinstance(value, str) else None
        text = named[1] if named else ""
        if key == "activation_fn" and text.startswith(_ACTIVATIONS):
            found[key] = _torch(text.removeprefix(_ACTIVATIONS))
        elif key == "optimizer_class" and text.startswith(_OPTIMIZERS):
            found[key] = _torch(text.rpartition(".")[2], "optim")
        elif key == "optimizer_kwargs" and isinstance(value, dict) and all(map(_is_setting, value.values())):
            found[key] = dict(value)
        elif not _as_usual(key, value, text):
            raise untrusted(path, f"its policy was made with {one_line(key, 40)}={one_line(value, 80)}")
    if None in found.values():
        raise untrusted(path, f"its policy was made with {one_line({k: v for k, v in said.items() if k[:1] != ':'})}")
    return found


def _as_usual(key: str, value: Any, text: str) -> bool:
    """Return whether an argument of a policy is what it would be if nothing had been said."""
    if key == "features_extractor_class":
        return text == _EXTRACTOR
    return key in ("features_extractor_kwargs", "optimizer_kwargs", "use_sde", "squash_output") and not value


def _torch(name: str, package: str = "nn") -> Any:
    """Return a class of ``torch.nn.modules.activation`` or ``torch.optim``, or None if there is none of that name."""
    import torch

    home, base = (
        (torch.nn.modules.activation, torch.nn.Module) if package == "nn" else (torch.optim, torch.optim.Optimizer)
    )
    found = getattr(home, name, None)
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
        raise untrusted(
            path,
            f"its network has {one_line(others[0], 80)!r}, which the policies of Stable-Baselines3 do not have for a "
            "vector of numbers",
        )
    return found


def _small(kind: Any) -> dict[str, Any]:
    """Return arguments of an algorithm that is only to play: a memory for training helps nobody to."""
    taken = inspect.signature(kind).parameters
    return {key: value for key, value in (("n_steps", 2), ("buffer_size", 1), ("batch_size", 2)) if key in taken}


def _arguments(path: Any, kind: Any, data: Mapping[str, Any], game: Game) -> dict[str, Any]:
    """Return the arguments of an algorithm's class that stand in the file as plain values, and its schedules."""
    found: dict[str, Any] = {}
    for key, parameter in inspect.signature(kind).parameters.items():
        value = data.get(key)
        if key in ("learning_rate", "clip_range", "clip_range_vf") and isinstance(value, dict):
            found[key] = _schedule(path, key, value)
        elif key in ("policy", "env", "seed", "device", "verbose", "tensorboard_log", "_init_setup_model"):
            continue
        elif _is_number(value) and (_is_number(parameter.default) or parameter.default is None):
            whole = isinstance(parameter.default, int) and not isinstance(value, float)
            found[key] = _whole(value, 1) if whole and not isinstance(value, bool) else value
    steps, games = found.get("n_steps", 1), _whole(data.get("n_envs"), 1)
    if steps * games * (game.observation_size + game.n_actions + 8) * 4 > _MOST_MEMORY:
        raise ModelError(
            f"{path} asks for a rollout of {steps:,} steps of {games:,} games, more than there is memory for"
        )
    if "buffer_size" in found:  # a million empty memories help nobody to play
        found["buffer_size"] = 1
    return found


def _schedule(path: Any, key: str, value: Mapping[str, Any]) -> Any:
    """Return a schedule by the texts beside its pickle."""
    from stable_baselines3.common.utils import ConstantSchedule, LinearSchedule

    kind = one_line(value.get(":type:"), 100)
    parts = ", ".join(f"{name}={text}" for name, text in value.items() if name[:1] != ":")
    for known in ("ConstantSchedule", "LinearSchedule"):
        if kind == f"<class 'stable_baselines3.common.utils.{known}'>":
            parts = f"{known}({parts})"
    told = _SCHEDULE.fullmatch(parts)
    numbers: dict[str, float] = {}
    for name, text in _NUMBER_OF.findall(told[2]) if told else ():
        try:
            numbers[name] = float(text)
        except ValueError:
            numbers[name] = math.nan
    if told and all(map(math.isfinite, numbers.values())):
        if told[1] == "ConstantSchedule" and set(numbers) == {"val"}:
            return ConstantSchedule(**numbers)
        if told[1] == "LinearSchedule" and set(numbers) == {"start", "end", "end_fraction"}:
            return LinearSchedule(**numbers)
    raise untrusted(path, f"its {key} is {one_line(parts or kind, 80)}")


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value))


def _is_setting(value: Any) -> bool:
    return all(map(_is_number, value)) if isinstance(value, list) else _is_number(value)


def _whole(value: Any, least: int) -> int:
    """Return a count that a file says, or the least there is if it says none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and least <= value < MOST else least


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
            `dicegym.players.sb3`.
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
