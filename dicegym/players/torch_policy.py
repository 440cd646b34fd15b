"""Models of Stable-Baselines3 and PyTorch in memory: their actors, as plain layers where that is possible.

Plain layers are played by NumPy (`dicegym.bots.network`). Networks of another kind, such as one with a features
extractor of one's own, are asked by `TorchPolicy`. Needs the extra ``train``.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dicegym.bots.network import ACTIVATIONS, Layer, Network
from dicegym.engine.game import Game
from dicegym.errors import ModelError, ParameterError, one_line
from dicegym.players.model_file import ALGORITHMS

_TOLERANCE = 1e-3
"""How far scores of a network and of its policy may lie apart, as a part of their size: both are sums of some hundred
products, which float32 rounds by 1e-7 of their size each. Another network is off by as much as the scores are."""


def check_device(device: str) -> Any:
    """Return a ``torch.device``. Raises ParameterError if there is no such device here."""
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


class _NoPlainLayersError(Exception):
    """A policy is not a sequence of linear layers with activations between them; the message says what it has."""


class TorchPolicy:
    """Scores actions by a policy of Stable-Baselines3, or by any ``torch.nn.Module``, as it computes them itself.

    Args:
        model: a model with a ``policy``, whose weights are copied, or a module from float32[n, observation size] to
            scores[n, n_actions].
        reason: why it is not played by NumPy, for those who want to write it down.
    """

    def __init__(self, model: Any, reason: str = "") -> None:
        self.reason = reason
        policy = getattr(model, "policy", model)
        policy = copy.deepcopy(policy, _not_copied(policy))
        if hasattr(policy, "set_training_mode"):
            policy.set_training_mode(False)
        else:
            policy.eval()
        self._policy = policy

    def scores(self, observations: np.ndarray) -> np.ndarray:
        """Return logits, values or whatever the module gives, float64[n, n_actions], of float32[n, observation size].

        Raises ModelError if it does not give that.
        """
        import torch

        policy = self._policy
        weights = next(iter(policy.parameters()), None)
        with torch.no_grad():
            x = torch.as_tensor(observations, dtype=torch.float32, device=None if weights is None else weights.device)
            if hasattr(policy, "q_net"):
                found = policy.q_net(x)
            elif hasattr(policy, "quantile_net"):
                found = policy.quantile_net(x).mean(dim=1)
            elif hasattr(policy, "get_distribution"):
                found = policy.get_distribution(x).distribution.logits
            else:
                found = policy(x)
        if not isinstance(found, torch.Tensor) or found.ndim != 2 or len(found) != len(observations):
            shape = tuple(getattr(found, "shape", ())) or type(found).__name__
            raise ModelError(
                f"a module that plays maps float32[n, inputs] to scores[n, actions], and this gives {shape}"
            )
        scores: np.ndarray = found.cpu().numpy().astype(np.float64)
        return scores


def _not_copied(policy: Any) -> dict[int, Any]:
    """Return, by its id, what a copy of a policy holds instead of what nobody needs to play."""
    found: dict[int, Any] = {id(getattr(policy, "optimizer", None)): None}
    drawn_from = getattr(policy, "action_dist", None)
    if drawn_from is not None:  # it holds what was last drawn from, a part of the graph, which cannot be copied
        found[id(drawn_from)] = fresh = copy.copy(drawn_from)
        fresh.distribution = None
    return found


def check_spaces(model: Any, game: Game, name: str) -> None:
    """Raise ModelError unless a Stable-Baselines3 model sees and does what the game's seats do."""
    normalised = getattr(model, "get_vec_normalize_env", lambda: None)()
    if (
        normalised is not None and normalised.norm_obs
    ):  # its averages are not in the model, and its spaces do not show it
        raise ModelError(
            f"model {name!r} was trained on observations that VecNormalize had changed, and what changes them does not "
            "go with it: they lie between 0 and 1 as they are, so train it with VecNormalize(games, norm_obs=False)"
        )
    if type(model).__name__ not in ALGORITHMS and hasattr(getattr(model, "policy", None), "lstm_actor"):
        raise ModelError(
            f"model {name!r} is a {type(model).__name__}, which remembers from one observation to the next, and "
            f"recurrent policies do not play here: those that do are {', '.join(ALGORITHMS)}"
        )
    seen, done = getattr(model, "observation_space", None), getattr(model, "action_space", None)
    shape, n_actions = getattr(seen, "shape", None), getattr(done, "n", None)
    size = game.observation_size + count_privileged(model)
    if shape == (size,) and n_actions is not None and int(n_actions) == game.n_actions:
        return
    if shape is None or n_actions is None or getattr(done, "shape", ()) != ():
        raise ModelError(
            f"model {name!r} was trained on observations {seen} and actions {done}; {game!r} has a vector of "
            f"{game.observation_size} numbers and {game.n_actions} discrete actions: train it without wrappers that "
            "change them"
        )
    raise ModelError(
        f"model {name!r} was trained on observations {shape} and {n_actions} actions, {game!r} has ({size},) and "
        f"{game.n_actions}: name the game, the players and the parameters that it was trained on"
    )


def count_privileged(model: Any) -> int:
    """Return how many of the last numbers of its observations only the critic of a model sees."""
    return int(getattr(getattr(model, "policy", None), "privileged", 0))


def to_network(model: Any, game: Game, name: str) -> Network | TorchPolicy:
    """Return what scores actions of a model: a plain network, or the policy itself if that is not possible.

    A plain network has been compared with the policy on made-up observations, so that one whose layers are put
    together in another way than in sequence is never mistaken for it.

    Args:
        model: a Stable-Baselines3 model, or a ``torch.nn.Module`` from observations to scores.
        game: what it plays.
        name: what errors call it.

    Raises:
        ModelError: it does not fit the game.
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
        asked = TorchPolicy(model)
        expected = asked.scores(seen)
    except (RuntimeError, ValueError, TypeError, AttributeError, NotImplementedError) as error:
        raise ModelError(
            f"model {name!r} cannot be asked for scores of {game.n_actions} actions, given observations of "
            f"{game.observation_size} numbers: {type(error).__name__}: {one_line(error)}"
        ) from error
    if expected.shape[1] != game.n_actions:
        raise ModelError(f"model {name!r} scores {expected.shape[1]} actions, and {game!r} has {game.n_actions}")
    try:
        network = _network(_parts(getattr(model, "policy", model)))
        _compare(network, seen, expected)
    except _NoPlainLayersError as error:
        asked.reason = str(error)
        return asked
    return network


def _compare(network: Network, seen: np.ndarray, expected: np.ndarray) -> None:
    """Raise _NoPlainLayersError unless the network scores as expected, a number added to a whole row apart."""
    try:
        found = network.scores(seen)
    except ValueError:  # the layers do not even fit each other
        raise _NoPlainLayersError("its layers do not follow each other") from None
    apart = (found - found.mean(axis=1, keepdims=True)) - (expected - expected.mean(axis=1, keepdims=True))
    if found.shape != expected.shape or np.abs(apart).max() > _TOLERANCE * max(1.0, float(np.abs(expected).max())):
        raise _NoPlainLayersError("it computes something else than its linear layers one after the other")


def critic_of(policy: Any) -> Network | None:
    """Return the value network of an actor-critic policy; None if it is not a sequence of linear layers."""
    try:
        return _network([policy.vf_features_extractor, policy.mlp_extractor.value_net, policy.value_net])
    except _NoPlainLayersError:
        return None


def _network(parts: Sequence[Any]) -> Network:
    """Return modules, one after the other, as plain layers. Raises _NoPlainLayersError."""
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
                f"it has {kind}, and not only linear layers with one of {', '.join(ACTIVATIONS)} between"
            )
    if not layers or any(bool(layer.activation) == (layer is layers[-1]) for layer in layers):
        raise _NoPlainLayersError("between its linear layers, and nowhere else, activations are missing")
    return Network(tuple(layers))


def _parts(policy: Any) -> list[Any]:
    """Return the modules of a policy that lead from observations to scores, in order."""
    import torch

    if hasattr(policy, "q_net"):
        return [policy.q_net.features_extractor, policy.q_net.q_net]
    if hasattr(policy, "quantile_net"):
        net = policy.quantile_net
        last = net.quantile_net[-1]  # linear, so the mean over quantiles is a linear layer itself
        mean = torch.nn.Linear(last.in_features, int(net.action_space.n)).to(last.weight)
        mean.load_state_dict(
            {
                "weight": last.weight.view(net.n_quantiles, -1, last.in_features).mean(dim=0),
                "bias": last.bias.view(net.n_quantiles, -1).mean(dim=0),
            }
        )
        return [net.features_extractor, net.quantile_net[:-1], mean]
    if hasattr(policy, "action_net"):
        return [policy.pi_features_extractor, policy.mlp_extractor.policy_net, policy.action_net]
    return [policy]


@contextlib.contextmanager
def ignore_inputs(model: Any, inputs: np.ndarray) -> Iterator[None]:
    """Let the networks of ``model`` ignore the ``inputs`` (bool[what it observes]) for the time being.

    The weights come back also if something is raised meanwhile. What was never anything but 0 in training left its
    weights as they were drawn: with them a model would be disturbed by what it meets for the first time at another
    table. Networks that do not begin with a linear layer stay as they are.
    """
    import torch

    first = _first_weights(model, len(inputs))
    before = [weight.detach().clone() for weight in first]
    with torch.no_grad():
        try:
            for weight in first:
                weight[:, torch.as_tensor(inputs[: weight.shape[1]])] = 0
            yield
        finally:
            for weight, old in zip(first, before, strict=True):
                weight.copy_(old)


def _first_weights(model: Any, size: int) -> list[Any]:
    """Return the weights (torch.Tensor[units, inputs]) of the first layer of each of a model's networks.

    Inputs are ``size``, and without the privileged ones, which are the last, where a network does not see them.
    """
    import torch

    widths = (size, size - count_privileged(model))
    return [
        module[0].weight
        for module in model.policy.modules()
        if isinstance(module, torch.nn.Sequential)
        and len(module)
        and isinstance(module[0], torch.nn.Linear)
        and module[0].in_features in widths
    ]


def used_inputs(model: Any) -> np.ndarray:
    """Return which inputs a model does not ignore (bool[what it observes]); all if its networks do not tell."""
    size = model.observation_space.shape[0]
    weights = [weight.detach().cpu().numpy() for weight in _first_weights(model, size)]
    if not weights:
        return np.ones(size, np.bool_)
    found = np.zeros(size, np.bool_)
    for weight in weights:
        found[: weight.shape[1]] |= (weight != 0).any(axis=0)
    return found
