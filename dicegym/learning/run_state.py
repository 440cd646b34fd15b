"""The state of a run: all that resuming needs, written as a checkpoint, and read again as data that may be damaged.

A checkpoint is a folder: ``model.zip``, which plays; ``state.zip``, the networks, what the optimizer remembers and the
rest as JSON with NumPy arrays beside it; and this user's seal. ``state.zip`` holds lists, texts, numbers, arrays and
players, a player as its number among those of the settings or as the arrays of its network. Anything else, such as a
past self with layers of a user's own, is in ``programs.pkl``, and is read again only from folders that are trusted.
"""

from __future__ import annotations

import copy
import json
import math
import warnings
import zipfile
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import cloudpickle
import numpy as np
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecEnv

from dicegym.bots.network import Layer, Network
from dicegym.engine.game import Game
from dicegym.errors import DamagedFileError, DicegymError, ModelError, ParameterError, one_line
from dicegym.learning.building import continue_games, games_of, new_model, state_of
from dicegym.learning.curves import Curve
from dicegym.learning.league import League, LeagueState
from dicegym.learning.learner import ParameterAverage, generator_states, parameters_of, restore_generators
from dicegym.learning.preparation import prepare
from dicegym.learning.run_folder import newest_checkpoint, replace_checkpoint
from dicegym.learning.training_settings import TrainingSettings
from dicegym.play.player import Player
from dicegym.players import model as models
from dicegym.players.model import PolicyPlayer
from dicegym.players.sb3_models import restore_networks, state_of_networks
from dicegym.players.trust import TRUST, is_sealed, load_object, trust_error, write_seal
from dicegym.players.zip_archive import ModelArchive, array_in, npy_bytes

STATE_FILE, STATE_MEMBER = "state.zip", "state.json"
"""The file of plain values in a checkpoint's folder, and its member."""
PROGRAMS_FILE = "programs.pkl"
"""Beside it: anything else."""
_ARRAY, _MAPPING, _PLAYER, _PROGRAM = "array", "mapping", "player", "program"
"""The only key of a JSON object, which says what it stands for; everything else is a number, a text or a list."""
_COUNTS = ("next_evaluation", "next_checkpoint", "next_snapshot", "next_exploiter", "games")
_IN_FLIGHT = ("num_timesteps", "_last_obs", "_last_episode_starts")
"""Attributes that a model changes while it plays, before its networks learn from that."""
_NUMBERS = (
    *("_n_updates", "_n_calls", "_episode_num", "_num_timesteps_at_start", "_total_timesteps"),
    *("_current_progress_remaining", "start_time", "exploration_rate", "ent_coef"),
)
"""Other attributes of a training, which models of some algorithms have; so are the next two."""
_ORIGINAL, _ANCHOR, _EPISODES = "_last_original_obs", "kl_anchor", ("ep_info_buffer", "ep_success_buffer")
"""Observations before a wrapper changed them; parameters that a policy is kept near, as one vector; ended games."""
_REMEMBERED = (*_NUMBERS, _ORIGINAL, _ANCHOR, *_EPISODES)
_DRAWN = "drawn"
"""The state of the generator from which actions are drawn when a learner explores."""
_REMEMBERED_EPISODES = 100
"""Ended games of which Stable-Baselines3 logs means by default."""


@dataclass
class RunState:
    """What a run knows of itself."""

    next_evaluation: int
    """At how many steps of the learner; so are the next three."""
    next_checkpoint: int
    next_snapshot: int
    next_exploiter: int
    seen_inputs: np.ndarray
    """Inputs that were not 0 at some time: bool[what the networks observe]."""
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

    def to_plain(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        plain = vars(self) | {"curve": self.curve.to_plain(), "average": vars(self.average)}
        return plain | {"met": plain.pop("seen_inputs")}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], seen: int) -> RunState:
        """Return the state that `to_plain` returned, of a run whose networks see ``seen`` numbers.

        Raises ModelError for another game's, LookupError, TypeError or ValueError for a damaged one.
        """
        if "evaluations" not in plain["curve"]:
            raise ModelError("another version of dicegym wrote its curve")
        if plain["met"].shape != (seen,):
            raise ModelError("its inputs are those of another game, or of a version that showed others")
        return cls(
            **{name: int(plain[name]) for name in _COUNTS},
            seen_inputs=plain["met"].astype(np.bool_),
            curve=Curve.from_plain(plain["curve"]),
            began_with=dict(plain["began_with"]),
            average=ParameterAverage.from_plain(plain["average"]),
        )


@dataclass(frozen=True)
class Moment:
    """A run at the start of a rollout, where nothing is in flight; later changes of the run do not change it."""

    run: RunState
    model: dict[str, Any]
    """Attributes of the model, beside its networks."""
    env: dict[str, Any]
    league: LeagueState
    generators: dict[str, Any]
    seconds: float = 0.0
    """Of training so far."""
    networks: dict[str, Any] = field(default_factory=dict)
    """Weights, and what the optimizer remembers, of a moment that was read."""

    @classmethod
    def now(cls, run: RunState, model: BaseAlgorithm, env: VecEnv, league: League) -> Moment:
        """Return the present moment."""
        in_flight = {name: copy.copy(getattr(model, name)) for name in _IN_FLIGHT}
        return cls(run.copy(), in_flight, state_of(env), league.state(), generator_states())

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
            fixed: the players that cannot be written; see `write_state`.
            seconds: of training so far.
        """
        for name, value in self.model.items():
            setattr(model, name, value)
        known = {name: getattr(model, name) for name in _REMEMBERED if hasattr(model, name)}
        state = {
            "run": self.run.to_plain(),
            "model": known | {_DRAWN: model.action_space.np_random.bit_generator.state} | self.model,
            "env": self.env,
            "league": self.league.to_plain(),
            "generators": self.generators,
            "seconds": seconds,
            "networks": state_of_networks(model),
        }

        def fill(folder: Path) -> None:
            models.save(model, game, folder / "model.zip", facts)
            write_state(state, folder, fixed)
            write_seal(folder)

        replace_checkpoint(run_folder, fill)

    @classmethod
    def read(cls, folder: Path, env: VecEnv, league: League, own: bool) -> Moment:
        """Return the moment in a checkpoint, by the games and the league of its settings.

        Raises ModelError, and LookupError, TypeError or ValueError for a damaged one.
        """
        plain = read_state(folder, league.fixed, league.game, own)
        return cls(
            RunState.from_plain(plain["run"], (env.observation_space.shape or (0,))[0]),
            _checked_model(plain["model"], env),
            _checked_games(plain["env"], state_of(env)),
            LeagueState.from_plain(plain["league"], league.table.even),
            plain["generators"],
            float(plain["seconds"]),
            plain["networks"],
        )


def _checked_model(plain: dict[str, Any], env: VecEnv) -> dict[str, Any]:
    """Return attributes of a model that plays ``env``. Raises ValueError for a value of another kind."""
    seen = (env.num_envs, *(env.observation_space.shape or ()))
    arrays: dict[str, tuple[tuple[int, ...] | None, type]] = {
        "_last_obs": (seen, np.float32),
        _ORIGINAL: (seen, np.float32),
        "_last_episode_starts": (seen[:1], np.bool_),
        _ANCHOR: (None, np.float32),
    }
    for name, value in plain.items():
        if name in arrays:
            shape, dtype = arrays[name]
            fits = value is None or (isinstance(value, np.ndarray) and value.dtype == dtype)
            fits = fits and (value is None or (value.shape == shape if shape else value.ndim == 1))
        elif name in _EPISODES:
            fits = value is None or (isinstance(value, list) and all(map(_is_episode, value)))
        elif name == _DRAWN:
            fits = isinstance(value, dict)  # NumPy checks it itself
        else:
            known = name in (*_NUMBERS, "num_timesteps")
            fits = known and isinstance(value, int | float) and math.isfinite(value)
        if not fits:
            raise ValueError(f"its {one_line(name, 40)} is {one_line(value, 60)}")
    return plain | {name: deque(plain[name] or (), _REMEMBERED_EPISODES) for name in _EPISODES if name in plain}


def _is_episode(value: Any) -> bool:
    """Return whether this is the record of an ended game."""
    numbers = [*value.values()] if isinstance(value, dict) else [value]
    return all(isinstance(number, int | float) for number in numbers)


def _checked_games(state: dict[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of games if its arrays are like those of the games as they are now, at each of their tables."""
    if "parts" in wanted:
        for part, like in zip(state["parts"], wanted["parts"], strict=True):
            _checked_games(part, like)
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
        raise ValueError("its seating is invalid")
    return state


def restore(
    folder: Path, env: VecEnv, league: League, settings: TrainingSettings, logs: Path | None, trust: bool
) -> tuple[BaseAlgorithm, Moment]:
    """Let ``env`` and ``league`` continue from the checkpoint in ``folder``; return its model and its moment.

    A checkpoint of this user's own training is used as it is. One from elsewhere is plain data: its networks, the
    optimizer's state, league and generators continue, and new games begin, as compiled loops would not survive made-up
    records of games. A warning (RuntimeWarning) says so.

    Args:
        folder: of the checkpoint.
        env: the games, as `dicegym.learning.building.new_games` makes them of the settings.
        league: with its scripted agents.
        settings: of the run.
        logs: the folder for TensorBoard's files; None: there are none.
        trust: treat a checkpoint from elsewhere as one's own, which may run whatever its author wrote.

    Raises:
        DamagedFileError: it is damaged, of other settings, another version of dicegym wrote it, or it needs ``trust``.
    """
    own = trust or is_sealed(folder)
    best = folder.parent / "best.zip"
    way_out = f"begin a new run{f' with --set run.start_from={best}' if best.is_file() else ''}"
    try:
        moment = Moment.read(folder, env, league, own)
        league.load_state(moment.league)
        games_of(env).set_opponent(league.pool())
        model = new_model(settings, env, settings.run.seed, logs)
        restore_networks(model, moment.networks)
        average = moment.run.average.values
        if average is not None and average.shape != parameters_of(model).shape:
            raise ValueError("its average is that of other networks")
        known = dict(moment.model)
        model.action_space.np_random.bit_generator.state = known.pop(_DRAWN)
        for name, value in known.items():
            setattr(model, name, value if own or name not in ("_last_obs", _ORIGINAL) else None)
        if own:
            continue_games(env, moment.env)
        restore_generators(moment.generators)
    except DicegymError as error:
        raise DamagedFileError(folder, f"cannot be resumed ({error})", way_out) from error
    except (LookupError, TypeError, ValueError, RuntimeError, AssertionError, AttributeError, OSError) as error:
        text = f"{type(error).__name__}: {one_line(error)}"
        raise DamagedFileError(folder, f"cannot be resumed, as it is damaged ({text})", way_out) from error
    if not own:
        warnings.warn(
            f"{folder} was not written by your own trainings here: its networks and its league continue, and new games "
            f"begin; {TRUST} continues its games too, if you trust its author",
            RuntimeWarning,
            stacklevel=2,
        )
    return model, moment


def write_state(state: Mapping[str, Any], folder: Path, fixed: Sequence[Player]) -> None:
    """Write ``state`` into a folder; ``fixed`` players in it by their number, as bots' programs cannot be written."""
    writer = _Writer(fixed)
    value = writer.plain(state)
    about = {"state": value, "players": writer.players}
    with zipfile.ZipFile(folder / STATE_FILE, "w") as archive:
        archive.writestr(STATE_MEMBER, json.dumps(about))
        for name, array in writer.arrays.items():
            archive.writestr(name, npy_bytes(array))
    if writer.programs:
        with (folder / PROGRAMS_FILE).open("wb") as file:
            _Pickler(file, fixed).dump(writer.programs)


def read_state(folder: Path, fixed: Sequence[Player], game: Game, trust: bool) -> dict[str, Any]:
    """Return the state that `write_state` wrote: tuples have become lists, and its form is not checked.

    Args:
        folder: of the checkpoint.
        fixed: the players that it holds by their number.
        game: what all players in it play.
        trust: whether ``programs.pkl`` may be read, which runs what its author wrote.

    Raises:
        ModelError: it is damaged, or something in it needs ``trust``.
    """
    path = folder / STATE_FILE
    with ModelArchive(path, most=None) as archive:
        about = archive.json(STATE_MEMBER)
        arrays = {name: archive.read(name) for name in archive.names if name != STATE_MEMBER}
    reader = _Reader(folder, arrays, fixed, game, trust)
    try:
        reader.players = [reader.player(one) for one in about["players"]]
        state = reader.value(about["state"])
        if not isinstance(state, dict):
            raise TypeError("it is a list")
    except (LookupError, TypeError, ValueError, RuntimeError) as error:
        raise ModelError(f"{path} is damaged: {type(error).__name__}: {one_line(error)}") from None
    return state


class _Writer:
    """Makes plain values of a state, and collects arrays and programs, which are written beside them."""

    def __init__(self, fixed: Sequence[Player]) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.players: list[Any] = []
        self.programs: list[Any] = []
        self._fixed = {id(player): number for number, player in enumerate(fixed)}
        self._known: dict[int, int] = {}

    def plain(self, value: Any) -> Any:
        """Return a value for JSON."""
        if isinstance(value, np.generic):
            return value.item()
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, Player):
            return {_PLAYER: self._player(value)}
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            name = f"{len(self.arrays)}.npy"
            self.arrays[name] = value
            return {_ARRAY: name}
        if isinstance(value, list | tuple | deque):
            return [self.plain(one) for one in value]
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return {_MAPPING: {key: self.plain(one) for key, one in value.items()}}
        self.programs.append(value)
        return {_PROGRAM: len(self.programs) - 1}

    def _player(self, player: Player) -> int:
        """Return the number of a player; the same one has one number everywhere."""
        if id(player) not in self._known:
            self._known[id(player)] = len(self.players)
            if id(player) in self._fixed:
                self.players.append(self._fixed[id(player)])
            elif type(player) is PolicyPlayer and isinstance(player.policy, Network):
                layers = [self._layer(layer) for layer in player.policy.layers]
                self.players.append([player.name, layers, player.temperature])
            else:
                self.programs.append(player)
                self.players.append({_PROGRAM: len(self.programs) - 1})
        return self._known[id(player)]

    def _layer(self, layer: Layer) -> Any:
        return [self.plain(_small(layer.weight)), self.plain(_small(layer.bias)), layer.activation]


def _small(array: np.ndarray) -> np.ndarray:
    """Return weights in float32, in which they were trained, if that keeps every value."""
    small = array.astype(np.float32)
    return small if np.array_equal(small, array) else array


class _Reader:
    """Makes a state of plain values. Raises LookupError, TypeError and ValueError for damaged ones."""

    def __init__(
        self, folder: Path, arrays: Mapping[str, bytes], fixed: Sequence[Player], game: Game, trust: bool
    ) -> None:
        self.players: list[Player] = []
        self._folder, self._arrays, self._fixed, self._game, self._trust = folder, arrays, fixed, game, trust
        self._programs: list[Any] | None = None

    def value(self, said: Any) -> Any:
        """Return the value that a value of JSON stands for."""
        if isinstance(said, list):
            return [self.value(one) for one in said]
        if not isinstance(said, dict):
            return said
        ((kind, one),) = said.items()
        if kind == _ARRAY:
            return array_in(self._arrays[one]).copy()
        if kind == _MAPPING:
            return {key: self.value(inner) for key, inner in one.items()}
        if kind == _PLAYER:
            return self.players[_checked(one, len(self.players))]
        if kind == _PROGRAM:
            return self._program(one)
        raise ValueError(f"{kind!r} means nothing")

    def player(self, said: Any) -> Player:
        """Return the player that a value of JSON stands for."""
        if isinstance(said, int):
            return self._fixed[_checked(said, len(self._fixed))]
        if isinstance(said, dict):
            found = self._program(said[_PROGRAM])
            if not isinstance(found, Player):
                raise TypeError(f"{type(found).__name__} is not a player")
            return found
        name, layers, temperature = said
        network = Network(tuple(self._layer(layer) for layer in layers))
        return PolicyPlayer(network, self._game, str(name), temperature=temperature)

    def _layer(self, said: Any) -> Layer:
        weight, bias, activation = said
        return Layer(self.value(weight).astype(np.float64), self.value(bias).astype(np.float64), str(activation))

    def _program(self, number: Any) -> Any:
        if self._programs is None:
            path = self._folder / PROGRAMS_FILE
            if not self._trust:
                raise trust_error(path, "a network or a wrapper in it is a user's own program")
            self._programs = load_object(path, self._fixed)
        return self._programs[_checked(number, len(self._programs))]


def _checked(number: Any, n: int) -> int:
    """Return ``number``. Raises ValueError unless it is from 0 to ``n`` - 1."""
    if type(number) is not int or not 0 <= number < n:
        raise ValueError(f"number {one_line(number, 20)} is not one of {n}")
    return number


# It also writes classes that came from a file which settings name: nobody could import them.
class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # it ships no types
    def __init__(self, file: BinaryIO, fixed: Sequence[Player]) -> None:
        super().__init__(file)
        self._numbers = {id(player): number for number, player in enumerate(fixed)}

    def persistent_id(self, thing: object) -> int | None:
        return self._numbers.get(id(thing))


def league_of(folder: Path, trust: bool = False) -> League:
    """Return the league in the newest checkpoint of a run, which may be training at this moment.

    ``trust`` is as for `dicegym.agent`; files that the settings name run as they do in the training: as you.

    Raises ParameterError if there is none, DamagedFileError if it is damaged.
    """
    newest = newest_checkpoint(folder)
    if newest is None:
        raise ParameterError(f"{folder} holds no checkpoint of a training: name the folder of a training")
    name = models.read_game(str(newest / "model.zip")).name
    prepared = prepare(name, folder, None, [], True, trust)
    league = League(prepared.game, prepared.settings, trust)
    if not league.learns_from_itself:
        raise ParameterError(f'{folder} has no league: only a training against "self" has one')
    try:
        plain: Any = read_state(newest, league.fixed, league.game, trust or is_sealed(newest))
        league.load_state(LeagueState.from_plain(plain["league"], league.table.even))
    except DicegymError:
        raise
    except (LookupError, TypeError, ValueError, OSError) as error:
        raise DamagedFileError(newest, f"holds no league ({one_line(error)})", "resume the training first") from error
    return league
