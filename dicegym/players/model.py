"""Trained models as players, and the file that carries one.

Files written by `save_model` or by a training carry their weights as plain arrays too, and are played by NumPy. What
PyTorch alone can play (a file without arrays, a network that is no sequence of linear layers) needs the extra
``train``.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from dicegym.bots.network import Network
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.errors import DependencyError, ModelError, ParameterError, one_line
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn
from dicegym.players import model_file
from dicegym.players.archive import ModelArchive
from dicegym.players.model_file import MEMBER, check_fit, facts, trained_on
from dicegym.players.sb3_file import ALGORITHMS, algorithm, algorithm_of, load_file
from dicegym.players.seal import is_sealed, write_seal
from dicegym.players.torch_policy import TorchPolicy, heeded, ignoring, privileged_of, written_down

__all__ = [
    "ALGORITHMS",
    "MEMBER",
    "PolicyPlayer",
    "algorithm",
    "check_fit",
    "facts",
    "heeded",
    "ignoring",
    "load",
    "load_model",
    "privileged_of",
    "save",
    "save_model",
    "trained_on",
]

_OF_THE_RUN = ("_last_obs", "_last_original_obs", "_last_episode_starts", "ep_info_buffer", "ep_success_buffer")
"""What Stable-Baselines3 saves of the games that were going on, which a checkpoint holds as plain data."""


class PolicyPlayer(Player):
    """Plays the best legal action of a model, or draws one from its policy.

    It plays its game with any number of players, if observations and actions are the same for all of them.

    Args:
        model: a Stable-Baselines3 model of one of `ALGORITHMS`, a ``torch.nn.Module`` from observations to a score for
            each action, or a `dicegym.bots.network.Network`. Weights are copied.
        game: the game that it was trained on.
        name: how reports call it.
        sample: draw from the policy (policy gradient methods only) instead of the best action. Drawing makes
            the player impure: it then sits down in each game with a generator of its own.
        device: where PyTorch computes, if NumPy cannot play the model; None: where its weights are.

    Attributes:
        policy: what scores actions: a plain network, played by NumPy, or a
            `dicegym.players.torch_policy.TorchPolicy`.

    Raises:
        ModelError: observation or action space are not the game's.
    """

    def __init__(
        self, model: Any, game: Game, name: str = "policy", sample: bool = False, device: str | None = None
    ) -> None:
        self.name = name
        self.game = game
        self.pure = not sample
        self._sample = sample
        self.policy: Network | TorchPolicy = (
            model_file.checked(model, game, f"model {name!r}")
            if isinstance(model, Network)
            else written_down(model, game, name, device)
        )

    def plain_network(self) -> Network:
        """Return its network. Raises ModelError, which says why, if PyTorch alone can play it."""
        if isinstance(self.policy, Network):
            return self.policy
        raise ModelError(
            f"model {self.name!r} cannot be written down without PyTorch: {self.policy.reason}. It plays where the "
            "extra 'train' is installed, but in no contest, whose processes load no PyTorch"
        )

    def scores(self, observations: np.ndarray) -> np.ndarray:
        """Return a score of each action: logits or Q-values, float64[n, n_actions], of float32[n, size]."""
        return self.policy.scores(observations)

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
        model_file.check_fit(f"model {self.name!r}", self.game, game)


def save_model(model: Any, path: str | os.PathLike[str], game: Game | str, **parameters: int) -> Path:
    """Write a model of your own to a file that plays wherever a model is named, without PyTorch if NumPy can play it.

    Args:
        model: a Stable-Baselines3 model (PPO, A2C, DQN, QRDQN, MaskablePPO), or a ``torch.nn.Module`` of linear layers
            from observations to a score for each action.
        path: the file; ``.zip`` is added if it is missing. An existing file is replaced.
        game: what the model was trained on, a game or its name.
        **parameters: of the game, such as ``goal=50`` or ``players=4``, if ``game`` is a name.

    Returns:
        The path of the file.

    Raises:
        ModelError: the model does not fit the game, or nothing could load it again.
        ParameterError: there is no such folder, or ``parameters`` beside a `Game`.
        UnknownNameError: there is no such game or parameter.
    """
    from dicegym.games import game as make_game

    if isinstance(game, Game) and parameters:
        raise ParameterError(f"{game!r} has its parameters already: leave out {', '.join(parameters)}")
    target = Path(path).expanduser()
    target = target if target.suffix == ".zip" else target.with_name(f"{target.name}.zip")
    if not target.parent.is_dir():
        raise ParameterError(f"{target} cannot be written, as there is no folder {target.parent}: make it first")
    save(model, make_game(game, **parameters), target, {})
    return target


def save(model: Any, game: Game, path: str | os.PathLike[str], facts: dict[str, Any], to_go_on: bool = False) -> None:
    """Write ``model`` as a model file; ``facts`` (JSON-able) go into it beside what dicegym needs to load it.

    The file appears whole or not at all: it is written beside its place and then moved. The games that were going on
    stay out, and so does what the optimizer remembers, twice as much as the weights, unless training is ``to_go_on``.
    A model that plain data may not explain is sealed; see `dicegym.players.seal`.

    Raises:
        ModelError: the model does not fit the game, or is a module that NumPy cannot play, which has no file.
    """
    player = PolicyPlayer(model, game, Path(path).stem)
    of_sb3 = hasattr(model, "policy")
    network = player.policy if isinstance(player.policy, Network) else None if of_sb3 else player.plain_network()
    target = Path(path)
    unfinished = target.with_name(target.name + ".part.zip")  # Stable-Baselines3 insists on the ending
    if of_sb3:
        _save_sb3(model, unfinished, to_go_on)
    header = {
        "game": game.name,
        "players": game.players,
        "parameters": game.parameters,
        "fingerprint": game.fingerprint,
        "algorithm": type(model).__name__,
        "timesteps": int(getattr(model, "num_timesteps", 0)),
        **({} if isinstance(player.policy, Network) else {"torch_only": player.policy.reason}),
    }
    with zipfile.ZipFile(unfinished, "a" if of_sb3 else "w") as archive:
        model_file.write_members(archive, model_file.members(header | facts, network))
    os.replace(unfinished, target)
    if not isinstance(player.policy, Network):  # it may need its classes, which are pickled
        write_seal(target)


def _save_sb3(model: Any, path: Path, to_go_on: bool) -> None:
    """Let Stable-Baselines3 write its own members."""
    optimizer = model.policy.optimizer
    remembered = optimizer.state
    if not to_go_on:
        optimizer.state = type(remembered)(remembered.default_factory)
    try:
        model.save(path, exclude=_OF_THE_RUN)
    finally:
        optimizer.state = remembered


def load_model(
    path: str | os.PathLike[str], game: Game | None = None, device: str = "cpu", trust: bool = False
) -> tuple[Any, Game]:
    """Return (Stable-Baselines3 model, its game), to be trained further.

    Args:
        path: a model file, or what Stable-Baselines3's own ``save`` wrote, which needs ``game``.
        game: what it is to play.
        device: where its network is to be.
        trust: unpickle what it holds, which runs whatever its author wrote. Otherwise it is built from plain data.

    Raises:
        ModelError: it cannot play ``game`` or the rules, holds no Stable-Baselines3 model, or needs ``trust``.
        DependencyError: Stable-Baselines3 is missing.
        ParameterError: there is no such device.
    """
    return _model(path, game, device, trust, to_go_on=True)


def _model(
    path: str | os.PathLike[str], game: Game | None, device: str, trust: bool, to_go_on: bool
) -> tuple[Any, Game]:
    """Return (Stable-Baselines3 model, its game); see `load_model`."""
    if game is not None and model_file.is_plain(path):
        return load_file(path, algorithm_of(path), game, device, trust or is_sealed(Path(path)), to_go_on), game
    its_game = trained_on(path)
    if game is not None:
        model_file.check_fit(str(path), its_game, game)
    with ModelArchive(path) as archive:
        if "policy.pth" not in archive.names:
            raise ModelError(
                f"{path} holds a network alone, which can play, and no model of Stable-Baselines3 to train"
            )
    own = trust or is_sealed(Path(path))
    return load_file(path, str(facts(path).get("algorithm")), its_game, device, own, to_go_on), its_game


def load(
    path: str | os.PathLike[str],
    game: Game | None = None,
    sample: bool = False,
    device: str = "cpu",
    trust: bool = False,
) -> PolicyPlayer:
    """Return the player in a model file; see `load_model` and `PolicyPlayer`.

    The arrays of the file are enough where it carries them: then nothing but NumPy is loaded.
    """
    name = Path(path).stem
    if not (game is not None and model_file.is_plain(path)):
        its_game = trained_on(path)
        if game is not None:
            model_file.check_fit(str(path), its_game, game)
        network = model_file.network_in(path, its_game)
        if network is not None:
            return PolicyPlayer(network, its_game, name, sample)
    try:
        model, its_game = _model(path, game, device, trust, to_go_on=False)
    except DependencyError as error:
        only = None if model_file.is_plain(path) else facts(path).get("torch_only")
        hint = (
            f"NumPy cannot play it, as {one_line(only)}"
            if only
            else "where that is installed, dicegym.save_model(model, path, game) writes a file that plays without it"
        )
        raise DependencyError(f"{path} carries no plain arrays, and so {error}; {hint}") from error
    return PolicyPlayer(model, its_game, name, sample, device)
