"""Train a Stable-Baselines3 agent on a game of dicegym: one readable file.

    dicegym train hog --run-dir runs/hog
    dicegym train hog --run-dir runs/hog --resume
    dicegym train hog --run-dir runs/short --set run.steps=500000 --set opponents='{"bacon"=1,"self"=1}'

A resumed run goes on exactly where the checkpoint was taken if its opponents remember and draw nothing (bots with
``PURE = True``, models, past selves) and its algorithm keeps no replay buffer (PPO, MaskablePPO, A2C). Otherwise it
goes on with new games of the same seeds, or an empty buffer. Ctrl-C takes a checkpoint, at the cost of the games
played since the networks were last updated, so that resuming is exact then too; pressed again it leaves at once.

The run's folder then holds

    settings.json   the command and all settings, overrides included
    curve.csv       steps and score of every evaluation, and the result against each opponent if there are several;
                    the same command and seed give the same file
    league.csv      who beat whom among past selves, scripted agents and exploiters, if the learner plays against
    league.md       itself: to be read by programs and by people (or with `dicegym league`)
    tensorboard/    everything that the algorithm logs
    checkpoint/     the newest checkpoint, from which --resume goes on
    best.zip        the model with the best evaluation so far, and best.md, its card
    model.zip       the model at the end, and model.md, its card
"""

from __future__ import annotations

import contextlib
import copy
import csv
import json
import random
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import LinearSchedule

import dicegym
from dicegym.engine.dice import named_seed
from dicegym.engine.spec import Parameter
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.errors import ParameterError
from dicegym.learning import checkpoint, league
from dicegym.learning import settings as sections
from dicegym.learning.card import card, made_with
from dicegym.learning.evaluate import CURVE_SEED, Score, evaluate, overall, rivals_of
from dicegym.learning.settings import Settings
from dicegym.play.player import Player
from dicegym.players import model as policy

CONFIGS = Path(__file__).parent / "configs"
SECTIONS = ("game", "run", "opponents", "self_play", "algorithm", "network")
OPEN_SECTIONS = ("opponents", "algorithm", "game")
"""Sections whose keys are checked by those who take them, so that any may be added."""
DEFAULTS = {
    "run": {"evaluate_against": [], "best_by": "mean", "less_luck": False, "target": 0.0, "start_from": ""},
    "self_play": league.DEFAULTS,
}
"""What configurations and runs that know nothing of these settings mean by that."""
STAGE = ("command", "timesteps", "seconds", "began_with")
"""What a model says of the one whose networks it began with."""
CHANGEABLE = tuple(
    f"run.{name}" for name in ("steps", "target", "torch_threads", "evaluate_every", "checkpoint_every", "card_games")
)
"""What a resumed run may do otherwise than before: the rest is built into its networks, games and league."""
COUNTS = ("steps", "evaluate_every", "evaluate_games", "card_games", "checkpoint_every")
LARGEST_SEED = (1 << 32) - 1
"""PyTorch and NumPy, which Stable-Baselines3 seeds, take no larger ones."""

KEPT = (
    "next_evaluation",
    "next_checkpoint",
    "next_snapshot",
    "next_exploiter",
    "best",
    "curve",
    "score",
    "scores",
    "met",
    "games",
    "began_with",
)
"""What a checkpoint holds of `Run`."""
IN_FLIGHT = ("num_timesteps", "_last_obs", "_last_episode_starts")
"""What a model changes while it plays, before its networks learn from that."""


def read_config(game: str, config: Path | None = None) -> Settings:
    """Return the settings in ``configs/<game>.toml``, or in ``config``. Raises ParameterError without one."""
    path = config or CONFIGS / f"{game}.toml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in CONFIGS.glob("*.toml")))
        raise ParameterError(f"there is no configuration {path}: give one with --config; there are {known}")
    return complete(sections.read_settings(path, SECTIONS, CONFIGS / f"{game}.toml"))


def complete(settings: Settings) -> Settings:
    """Return ``settings`` with those that have a default filled in."""
    return settings | {name: defaults | settings[name] for name, defaults in DEFAULTS.items()}


def override(settings: Settings, overrides: list[str]) -> Settings:
    """Return ``settings`` with ``overrides`` applied; see `dicegym.learning.settings.override`."""
    return sections.override(settings, overrides, OPEN_SECTIONS)


class StopTraining(Exception):  # noqa: N818 - nothing is wrong
    """Leaves Stable-Baselines3's loop: the run is interrupted, or its target is reached."""


class Interruptible(BaseCallback):
    """Lets a training be interrupted."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run  # what is due is the run's business

    def _on_step(self) -> bool:
        self.run.stop_if_interrupted()
        return True


class Conductor(Interruptible):
    """Tells the run when it may act: at the start of a rollout nothing is in flight."""

    def _on_rollout_start(self) -> None:
        self.run.between_rollouts(self.logger)

    def _on_step(self) -> bool:
        self.run.after_step(self.num_timesteps, int(np.sum(self.locals["dones"])))
        return super()._on_step()


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
        self.settings = settings = complete(settings)
        self.progress = progress or (lambda done, total, text: None)
        self.game = dicegym.game(game, **settings["game"])
        run = settings["run"]
        Parameter(0, 0, LARGEST_SEED, "the seed of a training").check("run.seed", run["seed"])
        for name in COUNTS:
            Parameter(1, 1, 1 << 40, f"{name} of a training").check(f"run.{name}", run[name])
        torch.set_num_threads(run["torch_threads"])
        self.rivals = [rivals_of(self.game, against) for against in run["evaluate_against"] or [None]]
        self._check_best_by()
        self.league = league.League(self.game, settings["opponents"], settings["self_play"])
        self.env = self._games(run["seed"], self.league.pool())
        self.next_evaluation = self.next_checkpoint = 0
        self.next_snapshot = settings["self_play"]["snapshot_every"]
        self.next_exploiter = settings["self_play"]["exploiter_every"]
        self.best = -np.inf
        self.curve: list[tuple[float, ...]] = []  # steps, score, and the result against each opponent
        self.score: Score | None = None
        self.scores: list[Score] = []
        self.met = np.zeros(self.game.observation_size, np.bool_)  # inputs that were not 0 at some time
        self.began_with: dict[str, Any] = {}
        self.games = 0  # played to their end by the learner
        self.seconds = 0.0  # of training so far, without the present session
        self.began = time.monotonic()
        self.interrupted = False
        self.start: dict[str, Any] = {}  # the state at the start of the present rollout
        if resume and checkpoint.newest(folder):
            self.model = self._restore()
        else:  # also a run that was killed before its first checkpoint
            if not resume and folder.exists() and any(folder.iterdir()):
                raise ParameterError(f"{folder} is not empty: give --resume to go on, or another --run-dir")
            self.model = self._new_model(self.env, run["seed"], folder / "tensorboard")
            if run["start_from"]:
                self._start_from(run["start_from"])
            self.next_checkpoint = run["checkpoint_every"]
        self.first = self.model.num_timesteps  # of this session
        folder.mkdir(parents=True, exist_ok=True)
        about = {"command": command, "settings": settings}
        (folder / "settings.json").write_text(json.dumps(about, indent=1))

    def _check_best_by(self) -> None:
        names = [", ".join(player.name for player in rivals) for rivals in self.rivals]
        overall([Score("", name, 0.0, 0.0, 0.0, 0) for name in names], self.settings["run"]["best_by"])

    def _games(self, seed: int, opponent: Any) -> SB3VecEnv:
        """Return a batch of games; game i has the seed ``seed + i``, which no evaluation has."""
        run = self.settings["run"]
        return SB3VecEnv(self.game, run["games"], seed=seed, reward_scale=run["reward_scale"], opponent=opponent)

    def _new_model(self, env: SB3VecEnv, seed: int, logs: Path | None) -> Any:
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
                "MlpPolicy",
                env,
                seed=seed,
                policy_kwargs=kwargs,
                device="cpu",
                tensorboard_log=logs and str(logs),
                verbose=0,
                **options,
            )
        except (TypeError, AssertionError) as error:  # what Stable-Baselines3 raises for its arguments
            raise ParameterError(f"[algorithm] does not fit {algorithm.__name__}: {error}") from None

    def _start_from(self, path: str) -> None:
        """Take over the networks of a model file. Raises ModelError, ParameterError if they do not fit."""
        other, _ = policy.load_model(path, self.game)
        try:
            self.model.policy.load_state_dict(other.policy.state_dict())
            self.met |= policy.heeded(other)
            about = policy.facts(path)
            self.began_with = {name: about[name] for name in STAGE if name in about} | {"path": path}
        except (RuntimeError, AttributeError) as error:
            wanted = policy.facts(path).get("settings", {}).get("network", "those of that model")
            raise ParameterError(
                f"run.start_from={path!r} has other networks than [network] says: set [network] to {wanted}"
            ) from error

    def learn(self) -> Any:
        """Train to the end or to the target; return the model.

        Raises KeyboardInterrupt when it was interrupted, with model and checkpoint on disk.
        """
        steps = self.settings["run"]["steps"]
        try:
            with on_interrupt(self.interrupt):
                self.model.learn(
                    max(0, steps - self.model.num_timesteps),
                    callback=Conductor(self),
                    reset_num_timesteps=False,
                    tb_log_name="run",
                    log_interval=10,
                )
        except StopTraining:
            if self.interrupted:
                self.checkpoint()
                self.save("model")
                where = f"{self.model.num_timesteps:,} steps are saved in {self.folder}"
                raise KeyboardInterrupt(f"{where}: --resume goes on") from None
        self.start = self.state()
        self.checkpoint()  # measuring takes time, in which Ctrl-C must not cost the run
        self.evaluate(self.model.logger)
        self.save("model")
        self.start = self.state()
        self.checkpoint()
        return self.model

    def interrupt(self) -> None:
        """Stop as soon as the state of the run can be written."""
        self.interrupted = True
        self.progress(self.model.num_timesteps, self.settings["run"]["steps"], "saving; Ctrl-C again leaves at once")

    def stop_if_interrupted(self) -> None:
        """Leave the loop if that is wanted."""
        if self.interrupted:
            raise StopTraining

    def between_rollouts(self, logger: Any) -> None:
        """Do what is due at this many steps."""
        steps, settings = self.model.num_timesteps, self.settings
        self.start = self.state()
        self.stop_if_interrupted()
        self.anneal(steps / settings["run"]["steps"])
        self.met |= (self.model._last_obs != 0).any(axis=0)
        if steps >= self.next_evaluation:
            self.next_evaluation += settings["run"]["evaluate_every"]
            self.evaluate(logger)
        if settings["run"]["target"] and self.score and self.score.value >= settings["run"]["target"]:
            raise StopTraining
        if self.league.learns_from_itself and steps >= self.next_snapshot:
            self.next_snapshot += settings["self_play"]["snapshot_every"]
            self.renew_league(steps)
        due = steps >= self.next_checkpoint
        self.next_checkpoint += due * settings["run"]["checkpoint_every"]
        self.start = self.state()
        if due:
            self.checkpoint()

    def after_step(self, steps: int, ended: int) -> None:
        """Count games and tell the progress bar."""
        self.games += ended
        speed = (steps - self.first) / max(time.monotonic() - self.began, 1e-9)
        text = f"{self.games:,} games, {speed:,.0f} steps/s{f', {self.score}' if self.score else ''}"
        self.progress(steps, self.settings["run"]["steps"], text)

    def anneal(self, done: float) -> None:
        """Let the entropy bonus fall linearly, which the algorithms themselves do for the learning rate alone."""
        options = self.settings["algorithm"]
        if "ent_coef_end" in options:
            self.model.ent_coef = (1 - done) * options["ent_coef"] + done * options["ent_coef_end"]

    def renew_league(self, steps: int) -> None:
        """Let the learner as it is now join the league, and an exploiter if one is due."""
        settings = self.settings["self_play"]
        now = self.player(f"snapshot {steps}")
        self.league.join(league.Member(now.name, league.PAST_SELF, now, steps))
        if settings["exploiter_every"] and steps >= self.next_exploiter:
            self.next_exploiter += settings["exploiter_every"]
            exploiter = self.exploiter(now, f"exploiter {steps}")
            self.league.join(league.Member(exploiter.name, league.EXPLOITER, exploiter, steps))
        self.env.batch.set_opponent(self.league.pool())
        self.league.table.write(self.folder, self.league.shares())

    def exploiter(self, target: Player, name: str) -> Player:
        """Return a copy of the learner, or a fresh network, that was trained against ``target`` alone."""
        settings, drawn = self.settings["self_play"], generators()
        seed = named_seed(name, self.settings["run"]["seed"]) % (LARGEST_SEED + 1)
        model = self._new_model(self._games(seed, target), seed, None)
        if not settings["exploiter_fresh"]:
            model.policy.load_state_dict(self.model.policy.state_dict())
        model.learn(settings["exploiter_steps"], callback=Interruptible(self))
        set_generators(drawn)  # as if nothing had happened
        return policy.PolicyPlayer(model, self.game, name)

    def player(self, name: str = "learner") -> Player:
        """Return the learner as it is now, as a player (a copy)."""
        with policy.ignoring(self.model, ~self.met):
            return policy.PolicyPlayer(self.model, self.game, name)

    def evaluate(self, logger: Any) -> None:
        """Measure the learner against the opponents that the settings name; keep it if it is the best so far."""
        run, steps, learner = self.settings["run"], self.model.num_timesteps, self.player()
        self.scores = [
            evaluate(self.game, learner, rivals, run["evaluate_games"], seed=CURVE_SEED, less_luck=run["less_luck"])
            for rivals in self.rivals
        ]
        self.score = overall(self.scores, run["best_by"])
        several = self.scores if len(self.scores) > 1 else []
        if not self.curve or self.curve[-1][0] < steps:  # a finished run that is resumed measures its end again
            self.curve.append((steps, self.score.value, *(score.value for score in several)))
        with (self.folder / "curve.csv").open("w", newline="") as file:
            csv.writer(file).writerow(["steps", "score", *(score.opponent for score in several)])
            csv.writer(file).writerows([n, *(f"{value:.9f}" for value in values)] for n, *values in self.curve)
        logger.record(f"evaluation/{self.score.measure}", self.score.value)
        for score in several:
            logger.record(f"evaluation/against {score.opponent}", score.value)
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
            "scores": [score.to_json() for score in self.scores],
            "seconds": round(self.seconds + time.monotonic() - self.began, 1),
            **({"began_with": self.began_with} if self.began_with else {}),
            **made_with(),
        }

    def state(self) -> dict[str, Any]:
        """Return all that going on from here needs but the networks; what happens later does not change it."""
        return {
            "run": {name: copy.copy(getattr(self, name)) for name in KEPT},
            "model": {name: copy.copy(getattr(self.model, name)) for name in IN_FLIGHT},
            "env": self.env.state_dict(),
            "league": self.league.state_dict(),
            "generators": generators(),
        }

    def checkpoint(self) -> None:
        """Write the state at the start of the present rollout; the model goes back there too."""
        for name, value in self.start["model"].items():
            setattr(self.model, name, value)
        state = self.start | {"seconds": self.seconds + time.monotonic() - self.began}

        def fill(folder: Path) -> None:
            policy.save(self.model, self.game, folder / "model.zip", self.facts(), to_go_on=True)
            checkpoint.dump(state, folder / "state.pkl", self.league.fixed)

        checkpoint.replace(self.folder, fill)

    def _restore(self) -> Any:
        folder = checkpoint.newest(self.folder)
        state = checkpoint.load(folder / "state.pkl", self.league.fixed)
        self.league.load_state_dict(state["league"])
        self.env.batch.set_opponent(self.league.pool())
        about = policy.facts(folder / "model.zip")
        model = policy.algorithm(about["algorithm"]).load(folder / "model.zip", device="cpu")
        model.set_env(self.env, force_reset=False)
        self.env.load_state_dict(state["env"])
        self.seconds = state["seconds"]
        for name, value in state["run"].items():
            setattr(self, name, value)
        set_generators(state["generators"])
        return model


def generators() -> tuple[Any, Any, Any]:
    """Return the state of all that Stable-Baselines3 draws from."""
    return random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002


def set_generators(states: tuple[Any, Any, Any]) -> None:
    """Set what `generators` returned."""
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002
    torch.set_rng_state(states[2])


@contextlib.contextmanager
def on_interrupt(act: Callable[[], None]) -> Iterator[None]:
    """Call ``act`` at the first Ctrl-C; the second one is as it was before, also outside the main thread."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return

    def handle(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, before)
        act()

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def train(
    game: str,
    folder: Path,
    config: Path | None = None,
    overrides: list[str] | None = None,
    resume: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> Run:
    """Train ``game`` in ``folder`` and return the finished run; see the top of this file.

    On resuming, the settings are those of the run's own ``settings.json``; of `CHANGEABLE` overrides apply on top.

    Raises:
        ParameterError: settings or a folder cannot work; nothing was written.
        KeyboardInterrupt: it was interrupted; see `Run.learn`.
    """
    changes = [word for text in overrides or [] for word in ("--set", text)]
    if resume:
        if not (folder / "settings.json").is_file():
            raise ParameterError(f"{folder} holds no run to resume: start without --resume")
        for text in overrides or []:
            if text.partition("=")[0] not in CHANGEABLE:
                raise ParameterError(
                    f"--set {text!r} cannot change what a run began with: resuming takes {', '.join(CHANGEABLE)}; "
                    "for anything else begin a new run with --set run.start_from=MODEL"
                )
        about = json.loads((folder / "settings.json").read_text())
        settings, words = complete(about["settings"]), [*shlex.split(about["command"]), *changes]
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
