"""The state of a run at the start of a rollout, written as a checkpoint and restored from it.

A checkpoint is a folder: ``model.zip``, which plays, and ``state.pt`` with everything else, networks and optimizer
included. Both are data: reading them runs no code of their author. Scripted agents are stored by their names, past
selves by the arrays of their networks. Compiled code does not check its input, so a checkpoint must have the shapes and
types of a fresh learner with the same settings (`_fit`), and possible states of games.
"""

from __future__ import annotations

import io
import pickle
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import JsonValue, TypeAdapter
from stable_baselines3.common.base_class import BaseAlgorithm

from dicegym.bots.network import Layer, Network
from dicegym.engine.game import Game
from dicegym.envs.batch_kernels import PLAYING
from dicegym.envs.options import read_state
from dicegym.errors import DamagedFileError, DicegymError
from dicegym.files import writing
from dicegym.learning.curves import Curve
from dicegym.learning.league import LeagueTable
from dicegym.learning.learner import OBSERVATIONS, LearningAgent, ParameterAverage, generator_states, restore_generators
from dicegym.learning.run_folder import replace_checkpoint
from dicegym.play.player import Player
from dicegym.players import model as models
from dicegym.players.model import PolicyPlayer

STATE_FILE = "state.pt"
STARTS = "_last_episode_starts"
"""The attribute of a model that says which games have just begun."""
_COUNTERS = ("num_timesteps", "_n_updates", "_n_calls", "_episode_num", "exploration_rate")
"""Attributes of a model that are numbers; models of some algorithms lack some. The others follow from the settings."""
_DAMAGE = (
    *(DicegymError, pickle.UnpicklingError, LookupError, TypeError, ValueError),
    *(RuntimeError, AttributeError, OSError, EOFError, ArithmeticError),
)
"""Exceptions from reading a damaged file."""


@dataclass
class RunState:
    """The progress of a run: what is due, and what was measured."""

    next_checkpoint: int
    """Steps of the learner at which it is due, as for the other two."""
    next_snapshot: int
    next_evaluation: int = 0
    games: int = 0
    """Games that the learner has finished."""
    curve: Curve = field(default_factory=Curve)
    began_with: dict[str, JsonValue] = field(default_factory=dict)
    """Facts of the model whose networks the run started from."""


_RUN, _TABLE = TypeAdapter(RunState), TypeAdapter(LeagueTable)

Moment = dict[str, Any]
"""A run at the start of a rollout, as plain values and tensors; later changes of the run do not change it."""


def take_moment(run: RunState, learner: LearningAgent) -> Moment:
    """Return the present moment of a run, without its networks, which do not change within a rollout."""
    model, league, games, average = learner.model, learner.league, learner.env.state_dict(), learner.average
    opponents, names = games.pop("opponents"), {id(player): name for name, player in league.players.items()}
    seated = [names.get(id(player), player.name) for player in opponents["players"]]
    there = league.players | dict(zip(seated, opponents["players"], strict=True))  # one that has left may still play
    return {
        "run": _RUN.dump_python(run),
        "seen_inputs": _pack(learner.seen_inputs),
        "average": {"values": average.values, "taken": average.taken, "newest": average.newest},
        "counters": _pack(_counters_of(model)),
        "observations": _pack(vars(model)[OBSERVATIONS]),
        "starts": _pack(vars(model)[STARTS]),
        "anchor": _pack(getattr(model, "kl_anchor", None)),
        "episodes": [{key: float(one[key]) for key in one} for one in model.ep_info_buffer or ()],
        "games": _pack(games),
        "who": _pack(opponents["who"]),
        "seated": seated,
        "members": league.past_selves,
        "past_selves": {name: _pack_player(one) for name, one in there.items() if name not in league.scripted},
        "table": _TABLE.dump_python(league.table),
        "generators": _pack(generator_states()),
        "drawn": model.action_space.np_random.bit_generator.state,
    }


def _counters_of(model: BaseAlgorithm) -> dict[str, int | float]:
    return {name: getattr(model, name) for name in _COUNTERS if hasattr(model, name)}


def write_checkpoint(
    run_folder: Path, moment: Moment, learner: LearningAgent, facts: dict[str, Any], seconds: float
) -> None:
    """Write a checkpoint of a moment into a run's folder; the previous one stays until this one is whole.

    The networks have not changed since; the decisions that the learner has played since are dropped. ``facts`` are for
    its file, ``seconds`` those of training so far.
    """
    model = learner.model
    model.num_timesteps = moment["counters"]["num_timesteps"]
    networks = {"weights": dict(model.policy.state_dict()), "optimizer": model.policy.optimizer.state_dict()}

    def fill(folder: Path) -> None:
        models.save(model, learner.game, folder / "model.zip", facts)
        state = io.BytesIO()
        torch.save(moment | networks | {"seconds": seconds}, state)  # a file would hide the error of a full disk
        with writing(folder / STATE_FILE) as unfinished:
            unfinished.write_bytes(state.getbuffer())

    replace_checkpoint(run_folder, fill)


def restore(folder: Path, build: Callable[[], LearningAgent]) -> tuple[LearningAgent, RunState, float]:
    """Return the learner in the checkpoint in ``folder``, the state of its run, and its seconds of training.

    ``build`` makes a learner from the settings, as for a new run. Raises DamagedFileError if the checkpoint is damaged,
    has other settings, or is from another version of dicegym, and what ``build`` raises.
    """
    learner = build()
    try:
        content = torch.load(folder / STATE_FILE, map_location="cpu", weights_only=True)
        _load_model(learner, content)
        _load_opponents(learner, content)
        _load_generators(content["generators"])
        return learner, _RUN.validate_python(content["run"]), float(content["seconds"])
    except _DAMAGE as error:
        why = "cannot be resumed, as it is damaged, or from another training or version of dicegym"
        best = folder.parent / "best.zip"
        way_out = f"begin a new run{f' with --set run.start_from={best}' if best.is_file() else ''}"
        raise DamagedFileError(folder, why, way_out) from error


def _load_model(learner: LearningAgent, content: Mapping[str, Any]) -> None:
    """Load the networks of a learner, their optimizer, and the attributes of its model."""
    model, games, average = learner.model, learner.env.num_envs, content["average"]
    model.policy.load_state_dict(content["weights"])
    _load_optimizer(model.policy.optimizer, content["optimizer"]["state"])
    parameters = [one.detach() for one in model.policy.parameters()]
    model.action_space.np_random.bit_generator.state = content["drawn"]
    learner.seen_inputs = _fit(content["seen_inputs"], learner.seen_inputs)
    values = _fit(average["values"], parameters) if average["values"] else []
    values = [value.to(model.device) for value in values]
    learner.average = ParameterAverage(values, int(average["taken"]), int(average["newest"]))
    if content["anchor"] is not None:
        size = sum(one.numel() for one in parameters)
        vars(model)["kl_anchor"] = _fit(content["anchor"], np.zeros(size, np.float32))
    vars(model).update(_fit(content["counters"], _counters_of(model)))
    window = vars(model)["_stats_window_size"]
    model.ep_info_buffer = deque((_fit(one, {"r": 0.0, "l": 0.0, "t": 0.0}) for one in content["episodes"]), window)
    model.ep_success_buffer = deque(maxlen=window)  # our games report none
    shape = games, *(learner.env.observation_space.shape or ())
    vars(model)[OBSERVATIONS] = _fit(content["observations"], np.zeros(shape, np.float32))
    vars(model)[STARTS] = _fit(content["starts"], np.zeros(games, np.bool_))


def _load_opponents(learner: LearningAgent, content: Mapping[str, Any]) -> None:
    """Load the league of a learner, its games, and who plays in them."""
    league, fresh, game = learner.league, learner.env.state_dict(), learner.game
    learned = {str(name): _unpack_player(one, game, name) for name, one in content["past_selves"].items()}
    league.players |= {name: learned[name] for name in content["members"]}
    league.table = _TABLE.validate_python(content["table"])
    who, known = fresh.pop("opponents")["who"], league.players | learned
    opponents = {"who": _fit(content["who"], who), "players": [known[name] for name in content["seated"]]}
    games = _fit(content["games"], fresh)
    _check_games(game, games["states"], games["rows"], opponents)
    learner.env.set_opponent(league.pool())
    learner.env.load_state_dict(games | {"opponents": opponents})


def _load_generators(found: Mapping[str, Any]) -> None:
    """Set the global generators to packed states."""
    fresh, (version, drawn, gauss) = generator_states(), found["python"]
    states = {name: _fit(found[name], fresh[name]) for name in ("numpy", "torch")}
    if not 0 <= states["numpy"][2] <= len(states["numpy"][1]):  # NumPy does not check it
        raise ValueError("a generator has an impossible position")
    restore_generators(states | {"python": (version, tuple(drawn), gauss), "cuda": found["cuda"]})


def _check_games(game: Game, states: np.ndarray, rows: np.ndarray, opponents: Mapping[str, Any]) -> None:
    """Raise ValueError or ParameterError for impossible states of games or seats of players."""
    who, seats = opponents["who"], rows["seat"]
    own = np.arange(game.players) == seats[:, None]
    seated = own.any(axis=1).all() and ((who < 0) == own).all() and (who < len(opponents["players"])).all()
    possible = (read_state(game, state).tobytes() == state.tobytes() for state in states)
    if not (seated and (rows["phase"] == PLAYING).all() and all(possible)):
        raise ValueError("a state of a game is impossible")


def _load_optimizer(optimizer: torch.optim.Optimizer, found: Mapping[int, Mapping[str, Any]]) -> None:
    """Load the memory of an optimizer; its settings are those of the run. Raises as `_fit` does."""
    parameters = [one.detach() for group in optimizer.param_groups for one in group["params"]]
    for number, memory in found.items():
        _fit(memory, {name: torch.zeros(()) if name == "step" else parameters[number] for name in memory})
    optimizer.load_state_dict(optimizer.state_dict() | {"state": found})


def _pack_player(player: Player) -> dict[str, Any]:
    """Return the network of a past self as plain values and tensors. Raises TypeError for another player."""
    if not isinstance(player, PolicyPlayer):
        raise TypeError(f"{player.name} is not a past self")
    layers = [(torch.tensor(weight), torch.tensor(bias), name) for weight, bias, name in player.policy.layers]
    return {"temperature": player.temperature, "layers": layers}


def _unpack_player(found: Mapping[str, Any], game: Game, name: str) -> PolicyPlayer:
    """Return a past self. Raises ModelError if its layers do not fit each other or the game."""
    layers = [Layer(_own(weight).numpy(), _own(bias).numpy(), str(kind)) for weight, bias, kind in found["layers"]]
    return PolicyPlayer(Network(tuple(layers)), game, name, float(found["temperature"]))


def _pack(value: Any) -> Any:
    """Return a tree with its arrays as tensors of their bytes, as PyTorch has no records, and plain numbers."""
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.frombuffer(value.tobytes(), np.uint8).copy())
    if isinstance(value, dict):
        return {name: _pack(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_pack(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def _fit(found: Any, like: Any) -> Any:
    """Return a packed tree in the form of ``like``.

    Raises ValueError, TypeError, AttributeError or LookupError unless it has the same arrays, tensors, texts and
    numbers by their names, shapes and types. An int may stand for a float.
    """
    if isinstance(like, np.ndarray):
        raw = _fit(found, torch.empty(like.nbytes, dtype=torch.uint8)).numpy().tobytes()
        return np.frombuffer(raw, like.dtype).reshape(like.shape).copy()
    if isinstance(like, dict) and found.keys() == like.keys():
        return {name: _fit(found[name], one) for name, one in like.items()}
    if isinstance(like, list | tuple):
        return type(like)(_fit(one, other) for one, other in zip(found, like, strict=True))
    if isinstance(like, torch.Tensor) and (_own(found).shape, found.dtype) == (like.shape, like.dtype):
        return found
    if isinstance(like, float):
        return float(found)
    if isinstance(like, int | str) and type(found) is type(like) and (isinstance(like, int) or found == like):
        return found
    raise ValueError(f"{type(found).__name__} does not fit {type(like).__name__}")


def _own(found: Any) -> torch.Tensor:
    """Return ``found`` if it is a tensor in memory with all its elements. Raises ValueError otherwise."""
    if not isinstance(found, torch.Tensor) or found.layout != torch.strided or not found.is_contiguous():
        raise ValueError(f"{type(found).__name__} is not a tensor")
    return found
