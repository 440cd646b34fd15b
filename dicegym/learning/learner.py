"""The learner in training: its model, games and opponents, and how it plays outside of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger

from dicegym.engine.game import Game
from dicegym.errors import ParameterError, one_line
from dicegym.learning.building import new_games, new_model
from dicegym.learning.league import League
from dicegym.learning.training_settings import TrainingSettings
from dicegym.players import model as models
from dicegym.players import sb3_models
from dicegym.players.model import PolicyPlayer
from dicegym.players.model_file import ModelFile, check_fit
from dicegym.players.roster import find_model_file
from dicegym.players.sb3_models import read_trained_actor, tensors_of

STAGE = ("command", "timesteps", "seconds", "taught_by", "began_with")
"""Facts that are kept of the model whose networks a training started from."""
OBSERVATIONS = "_last_obs"
"""The attribute of a model with the current observations of its games."""
_CRITIC = ("mlp_extractor.value_net.", "value_net.")


@dataclass
class ParameterAverage:
    """The moving average of a learner's parameters, which suffers less from the luck of its last steps.

    Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", SIAM Journal on Control and
    Optimization 30, 1992. Buffers of a network, such as statistics of normalisation, are not averaged.
    """

    values: list[torch.Tensor] = field(default_factory=list)
    """In the order of ``policy.parameters()``; empty before the first."""
    taken: int = 0
    """Number of averaged points."""
    newest: int = -1
    """Steps of the learner at the newest of them."""

    def follow(self, model: BaseAlgorithm, rate: float) -> None:
        """Average in the parameters of ``model``, once for each number of steps.

        The new point has the weight ``rate``, but 1 / n as the n-th point if that is more.
        """
        if model.num_timesteps <= self.newest:
            return
        now = [one.detach().clone() for one in model.policy.parameters()]
        self.taken += 1
        self.newest = model.num_timesteps
        by = max(rate, 1 / self.taken)
        self.values = [old + by * (new - old) for old, new in zip(self.values or now, now, strict=True)]

    @contextmanager
    def apply_to(self, model: BaseAlgorithm) -> Iterator[None]:
        """Set the parameters of ``model`` to the average, if there is one, until the end of the context."""
        own = list(model.policy.parameters()) if self.values else []
        before = [one.detach().clone() for one in own]
        try:
            _write(own, self.values)
            yield
        finally:
            _write(own, before)


def _write(parameters: list[torch.nn.Parameter], values: list[torch.Tensor]) -> None:
    """Write parameters in place, as an algorithm may hold views of them."""
    with torch.no_grad():
        for one, value in zip(parameters, values, strict=True):
            one.copy_(value)


class LearningAgent:
    """A model in training, with all that decides how it continues to learn and how it plays.

    Args:
        game: the game.
        settings: of the training.
        logs: the folder of TensorBoard's logs; None: no logs.

    Attributes:
        league: its opponents.
        env: its games.
        model: the model of Stable-Baselines3, with fresh networks.
        average: of its parameters, if ``[run] average`` asks for one; evaluations and files use it.
        seen_inputs: bool[inputs of the networks], those that were ever different from 0; players and files ignore the
            others.

    Raises DicegymError if the settings do not fit.
    """

    def __init__(self, game: Game, settings: TrainingSettings, logs: Path | None) -> None:
        self.game, self.settings = game, settings
        self.league = League(game, settings)
        self.env = new_games(game, settings, self.league.pool())
        self.model = new_model(settings, self.env, logs)
        self.average = ParameterAverage()
        self.seen_inputs = np.zeros(self.env.observation_space.shape or (0,), np.bool_)

    def start_from(self, named: str) -> dict[str, Any]:
        """Load the networks of another model, a file or a trained agent; return the facts of its training.

        The model keeps its own value network if the file has none, as models that ship, or one with other layers.

        Raises ModelError, UnknownNameError, ParameterError: there is no such model, or its networks do not fit.
        """
        file = ModelFile(find_model_file(self.game, named, "run.start_from"))
        check_fit(str(file.path), file.game, self.game)
        policy, facts = self.model.policy, file.facts
        weights = tensors_of(read_trained_actor(file), file.critic)
        critic, theirs = (_critic_of(one) for one in (policy.state_dict(), weights))
        if {name: value.shape for name, value in critic.items()} != {name: one.shape for name, one in theirs.items()}:
            weights = {name: value for name, value in weights.items() if name not in theirs} | critic
        try:
            policy.load_state_dict(weights)
        except (RuntimeError, AttributeError) as error:
            settings = facts.get("settings")
            wanted = settings.get("network") if isinstance(settings, dict) else None
            raise ParameterError(
                f"run.start_from={named!r} has another policy network than [network] says: set [network] to "
                f"{one_line(wanted or 'that of the model')}; the value network (vf) may have other layers, and starts "
                "fresh"
            ) from error
        self.seen_inputs |= sb3_models.used_inputs(self.model)
        return {name: facts[name] for name in STAGE if name in facts} | {"path": named}

    def look(self) -> None:
        """Note which inputs the current observations use."""
        self.seen_inputs |= (np.asarray(vars(self.model)[OBSERVATIONS]) != 0).any(axis=0)

    def player(self, name: str) -> PolicyPlayer:
        """Return a copy of the learner that plays as its file will."""
        heat = self.settings.run.temperature
        heat = models.temperature_for(self.model, self.game) if heat is None else heat
        with sb3_models.ignore_inputs(self.model, ~self.seen_inputs):
            return PolicyPlayer(self.model, self.game, name, temperature=heat)

    def play_average(self, name: str) -> PolicyPlayer:
        """Return a copy of the learner's average, or of the learner without an average."""
        with self.average.apply_to(self.model):
            return self.player(name)

    def save(self, path: Path, facts: dict[str, Any]) -> None:
        """Write a model file of the learner's average, or of the learner."""
        with self.average.apply_to(self.model), sb3_models.ignore_inputs(self.model, ~self.seen_inputs):
            models.save(self.model, self.game, path, facts)

    def join_league(self) -> None:
        """Add a copy of the learner to its opponents."""
        steps = self.model.num_timesteps
        now = self.player(f"snapshot {steps}")
        self.league.join(now.name, now, steps)
        self.env.set_opponent(self.league.pool())


def _critic_of(weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: value for name, value in weights.items() if name.startswith(_CRITIC)}


def generator_states() -> dict[str, Any]:
    """Return the states of the global generators that Stable-Baselines3 draws from."""
    return {
        "python": random.getstate(),
        "numpy": np.random.get_state(),  # noqa: NPY002 - theirs, not ours
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }


def restore_generators(states: Mapping[str, Any]) -> None:
    """Set the global generators to states from `generator_states`."""
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])  # noqa: NPY002 - as above
    torch.set_rng_state(states["torch"])
    if states["cuda"]:
        torch.cuda.set_rng_state_all(states["cuda"])


@contextmanager
def keep_generators() -> Iterator[None]:
    """Restore the global generators at the end of the context."""
    states = generator_states()
    try:
        yield
    finally:
        restore_generators(states)


class TrainingCallback(BaseCallback):
    """Calls a run between rollouts, when no decision waits for an update, and after steps.

    Args:
        between_rollouts: called with the logger before each rollout.
        after_step: called with (steps so far, games that ended) after each step; returning False ends the training.
    """

    def __init__(self, between_rollouts: Callable[[Logger], None], after_step: Callable[[int, int], bool]) -> None:
        super().__init__()
        self._between_rollouts, self._after_step = between_rollouts, after_step

    def _on_rollout_start(self) -> None:
        self._between_rollouts(self.logger)

    def _on_step(self) -> bool:
        return self._after_step(self.num_timesteps, int(np.sum(self.locals["dones"])))
