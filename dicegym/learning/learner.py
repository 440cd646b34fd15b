"""The learner in training: start from another model, average its parameters, act between rollouts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger

from dicegym.engine.game import Game
from dicegym.errors import ParameterError, one_line
from dicegym.players import sb3_models
from dicegym.players.model_file import ModelFile, check_fit
from dicegym.players.roster import find_model_file
from dicegym.players.sb3_models import read_trained_actor, tensors_of

STAGE = ("command", "timesteps", "seconds", "taught_by", "began_with")
"""Facts that are kept of the model whose networks a training started from."""
_CRITIC = ("mlp_extractor.value_net.", "value_net.")


def start_from(model: BaseAlgorithm, named: str, game: Game) -> tuple[dict[str, Any], np.ndarray]:
    """Load the networks of another model, a file or a trained agent of ``game``, into ``model``.

    The model keeps its own value network if the file has none, as models that ship, or one with other layers.

    Returns:
        The facts of the other model's training, and the inputs that its networks use: bool[observation size].

    Raises:
        ModelError, UnknownNameError, ParameterError: the game has no such model, or its networks do not fit.
    """
    file = ModelFile(find_model_file(game, named, "run.start_from"))
    check_fit(str(file.path), file.game, game)
    facts, weights = file.facts, tensors_of(read_trained_actor(file), file.critic)
    critic = {name: value for name, value in model.policy.state_dict().items() if name.startswith(_CRITIC)}
    theirs = {name: value for name, value in weights.items() if name.startswith(_CRITIC)}
    if {name: value.shape for name, value in critic.items()} != {name: value.shape for name, value in theirs.items()}:
        weights = {name: value for name, value in weights.items() if name not in theirs} | critic
    try:
        model.policy.load_state_dict(weights)
    except (RuntimeError, AttributeError) as error:
        settings = facts.get("settings")
        wanted = settings.get("network") if isinstance(settings, dict) else None
        raise ParameterError(
            f"run.start_from={named!r} has another policy network than [network] says: set [network] to "
            f"{one_line(wanted or 'that of the model')}; the value network (vf) may have other layers, and starts fresh"
        ) from error
    stage = {name: facts[name] for name in STAGE if name in facts} | {"path": named}
    return stage, sb3_models.used_inputs(model)


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
