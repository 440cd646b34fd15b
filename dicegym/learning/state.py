"""The state of a run: all that going on later needs, beside its networks."""

from __future__ import annotations

import copy
import math
import warnings
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecEnv

from dicegym.engine.game import Game
from dicegym.errors import DicegymError, ParameterError, one_line
from dicegym.learning import checkpoint
from dicegym.learning.curve import Curve
from dicegym.learning.environment import continue_games, games_of, state_of
from dicegym.learning.evaluate import Score
from dicegym.learning.generators import GeneratorStates
from dicegym.learning.league import League, LeagueState, Member
from dicegym.learning.league_table import LeagueTable
from dicegym.learning.named import names_programs
from dicegym.learning.networks import new_model
from dicegym.learning.seal import is_sealed, write_seal
from dicegym.learning.settings import TrainingSettings
from dicegym.learning.state_file import STATE_FILE, read_state, write_state
from dicegym.play.player import Player
from dicegym.players import model as models
from dicegym.players.archive import Archive
from dicegym.players.sb3_file import checked_device
from dicegym.players.sb3_plain import weights_of
from dicegym.players.unpickling import TRUST, load_object, load_sb3, untrusted
from dicegym.players.weights import check_optimizer, tensors_in

OLD_STATE_FILE = "state.pkl"
"""What earlier versions wrote."""
_IN_FLIGHT = ("num_timesteps", "_last_obs", "_last_episode_starts")
"""What a model changes while it plays, before its networks learn from that."""
_REMEMBERED = (
    "_n_updates",
    "_n_calls",
    "_episode_num",
    "_num_timesteps_at_start",
    "_total_timesteps",
    "_current_progress_remaining",
    "_last_original_obs",
    "start_time",
    "exploration_rate",
    "ent_coef",
    "ep_info_buffer",
    "ep_success_buffer",
)
"""What else a model knows of its training, beside networks and settings, if it is of an algorithm that does."""
_OBSERVATIONS = ("_last_obs", "_last_original_obs")
_EPISODES = ("ep_info_buffer", "ep_success_buffer")
_KNOWN_NUMBERS = frozenset(_REMEMBERED) - {*_OBSERVATIONS, *_EPISODES} | {"num_timesteps"}
_DRAWN = "drawn"
"""The state of the generator from which actions are drawn when a learner explores."""
_REMEMBERED_EPISODES = 100
"""How many ended games Stable-Baselines3 takes means of for its logs, where nothing else is said."""
_COUNTS = ("next_evaluation", "next_checkpoint", "next_snapshot", "next_exploiter", "games")


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

    def to_plain(self, model: BaseAlgorithm) -> dict[str, Any]:
        """Return all of it, and what ``model`` remembers besides, for `dicegym.learning.state_file`."""
        members, table = self.league
        curve = self.run.curve
        remembered = {name: getattr(model, name) for name in _REMEMBERED if hasattr(model, name)}
        return {
            "run": {
                **{name: getattr(self.run, name) for name in _COUNTS},
                "met": self.run.met,
                "curve": {
                    "points": curve.points,
                    "best": curve.best,
                    "score": None if curve.score is None else curve.score.to_json(),
                    "scores": [score.to_json() for score in curve.scores],
                },
                "began_with": self.run.began_with,
            },
            "model": remembered | self.model | {_DRAWN: model.action_space.np_random.bit_generator.state},
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


def restored(
    folder: Path, env: VecEnv, league: League, settings: TrainingSettings, logs: Path, trust: bool
) -> tuple[BaseAlgorithm, Moment]:
    """Let ``env`` and ``league`` go on where the checkpoint in ``folder`` was taken; return its model and its moment.

    What this user's own training wrote is taken as it is. A checkpoint from elsewhere is plain data: its networks, what
    the optimizer remembers, league and generators go on, and new games begin, as compiled loops would not survive
    records of games that somebody has made up. A warning (RuntimeWarning) says so.

    Args:
        folder: of the checkpoint.
        env: the games, as `dicegym.learning.environment.new_games` makes them of the settings.
        league: with its scripted agents.
        settings: of the run.
        logs: the folder for TensorBoard's files.
        trust: take a checkpoint from elsewhere for one's own, which may run whatever its author wrote.

    Raises:
        ParameterError: it is damaged, of other settings, another version of dicegym wrote it, or it needs ``trust``.
    """
    own = trust or is_sealed(folder)
    try:
        moment = _moment(folder, league, env, own)
        league.load_state(moment.league)
        games_of(env).batch.set_opponent(league.pool())
        model = _model(folder, env, settings, logs, own)
        drawn = moment.model.pop(_DRAWN, None)
        for name, value in moment.model.items():
            setattr(model, name, value)
        if drawn is not None:
            model.action_space.np_random.bit_generator.state = drawn
        if own:
            continue_games(env, moment.env)
        else:
            setattr(model, _IN_FLIGHT[1], None)  # so that the games begin
        moment.generators.restore()
    except DicegymError as error:
        raise ParameterError(f"{folder} cannot be resumed: {error}. {_way_out(folder)}") from error
    except (LookupError, TypeError, ValueError, RuntimeError, AssertionError, AttributeError, OSError) as error:
        text = f"{type(error).__name__}: {one_line(error)}"
        raise ParameterError(f"{folder} cannot be resumed: it is damaged ({text}). {_way_out(folder)}") from error
    if not own:
        warnings.warn(
            f"{folder} was not written by your own trainings here: its networks and its league go on, and new games "
            f"begin; {TRUST} goes on with its games too, if you trust whoever made it",
            RuntimeWarning,
            stacklevel=2,
        )
    return model, moment


def _way_out(folder: Path) -> str:
    best = folder.parent / "best.zip"
    return f"Or begin a new run with --set run.start_from={best}" if best.is_file() else "Or begin a new run"


def _moment(folder: Path, league: League, env: VecEnv, own: bool) -> Moment:
    """Return the moment in a checkpoint. Raises ModelError, and what damaged values raise."""
    old = folder / OLD_STATE_FILE
    if old.is_file() and not (folder / STATE_FILE).is_file():
        if not own:
            raise untrusted(old, "an earlier version of dicegym wrote it as a program")
        found: Moment = load_object(old, league.fixed)
        return found
    plain = read_state(folder, league.fixed, league.game, own)
    return Moment(
        _run_state(plain["run"], league.game),
        _in_flight(plain["model"], env),
        _checked(plain["env"], state_of(env)),
        _league_state(plain["league"], league),
        GeneratorStates.from_plain(plain["generators"]),
        float(plain["seconds"]),
    )


def _in_flight(plain: dict[str, Any], env: VecEnv) -> dict[str, Any]:
    """Return what a model knows of its training, each value of its kind."""
    shape = (env.num_envs, *(env.observation_space.shape or ()))
    for name, value in plain.items():
        if name in _OBSERVATIONS:
            fits = value is None or (
                isinstance(value, np.ndarray) and value.shape == shape and value.dtype == np.float32
            )
        elif name == _IN_FLIGHT[2]:
            fits = value is None or (
                isinstance(value, np.ndarray) and value.shape == shape[:1] and value.dtype == np.bool_
            )
        elif name in _EPISODES:
            fits = value is None or (isinstance(value, list) and all(map(_is_episode, value)))
        elif name == _DRAWN:
            fits = isinstance(value, dict)  # NumPy looks at it itself
        else:
            fits = name in _KNOWN_NUMBERS and isinstance(value, int | float) and math.isfinite(value)
        if not fits:
            raise ValueError(f"its {one_line(name, 40)} is {one_line(value, 60)}")
    episodes = {name: deque(plain[name] or (), maxlen=_REMEMBERED_EPISODES) for name in _EPISODES if name in plain}
    return plain | episodes


def _is_episode(value: Any) -> bool:
    """Return whether this is what is remembered of an ended game."""
    numbers = [*value.values()] if isinstance(value, dict) else [value]
    return all(isinstance(number, int | float) for number in numbers)


def _run_state(plain: Mapping[str, Any], game: Game) -> RunState:
    """Return what a run knew of itself."""
    if plain["met"].shape != (game.observation_size,):
        raise ValueError("its inputs are those of another game")
    curve = plain["curve"]
    scores = [Score.from_json(one) for one in curve["scores"]]
    points = [(int(steps), [float(value) for value in values]) for steps, values in curve["points"]]
    score = None if curve["score"] is None else Score.from_json(curve["score"])
    due = {name: int(plain[name]) for name in _COUNTS}
    return RunState(
        **due,
        met=plain["met"].astype(np.bool_),
        curve=Curve(points, float(curve["best"]), score, scores),
        began_with=dict(plain["began_with"]),
    )


def _league_state(plain: Mapping[str, Any], league: League) -> LeagueState:
    """Return a league's members and table."""
    members = []
    for one in plain["members"]:
        player, weight = one["player"], float(one["weight"])
        if not (isinstance(player, Player) and weight > 0):
            raise ValueError("its league is none")
        members.append(Member(str(one["name"]), str(one["kind"]), player, int(one["joined"]), weight))
    if not members:
        raise ValueError("its league is empty")
    return LeagueState(members, LeagueTable.from_plain(league.table.even, plain["table"]))


def _checked(state: dict[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of games if its arrays are like those of the games as they are now."""
    for name, value in wanted.items():
        if isinstance(value, np.ndarray) and (state[name].dtype, state[name].shape) != (value.dtype, value.shape):
            raise ValueError(f"its {name} are those of other games")
    seated, now = state["opponents"], wanted["opponents"]["who"]
    who, players = seated["who"], seated["players"]
    if (who.dtype, who.shape) != (now.dtype, now.shape) or who.min() < -1 or who.max() >= len(players):
        raise ValueError("nobody knows who sits where")
    return state


def _model(folder: Path, env: VecEnv, settings: TrainingSettings, logs: Path, own: bool) -> BaseAlgorithm:
    """Return a checkpoint's model, which plays ``env``."""
    path = folder / "model.zip"
    if own and names_programs(settings.network):
        # Classes of one's own are in the file by value: theirs need not be there any more, or as it was.
        kind = models.algorithm(settings.algorithm.name)
        found: BaseAlgorithm = load_sb3(kind, path, checked_device(settings.run.device), None)
        found.set_env(env, force_reset=False)
        return found
    model = new_model(settings, env, settings.run.seed, logs)
    called = f"{path}: its policy.optimizer.pth"
    with Archive(path) as archive:
        remembered = tensors_in(archive.read("policy.optimizer.pth"), called)
    model.policy.load_state_dict(weights_of(path))
    check_optimizer(remembered, model.policy.optimizer, called)
    model.policy.optimizer.load_state_dict(remembered)
    return model
