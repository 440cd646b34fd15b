"""Trained models as players, and how they are saved and loaded.

In a game with hidden dice, a player that always plays its best action reveals what it has. So a model's actions are
drawn from its policy there unless its file says otherwise. In other games the best action is played.

A draw is a function of the seat's seed (`dicegym.engine.dice.private_seed`) and of all fields of the record but the
key. So it is the same in a batch of any size and order, for one seat alone, in copies of a game and after a training
resumes. A player keeps no state between decisions. Records of one game differ from decision to decision, as they hold
what was played.

Models are sequences of linear layers, which NumPy plays.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dicegym.bots.network import Network
from dicegym.engine import loops
from dicegym.engine.dice import mix, private_seed
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.hidden import list_hidden_fields
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn
from dicegym.players import model_file, sb3_models
from dicegym.players.model_file import BEST, DRAWN, PLAY, TEMPERATURE, ModelFile, check_temperature

_mixed: Callable[[np.ndarray], np.ndarray] = getattr(mix, "py_func", mix)  # the same arithmetic, over arrays
_seed_of = functools.lru_cache(maxsize=1 << 16)(private_seed)


def usual_temperature(game: Game) -> float:
    """Return the default temperature of a policy in a game.

    Actions are drawn if they reveal hidden dice to players who can still respond. Simultaneous, secret choices do not.
    """
    reveals = game.players > 1 and bool(list_hidden_fields(game)) and game.spec.joint_action is None
    return DRAWN if reveals else BEST


def probabilities(scores: np.ndarray, masks: np.ndarray, temperature: float) -> np.ndarray:
    """Return action probabilities: softmax(scores / temperature) over legal actions, or the best action at 0.

    Args:
        scores: float64[n, n_actions], logits.
        masks: bool[n, n_actions], the legal actions, at least one in each row.
        temperature: 0 or more.

    Returns:
        float64[n, n_actions]; rows sum to 1.
    """
    legal = np.where(masks, scores, -np.inf)
    if temperature == BEST:
        found = np.zeros_like(legal)
        found[np.arange(len(found)), legal.argmax(axis=1)] = 1.0
        return found
    weights: np.ndarray = np.exp((legal - legal.max(axis=1, keepdims=True)) / temperature)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def sample_actions(chances: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Draw an action (int64[n]) from each row of ``chances`` (float64[n, n_actions]) by uniform numbers 0 <= u < 1."""
    bounds = chances.cumsum(axis=1)
    actions = (bounds <= (uniforms * bounds[:, -1])[:, None]).sum(axis=1)
    last = chances.shape[1] - 1 - (chances[:, ::-1] > 0).argmax(axis=1)  # rounding may exceed it
    found: np.ndarray = np.minimum(actions, last)
    return found


def seeds_of(states: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Return the seed of each seat in the games of these states: uint64[n]."""
    return np.fromiter(map(_seed_of, states["key"].tolist(), seats.tolist()), np.uint64, len(states))


def uniforms(game: Game, seeds: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Return a uniform number 0 <= u < 1 for each record, by its seed (uint64[n]) and all fields but the key.

    The words of a record are summed with random odd factors modulo 2**64, so different records of a game have different
    sums (but for an accident of 2**-64). The sum is mixed with the seed as for dice.
    """
    raw = game.drawing_bytes(states)
    content = raw[:, states.dtype["key"].itemsize :]  # the key comes first (`dicegym.engine.spec.HEADER`)
    words = np.zeros((len(raw), -(-content.shape[1] // 8) * 8), np.uint8)
    words[:, : content.shape[1]] = content
    sums = (words.view(np.uint64) * _factors(words.shape[1] // 8)).sum(axis=1)
    mixed = _mixed(_mixed(sums) ^ _mixed(seeds))
    found: np.ndarray = (mixed >> np.uint64(11)) * 2.0**-53
    return found


@functools.cache
def _factors(n: int) -> np.ndarray:
    """Return n fixed odd numbers of 64 bits."""
    return _mixed(np.arange(1, n + 1, dtype=np.uint64)) | np.uint64(1)


class PolicyPlayer(Player):
    """Plays the best legal action of a model, or draws one from its policy.

    It plays its game with any number of players that has the same observations and actions.

    Args:
        model: a Stable-Baselines3 model of one of `dicegym.players.model_file.ALGORITHMS`, a ``torch.nn.Module`` from
            observations to a score for each action, or a `dicegym.bots.network.Network`. Weights are copied.
        game: the game that it was trained on.
        name: its name in reports.
        temperature: actions are drawn from softmax(logits / temperature) over legal actions; 0 plays the best one.
            Drawing makes the player impure, and suits policy gradient methods only; see this module.

    Attributes:
        policy: the network that scores actions (logits or Q-values), played by NumPy.

    Raises:
        ModelError: the model's observation or action space is not the game's, or weights are not finite.
        ParameterError: the temperature is invalid.
    """

    at_once = True

    def __init__(self, model: Any, game: Game, name: str = "policy", temperature: float = BEST) -> None:
        self.name = name
        self.game = game
        self.temperature = check_temperature(temperature)
        self.pure = self.temperature == BEST
        network = model if isinstance(model, Network) else sb3_models.to_network(model, game, name)
        self.policy = model_file.check_network(network, game.observation_size, game.n_actions, f"model {name!r}")

    def choose(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the best legal action (int64[n]) for float32[n, size] and bool[n, n_actions]."""
        best: np.ndarray = np.where(masks, self.policy.scores(observations), -np.inf).argmax(axis=1)
        return best

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; see `Player.join`. Raises ModelError if the model cannot play ``game``."""
        self.check_seat(game)
        width, seeds = self.game.observation_size, np.array([seed % (1 << 64)], np.uint64)

        def act(turn: Turn) -> int:
            states = None if self.pure else np.array([turn.record])
            return int(self._chosen(game, turn.observation[None, :width], turn.mask[None], seeds, states)[0])

        return act

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Evaluate the network once for all games; draws are those of `join`. See `Player.act_rows`."""
        self.check_seat(game)
        waiting, seated = states[rows], np.asarray(seats, np.int64)
        seeds = None if self.pure else seeds_of(waiting, seated)
        return self._chosen(game, *self._seen(game, waiting, seated), seeds, waiting).astype(np.int64)

    def _chosen(
        self, game: Game, observations: np.ndarray, masks: np.ndarray, seeds: np.ndarray | None, states: Any
    ) -> np.ndarray:
        if self.pure or seeds is None:
            return self.choose(observations, masks)
        chances = probabilities(self.policy.scores(observations), masks, self.temperature)
        return sample_actions(chances, uniforms(game, seeds, states))

    def chances(self, game: Game, states: np.ndarray) -> np.ndarray:
        """Return the probability of each action for the player to move: float64[states, n_actions].

        Best responses are computed against it. No state may be over.
        """
        self.check_seat(game)
        observations, masks = self._seen(game, states, states["player"].astype(np.int64))
        return probabilities(self.policy.scores(observations), masks, self.temperature)

    def check_fit(self, game: Game) -> None:
        """Raise ModelError unless the model was trained on ``game``, with any number of players."""
        model_file.check_fit(f"model {self.name!r}", self.game, game)

    def check_seat(self, game: Game) -> None:
        """Raise ModelError unless the model was trained on ``game``, or on one that shows less."""
        model_file.check_seat(f"model {self.name!r}", self.game, game)

    def _seen(self, game: Game, states: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return observations and action masks of these seats (int64[n]): float32[n, size], bool[n, n_actions]."""
        n = len(states)
        observations = np.zeros((n, game.observation_size), np.float32)
        masks = np.zeros((n, game.n_actions), np.bool_)
        gained = np.zeros((n, game.players), np.float32)
        loops.observe_rows(states, np.arange(n), seats, observations, masks, gained)
        return observations[:, : self.game.observation_size], masks


def temperature_for(model: Any, game: Game) -> float:
    """Return the default temperature of ``model``: `usual_temperature` for an actor, else the best action.

    The scores of other modules and of Q-networks are not known to be logits.
    """
    return usual_temperature(game) if hasattr(getattr(model, "policy", None), "action_net") else BEST


def playing(model: Any, game: Game, temperature: float | None) -> dict[str, Any]:
    """Return the fact in a model file about its temperature; None: the default of `temperature_for`.

    Raises ParameterError for an invalid temperature.
    """
    found = temperature_for(model, game) if temperature is None else check_temperature(temperature)
    return {PLAY: {TEMPERATURE: found}}


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    game: Game | str,
    *,
    temperature: float | None = None,
    **parameters: int,
) -> Path:
    """Save a model of your own to a file that plays wherever a model is named, without PyTorch.

    Args:
        model: a Stable-Baselines3 model (PPO, A2C, DQN, MaskablePPO), or a ``torch.nn.Module`` of linear layers
            from observations to a score for each action.
        path: the file; ``.zip`` is added if it is missing. An existing file is replaced.
        game: the game that the model was trained on, or its name.
        temperature: actions are drawn from softmax(logits / temperature); 0 plays the best one. None: a policy is
            drawn at 1 in games with hidden dice, and everything else plays its best action.
        **parameters: of the game, such as ``goal=50`` or ``players=4``, if ``game`` is a name.

    Returns:
        The path of the file.

    Raises:
        ModelError: the model does not fit the game, or NumPy cannot play it.
        ParameterError: there is no such folder, the temperature is invalid, or ``parameters`` come with a `Game`.
        UnknownNameError: there is no such game or parameter.

    Example:
        >>> import dicegym, torch
        >>> game = dicegym.game("hog")
        >>> network = torch.nn.Linear(game.observation_size, game.n_actions)
        >>> file = dicegym.save_model(network, "mine.zip", game)
        >>> dicegym.agent(game, "mine.zip").name
        'mine'
    """
    from dicegym.games import game as make_game

    if isinstance(game, Game) and parameters:
        raise ParameterError(f"{game!r} has its parameters already: leave out {', '.join(parameters)}")
    target = Path(os.path.expanduser(path))
    if not target.name:
        raise ParameterError(f"{str(path)!r} names no file: give one such as mine.zip")
    target = target if target.suffix == ".zip" else target.with_name(f"{target.name}.zip")
    if not target.parent.is_dir():
        raise ParameterError(f"{target} cannot be written, as there is no folder {target.parent}: make it first")
    found = make_game(game, **parameters)
    save(model, found, target, playing(model, found, temperature))
    return target


def save(model: Any, game: Game, path: str | os.PathLike[str], facts: dict[str, Any]) -> None:
    """Write ``model`` to a model file atomically, with ``facts`` (JSON-able) added to what loading needs.

    The file has each network once, as plain arrays. It leaves out the settings of the algorithm, and the state of the
    optimizer and of running games.

    Raises:
        ModelError: the model does not fit the game, or NumPy cannot play it.
    """
    network = PolicyPlayer(model, game, Path(path).stem).policy
    header = {
        "game": game.name,
        "players": game.players,
        "parameters": game.parameters,
        "fingerprint": game.fingerprint,
        "algorithm": type(model).__name__,
        "timesteps": int(getattr(model, "num_timesteps", 0)),
        **playing(model, game, None),
    }
    model_file.write(path, header | facts, network, sb3_models.critic_of(model))


def load(path: str | os.PathLike[str], game: Game | None = None, temperature: float | None = None) -> PolicyPlayer:
    """Return the player in a model file, played by NumPy.

    ``temperature`` overrides the one in the file. Raises ModelError if the file is damaged or cannot play ``game``.
    """
    file = ModelFile(path)
    temperature = file.temperature if temperature is None else temperature
    if game is not None:
        model_file.check_seat(str(path), file.game, game)
    return PolicyPlayer(file.network, file.game, Path(path).stem, temperature=temperature)
