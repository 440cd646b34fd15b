"""The learner while it learns: begun with another's networks, averaged, interrupted between rollouts."""

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
"""What a model says of the one whose networks it began with."""
_CRITIC = ("mlp_extractor.value_net.", "value_net.")


def start_from(model: BaseAlgorithm, named: str, game: Game) -> tuple[dict[str, Any], np.ndarray]:
    """Let ``model`` take over the networks of another one, a file or a trained agent of ``game``.

    It keeps its own value network where the other one has none, as in models that ship, or one of other layers.

    Return what the file says of its training, for the facts of what becomes of it, and the inputs that its networks do
    not ignore (bool[what it observes]).

    Raises ModelError, UnknownNameError or ParameterError if there is no such model of the game, or its networks do not
    fit.
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
            f"{one_line(wanted or 'that of the model')}; its value network (vf) may have other layers, and begins anew"
        ) from error
    stage = {name: facts[name] for name in STAGE if name in facts} | {"path": named}
    return stage, sb3_models.used_inputs(model)


@dataclass
class ParameterAverage:
    """The running mean of a learner's parameters, which plays better than a learner whose last steps were luck.

    Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", SIAM Journal on Control and
    Optimization 30, 1992. What else a network keeps, such as statistics of normalisation, is the learner's.
    """

    values: list[torch.Tensor] = field(default_factory=list)
    """In the order of ``policy.parameters()``; empty: nothing was averaged yet."""
    taken: int = 0
    """How many places it is the mean of, the newest counting most."""
    newest: int = -1
    """After how many steps the learner was at the newest of them."""

    def follow(self, model: BaseAlgorithm, rate: float) -> None:
        """Move by ``rate`` to where ``model`` is now, at the beginning so that all places count alike, each once."""
        if model.num_timesteps <= self.newest:
            return
        now = [one.detach().clone() for one in model.policy.parameters()]
        self.taken += 1
        self.newest = model.num_timesteps
        by = max(rate, 1 / self.taken)
        self.values = [old + by * (new - old) for old, new in zip(self.values or now, now, strict=True)]

    @contextmanager
    def apply_to(self, model: BaseAlgorithm) -> Iterator[None]:
        """Let ``model`` have the average for its parameters meanwhile, if there is one."""
        own = list(model.policy.parameters()) if self.values else []
        before = [one.detach().clone() for one in own]
        try:
            _write(own, self.values)
            yield
        finally:
            _write(own, before)


def _write(parameters: list[torch.nn.Parameter], values: list[torch.Tensor]) -> None:
    """Write parameters where they are, as an algorithm may hold views of them."""
    with torch.no_grad():
        for one, value in zip(parameters, values, strict=True):
            one.copy_(value)


def generator_states() -> dict[str, Any]:
    """Return the states of the generators that Stable-Baselines3 draws from, all of them global."""
    return {
        "python": random.getstate(),
        "numpy": np.random.get_state(),  # noqa: NPY002 - theirs, not ours
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }


def restore_generators(states: Mapping[str, Any]) -> None:
    """Let all continue where `generator_states` was taken."""
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])  # noqa: NPY002 - as above
    torch.set_rng_state(states["torch"])
    if states["cuda"]:
        torch.cuda.set_rng_state_all(states["cuda"])


@contextmanager
def keep_generators() -> Iterator[None]:
    """Let all that draw from these generators afterwards do so as if nothing had been drawn meanwhile."""
    states = generator_states()
    try:
        yield
    finally:
        restore_generators(states)


class TrainingCallback(BaseCallback):
    """Lets a run act between rollouts, when no decision waits for an update.

    Args:
        between_rollouts: called with the logger before each rollout.
        after_step: called with (steps so far, games that ended) after each step; False ends the training there.
    """

    def __init__(self, between_rollouts: Callable[[Logger], None], after_step: Callable[[int, int], bool]) -> None:
        super().__init__()
        self._between_rollouts, self._after_step = between_rollouts, after_step

    def _on_rollout_start(self) -> None:
        self._between_rollouts(self.logger)

    def _on_step(self) -> bool:
        return self._after_step(self.num_timesteps, int(np.sum(self.locals["dones"])))
