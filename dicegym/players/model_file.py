"""The file of a model: what it says of itself, and its weights as plain arrays. Python and NumPy are enough to play it.

A model file is a zip of ``dicegym.json``, which says what it plays (game, parameters, fingerprint, algorithm, how it
was trained) and how (``play``: at which temperature), and of ``network.npz``, the arrays of the layers that choose its
actions. Whatever plays reads these two alone: PyTorch is not needed, and nothing is unpickled. Beside them may be
``critic.npz``, the layers of its value network, and ``data``, the settings of Stable-Baselines3: with them it is
trained further.
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
"""The member of a model file that says what the model plays."""
NETWORK_MEMBER = "network.npz"
"""The member with its weights: ``weight0`` float32[inputs, outputs], ``bias0`` float32[outputs], and so on; float16 in
models that ship."""
CRITIC_MEMBER = "critic.npz"
"""The same of the network that says what a state is worth; models that ship have none."""
SETTINGS_MEMBER = "data"
"""The JSON of Stable-Baselines3: the algorithm's settings."""
PLAY, TEMPERATURE = "play", "temperature"
"""Where `MEMBER` says how the model plays: ``{"play": {"temperature": 1.0}}`` draws from softmax(logits / 1.0); 0, or
no such entry, plays the best action."""
MODELS = ("best.zip", "model.zip")
"""Files of a training's folder that can play where the folder is named as an agent, the better one first."""
SEED_FOLDER = "seed-"
"""How the folder of each of several seeds begins, in the folder of them all; its number follows."""
_NETWORKS = {"network": NETWORK_MEMBER, "critic": CRITIC_MEMBER}
"""What `MEMBER` says of a network's activations -> the member with its weights."""
DRAWN = 1.0
"""The temperature at which models of games with hidden dice play: the probabilities that they were trained by."""
BEST = 0.0
"""The temperature of who plays its best action."""
_LARGEST = 1e300
"""Beyond, sums in float64 come near overflow."""
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


class ModelFile:
    """A model file that somebody else may have made, read as data alone; each part is read when it is asked for.

    Attributes:
        path: the file; what errors call it.
        names: of its members.
        facts: what it says of itself.

    Raises:
        ModelError: it is not a model file, or a damaged one. So do all attributes.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        with ModelArchive(path) as archive:
            self.names = archive.names
            if MEMBER not in self.names:
                own = SETTINGS_MEMBER in self.names
                what = "was saved by Stable-Baselines3 alone" if own else f"has no {MEMBER} and is not a model"
                raise ModelError(
                    f"{path} {what}: load it there and write it with dicegym.save_model(model, file, game)"
                )
            self.facts = archive.json(MEMBER)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What Stable-Baselines3 has written of the algorithm."""
        with ModelArchive(self.path) as archive:
            return archive.json(SETTINGS_MEMBER)

    @property
    def temperature(self) -> float:
        """The temperature at which it says that it plays; 0, its best action, if it says nothing of it."""
        said = self.facts.get(PLAY, {})
        try:
            return check_temperature(said.get(TEMPERATURE, BEST))
        except (AttributeError, ParameterError, OverflowError):
            raise ModelError(
                f"{self.path}: {MEMBER} says {PLAY}={one_line(said, 80)}, which is not a way to play: give "
                f'{{"{TEMPERATURE}": 1.0}}, a number from 0 on'
            ) from None

    @cached_property
    def game(self) -> Game:
        """The game that it was trained on, whose rules are known and the same now."""
        from dicegym.games import game

        about = self.facts
        try:
            name, fingerprint = str(about["game"]), one_line(about["fingerprint"])
            found = game(name, players=about["players"], **about["parameters"])
        except (KeyError, TypeError) as error:
            raise ModelError(f"{self.path}: {MEMBER} is incomplete ({one_line(error)})") from None
        except DicegymError as error:
            told = one_line(error, 400)
            raise ModelError(f"{self.path} was trained on a game that is not known here: {told}") from None
        if fingerprint != found.fingerprint:
            raise ModelError(
                f"{self.path} was trained on other rules, observations or actions of {found!r} "
                f"(fingerprint {fingerprint}, now {found.fingerprint}): train it again"
            )
        return found

    @cached_property
    def network(self) -> Network:
        """The network that it carries as arrays, which fits its game. Raises ModelError if it carries none, too."""
        found = self._network("network")
        if found is None:
            raise ModelError(f"{self.path} holds no network: get the file again from where it came from")
        return check_network(found, self.game.observation_size, self.game.n_actions, str(self.path))

    @property
    def critic(self) -> Network | None:
        """The value network that it carries as arrays; None if it carries none."""
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
                raise ValueError(f"weights are {wrong[0]}, and no floating point numbers")
            wide = {name: array.astype(np.float64) for name, array in arrays.items()}
            layers = [Layer(wide[f"weight{i}"], wide[f"bias{i}"], name) for i, name in enumerate(activations)]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{self.path}: its {member} cannot be read: {one_line(error)}") from None
        return Network(tuple(layers))


def check_temperature(value: Any) -> float:
    """Return a temperature as a float. Raises ParameterError unless it is a number from 0 on."""
    temperature = finite_number("temperature", value, "how evenly actions are drawn (0: the best one is played)")
    if temperature < 0:
        raise ParameterError(
            f"temperature={value!r} cannot be used: give 0 for the best action, 1 for the policy as it was trained, "
            "more to choose more evenly"
        )
    return temperature


def facts(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a model file says of itself. Raises ModelError if it is not a model's, or says nothing."""
    return ModelFile(path).facts


def find_trained(folder: Path) -> Path | None:
    """Return the best model so far of the training in ``folder``, or of its seeds; None if there is no model."""
    found = [_find_own(one) for one in (folder, *find_seeds(folder).values())]
    return found[0] or max(filter(None, found), key=_score_of, default=None)


def _find_own(folder: Path) -> Path | None:
    return next((folder / name for name in MODELS if os.path.isfile(folder / name)), None)


def find_seeds(folder: Path) -> dict[int, Path]:
    """Return the folders of several seeds of one training in ``folder``, by their numbers, in order."""
    beside = folder.glob(f"{SEED_FOLDER}*") if os.path.isdir(folder) else ()
    found = {one.name.removeprefix(SEED_FOLDER): one for one in beside}
    return {int(seed): found[seed] for seed in sorted(filter(str.isdecimal, found), key=int)}


def _score_of(model: Path) -> float:
    """Return the score that a model's file says of itself, by which it was chosen; the lowest one if it says none."""
    try:
        score = float(facts(model)["score"]["value"])
    except (ModelError, LookupError, TypeError, ValueError, OverflowError):
        return -math.inf
    return -math.inf if math.isnan(score) else score


def read_game(path: str | os.PathLike[str]) -> Game:
    """Return the game that a model file was trained on. Raises ModelError if its rules are not known, or others now."""
    return ModelFile(path).game


def write(
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    network: Network,
    critic: Network | None = None,
    kept: Mapping[str, bytes] | None = None,
    dtype: str = "float32",
) -> None:
    """Write a model file, whole or not at all; the same bytes on any day.

    Args:
        path: the file; one that is there is replaced.
        header: what the file says of itself; JSON-able.
        network: what chooses its actions.
        critic: what says what a state is worth, None to leave it out.
        kept: members of Stable-Baselines3, by name.
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
    _write_members(path, {**(kept or {}), MEMBER: _json_bytes(about), **arrays})


def _json_bytes(about: Mapping[str, Any]) -> bytes:
    return json.dumps(about, indent=1, sort_keys=True).encode()


def _write_members(path: str | os.PathLike[str], members: Mapping[str, bytes]) -> None:
    with writing(path) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
        for name, content in members.items():
            place = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            place.external_attr = 0o644 << 16
            # What is compressed already stays as it is, and so do tensors, which hardly get smaller.
            packed = zipfile.ZIP_STORED if name.endswith((".npz", ".pth")) else zipfile.ZIP_DEFLATED
            archive.writestr(place, content, packed)


def replace_facts(path: str | os.PathLike[str], changed: Mapping[str, Any]) -> None:
    """Let a model file say something else of itself, whole or not at all; its weights stay as they are.

    ``changed`` is JSON-able, by the names of facts. Raises ModelError if the file is not a model's, or damaged; it
    stays as it was then.
    """
    old = ModelFile(path)
    about = old.facts | dict(changed)
    if about != old.facts:
        _write_members(path, {name: old.read(name) for name in old.names} | {MEMBER: _json_bytes(about)})


def check_fit(model: str, trained: Game, game: Game) -> None:
    """Raise ModelError unless a model of ``trained``, called ``model`` in the message, can play ``game``."""
    fits = (game.name, game.parameters, game.features) == (trained.name, trained.parameters, trained.features)
    if not fits:
        differing = trained.all_parameters.items() - game.all_parameters.items() if game.name == trained.name else set()
        shown = dict(game.spec.sighted.items() & game.parameters.items())  # that a game shows more is in no one's way
        differing = {one for one in differing if one[0] not in shown} or differing
        wanted = " ".join(f"-p {name}={value}" for name, value in sorted(differing))
        how = f"; make the game as it was in training: {wanted}" if wanted else ""
        raise ModelError(f"{model} was trained on {trained!r} and cannot play {game!r}{how}")


def check_seat(model: str, trained: Game, game: Game) -> None:
    """Raise ModelError unless a model of ``trained``, called ``model`` in the message, can sit in ``game``.

    It can where ``game`` differs in what it shows alone, and shows more (`dicegym.engine.spec.GameSpec.sighted`): what
    the model looks at then stands at the beginning of what its seat is shown.
    """
    first = list(game.features.items())[: len(trained.features)]
    more = game.name == trained.name and game.parameters != trained.parameters
    if not (more and shows_as_much(game, trained.parameters) and first == list(trained.features.items())):
        check_fit(model, trained, game)


def shows_as_much(game: Game, parameters: Mapping[str, int]) -> bool:
    """Return whether ``game`` is the one of these parameters, or shows more than that and differs in nothing else."""
    more = {name: value for name, value in game.spec.sighted.items() if game.parameters[name] == value}
    return game.parameters == {**parameters, **more}


def check_network(network: Network, inputs: int, outputs: int, model: str) -> Network:
    """Return ``network`` if it leads from ``inputs`` numbers to ``outputs`` ones; ``model`` is its name in errors.

    Raises ModelError unless it does, its layers fit each other, and all that it may compute is finite.
    """
    width = inputs
    # No output of a layer is further from 0: observations are between 0 and 1, and activations add nothing.
    largest = 1.0
    for number, (weight, bias, activation) in enumerate(network.layers):
        last = number == len(network.layers) - 1
        if weight.ndim != 2 or weight.shape[0] != width or bias.shape != weight.shape[1:]:
            raise ModelError(
                f"{model}: layer {number} has weights {weight.shape} and biases {bias.shape}, and gets {width} inputs"
            )
        if activation not in (("",) if last else ACTIVATIONS):
            raise ModelError(
                f"{model}: layer {number} is followed by {activation!r}; between layers stands one of "
                f"{', '.join(ACTIVATIONS)}, after the last none"
            )
        width = weight.shape[1]
        with np.errstate(all="ignore"):
            sums = max(largest, 1.0) * np.abs(weight).sum(axis=0) + np.abs(bias)
        largest = float(sums.max(initial=0.0))
        if not largest < _LARGEST:  # NaN too
            raise ModelError(
                f"{model}: layer {number} has weights that are not finite, or so large that scores would not be: its "
                "training went wrong, or the file is damaged"
            )
    if width != outputs:
        raise ModelError(f"{model}: its network has {width} outputs, and {outputs} are wanted")
    return network
