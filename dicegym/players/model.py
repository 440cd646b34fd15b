"""Stable-Baselines3 policies as players, and the model file that carries them. Needs the extra ``train``.

A model file is what Stable-Baselines3 saves (a zip) with one member more, ``dicegym.json``: the game, its
parameters, its fingerprint, the algorithm, and how it was trained. A file without it is refused.
"""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dicegym.bots.network import ACTIVATIONS, Layer, Network
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.errors import DependencyError, ModelError, unknown_name
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn

MEMBER = "dicegym.json"
"""The member of a model file that says what the model plays."""
_OF_THE_RUN = ("_last_obs", "_last_original_obs", "_last_episode_starts", "ep_info_buffer", "ep_success_buffer")
"""What Stable-Baselines3 saves of the games that were going on."""
ALGORITHMS = {
    "MaskablePPO": "sb3_contrib",
    "QRDQN": "sb3_contrib",
    "PPO": "stable_baselines3",
    "A2C": "stable_baselines3",
    "DQN": "stable_baselines3",
}
"""Algorithms with discrete actions whose policies can play, and the package of each."""


def algorithm(name: str) -> Any:
    """Return the algorithm class ``name``. Raises UnknownNameError, or DependencyError without the extra."""
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, list(ALGORITHMS))
    try:
        return getattr(__import__(ALGORITHMS[name]), name)
    except ImportError as error:
        raise DependencyError.for_extra(ALGORITHMS[name], "train", f"a {name} model") from error


class PolicyPlayer(Player):
    """Plays the best legal action of a Stable-Baselines3 model, or draws one from its policy.

    It plays its game with any number of players, if observations and actions are the same for all of them.

    Args:
        model: a model of one of `ALGORITHMS`; its weights are copied.
        game: the game that it was trained on.
        name: how reports call it.
        sample: draw from the policy (policy gradient methods only) instead of the best action. Drawing makes
            the player impure: it then sits down in each game with a generator of its own.

    Raises:
        ModelError: observation or action space are not the game's, or its network is of another kind than those
            that Stable-Baselines3 makes of ``net_arch``.
    """

    def __init__(self, model: Any, game: Game, name: str = "policy", sample: bool = False) -> None:
        self.name = name
        self.game = game
        self.pure = not sample
        self._sample = sample
        shape, n_actions = model.observation_space.shape, int(model.action_space.n)
        if shape != (game.observation_size,) or n_actions != game.n_actions:
            raise ModelError(
                f"model {name!r} was trained on observations {shape} and {n_actions} actions, {game!r} has "
                f"({game.observation_size},) and {game.n_actions}: load it with the game's parameters it was trained on"
            )
        self.network = _network(model.policy)

    def scores(self, observations: np.ndarray) -> np.ndarray:
        """Return a score of each action: logits or Q-values, float64[n, n_actions], of float32[n, size]."""
        return self.network.scores(observations)

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the best legal action (int64[n]) for float32[n, size] and bool[n, n_actions]."""
        best: np.ndarray = np.where(masks, self.scores(observations), -np.inf).argmax(axis=1)
        return best

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Return a chooser. Raises ModelError if ``game`` is not the one it was trained on."""
        self.check_fit(game)
        if not self._sample:

            def act(turn: Turn) -> int:
                return int(self.choose(turn.observation[None], turn.mask[None])[0])

            return act
        generator = np.random.default_rng(seed)

        def drawn(turn: Turn) -> int:
            scores = np.where(turn.mask, self.scores(turn.observation[None])[0], -np.inf)
            weights = np.exp(scores - scores.max())
            return int(generator.choice(len(weights), p=weights / weights.sum()))

        return drawn

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Ask the network once for all games; see `Player.act_rows`."""
        self.check_fit(game)
        waiting = states[rows]
        n = len(rows)
        observations = np.zeros((n, game.observation_size), np.float32)
        masks = np.zeros((n, game.n_actions), np.bool_)
        gained = np.zeros((n, game.players), np.float32)
        loops.observe_rows(waiting, np.arange(n), np.asarray(seats, np.int64), observations, masks, gained)
        return self.choose(observations, masks).astype(np.int64)

    def check_fit(self, game: Game) -> None:
        """Raise ModelError unless it can play ``game``."""
        _check_fit(f"model {self.name!r}", self.game, game)


def _check_fit(model: str, trained_on: Game, game: Game) -> None:
    """Raise ModelError unless a model of ``trained_on`` can play ``game``."""
    fits = (game.name, game.parameters, game.features) == (trained_on.name, trained_on.parameters, trained_on.features)
    if not fits:
        raise ModelError(f"{model} was trained on {trained_on!r} and cannot play {game!r}")


def _network(policy: Any) -> Network:
    """Return the part of a policy that scores actions."""
    import torch

    if hasattr(policy, "q_net"):
        parts = [policy.q_net.features_extractor, policy.q_net.q_net]
    elif hasattr(policy, "quantile_net"):
        net = policy.quantile_net
        last = net.quantile_net[-1]  # linear, so the mean over quantiles is a linear layer itself
        mean = torch.nn.Linear(last.in_features, int(net.action_space.n)).to(last.weight)
        mean.load_state_dict(
            {
                "weight": last.weight.view(net.n_quantiles, -1, last.in_features).mean(dim=0),
                "bias": last.bias.view(net.n_quantiles, -1).mean(dim=0),
            }
        )
        parts = [net.features_extractor, net.quantile_net[:-1], mean]
    else:
        parts = [policy.pi_features_extractor, policy.mlp_extractor.policy_net, policy.action_net]
    layers: list[Layer] = []
    for module in torch.nn.Sequential(*parts).modules():
        kind = type(module).__name__
        if isinstance(module, torch.nn.Linear):
            weight, bias = (part.detach().cpu().numpy().astype(np.float64) for part in (module.weight, module.bias))
            layers.append(Layer(np.ascontiguousarray(weight.T), bias))
        elif kind in ACTIVATIONS and layers and not layers[-1].activation:
            layers[-1] = layers[-1]._replace(activation=kind)
        elif kind not in ("Sequential", "FlattenExtractor", "Flatten"):
            raise ModelError(
                f"a network with {kind} cannot be played: use linear layers (net_arch) with one of "
                f"{', '.join(ACTIVATIONS)} between them"
            )
    return Network(tuple(layers))


@contextlib.contextmanager
def ignoring(model: Any, inputs: np.ndarray) -> Iterator[None]:
    """Let the networks of ``model`` ignore the ``inputs`` (bool[observation_size]) for the time being.

    What was never anything but 0 in training left its weights as they were drawn: with them a model would be
    disturbed by what it meets for the first time at another table.
    """
    import torch

    first = _first_weights(model.policy, len(inputs))
    before = [weight.detach().clone() for weight in first]
    with torch.no_grad():
        for weight in first:
            weight[:, torch.as_tensor(inputs)] = 0
        yield
        for weight, old in zip(first, before, strict=True):
            weight.copy_(old)


def _first_weights(policy: Any, size: int) -> list[Any]:
    """Return the weights (torch.Tensor[units, size]) of the first layer of each of a policy's networks."""
    import torch

    return [
        module[0].weight
        for module in policy.modules()
        if isinstance(module, torch.nn.Sequential)
        and len(module)
        and isinstance(module[0], torch.nn.Linear)
        and module[0].in_features == size
    ]


def heeded(model: Any) -> np.ndarray:
    """Return which inputs a model does not ignore (bool[observation_size])."""
    size = model.observation_space.shape[0]
    weights = [weight.detach().numpy() for weight in _first_weights(model.policy, size)]
    found: np.ndarray = np.any([(weight != 0).any(axis=0) for weight in weights], axis=0)
    return found


def save(model: Any, game: Game, path: str | os.PathLike[str], facts: dict[str, Any], to_go_on: bool = False) -> None:
    """Write ``model`` as a model file; ``facts`` (JSON-able) go into it beside what dicegym needs to load it.

    The file appears whole or not at all: it is written beside its place and then moved. What the optimizer
    remembers, twice as much as the weights, and the games that were going on stay out unless training is
    ``to_go_on`` from there exactly.
    """
    target = Path(path)
    unfinished = target.with_name(target.name + ".part.zip")  # Stable-Baselines3 insists on the ending
    optimizer = model.policy.optimizer
    remembered = optimizer.state
    if not to_go_on:
        optimizer.state = type(remembered)(remembered.default_factory)
    try:
        model.save(unfinished, exclude=None if to_go_on else _OF_THE_RUN)
    finally:
        optimizer.state = remembered
    header = {
        "game": game.name,
        "players": game.players,
        "parameters": game.parameters,
        "fingerprint": game.fingerprint,
        "algorithm": type(model).__name__,
        "timesteps": int(model.num_timesteps),
    }
    with zipfile.ZipFile(unfinished, "a") as archive:
        archive.writestr(MEMBER, json.dumps(header | facts, indent=1, sort_keys=True))
    os.replace(unfinished, target)


def facts(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a model file says of itself. Raises ModelError if it is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = json.loads(archive.read(MEMBER))
    except (OSError, zipfile.BadZipFile) as error:
        raise ModelError(f"{path} cannot be read as a model: {error}") from None
    except (KeyError, ValueError):
        raise ModelError(f"{path} has no {MEMBER}: save models with dicegym.players.model.save") from None
    if not isinstance(found, dict):
        raise ModelError(f"{path}: {MEMBER} is no JSON object")
    return found


def trained_on(path: str | os.PathLike[str]) -> Game:
    """Return the game that a model file was trained on. Raises ModelError if its rules have changed since."""
    from dicegym.games import game

    about = facts(path)
    try:
        found = game(about["game"], players=about["players"], **about["parameters"])
        fingerprint = about["fingerprint"]
    except (KeyError, TypeError) as error:
        raise ModelError(f"{path}: {MEMBER} is incomplete ({error})") from None
    if fingerprint != found.fingerprint:
        raise ModelError(
            f"{path} was trained on other rules, observations or actions of {found!r} "
            f"(fingerprint {fingerprint}, now {found.fingerprint}): train it again"
        )
    return found


def load_model(path: str | os.PathLike[str], game: Game | None = None) -> tuple[Any, Game]:
    """Return (Stable-Baselines3 model, its game). Raises ModelError if it cannot play ``game`` or the rules."""
    its_game = trained_on(path)
    if game is not None:
        _check_fit(str(path), its_game, game)
    model = algorithm(facts(path)["algorithm"]).load(path, device="cpu")
    return model, its_game


def load(path: str | os.PathLike[str], game: Game | None = None, sample: bool = False) -> PolicyPlayer:
    """Return the player in a model file; see `load_model` and `PolicyPlayer`."""
    model, trained_on = load_model(path, game)
    return PolicyPlayer(model, trained_on, Path(path).stem, sample)
