"""The state of a run: all that going on later needs, beside its networks."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecEnv

from dicegym.engine.game import Game
from dicegym.learning import checkpoint
from dicegym.learning.averaging import ParameterAverage
from dicegym.learning.curve import Curve
from dicegym.learning.environment import state_of
from dicegym.learning.generators import GeneratorStates
from dicegym.learning.league import League, LeagueState
from dicegym.learning.remembered import in_flight, remembered
from dicegym.learning.state_file import write_state
from dicegym.play.player import Player
from dicegym.players import model as models
from dicegym.players.seal import write_seal

COUNTS = ("next_evaluation", "next_checkpoint", "next_snapshot", "next_exploiter", "games")
"""What is counted in a run's state."""


@dataclass
class RunState:
    """What a run knows of itself."""

    next_evaluation: int
    """At how many steps of the learner; so are the next three."""
    next_checkpoint: int
    next_snapshot: int
    next_exploiter: int
    met: np.ndarray
    """Inputs that were not 0 at some time: bool[what the networks observe]."""
    games: int = 0
    """Played to their end by the learner."""
    curve: Curve = field(default_factory=Curve)
    began_with: dict[str, Any] = field(default_factory=dict)
    """What the model says of itself whose networks the run began with."""
    average: ParameterAverage = field(default_factory=ParameterAverage)
    """Of its parameters, if ``[run] average`` asks for one."""


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
        return cls(copy.deepcopy(run), in_flight(model), state_of(env), league.state(), GeneratorStates.now())

    def to_plain(self, model: BaseAlgorithm) -> dict[str, Any]:
        """Return all of it, and what ``model`` remembers besides, for `dicegym.learning.state_file`."""
        members, table = self.league
        curve = self.run.curve
        return {
            "run": {
                **{name: getattr(self.run, name) for name in COUNTS},
                "met": self.run.met,
                "curve": {
                    "points": curve.points,
                    "best": curve.best,
                    "missed": curve.missed,
                    "score": None if curve.score is None else curve.score.to_json(),
                    "scores": [score.to_json() for score in curve.scores],
                },
                "began_with": self.run.began_with,
                "average": vars(self.run.average),
            },
            "model": remembered(model) | self.model,
            "env": self.env,
            "league": {"members": [vars(member) for member in members], "table": table.to_plain()},
            "generators": self.generators.to_plain(),
            "seconds": self.seconds,
        }

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
            fixed: the players that cannot be written; see `dicegym.learning.state_file.write_state`.
            seconds: of training so far.
        """
        for name, value in self.model.items():
            setattr(model, name, value)

        def fill(folder: Path) -> None:
            models.save(model, game, folder / "model.zip", facts, to_go_on=True)
            write_state(replace(self, seconds=seconds).to_plain(model), folder, fixed)
            write_seal(folder)

        checkpoint.replace(run_folder, fill)
