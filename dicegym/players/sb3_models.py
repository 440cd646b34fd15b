"""Models of Stable-Baselines3 and PyTorch, in memory and in files. Needs the extra ``train``.

NumPy plays actors and critics of plain layers (`dicegym.bots.network`), after a comparison with the policy on random
observations. A model in a file is rebuilt from its layers, without unpickling. Any other network can play through a
function of (observation, mask).
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dicegym.bots.network import ACTIVATIONS, Layer, Network
from dicegym.engine.game import Game
from dicegym.engine.validate import MOST, whole_number
from dicegym.errors import DependencyError, ModelError, ParameterError, one_line, unknown_argument, unknown_name
from dicegym.players.model_file import ALGORITHMS, ModelFile, check_fit

_TOLERANCE = 1e-3
"""Allowed relative difference between the scores of a network and of its policy.

Both are sums of some hundred products, which float32 rounds by 1e-7 each. A wrong network differs by as much as the
scores themselves."""
_ACTOR_CRITICS = ("PPO", "A2C", "MaskablePPO", "FastMaskablePPO", "DAgger")
"""Algorithms with an actor and a critic, which arrays may describe completely."""
_SET_UP = "_setup_model"
"""Stable-Baselines3's ``load`` also calls it when spaces are known and there are no environments yet."""
_OF_THE_FILE = ("policy", "env", "policy_kwargs", "device", "_init_setup_model")
"""Arguments of algorithms that `load_model` gives itself."""


def algorithm(name: str) -> Any:
    """Return the algorithm class ``name``. Raises UnknownNameError, or DependencyError without the extra."""
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, list(ALGORITHMS))
    try:
        return getattr(importlib.import_module(ALGORITHMS[name]), name)
    except ImportError as error:
        raise DependencyError.for_extra(str(error.name), "train", f"a {name} model") from error


def critic_of(model: Any) -> Network | None:
    """Return the value network of a model; None if it has none of plain layers."""
    policy: Any = getattr(model, "policy", None)
    if not hasattr(policy, "value_net"):
        return None
    try:
        return _network([policy.vf_features_extractor, policy.mlp_extractor.value_net, policy.value_net])
    except _NoPlainLayersError:
        return None


def tensors_of(actor: Network, critic: Network | None) -> dict[str, Any]:
    """Return the tensors of plain layers by their names in an actor-critic policy.

    Without a ``critic``, as in shipped models, those of the value network are missing.
    """
    import torch

    found: dict[str, Any] = {}
    for network, begin, head in (
        (actor, "mlp_extractor.policy_net", "action_net"),
        (critic, "mlp_extractor.value_net", "value_net"),
    ):
        layers = network.layers if network else ()
        names = [*(f"{begin}.{2 * number}" for number in range(len(layers) - 1)), head]  # odd numbers: activations
        for name, layer in zip(names, layers, strict=False):
            found[f"{name}.weight"] = torch.tensor(layer.weight.T, dtype=torch.float32)
            found[f"{name}.bias"] = torch.tensor(layer.bias, dtype=torch.float32)
    return found


def read_trained_actor(file: ModelFile) -> Network:
    """Return the actor of a file that can be trained. Raises ModelError if the file is damaged or only plays."""
    name = file.facts.get("algorithm")
    if name not in _ACTOR_CRITICS:
        raise ModelError(
            f"{file.path} plays, but cannot be trained further: algorithm {one_line(name, 80)!r} is not one of "
            f"{', '.join(_ACTOR_CRITICS)}"
        )
    return file.network


def load_model(
    path: str | os.PathLike[str], game: Game | None = None, device: str = "cpu", n_envs: int = 1, **arguments: Any
) -> tuple[Any, Game]:
    """Return (Stable-Baselines3 model, its game) with the networks of a file, ready to be trained further.

    If the file has no value network, as in shipped models, a new one starts with the policy's layers: train it for a
    while before you judge the policy.

    Args:
        path: a model file.
        game: the game to play (default: the one it was trained on).
        device: of its network.
        n_envs: number of games that ``model.set_env`` will be given.
        **arguments: of the algorithm, such as ``learning_rate=1e-4``; the others have the algorithm's defaults.

    Raises:
        ModelError: the model cannot play ``game``, its rules have changed, the file is damaged, or it only plays.
        DependencyError: Stable-Baselines3 is missing.
        ParameterError: the device does not exist, or ``arguments`` are invalid.

    Example:
        >>> import torch
        >>> from dicegym.agents import load_model
        >>> from dicegym.players.roster import agents_folder
        >>> model, game = load_model(agents_folder("hog") / "ppo.zip")
        >>> type(model).__name__, game.name
        ('FastMaskablePPO', 'hog')
    """
    from gymnasium.spaces import Box, Discrete

    file = ModelFile(path)
    if game is not None:
        check_fit(str(path), file.game, game)
    actor, critic, game = read_trained_actor(file), file.critic, file.game
    name = str(file.facts["algorithm"])
    kind, where = algorithm(name), check_device(device)
    games = whole_number("n_envs", n_envs, 1, MOST, "a number of games")
    known = [key for key in inspect.signature(kind).parameters if key not in _OF_THE_FILE]
    if unknown := [key for key in arguments if key not in known]:
        raise unknown_argument("load_model", unknown[0], known)
    made: Any = "MlpPolicy"
    policy = _policy_arguments(file, {"pi": actor, "vf": critic or actor})
    privileged = 0 if critic is None else critic.layers[0].weight.shape[0] - game.observation_size
    if privileged:
        from dicegym.players.asymmetric import AsymmetricPolicy

        made, policy["privileged"] = AsymmetricPolicy, privileged
    try:
        model = kind(made, None, policy_kwargs=policy, device=where, _init_setup_model=False, **arguments)
        model.observation_space = Box(0.0, 1.0, (game.observation_size + privileged,), np.float32)
        model.action_space = Discrete(game.n_actions)
        model.n_envs = games
        getattr(model, _SET_UP)()
        model.policy.load_state_dict(tensors_of(actor, critic), strict=critic is not None)
    except (RuntimeError, AssertionError, ValueError, TypeError, AttributeError, MemoryError) as error:
        text = f"{type(error).__name__}: {one_line(error)}"
        if arguments:
            given = one_line(", ".join(f"{key}={value!r}" for key, value in arguments.items()), 200)
            raise ParameterError(f"{given} cannot be used for {games:,} games of a {name} model: {text}") from None
        raise ModelError(f"{path} cannot be built as a {name} model: {text}") from None
    return model, game


def _policy_arguments(file: ModelFile, networks: Mapping[str, Network]) -> dict[str, Any]:
    """Return the arguments of the policy class: the layers of the networks."""
    import torch

    used = {layer.activation for one in networks.values() for layer in one.layers[:-1]} or {"Tanh"}
    if len(used) > 1:
        raise ModelError(f"{file.path} cannot be trained: its activations differ, {', '.join(sorted(used))}")
    return {
        "net_arch": {key: [len(layer.bias) for layer in one.layers[:-1]] for key, one in networks.items()},
        "activation_fn": getattr(torch.nn, used.pop()),
    }


def check_device(device: str) -> Any:
    """Return a ``torch.device``. Raises ParameterError if it is not available."""
    import torch
    from stable_baselines3.common.utils import get_device

    try:
        found = get_device(device) if device == "auto" else torch.device(device)  # `get_device` replaces a missing one
        torch.zeros(1, device=found)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ParameterError(
            f"device {device!r} cannot be used here ({one_line(error, 120)}): give 'cpu', 'auto', or "
            "another one that PyTorch finds on this machine"
        ) from None
    return found


class _NoPlainLayersError(Exception):
    """A policy is not a sequence of linear layers with activations between them; the message says why."""


def _scores(model: Any, observations: np.ndarray) -> np.ndarray:
    """Return PyTorch's logits or values for float32[n, inputs]: float64[n, n_actions]. Raises ModelError."""
    import torch

    policy = getattr(model, "policy", model)
    trains = policy.training
    policy.train(False)
    try:
        with torch.no_grad():
            x = torch.as_tensor(observations, device=next(policy.parameters(), torch.empty(0)).device)
            if hasattr(policy, "q_net"):
                found = policy.q_net(x)
            elif hasattr(policy, "get_distribution"):
                found = policy.get_distribution(x).distribution.logits
            else:
                found = policy(x)
    finally:
        policy.train(trains)
    if not isinstance(found, torch.Tensor) or found.ndim != 2 or len(found) != len(observations):
        shape = tuple(getattr(found, "shape", ())) or type(found).__name__
        raise ModelError(f"a module must map float32[n, inputs] to scores[n, actions], and this gives {shape}")
    scores: np.ndarray = found.cpu().numpy().astype(np.float64)
    return scores


def check_spaces(model: Any, game: Game, name: str) -> None:
    """Raise ModelError unless a Stable-Baselines3 model has the observations and actions of the game."""
    normalised = getattr(model, "get_vec_normalize_env", lambda: None)()
    if normalised is not None and normalised.norm_obs:  # the model lacks the averages, and its spaces hide this
        raise ModelError(
            f"model {name!r} was trained on observations changed by VecNormalize, whose averages it does not contain: "
            "observations are between 0 and 1 already, so train it with VecNormalize(games, norm_obs=False)"
        )
    if type(model).__name__ not in ALGORITHMS and hasattr(getattr(model, "policy", None), "lstm_actor"):
        raise ModelError(
            f"model {name!r} is a {type(model).__name__}, and recurrent policies cannot play here: use one of "
            f"{', '.join(ALGORITHMS)}"
        )
    seen, done = getattr(model, "observation_space", None), getattr(model, "action_space", None)
    shape, n_actions = getattr(seen, "shape", None), getattr(done, "n", None)
    size = game.observation_size + count_privileged(model)
    if shape != (size,) or n_actions is None or int(n_actions) != game.n_actions:
        raise ModelError(
            f"model {name!r} was trained on observations {shape or seen} and {n_actions or done} actions, {game!r} has "
            f"({size},) and {game.n_actions}: name the game, players and parameters of the training, and train without "
            "wrappers that change observations or actions"
        )


def count_privileged(model: Any) -> int:
    """Return how many of the last numbers of an observation only the critic of a model sees."""
    return int(getattr(getattr(model, "policy", None), "privileged", 0))


def to_network(model: Any, game: Game, name: str) -> Network:
    """Return the plain network that scores actions of a model.

    The network is compared with the policy on random observations, in case the policy does not apply its layers in
    sequence.

    Args:
        model: a Stable-Baselines3 model, or a ``torch.nn.Module`` from observations to scores.
        game: the game.
        name: the model's name in errors.

    Raises:
        ModelError: the model does not fit the game, or is not a sequence of linear layers with activations between.
    """
    import torch

    if hasattr(model, "policy"):
        check_spaces(model, game, name)
    elif not isinstance(model, torch.nn.Module):
        raise ModelError(
            f"{type(model).__name__} {name!r} is not a model: give one of Stable-Baselines3 "
            f"({', '.join(ALGORITHMS)}) or a torch.nn.Module from observations to a score for each action"
        )
    seen = np.random.default_rng(0).random((32, game.observation_size), np.float32).round(1)
    try:
        expected = _scores(model, seen)
    except (RuntimeError, ValueError, TypeError, AttributeError, NotImplementedError) as error:
        raise ModelError(
            f"model {name!r} does not map observations of {game.observation_size} numbers to scores of "
            f"{game.n_actions} actions: {type(error).__name__}: {one_line(error)}"
        ) from error
    if expected.shape[1] != game.n_actions:
        raise ModelError(f"model {name!r} scores {expected.shape[1]} actions, and {game!r} has {game.n_actions}")
    try:
        network = _network(_parts(getattr(model, "policy", model)))
        _compare(network, seen, expected)
    except _NoPlainLayersError as error:
        raise ModelError(
            f"model {name!r} cannot be played without PyTorch: {error}. Write a function of (observation, mask) that "
            "calls it, and give that as the player"
        ) from None
    return network


def _compare(network: Network, seen: np.ndarray, expected: np.ndarray) -> None:
    """Raise _NoPlainLayersError unless the network scores as expected, up to a constant in each row."""
    try:
        found = network.scores(seen)
    except ValueError:  # the layers do not even fit each other
        raise _NoPlainLayersError("its layers do not follow each other") from None
    apart = (found - found.mean(axis=1, keepdims=True)) - (expected - expected.mean(axis=1, keepdims=True))
    if found.shape != expected.shape or np.abs(apart).max() > _TOLERANCE * max(1.0, float(np.abs(expected).max())):
        raise _NoPlainLayersError("it does not compute its linear layers in sequence")


def _network(parts: Sequence[Any]) -> Network:
    """Return a sequence of modules as plain layers. Raises _NoPlainLayersError."""
    import torch

    layers: list[Layer] = []
    for module in torch.nn.Sequential(*parts).modules():
        kind = type(module).__name__
        if isinstance(module, torch.nn.Linear):
            weight = module.weight.detach().cpu().numpy().astype(np.float64)
            bias = np.zeros(len(weight))
            for added in [value for name, value in module.named_parameters() if name == "bias"]:  # none, or one
                bias += added.detach().cpu().numpy()
            layers.append(Layer(np.ascontiguousarray(weight.T), bias))
        elif kind in ACTIVATIONS and layers and not layers[-1].activation:
            layers[-1] = layers[-1]._replace(activation=kind)
        elif kind not in ("Sequential", "FlattenExtractor", "Flatten"):
            raise _NoPlainLayersError(
                f"it has {kind}, and only linear layers with one of {', '.join(ACTIVATIONS)} between are supported"
            )
    if not layers or any(bool(layer.activation) == (layer is layers[-1]) for layer in layers):
        raise _NoPlainLayersError("it needs an activation between any two linear layers, and none elsewhere")
    return Network(tuple(layers))


def _parts(policy: Any) -> list[Any]:
    """Return the modules of a policy from observations to scores, in order."""
    if hasattr(policy, "q_net"):
        return [policy.q_net.features_extractor, policy.q_net.q_net]
    if hasattr(policy, "action_net"):
        return [policy.pi_features_extractor, policy.mlp_extractor.policy_net, policy.action_net]
    return [policy]


@contextlib.contextmanager
def ignore_inputs(model: Any, inputs: np.ndarray) -> Iterator[None]:
    """Make the networks of ``model`` ignore the ``inputs`` (bool[observation]) within the context.

    Inputs that were always 0 in training keep their random initial weights, which would disturb a model that sees other
    values for the first time. Networks that do not begin with a linear layer stay as they are.
    """
    import torch

    first = _first_weights(model)
    before = [weight.detach().clone() for weight in first]
    with torch.no_grad():
        try:
            for weight in first:
                weight[:, torch.as_tensor(inputs[: weight.shape[1]])] = 0
            yield
        finally:
            for weight, old in zip(first, before, strict=True):
                weight.copy_(old)


def _first_weights(model: Any) -> list[Any]:
    """Return the weights (torch.Tensor[units, inputs]) of the first layer of each network of a model.

    The inputs of an actor may lack the privileged ones, which are the last.
    """
    import torch

    size = model.observation_space.shape[0]
    return [
        module[0].weight
        for module in model.policy.modules()
        if isinstance(module, torch.nn.Sequential)
        and len(module)
        and isinstance(module[0], torch.nn.Linear)
        and module[0].in_features in (size, size - count_privileged(model))
    ]


def used_inputs(model: Any) -> np.ndarray:
    """Return which inputs a model does not ignore (bool[observation]); all if its first layers are not linear."""
    weights = [weight.detach().cpu().numpy() for weight in _first_weights(model)]
    found = np.full(model.observation_space.shape[0], not weights)
    for weight in weights:
        found[: weight.shape[1]] |= (weight != 0).any(axis=0)
    return found
