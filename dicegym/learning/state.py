"""The state of a run: all that going on later needs, beside its networks."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from stable_baselines3.common.base_class import BaseAlgorithm

from dicegym.envs.sb3 import SB3VecEnv
from dicegym.learning.curve import Curve
from dicegym.learning.generators import GeneratorStates
from dicegym.learning.league import League, LeagueState

_IN_FLIGHT = ("num_timesteps", "_last_obs", "_last_episode_starts")
"""What a model changes while it plays, before its networks learn from that."""


@dataclass
class RunState:
    """What a run knows of itself."""

    next_evaluation: int
    """At how many steps of the learner; so are the next three."""
    next_checkpoint: int
    next_snapshot: int
    next_exploiter: int
    met: np.ndarray
    """Inputs that were not 0 at some time: bool[observation_size]."""
    games: int = 0
    """Played to their end by the learner."""
    curve: Curve = field(default_factory=Curve)
    began_with: dict[str, Any] = field(default_factory=dict)
    """What the model says of itself whose networks the run began with."""


@dataclass(frozen=True)
class Moment:
    """A run at the start of a rollout, where nothing is in flight; what happens later does not change it."""

    run: RunState
    model: dict[str, Any]
    env: dict[str, Any]
    league: LeagueState
    generators: GeneratorStates
    seconds: float = 0.0
    """Of training so far."""

    @classmethod
    def now(cls, run: RunState, model: BaseAlgorithm, env: SB3VecEnv, league: League) -> Moment:
        """Return the present moment."""
        in_flight = {name: copy.copy(getattr(model, name)) for name in _IN_FLIGHT}
        return cls(copy.deepcopy(run), in_flight, env.state_dict(), league.state(), GeneratorStates.now())

    def rewind(self, model: BaseAlgorithm) -> None:
        """Let ``model`` forget what it has played since; its networks must not have learned from that."""
        for name, value in self.model.items():
            setattr(model, name, value)
