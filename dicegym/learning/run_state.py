"""The state of a run: all that resuming needs, written as a checkpoint.

A checkpoint is a folder: ``model.zip``, which plays; ``state.pkl``, which holds everything else, networks and optimizer
included; and this user's seal. A pickle is a program, so only a checkpoint with that seal is read, or one whose author
the user trusts. Bots are in it by their number among the players of the settings.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from stable_baselines3.common.base_class import BaseAlgorithm

from dicegym.engine.game import Game
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.errors import DamagedFileError, DicegymError, one_line
from dicegym.learning.building import new_model
from dicegym.learning.curves import Curve
from dicegym.learning.league import League, LeagueState
from dicegym.learning.learner import ParameterAverage, generator_states, restore_generators
from dicegym.learning.run_folder import replace_checkpoint
from dicegym.learning.training_settings import TrainingSettings
from dicegym.play.player import Player
from dicegym.players import model as models
from dicegym.players.trust import is_sealed, load_object, trust_error, write_seal

STATE_FILE = "state.pkl"
_IN_FLIGHT = ("num_timesteps", "_last_obs", "_last_episode_starts")
"""Attributes that a model changes while it plays, before its networks learn from that."""
_REMEMBERED = (
    *("_n_updates", "_n_calls", "_episode_num", "_num_timesteps_at_start", "_total_timesteps"),
    *("_current_progress_remaining", "start_time", "exploration_rate", "ent_coef"),
    *("kl_anchor", "ep_info_buffer", "ep_success_buffer"),
)
"""Other attributes of a training, which models of some algorithms have."""


@dataclass
class RunState:
    """What a run knows of itself."""

    next_checkpoint: int
    """At how many steps of the learner; so are the next two."""
    next_snapshot: int
    seen_inputs: np.ndarray
    """Inputs that were not 0 at some time: bool[what the networks observe]."""
    next_evaluation: int = 0
    games: int = 0
    """Played to their end by the learner."""
    curve: Curve = field(default_factory=Curve)
    began_with: dict[str, Any] = field(default_factory=dict)
    """Facts of the model whose networks the run began with."""
    average: ParameterAverage = field(default_factory=ParameterAverage)
    """Of its parameters, if ``[run] average`` asks for one."""

    def copy(self) -> RunState:
        """Return an independent copy."""
        parts = {name: copy.copy(getattr(self, name)) for name in ("seen_inputs", "curve", "average")}
        return replace(self, **parts)


class Moment(NamedTuple):
    """A run at the start of a rollout, where nothing is in flight; later changes of the run do not change it."""

    run: RunState
    model: dict[str, Any]
    """Attributes of the model, beside its networks."""
    env: dict[str, Any]
    league: LeagueState
    generators: dict[str, Any]
    seconds: float = 0.0
    """Of training so far."""

    @classmethod
    def now(cls, run: RunState, model: BaseAlgorithm, env: SB3VecEnv, league: League) -> Moment:
        """Return the present moment."""
        in_flight = {name: copy.copy(getattr(model, name)) for name in _IN_FLIGHT}
        return cls(run.copy(), in_flight, env.state_dict(), league.state(), generator_states())

    def write(
        self,
        run_folder: Path,
        model: BaseAlgorithm,
        game: Game,
        facts: dict[str, Any],
        fixed: Sequence[Player],
        seconds: float,
    ) -> None:
        """Write a checkpoint of this moment; decisions that ``model`` has played since are dropped.

        Args:
            run_folder: where; the checkpoint before stays until this one is whole.
            model: whose networks have not learned since.
            game: what it plays.
            facts: of the model's file.
            fixed: the players of the settings, which are written by their number.
            seconds: of training so far.
        """
        for name, value in self.model.items():
            setattr(model, name, value)
        known = {name: getattr(model, name) for name in _REMEMBERED if hasattr(model, name)}
        moment = self._replace(model=known | self.model, seconds=seconds)
        networks = model.policy.state_dict(), model.policy.optimizer.state_dict()
        drawn = model.action_space.np_random.bit_generator.state

        def fill(folder: Path) -> None:
            models.save(model, game, folder / "model.zip", facts)
            with (folder / STATE_FILE).open("wb") as file:
                _Pickler(file, fixed).dump((moment, networks, drawn))
            write_seal(folder)

        replace_checkpoint(run_folder, fill)


def restore(
    folder: Path, env: SB3VecEnv, league: League, settings: TrainingSettings, logs: Path | None, trust: bool
) -> tuple[BaseAlgorithm, Moment]:
    """Let ``env`` and ``league`` continue from the checkpoint in ``folder``; return its model and its moment.

    Args:
        folder: of the checkpoint.
        env: the games, as `dicegym.learning.building.new_games` makes them of the settings.
        league: with its scripted agents.
        settings: of the run.
        logs: the folder for TensorBoard's files; None: there are none.
        trust: read a checkpoint from elsewhere, which runs whatever its author wrote.

    Raises:
        DamagedFileError: it is damaged, of other settings, another version of dicegym wrote it, or it needs ``trust``.
    """
    best = folder.parent / "best.zip"
    way_out = f"begin a new run{f' with --set run.start_from={best}' if best.is_file() else ''}"
    try:
        if not (trust or is_sealed(folder)):
            raise trust_error(folder, "it was not written by your own trainings here")
        moment, (weights, optimizer), drawn = load_object(folder / STATE_FILE, league.fixed)
        league.load_state(moment.league)
        env.set_opponent(league.pool())
        model = new_model(settings, env, settings.run.seed, logs)
        model.policy.load_state_dict(weights)
        model.policy.optimizer.load_state_dict(optimizer)
        model.action_space.np_random.bit_generator.state = drawn
        for name, value in moment.model.items():
            setattr(model, name, value)
        env.load_state_dict(moment.env)
        restore_generators(moment.generators)
    except DicegymError as error:
        raise DamagedFileError(folder, f"cannot be resumed ({error})", way_out) from error
    except (LookupError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        text = f"{type(error).__name__}: {one_line(error)}"
        raise DamagedFileError(folder, f"cannot be resumed, as it is damaged ({text})", way_out) from error
    return model, moment


class _Pickler(pickle.Pickler):
    def __init__(self, file: BinaryIO, fixed: Sequence[Player]) -> None:
        super().__init__(file)
        self._numbers = {id(player): number for number, player in enumerate(fixed)}

    def persistent_id(self, thing: object) -> int | None:
        return self._numbers.get(id(thing))
