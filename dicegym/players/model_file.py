"""Model files: facts about a model, and its weights as plain arrays. Python and NumPy are enough to play it.

A model file is a zip with these members:

- ``dicegym.json``: the game, its parameters and fingerprint, the algorithm, the training, and how to play (``play``).
- ``network.npz``: the layers of the network that chooses actions.
- ``critic.npz`` (optional): the layers of the value network, to continue training.

Other members are ignored. Nothing is unpickled.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dicegym.bots.network import ACTIVATIONS, Layer, Network
from dicegym.engine.game import Game
from dicegym.engine.validate import finite_number
from dicegym.errors import DicegymError, ModelError, ParameterError, one_line
from dicegym.files import writing
from dicegym.players.zip_archive import ModelArchive, npz_bytes

MEMBER = "dicegym.json"
"""The member with the facts about the model."""
NETWORK_MEMBER = "network.npz"
"""The member with the weights: ``weight0`` float32[inputs, outputs], ``bias0`` float32[outputs], and so on (float16 in
shipped models)."""
CRITIC_MEMBER = "critic.npz"
"""The same for the value network; shipped models have none."""
_SETTINGS = "data"
"""The member with settings in files of Stable-Baselines3."""
PLAY, TEMPERATURE = "play", "temperature"
"""Keys of `MEMBER`: ``{"play": {"temperature": 1.0}}`` samples from softmax(logits / 1.0); 0, the default, plays the
best action."""
MODELS = ("best.zip", "model.zip")
"""Models in a training's folder, the better one first: they play where the folder is named as an agent."""
SEED_FOLDER = "seed-"
"""Prefix of the folder of each seed in a training of several seeds; the number follows."""
_NETWORKS = {"network": NETWORK_MEMBER, "critic": CRITIC_MEMBER}
"""Key of a network's activations in `MEMBER` -> the member with its weights."""
DRAWN = 1.0
"""The temperature of models in games with hidden dice: the probabilities of training."""
BEST = 0.0
"""The temperature that plays the best action."""
_LARGEST = 1e300
"""Above it, sums in float64 come close to overflow."""
ALGORITHMS = {
    "FastMaskablePPO": "dicegym.learning.fast_ppo",
    "MaskablePPO": "sb3_contrib",
    "PPO": "stable_baselines3",
    "A2C": "stable_baselines3",
    "DQN": "stable_baselines3",
    "DAgger": "dicegym.learning.dagger",
}
"""Supported algorithms -> the package or module of each."""


class ModelFile:
    """A model file, possibly from a stranger, read as data alone. Each part is read on first use.

    Attributes:
        path: the file; its name in errors.
        names: of its members.
        facts: the content of `MEMBER`.

    Raises:
        ModelError: it is not a model file, or is damaged. All attributes raise it too.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        with ModelArchive(path) as archive:
            self.names = archive.names
            if MEMBER not in self.names:
                what = "was saved by Stable-Baselines3" if _SETTINGS in self.names else "is not a model file"
                raise ModelError(
                    f"{path} {what} and has no {MEMBER}: load the model and write it with "
                    "dicegym.save_model(model, file, game)"
                )
            self.facts = archive.json(MEMBER)

    @property
    def temperature(self) -> float:
        """The temperature stated in the file; the default is 0, the best action."""
        said = self.facts.get(PLAY, {})
        try:
            return check_temperature(said.get(TEMPERATURE, BEST))
        except (AttributeError, ParameterError, OverflowError):
            raise ModelError(
                f"{self.path}: {MEMBER} has an invalid {PLAY}={one_line(said, 80)}: give "
                f'{{"{TEMPERATURE}": 1.0}}, a number of 0 or more'
            ) from None

    @cached_property
    def game(self) -> Game:
        """The game that it was trained on. Raises ModelError if the game is unknown or its rules have changed."""
        from dicegym.games import game

        about = self.facts
        try:
            name, fingerprint = str(about["game"]), one_line(about["fingerprint"])
            found = game(name, players=about["players"], **about["parameters"])
        except (KeyError, TypeError) as error:
            raise ModelError(f"{self.path}: {MEMBER} is incomplete ({one_line(error)})") from None
        except DicegymError as error:
            raise ModelError(f"{self.path} was trained on an unknown game: {one_line(error, 400)}") from None
        if fingerprint != found.fingerprint:
            raise ModelError(
                f"{self.path} was trained on other rules, observations or actions of {found!r} "
                f"(fingerprint {fingerprint}, now {found.fingerprint}): train it again"
            )
        return found

    @cached_property
    def network(self) -> Network:
        """The network that chooses actions, checked against the game."""
        found = self._network("network")
        if found is None:
            raise ModelError(f"{self.path} has no network: get the file again from where it came from")
        return check_network(found, self.game.observation_size, self.game.n_actions, str(self.path))

    @property
    def critic(self) -> Network | None:
        """The value network, or None."""
        found = self._network("critic")
        if found is not None:
            inputs = found.layers[0].weight.shape[0] if found.layers and found.layers[0].weight.ndim else 0
            check_network(found, max(inputs, self.game.observation_size), 1, f"{self.path}: its critic")
        return found

    def read(self, member: str) -> bytes:
        """Return the bytes of a member."""
        with ModelArchive(self.path) as archive:
            return archive.read(member)

    def _network(self, name: str) -> Network | None:
        said, member = self.facts.get(name), _NETWORKS[name]
        if said is None:
            return None
        try:
            activations = [str(name) for name in said["activations"]]
            with ModelArchive(self.read(member), f"{self.path}: its {member}") as packed:
                arrays = packed.arrays()
            if wrong := [array.dtype for array in arrays.values() if array.dtype.kind != "f"]:
                raise ValueError(f"weights are {wrong[0]} instead of floating point numbers")
            wide = {name: array.astype(np.float64) for name, array in arrays.items()}
            layers = [Layer(wide[f"weight{i}"], wide[f"bias{i}"], name) for i, name in enumerate(activations)]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{self.path}: its {member} cannot be read: {one_line(error)}") from None
        return Network(tuple(layers))


def check_temperature(value: Any) -> float:
    """Return a temperature as a float. Raises ParameterError unless it is a number of 0 or more."""
    temperature = finite_number("temperature", value, "how evenly actions are drawn (0: the best one is played)")
    if temperature < 0:
        raise ParameterError(
            f"invalid temperature={value!r}: give 0 for the best action, 1 for the policy as trained, or more to "
            "choose more evenly"
        )
    return temperature


def facts(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the facts in a model file. Raises ModelError."""
    return ModelFile(path).facts


def find_trained(folder: Path) -> Path | None:
    """Return the best model so far of the training in ``folder``, or of its seeds, or None."""
    found = [_find_own(one) for one in (folder, *find_seeds(folder).values())]
    return found[0] or max(filter(None, found), key=_score_of, default=None)


def _find_own(folder: Path) -> Path | None:
    return next((folder / name for name in MODELS if os.path.isfile(folder / name)), None)


def find_seeds(folder: Path) -> dict[int, Path]:
    """Return seed -> folder of a training of several seeds in ``folder``, in order."""
    inside = folder.glob(f"{SEED_FOLDER}*") if os.path.isdir(folder) else ()
    found = {one.name.removeprefix(SEED_FOLDER): one for one in inside}
    return {int(seed): found[seed] for seed in sorted(filter(str.isdecimal, found), key=int)}


def _score_of(model: Path) -> float:
    """Return the score by which a model was chosen; -inf if its file has none."""
    try:
        score = float(facts(model)["score"]["value"])
    except (ModelError, LookupError, TypeError, ValueError, OverflowError):
        return -math.inf
    return -math.inf if math.isnan(score) else score


def read_game(path: str | os.PathLike[str]) -> Game:
    """Return the game that a model file was trained on; see `ModelFile.game`."""
    return ModelFile(path).game


def write(
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    network: Network,
    critic: Network | None = None,
    dtype: str = "float32",
) -> None:
    """Write a model file atomically. The same arguments give the same bytes.

    Args:
        path: the file; an existing one is replaced.
        header: the facts, JSON-able.
        network: the network that chooses actions.
        critic: the value network, or None.
        dtype: of the weights; they are trained in float32.
    """
    about = {name: value for name, value in header.items() if name not in _NETWORKS}
    arrays: dict[str, bytes] = {}
    for name, one in (("network", network), ("critic", critic)):
        if one is not None:
            about[name] = {"activations": [layer.activation for layer in one.layers]}
            weights = {f"weight{number}": layer.weight.astype(dtype) for number, layer in enumerate(one.layers)}
            biases = {f"bias{number}": layer.bias.astype(dtype) for number, layer in enumerate(one.layers)}
            arrays[_NETWORKS[name]] = npz_bytes(weights | biases)
    _write_members(path, {MEMBER: _json_bytes(about), **arrays})


def _json_bytes(about: Mapping[str, Any]) -> bytes:
    return json.dumps(about, indent=1, sort_keys=True).encode()


def _write_members(path: str | os.PathLike[str], members: Mapping[str, bytes]) -> None:
    with writing(path) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
        for name, content in members.items():
            place = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            place.external_attr = 0o644 << 16
            # These are compressed already, or hardly get smaller.
            packed = zipfile.ZIP_STORED if name.endswith(".npz") else zipfile.ZIP_DEFLATED
            archive.writestr(place, content, packed)


def replace_facts(path: str | os.PathLike[str], changed: Mapping[str, Any]) -> None:
    """Change facts (JSON-able) in a model file atomically; its weights stay. Raises ModelError for an invalid file."""
    old = ModelFile(path)
    about = old.facts | dict(changed)
    if about != old.facts:
        _write_members(path, {name: old.read(name) for name in old.names} | {MEMBER: _json_bytes(about)})


def check_fit(model: str, trained: Game, game: Game) -> None:
    """Raise ModelError unless a model of ``trained`` can play ``game``; ``model`` is its name in the message."""
    if (game.name, game.parameters, game.features) != (trained.name, trained.parameters, trained.features):
        differing = trained.all_parameters.items() - game.all_parameters.items() if game.name == trained.name else set()
        shown = dict(game.spec.sighted.items() & game.parameters.items())  # showing more is no problem
        differing = {one for one in differing if one[0] not in shown} or differing
        wanted = " ".join(f"-p {name}={value}" for name, value in sorted(differing))
        how = f"; make the game as it was in training: {wanted}" if wanted else ""
        raise ModelError(f"{model} was trained on {trained!r} and cannot play {game!r}{how}")


def check_seat(model: str, trained: Game, game: Game) -> None:
    """Raise ModelError unless a model trained on ``trained`` can sit in ``game``; ``model`` is its name in the message.

    ``game`` may also differ by showing more (`dicegym.engine.spec.GameSpec.sighted`): its observations then begin with
    those of ``trained``.
    """
    first = list(game.features.items())[: len(trained.features)]
    more = game.name == trained.name and game.parameters != trained.parameters
    if not (more and shows_as_much(game, trained.parameters) and first == list(trained.features.items())):
        check_fit(model, trained, game)


def shows_as_much(game: Game, parameters: Mapping[str, int]) -> bool:
    """Return whether ``game`` has these parameters, or shows more and differs in nothing else."""
    more = {name: value for name, value in game.spec.sighted.items() if game.parameters[name] == value}
    return game.parameters == {**parameters, **more}


def check_network(network: Network, inputs: int, outputs: int, model: str) -> Network:
    """Return ``network``; ``model`` is its name in errors.

    Raises ModelError unless it maps ``inputs`` numbers to ``outputs`` numbers, its layers fit, and all results are
    finite.
    """
    width = inputs
    # A bound on the outputs of a layer: observations are between 0 and 1, and activations enlarge nothing.
    largest = 1.0
    for number, (weight, bias, activation) in enumerate(network.layers):
        last = number == len(network.layers) - 1
        if weight.ndim != 2 or weight.shape[0] != width or bias.shape != weight.shape[1:]:
            raise ModelError(
                f"{model}: layer {number} has weights {weight.shape} and biases {bias.shape}, but {width} inputs"
            )
        if activation not in (("",) if last else ACTIVATIONS):
            raise ModelError(
                f"{model}: layer {number} is followed by {activation!r}: use one of {', '.join(ACTIVATIONS)} between "
                "layers, and nothing after the last"
            )
        width = weight.shape[1]
        with np.errstate(all="ignore"):
            sums = max(largest, 1.0) * np.abs(weight).sum(axis=0) + np.abs(bias)
        largest = float(sums.max(initial=0.0))
        if not largest < _LARGEST:  # NaN too
            raise ModelError(
                f"{model}: layer {number} has weights that are not finite, or too large for finite scores: the "
                "training failed, or the file is damaged"
            )
    if width != outputs:
        raise ModelError(f"{model}: its network has {width} outputs instead of {outputs}")
    return network
