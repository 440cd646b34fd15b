"""Going on with a run: what is in a checkpoint is looked at before it is believed, as it may be somebody else's."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecEnv

from dicegym.errors import DamagedFileError, DicegymError, ModelError, one_line
from dicegym.learning.averaging import ParameterAverage, parameters_of
from dicegym.learning.curve import Curve
from dicegym.learning.environment import continue_games, games_of, state_of
from dicegym.learning.evaluate import Score
from dicegym.learning.generators import GeneratorStates
from dicegym.learning.league import League, LeagueState, Member
from dicegym.learning.league_table import LeagueTable
from dicegym.learning.named import names_programs
from dicegym.learning.networks import new_model
from dicegym.learning.remembered import checked, remember
from dicegym.learning.settings import TrainingSettings
from dicegym.learning.state import COUNTS, Moment, RunState
from dicegym.learning.state_file import read_state
from dicegym.play.player import Player
from dicegym.players import model as models
from dicegym.players.archive import ModelArchive
from dicegym.players.sb3 import checked_device, weights_of
from dicegym.players.seal import is_sealed
from dicegym.players.unpickling import TRUST, load_sb3
from dicegym.players.weights import check_optimizer, tensors_in


def restored(
    folder: Path, env: VecEnv, league: League, settings: TrainingSettings, logs: Path | None, trust: bool
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
        logs: the folder for TensorBoard's files; None: it gets none.
        trust: take a checkpoint from elsewhere for one's own, which may run whatever its author wrote.

    Raises:
        DamagedFileError: it is damaged, of other settings, another version of dicegym wrote it, or it needs ``trust``.
    """
    own = trust or is_sealed(folder)
    try:
        moment = _moment(folder, league, env, own)
        league.load_state(moment.league)
        games_of(env).set_opponent(league.pool())
        model = _model(folder, env, settings, logs, own)
        average = moment.run.average.values
        if average is not None and average.shape != parameters_of(model).shape:
            raise ValueError("its average is one of other networks")
        remember(model, moment.model, games=own)
        if own:
            continue_games(env, moment.env)
        moment.generators.restore()
    except DicegymError as error:
        raise DamagedFileError(folder, f"cannot be resumed ({error})", _way_out(folder)) from error
    except (LookupError, TypeError, ValueError, RuntimeError, AssertionError, AttributeError, OSError) as error:
        text = f"{type(error).__name__}: {one_line(error)}"
        raise DamagedFileError(folder, f"cannot be resumed, as it is damaged ({text})", _way_out(folder)) from error
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
    return f"begin a new run{f' with --set run.start_from={best}' if best.is_file() else ''}"


def _moment(folder: Path, league: League, env: VecEnv, own: bool) -> Moment:
    """Return the moment in a checkpoint. Raises ModelError, and what damaged values raise."""
    plain = read_state(folder, league.fixed, league.game, own)
    return Moment(
        _run_state(plain["run"], (env.observation_space.shape or (0,))[0]),
        checked(plain["model"], env),
        _of_these_games(plain["env"], state_of(env)),
        league_state(plain["league"], league),
        GeneratorStates.from_plain(plain["generators"]),
        float(plain["seconds"]),
    )


def _run_state(plain: Mapping[str, Any], seen: int) -> RunState:
    """Return what a run knew of itself, whose networks see so many numbers."""
    if plain["met"].shape != (seen,):
        raise ModelError("its inputs are those of another game, or of a version that showed others")
    curve = plain["curve"]
    scores = [Score.from_json(one) for one in curve["scores"]]
    points = [(int(steps), [float(value) for value in values]) for steps, values in curve["points"]]
    score = None if curve["score"] is None else Score.from_json(curve["score"])
    due = {name: int(plain[name]) for name in COUNTS}
    return RunState(
        **due,
        met=plain["met"].astype(np.bool_),
        curve=Curve(points, float(curve["best"]), score, scores, float(curve["missed"])),
        began_with=dict(plain["began_with"]),
        average=_average(plain["average"]),
    )


def _average(plain: Mapping[str, Any]) -> ParameterAverage:
    """Return an average of parameters; an empty one of a run that takes none."""
    values = plain["values"]
    if values is None:
        return ParameterAverage()
    if not (isinstance(values, np.ndarray) and values.dtype == np.float32 and np.isfinite(values).all()):
        raise ValueError("its average of parameters is none")
    if int(plain["taken"]) < 1:
        raise ValueError("its average is one of nothing")
    return ParameterAverage(values, int(plain["taken"]), int(plain["newest"]))


def league_state(plain: Mapping[str, Any], league: League) -> LeagueState:
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


def _of_these_games(state: dict[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of games if its arrays are like those of the games as they are now, at each of their tables."""
    if "parts" in wanted:
        for part, like in zip(state["parts"], wanted["parts"], strict=True):
            _of_these_games(part, like)
        return state
    for name, value in wanted.items():
        found = state.get(name)
        if isinstance(value, np.ndarray) and (
            not isinstance(found, np.ndarray) or (found.dtype, found.shape) != (value.dtype, value.shape)
        ):
            raise ModelError(f"its {name} are those of other games, or of a version that kept them otherwise")
    seated, now = state["opponents"], wanted["opponents"]["who"]
    who, players = seated["who"], seated["players"]
    if (who.dtype, who.shape) != (now.dtype, now.shape) or who.min() < -1 or who.max() >= len(players):
        raise ValueError("nobody knows who sits where")
    return state


def _model(folder: Path, env: VecEnv, settings: TrainingSettings, logs: Path | None, own: bool) -> BaseAlgorithm:
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
    with ModelArchive(path) as archive:
        remembered = tensors_in(archive.read("policy.optimizer.pth"), called)
    model.policy.load_state_dict(weights_of(path))
    check_optimizer(remembered, model.policy.optimizer, called)
    model.policy.optimizer.load_state_dict(remembered)
    return model
