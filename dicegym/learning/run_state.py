"""The state of a run, written as a checkpoint and restored from it.

A checkpoint is a folder: ``model.zip``, which plays, and ``state.pt`` with everything else, networks and optimizer
included. Both are data: reading them runs no code of their author. Scripted agents are stored by their number among the
players of the settings, past selves by the arrays of their networks. Compiled code does not check its input, so
everything is checked here.
"""

from __future__ import annotations

import copy
import io
import pickle
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from pydantic import JsonValue, TypeAdapter
from stable_baselines3.common.base_class import BaseAlgorithm

from dicegym.bots.network import Layer, Network
from dicegym.engine.game import Game
from dicegym.envs.batch_kernels import PLAYING
from dicegym.envs.options import read_state
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.errors import DamagedFileError, DicegymError, one_line
from dicegym.files import writing
from dicegym.learning.building import new_model
from dicegym.learning.curves import Curve
from dicegym.learning.league import PAST_SELF, League, LeagueTable, Member, Result
from dicegym.learning.learner import ParameterAverage, generator_states, restore_generators
from dicegym.learning.run_folder import replace_checkpoint
from dicegym.learning.training_settings import TrainingSettings
from dicegym.play.player import Player
from dicegym.players import model as models
from dicegym.players.model import PolicyPlayer

STATE_FILE = "state.pt"
_IN_FLIGHT = ("num_timesteps", "_last_obs", "_last_episode_starts")
"""Attributes of a model that change during a rollout, before its networks learn from it."""
_REMEMBERED = (
    *("_n_updates", "_n_calls", "_episode_num", "_num_timesteps_at_start", "_total_timesteps"),
    *("_current_progress_remaining", "start_time", "exploration_rate", "ent_coef"),
    *("kl_anchor", "ep_info_buffer", "ep_success_buffer"),
)
"""Further attributes, which models of some algorithms have."""
_COUNTS = ("next_checkpoint", "next_snapshot", "next_evaluation", "games")
"""Integer fields of `RunState`."""
_DAMAGE = LookupError, TypeError, ValueError, RuntimeError, AttributeError, OSError, EOFError, ArithmeticError
"""Exceptions from reading a damaged file."""
_CURVE = TypeAdapter(Curve)
_FACTS = TypeAdapter(dict[str, JsonValue])
_NUMBERS = TypeAdapter(dict[str, int | float | None])
_EPISODES = TypeAdapter(list[dict[str, float]])
_RESULTS = TypeAdapter(list[tuple[str, str, Result]])


@dataclass
class RunState:
    """The progress of a run: what is due, and what was measured."""

    next_checkpoint: int
    """Steps of the learner at which it is due, as for the other two."""
    next_snapshot: int
    seen_inputs: np.ndarray
    """bool[inputs of the networks]: inputs that were ever different from 0."""
    next_evaluation: int = 0
    games: int = 0
    """Games that the learner has finished."""
    curve: Curve = field(default_factory=Curve)
    began_with: dict[str, Any] = field(default_factory=dict)
    """Facts of the model whose networks the run started from."""
    average: ParameterAverage = field(default_factory=ParameterAverage)
    """Average of the parameters, if ``[run] average`` asks for one."""

    def copy(self) -> RunState:
        """Return an independent copy."""
        seen, curve, average = self.seen_inputs.copy(), copy.copy(self.curve), copy.copy(self.average)
        return replace(self, seen_inputs=seen, curve=curve, average=average)


class Moment(NamedTuple):
    """A snapshot of a run at the start of a rollout; later changes of the run do not change it."""

    run: RunState
    model: dict[str, Any]
    """Attributes of the model, without its networks."""
    env: dict[str, Any]
    league: tuple[list[Member], LeagueTable]
    generators: dict[str, Any]
    seconds: float = 0.0
    """Seconds of training so far."""

    @classmethod
    def now(cls, run: RunState, model: BaseAlgorithm, env: SB3VecEnv, league: League) -> Moment:
        """Take a snapshot."""
        in_flight = {name: copy.copy(getattr(model, name)) for name in _IN_FLIGHT}
        return cls(run.copy(), in_flight, env.state_dict(), league.state(), generator_states())

    def write(
        self, run_folder: Path, model: BaseAlgorithm, league: League, facts: dict[str, Any], seconds: float
    ) -> None:
        """Write a checkpoint of this moment into a run's folder; the previous one stays until this one is whole.

        The networks of ``model`` have not changed since; the decisions it has played since are dropped. ``facts`` are
        for its file, ``seconds`` those of training so far.
        """
        for name, value in self.model.items():
            setattr(model, name, value)
        known = {name: getattr(model, name) for name in _REMEMBERED if hasattr(model, name)}
        moment = self._replace(model=known | self.model, seconds=seconds)
        content = _packed(moment, league.fixed) | {
            "weights": dict(model.policy.state_dict()),
            "optimizer": model.policy.optimizer.state_dict(),
            "drawn": model.action_space.np_random.bit_generator.state,
        }

        def fill(folder: Path) -> None:
            models.save(model, league.game, folder / "model.zip", facts)
            state = io.BytesIO()
            torch.save(content, state)  # not into a file: it would hide the error of a full disk
            with writing(folder / STATE_FILE) as unfinished:
                unfinished.write_bytes(state.getbuffer())

        replace_checkpoint(run_folder, fill)


def restore(
    folder: Path, env: SB3VecEnv, league: League, settings: TrainingSettings, logs: Path | None
) -> tuple[BaseAlgorithm, Moment]:
    """Restore ``env`` and ``league`` from the checkpoint in ``folder``; return its model and its moment.

    Both are made from ``settings`` as for a new run; ``logs`` is as for `dicegym.learning.building.new_model`. Raises
    DamagedFileError if the checkpoint is damaged, has other settings, or is from another version of dicegym.
    """
    best = folder.parent / "best.zip"
    way_out = f"begin a new run{f' with --set run.start_from={best}' if best.is_file() else ''}"
    try:
        content = torch.load(folder / STATE_FILE, map_location="cpu", weights_only=True)
        model = new_model(settings, env, logs)
        model.policy.load_state_dict(content["weights"])
        _load_optimizer(model.policy.optimizer, content["optimizer"])
        model.action_space.np_random.bit_generator.state = content["drawn"]
        moment = _unpacked(content, model, env, league)
        league.load_state(moment.league)
        env.set_opponent(league.pool())
        env.load_state_dict(moment.env)
        for name, value in moment.model.items():
            setattr(model, name, value)
        restore_generators(moment.generators)
    except pickle.UnpicklingError as error:
        text = "cannot be resumed, as it is damaged, or contains code"
        raise DamagedFileError(folder, text, way_out) from error
    except DicegymError as error:
        raise DamagedFileError(folder, f"cannot be resumed ({error})", way_out) from error
    except _DAMAGE as error:
        text = f"{type(error).__name__}: {one_line(error, 200)}"
        raise DamagedFileError(folder, f"cannot be resumed, as it is damaged ({text})", way_out) from error
    return model, moment


def _packed(moment: Moment, fixed: Sequence[Player]) -> dict[str, Any]:
    """Return a moment as plain values and tensors; ``fixed`` players are written by their number."""
    run, env, drawn = moment.run, dict(moment.env), dict(moment.generators)
    members, table = moment.league
    seated, known = env.pop("opponents"), [*map(id, fixed)]
    players = [*(one.player for one in members), *seated["players"]]
    learned = {id(one): one for one in players if isinstance(one, PolicyPlayer) and id(one) not in known}
    numbers = {one: number for number, one in enumerate([*known, *learned])}
    version, state, gauss = drawn["python"]
    _, key, *rest = drawn["numpy"]
    return {
        "run": {
            "counts": {name: getattr(run, name) for name in _COUNTS},
            "seen_inputs": _tensor(run.seen_inputs),
            "curve": _CURVE.dump_python(run.curve),
            "began_with": run.began_with,
            "average": run.average.values,
        },
        "average": {"taken": run.average.taken, "newest": run.average.newest},
        "model": {name: _plain(value) for name, value in moment.model.items()},
        "env": {name: _plain(value) for name, value in env.items()},
        "who": _tensor(seated["who"]),
        "players": [numbers[id(player)] for player in seated["players"]],
        "learned": [_packed_player(player) for player in learned.values()],
        "members": [(numbers[id(one.player)], one.joined) for one in members if one.kind == PAST_SELF],
        "table": {
            "joined": [(name, kind, table.joined[name]) for name, kind in table.kinds.items()],
            "gone": sorted(table.gone),
            "results": [(a, b, tuple(result)) for (a, b), result in table.results.items()],
        },
        "generators": drawn | {"python": [version, list(state), gauss], "numpy": [_tensor(key), *rest]},
        "seconds": moment.seconds,
    }


def _unpacked(content: Mapping[str, Any], model: BaseAlgorithm, env: SB3VecEnv, league: League) -> Moment:
    """Return the moment in the content that `_packed` wrote.

    Raises DicegymError or one of `_DAMAGE` if it does not fit the model, the games or the league.
    """
    run, average, table = content["run"], content["average"], LeagueTable(league.table.even)
    game, now, fresh = env.batch.game, env.state_dict(), generator_states()
    own = list(model.policy.parameters()) if run["average"] else []
    values = [_same(value, one.detach()).to(one.device) for value, one in zip(run["average"], own, strict=True)]
    state = RunState(
        **{name: int(run["counts"][name]) for name in _COUNTS},
        seen_inputs=_array(run["seen_inputs"], np.zeros(env.observation_space.shape or (0,), np.bool_)),
        curve=_CURVE.validate_python(run["curve"]),
        began_with=_FACTS.validate_python(run["began_with"]),
        average=ParameterAverage(values, int(average["taken"]), int(average["newest"])),
    )
    players = [*league.fixed, *(_unpacked_player(one, game) for one in content["learned"])]
    past = [(_pick(players, number), int(joined)) for number, joined in content["members"]]
    for name, kind, joined in content["table"]["joined"]:
        table.add(str(name), str(kind), int(joined))
    table.gone.update(map(str, content["table"]["gone"]))
    table.results.update({(a, b): result for a, b, result in _RESULTS.validate_python(content["table"]["results"])})
    members = [*league.members, *(Member(one.name, PAST_SELF, one, joined) for one, joined in past)]
    opponents = {
        "who": _array(content["who"], now.pop("opponents")["who"]),
        "players": [_pick(players, number) for number in content["players"]],
    }
    games = {name: _array(content["env"][name], one) for name, one in now.items() if isinstance(one, np.ndarray)}
    _check_games(game, games["states"], games["rows"], opponents)
    generators = dict(content["generators"])
    version, drawn, gauss = generators["python"]
    key, place, *rest = generators["numpy"]
    if not 0 <= int(place) <= key.numel():  # NumPy does not check it
        raise ValueError(f"a generator cannot have the position {place}")
    generators["python"] = version, tuple(drawn), gauss
    generators["numpy"] = fresh["numpy"][0], _array(key, fresh["numpy"][1]), int(place), *rest
    return Moment(
        state,
        _attributes(content["model"], model, env),
        games | {"seeded": bool(content["env"]["seeded"]), "opponents": opponents},
        (members, table),
        generators,
        float(content["seconds"]),
    )


def _attributes(found: Mapping[str, Any], model: BaseAlgorithm, env: SB3VecEnv) -> dict[str, Any]:
    """Return a model's attributes from their packed form ``found``."""
    size, given = (env.num_envs, *(env.observation_space.shape or ())), dict(found)
    attributes: dict[str, Any] = {
        "_last_obs": _array(given.pop("_last_obs"), np.zeros(size, np.float32)),
        "_last_episode_starts": _array(given.pop("_last_episode_starts"), np.zeros(env.num_envs, np.bool_)),
    }
    if (anchor := given.pop("kl_anchor", None)) is not None:
        parameters = sum(one.numel() for one in model.policy.parameters())
        attributes["kl_anchor"] = _array(anchor, np.zeros(parameters, np.float32))
    for name in ("ep_info_buffer", "ep_success_buffer"):
        if (packed := given.pop(name, None)) is not None:
            kept = _EPISODES.validate_python(packed) if name == "ep_info_buffer" else list(map(float, packed))
            attributes[name] = deque(kept, vars(model)["_stats_window_size"])
    numbers = _NUMBERS.validate_python(given)
    if not isinstance(numbers["num_timesteps"], int) or not numbers.keys() <= {*_IN_FLIGHT, *_REMEMBERED}:
        raise ValueError(f"{one_line(numbers, 100)} are not the attributes of a training")
    return attributes | numbers


def _check_games(game: Game, states: np.ndarray, rows: np.ndarray, opponents: Mapping[str, Any]) -> None:
    """Raise ValueError or ParameterError for impossible states of games or seats of players."""
    who, seats = opponents["who"], rows["seat"]
    if ((seats < 0) | (seats >= game.players) | (rows["phase"] != PLAYING)).any():
        raise ValueError("a learner cannot sit there")
    own = np.arange(game.players) == seats[:, None]
    if ((who < 0) != own).any() or (who >= len(opponents["players"])).any():
        raise ValueError("an opponent cannot sit there")
    for state in states:
        if read_state(game, state).tobytes() != state.tobytes():
            raise ValueError("a state of a game is impossible")


def _load_optimizer(optimizer: torch.optim.Optimizer, found: Mapping[str, Any]) -> None:
    """Load the saved state of an optimizer. Raises ValueError or TypeError if it does not fit."""
    own = [group | {"lr": float(group["lr"])} for group in optimizer.state_dict()["param_groups"]]
    groups = [group | {"lr": float(group["lr"])} for group in found["param_groups"]]
    if [group | {"lr": 0.0} for group in groups] != [group | {"lr": 0.0} for group in own]:
        raise ValueError("its optimizer has other settings")
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    for number, memory in found["state"].items():
        for name, value in memory.items():
            _same(value, _pick(parameters, number).detach() if name != "step" else torch.zeros(()))
    optimizer.load_state_dict({"state": found["state"], "param_groups": groups})


def _packed_player(player: PolicyPlayer) -> dict[str, Any]:
    """Return the network of a past self as plain values and tensors."""
    layers = [(*map(torch.from_numpy, map(np.array, one[:2])), one.activation) for one in player.policy.layers]
    return {"name": player.name, "temperature": player.temperature, "layers": layers}


def _unpacked_player(found: Mapping[str, Any], game: Game) -> PolicyPlayer:
    """Return a past self. Raises ModelError if its layers do not fit each other or the game."""
    layers = [Layer(_own(weight).numpy(), _own(bias).numpy(), str(name)) for weight, bias, name in found["layers"]]
    return PolicyPlayer(Network(tuple(layers)), game, str(found["name"]), float(found["temperature"]))


def _pick(things: Sequence[Any], number: Any) -> Any:
    if not isinstance(number, int) or not 0 <= number < len(things):
        raise ValueError(f"invalid number {one_line(number, 40)}")
    return things[number]


def _plain(value: Any) -> Any:
    """Return an array as a tensor, a deque of Stable-Baselines3's episodes as a list, and other values as they are."""
    if isinstance(value, np.ndarray):
        return _tensor(value)
    if isinstance(value, deque):
        return [{key: float(one[key]) for key in one} if isinstance(one, dict) else float(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def _tensor(array: np.ndarray) -> torch.Tensor:
    """Return the bytes of an array as uint8[bytes]: PyTorch has no records."""
    return torch.from_numpy(np.frombuffer(array.tobytes(), np.uint8).copy())


def _array(tensor: Any, like: np.ndarray) -> np.ndarray:
    """Return a new array from the bytes in a tensor, with the dtype and shape of ``like``."""
    raw = _same(tensor, torch.zeros(like.nbytes, dtype=torch.uint8)).numpy().tobytes()
    return np.frombuffer(raw, like.dtype).reshape(like.shape).copy()


def _same(found: Any, like: torch.Tensor) -> torch.Tensor:
    """Return ``found`` if it is a tensor with the dtype and shape of ``like``. Raises ValueError otherwise."""
    tensor = _own(found)
    if tensor.shape != like.shape or tensor.dtype != like.dtype:
        raise ValueError(f"a tensor is {tensor.dtype}{list(tensor.shape)}, not {like.dtype}{list(like.shape)}")
    return tensor


def _own(found: Any) -> torch.Tensor:
    """Return ``found`` if it is a tensor whose storage holds all its elements. Raises ValueError otherwise."""
    if not isinstance(found, torch.Tensor) or found.layout != torch.strided or found.device.type != "cpu":
        raise ValueError(f"{type(found).__name__} is not a tensor")
    if found.untyped_storage().nbytes() < found.numel() * found.element_size():
        raise ValueError(f"a tensor of shape {list(found.shape)} lacks elements")
    return found
