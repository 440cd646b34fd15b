"""The state of a run: all that going on later needs, beside its networks."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecEnv

from dicegym.engine.game import Game
from dicegym.learning import checkpoint
from dicegym.learning.curve import Curve
from dicegym.learning.environment import continue_games, games_of, state_of
from dicegym.learning.generators import GeneratorStates
from dicegym.learning.league import League, LeagueState
from dicegym.play.player import Player
from dicegym.players import model as models

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
    def now(cls, run: RunState, model: BaseAlgorithm, env: VecEnv, league: League) -> Moment:
        """Return the present moment."""
        in_flight = {name: copy.copy(getattr(model, name)) for name in _IN_FLIGHT}
        return cls(copy.deepcopy(run), in_flight, state_of(env), league.state(), GeneratorStates.now())

    def write(
        self,
        run_folder: Path,
        model: BaseAlgorithm,
        game: Game,
        facts: dict[str, Any],
        fixed: Sequence[Player],
        seconds: float,
    ) -> None:
        """Write a checkpoint of this moment; what ``model`` has played since is forgotten.

        Args:
            run_folder: where; the checkpoint before stays until this one is whole.
            model: whose networks have not learned since.
            game: what it plays.
            facts: what the model's file says of itself.
            fixed: the players that cannot be written; see `dicegym.learning.checkpoint.dump`.
            seconds: of training so far.
        """
        for name, value in self.model.items():
            setattr(model, name, value)

        def fill(folder: Path) -> None:
            models.save(model, game, folder / "model.zip", facts, to_go_on=True)
            checkpoint.dump(replace(self, seconds=seconds), folder / "state.pkl", fixed)

        checkpoint.replace(run_folder, fill)


def restored(folder: Path, env: VecEnv, league: League, device: torch.device) -> tuple[BaseAlgorithm, Moment]:
    """Let ``env`` and ``league`` go on where the checkpoint in ``folder`` was taken; return its model and its moment.

    Raises ParameterError if another version of dicegym wrote it.
    """
    moment: Moment = checkpoint.load(folder / "state.pkl", league.fixed)
    league.load_state(moment.league)
    games_of(env).batch.set_opponent(league.pool())
    kind: type[BaseAlgorithm] = models.algorithm(models.facts(folder / "model.zip")["algorithm"])
    model = kind.load(folder / "model.zip", device=device)
    model.set_env(env, force_reset=False)
    continue_games(env, moment.env)
    moment.generators.restore()
    return model, moment
