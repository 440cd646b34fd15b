"""Train a Stable-Baselines3 agent on a game of dicegym: one readable file.

    dicegym train hog --run-dir runs/hog
    dicegym train hog --run-dir runs/hog --resume
    dicegym train hog --run-dir runs/short --set run.steps=500000 --set opponents='{"bacon"=1,"self"=1}'

A resumed run goes on exactly where the checkpoint was taken if its opponents remember and draw nothing (bots with
``PURE = True``, models, snapshots) and its algorithm keeps no replay buffer (PPO, MaskablePPO, A2C). Otherwise it
goes on with new games of the same seeds, or an empty buffer.

The run's folder then holds

    settings.json   the command and all settings, overrides included
    curve.csv       steps and score of every evaluation; the same command and seed give the same file
    tensorboard/    everything that the algorithm logs
    checkpoint/     the newest checkpoint, from which --resume goes on
    best.zip        the model with the best evaluation so far, and best.md, its card
    model.zip       the model at the end, and model.md, its card
"""

from __future__ import annotations

import copy
import csv
import json
import os
import pickle
import platform
import random
import shlex
import shutil
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import LinearSchedule

import dicegym
from dicegym.arena.card import card
from dicegym.arena.evaluate import Score, evaluate
from dicegym.core import Parameter
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.errors import ParameterError
from dicegym.players import Player, policy
from dicegym.players.pool import Pool

CONFIGS = Path(__file__).parent / "configs"
SELF = "self"
"""The name among the opponents that stands for snapshots of the learner."""

CHECKPOINTS = ("checkpoint", "checkpoint.old")
"""The newest checkpoint is in the first folder that exists: a kill may fall between the moves that change them."""
SECTIONS = ("game", "run", "opponents", "self_play", "algorithm", "network")
OPEN_SECTIONS = ("opponents", "algorithm", "game")
"""Sections whose keys are checked by those who take them, so that any may be added."""

ALSO = {float: (float, int), list: (list, dict), dict: (list, dict)}
"""What a value of a type may be replaced by besides its own kind; layers are given for both networks or for each."""

Settings = dict[str, dict[str, Any]]


def read_config(game: str, config: Path | None = None) -> Settings:
    """Return the settings in ``configs/<game>.toml``, or in ``config``. Raises ParameterError without one."""
    path = config or CONFIGS / f"{game}.toml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in CONFIGS.glob("*.toml")))
        raise ParameterError(f"there is no configuration {path}: give one with --config; there are {known}")
    try:
        settings = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path} is no TOML: {error}") from None
    missing = [name for name in SECTIONS if not isinstance(settings.get(name), dict)]
    if missing:
        raise ParameterError(f"{path} lacks [{'], ['.join(missing)}]: start from {CONFIGS}/{game}.toml")
    return settings


def override(settings: Settings, overrides: list[str]) -> Settings:
    """Return ``settings`` with each ``section.key=value``, or ``section={...}`` for a whole section, applied.

    Values are TOML; a bare word is a string. Raises ParameterError for what sets nothing.
    """
    settings = copy.deepcopy(settings)
    for text in overrides:
        name, _, value = text.partition("=")
        section, _, key = name.partition(".")
        if section not in settings or not value:
            raise ParameterError(
                f"--set {text!r} sets nothing: write section.key=value with one of {', '.join(settings)}"
            )
        try:
            parsed = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            parsed = value
        if not key and isinstance(parsed, dict):
            settings[section] = parsed
        elif key in settings[section]:
            kind = type(settings[section][key])
            kinds = ALSO.get(kind, (kind,))
            if not isinstance(parsed, kinds):
                raise ParameterError(
                    f"--set {text!r} gives {key} {parsed!r}: it takes such as {settings[section][key]!r}"
                )
            settings[section][key] = parsed
        elif key and section in OPEN_SECTIONS:
            settings[section][key] = parsed
        else:
            known = ", ".join(settings[section])
            raise ParameterError(f"--set {text!r} sets nothing: [{section}] has {known}")
    return settings


class Opponents:
    """The pool of the batch: fixed agents, and the newest snapshots of the learner if "self" is among them."""

    def __init__(self, game: dicegym.Game, settings: Settings) -> None:
        weights = dict(settings["opponents"])
        self._self_weight = weights.pop(SELF, None)
        self._keep = settings["self_play"]["keep"]
        fixed = Pool.of(game, weights) if weights else None
        self.fixed: list[Player] = list(fixed.players) if fixed else []
        self._weights = fixed.weights if fixed else []
        self.snapshots: list[Player] = []
        if self.learns_from_itself and not self.fixed:
            self.fixed, self._weights = [dicegym.players.RandomPlayer()], [1e-6]  # until the first snapshot

    @property
    def learns_from_itself(self) -> bool:
        """Whether snapshots join the pool."""
        return self._self_weight is not None

    def add_snapshot(self, player: Player) -> None:
        """Take in a snapshot; the oldest makes room."""
        self.snapshots = [*self.snapshots, player][-self._keep :]

    def pool(self) -> Pool:
        """Return the pool as it is now; the weight of "self" is shared by all snapshots."""
        share = self._self_weight / len(self.snapshots) if self.snapshots else 0.0
        return Pool(self.fixed + self.snapshots, self._weights + [share] * len(self.snapshots))


class StatePickler(pickle.Pickler):
    """Writes a checkpoint's state; fixed opponents by their number, as a bot's program cannot be written."""

    def __init__(self, file: BinaryIO, fixed: list[Player]) -> None:
        super().__init__(file)
        self._numbers = {id(player): number for number, player in enumerate(fixed)}

    def persistent_id(self, thing: object) -> int | None:
        """Return the number of a fixed opponent."""
        return self._numbers.get(id(thing))


class StateUnpickler(pickle.Unpickler):
    """Reads what `StatePickler` wrote."""

    def __init__(self, file: BinaryIO, fixed: list[Player]) -> None:
        super().__init__(file)
        self._fixed = fixed

    def persistent_load(self, number: int) -> Player:
        """Return the fixed opponent with this number."""
        return self._fixed[number]


class Conductor(BaseCallback):
    """Evaluates, takes checkpoints and snapshots at the start of a rollout, when nothing is in flight."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run  # what is due is the run's business

    def _on_rollout_start(self) -> None:
        self.run.between_rollouts(self.logger)

    def _on_step(self) -> bool:
        self.run.report(self.num_timesteps)
        return True


class Run:
    """One training run in one folder."""

    def __init__(
        self,
        game: str,
        settings: Settings,
        folder: Path,
        resume: bool = False,
        progress: Callable[[int, int, str], None] | None = None,
        command: str = "",
    ) -> None:
        self.folder = folder
        self.command = command
        self.settings = settings
        self.progress = progress or (lambda done, total, text: None)
        self.game = dicegym.game(game, **settings["game"])
        run = settings["run"]
        # PyTorch and NumPy, which Stable-Baselines3 seeds, take no larger ones.
        Parameter(0, 0, (1 << 32) - 1, "the seed of a training").check("run.seed", run["seed"])
        torch.set_num_threads(run["torch_threads"])
        self.opponents = Opponents(self.game, settings)
        self.env = SB3VecEnv(
            self.game, run["games"], seed=run["seed"], reward_scale=run["reward_scale"], opponent=self.opponents.pool()
        )
        self.next_evaluation = self.next_checkpoint = 0
        self.next_snapshot = settings["self_play"]["snapshot_every"]
        self.best = -np.inf
        self.curve: list[tuple[int, float]] = []
        self.score: Score | None = None
        self.met = np.zeros(self.game.observation_size, np.bool_)  # inputs that were not 0 at some time
        self.seconds = 0.0  # of training so far, without the present session
        self.began = time.monotonic()
        if resume and any((folder / name).exists() for name in CHECKPOINTS):
            self.model = self._restore()
        else:  # also a run that was killed before its first checkpoint
            if not resume and folder.exists() and any(folder.iterdir()):
                raise ParameterError(f"{folder} is not empty: give --resume to go on, or another --run-dir")
            self.model = self._new_model()
            self.next_checkpoint = run["checkpoint_every"]
        folder.mkdir(parents=True, exist_ok=True)
        about = {"command": command, "settings": settings}
        (folder / "settings.json").write_text(json.dumps(about, indent=1))

    def _new_model(self) -> Any:
        options = dict(self.settings["algorithm"])
        network = self.settings["network"]
        algorithm = policy.algorithm(options.pop("name"))
        end = options.pop("learning_rate_end", options["learning_rate"])
        options.pop("ent_coef_end", None)  # see anneal
        options["learning_rate"] = LinearSchedule(options["learning_rate"], end, 1.0)
        activation = getattr(torch.nn, str(network["activation"]), None)
        if activation is None:
            raise ParameterError(
                f"[network] activation={network['activation']!r} is no class of torch.nn, such as ReLU"
            )
        kwargs = {"net_arch": network["net_arch"], "activation_fn": activation}
        try:
            return algorithm(
                "MlpPolicy", self.env, seed=self.settings["run"]["seed"], policy_kwargs=kwargs, device="cpu",
                tensorboard_log=str(self.folder / "tensorboard"), verbose=0, **options,
            )  # fmt: skip
        except (TypeError, AssertionError) as error:  # what Stable-Baselines3 raises for its arguments
            raise ParameterError(f"[algorithm] does not fit {algorithm.__name__}: {error}") from None

    def learn(self) -> Any:
        """Train to the end; return the model. Ctrl-C stops with the newest checkpoint on disk."""
        steps = self.settings["run"]["steps"]
        self.model.learn(
            max(0, steps - self.model.num_timesteps), callback=Conductor(self),
            reset_num_timesteps=False, tb_log_name="run", log_interval=10,
        )  # fmt: skip
        self.evaluate(self.model.logger)
        self.save("model")
        self.checkpoint()
        return self.model

    def between_rollouts(self, logger: Any) -> None:
        """Do what is due at this many steps."""
        steps, settings = self.model.num_timesteps, self.settings
        self.anneal(steps / settings["run"]["steps"])
        self.met |= (self.model._last_obs != 0).any(axis=0)
        if steps >= self.next_evaluation:
            self.next_evaluation += settings["run"]["evaluate_every"]
            self.evaluate(logger)
        if self.opponents.learns_from_itself and steps >= self.next_snapshot:
            self.next_snapshot += settings["self_play"]["snapshot_every"]
            self.opponents.add_snapshot(self.player(f"snapshot {steps}"))
            self.env.batch.set_opponent(self.opponents.pool())
        if steps >= self.next_checkpoint:
            self.next_checkpoint += settings["run"]["checkpoint_every"]
            self.checkpoint()

    def anneal(self, done: float) -> None:
        """Let the entropy bonus fall linearly, which the algorithms themselves do for the learning rate alone."""
        options = self.settings["algorithm"]
        if "ent_coef_end" in options:
            self.model.ent_coef = (1 - done) * options["ent_coef"] + done * options["ent_coef_end"]

    def player(self, name: str = "learner") -> Player:
        """Return the learner as it is now, as a player (a copy)."""
        with policy.ignoring(self.model, ~self.met):
            return policy.PolicyPlayer(self.model, self.game, name)

    def evaluate(self, logger: Any) -> None:
        """Measure the learner against the game's yardstick; keep it if it is the best so far."""
        self.score = evaluate(self.game, self.player(), games=self.settings["run"]["evaluate_games"])
        steps = self.model.num_timesteps
        if not self.curve or self.curve[-1][0] < steps:  # a finished run that is resumed measures its end again
            self.curve.append((steps, self.score.value))
        with (self.folder / "curve.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("steps", "score"), *((n, f"{score:.9f}") for n, score in self.curve)])
        logger.record(f"evaluation/{self.score.measure}", self.score.value)
        logger.dump(steps)
        if self.score.value > self.best:
            self.best = self.score.value
            self.save("best")

    def save(self, name: str) -> None:
        """Write the learner as it is now, to be played at any table of the game."""
        with policy.ignoring(self.model, ~self.met):
            policy.save(self.model, self.game, self.folder / f"{name}.zip", self.facts())

    def facts(self) -> dict[str, Any]:
        """Return what a model file of this run says of itself."""
        return {
            "command": self.command,
            "settings": self.settings,
            "score": self.score.to_json() if self.score else None,
            "seconds": round(self.seconds + time.monotonic() - self.began, 1),
            "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
            "versions": versions(),
        }

    def report(self, steps: int) -> None:
        """Tell the progress bar."""
        text = f"{self.score}" if self.score else ""
        self.progress(steps, self.settings["run"]["steps"], text)

    def checkpoint(self) -> None:
        """Write all that going on needs; the old checkpoint stays until the new one is whole."""
        unfinished, target, old = self.folder / "checkpoint.part", *(self.folder / name for name in CHECKPOINTS)
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        policy.save(self.model, self.game, unfinished / "model.zip", self.facts(), to_go_on=True)
        kept = (
            "next_evaluation", "next_checkpoint", "next_snapshot", "best", "curve", "score", "met",
        )  # fmt: skip
        state = {name: getattr(self, name) for name in kept}
        state["seconds"] = self.seconds + time.monotonic() - self.began
        state["env"] = self.env.state_dict()
        # Stable-Baselines3 draws from all three.
        state["generators"] = (random.getstate(), np.random.get_state(), torch.get_rng_state())  # noqa: NPY002
        state["snapshots"] = self.opponents.snapshots
        with (unfinished / "state.pkl").open("wb") as file:
            StatePickler(file, self.opponents.fixed).dump(state)
        shutil.rmtree(old, ignore_errors=True)
        if target.exists():
            os.replace(target, old)
        os.replace(unfinished, target)
        shutil.rmtree(old, ignore_errors=True)

    def _restore(self) -> Any:
        folder = next(self.folder / name for name in CHECKPOINTS if (self.folder / name).exists())
        with (folder / "state.pkl").open("rb") as file:
            state = StateUnpickler(file, self.opponents.fixed).load()
        self.opponents.snapshots = state.pop("snapshots")
        self.env.batch.set_opponent(self.opponents.pool())
        about = policy.facts(folder / "model.zip")
        model = policy.algorithm(about["algorithm"]).load(folder / "model.zip", device="cpu")
        model.set_env(self.env, force_reset=False)
        self.env.load_state_dict(state.pop("env"))
        generators = state.pop("generators")
        for name, value in state.items():
            setattr(self, name, value)
        random.setstate(generators[0])
        np.random.set_state(generators[1])  # noqa: NPY002 - Stable-Baselines3 draws from it
        torch.set_rng_state(generators[2])
        return model


def versions() -> dict[str, str]:
    """Return the versions of what a trained model depends on."""
    from importlib.metadata import version

    names = ("dicegym", "gymnasium", "numba", "numpy", "sb3-contrib", "stable-baselines3", "torch")
    return {name: version(name) for name in names}


def train(
    game: str,
    folder: Path,
    config: Path | None = None,
    overrides: list[str] | None = None,
    resume: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> Run:
    """Train ``game`` in ``folder`` and return the finished run; see the top of this file.

    On resuming, the settings are those of the run's own ``settings.json``; overrides still apply on top.

    Raises ParameterError for settings or a folder that cannot work, before anything is written.
    """
    changes = [word for text in overrides or [] for word in ("--set", text)]
    if resume:
        if not (folder / "settings.json").is_file():
            raise ParameterError(f"{folder} holds no run to resume: start without --resume")
        about = json.loads((folder / "settings.json").read_text())
        settings, words = about["settings"], [*shlex.split(about["command"]), *changes]
    else:
        settings = read_config(game, config)
        words = ["dicegym", "train", game, *(["--config", str(config)] if config else []), *changes]
    settings, command = override(settings, overrides or []), shlex.join(words)
    run = Run(game, settings, folder, resume, progress, command)
    run.learn()
    for name in ("model", "best"):
        (folder / f"{name}.md").write_text(card(folder / f"{name}.zip", settings["run"]["card_games"]))
    return run


if __name__ == "__main__":
    from dicegym.cli import main

    main(["train", *sys.argv[1:]])
