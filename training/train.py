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

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.logger import Logger

import dicegym
from dicegym.errors import ParameterError
from dicegym.learning import checkpoint
from dicegym.learning.card import card, made_with
from dicegym.learning.configuration import SETTINGS_FILE, settings_of, to_plain
from dicegym.learning.curve import Evaluator
from dicegym.learning.evaluate import Score
from dicegym.learning.exploiter import exploiter
from dicegym.learning.interruption import Interruptible, Interruption, StopTraining, on_interrupt
from dicegym.learning.league import EXPLOITER, PAST_SELF, League, Member
from dicegym.learning.learner import anneal, as_player, new_games, new_model, start_from
from dicegym.learning.settings import TrainingSettings
from dicegym.learning.state import Moment, RunState, restored
from dicegym.players import model as models

Progress = Callable[[int, int, str], None]
"""Is told (steps done, steps in all, text)."""


class Conductor(Interruptible):
    """Tells the run when it may act: at the start of a rollout nothing is in flight."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.interruption)
        self.run = run

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
        settings: TrainingSettings,
        folder: Path,
        resume: bool = False,
        progress: Progress | None = None,
        command: str = "",
    ) -> None:
        run = settings.run
        torch.set_num_threads(run.torch_threads)
        self.settings, self.folder, self.command = settings, folder, command
        self.progress = progress or (lambda done, total, text: None)
        self.interruption = Interruption()
        self.game = dicegym.game(game, **settings.game)
        self.evaluator = Evaluator(self.game, run)
        self.league = League(self.game, settings.opponents, settings.self_play)
        self.env = new_games(self.game, run, run.seed, self.league.pool())
        self.seconds, self.began = 0.0, time.monotonic()  # before this session, and when it began
        self.state = RunState(
            next_evaluation=0,
            next_checkpoint=run.checkpoint_every,
            next_snapshot=settings.self_play.snapshot_every,
            next_exploiter=settings.self_play.exploiter_every,
            met=np.zeros(self.game.observation_size, np.bool_),
        )
        newest = checkpoint.newest(folder) if resume else None
        if newest:
            self.model, moment = restored(newest, self.env, self.league)
            self.state, self.seconds = moment.run, moment.seconds
        else:  # also a run that was killed before its first checkpoint
            if not resume and folder.exists() and any(folder.iterdir()):
                raise ParameterError(f"{folder} is not empty: give --resume to go on, or another --run-dir")
            self.model = new_model(settings, self.env, run.seed, folder / "tensorboard")
            if run.start_from:
                self.state.began_with, heeded = start_from(self.model, run.start_from, self.game)
                self.state.met |= heeded
        self.first = self.model.num_timesteps  # of this session
        self.start = self.now()  # of the present rollout
        folder.mkdir(parents=True, exist_ok=True)
        about = {"command": command, "settings": to_plain(settings)}
        (folder / SETTINGS_FILE).write_text(json.dumps(about, indent=1))

    def learn(self) -> BaseAlgorithm:
        """Train to the end or to the target; return the model.

        Raises KeyboardInterrupt when it was interrupted, with model and checkpoint on disk.
        """
        try:
            with on_interrupt(self.interrupt):
                self.model.learn(
                    max(0, self.settings.run.steps - self.model.num_timesteps),
                    callback=Conductor(self),
                    reset_num_timesteps=False,
                    tb_log_name="run",
                    log_interval=10,
                )
        except StopTraining:
            if self.interruption.wanted:
                self.checkpoint()
                self.save("model")
                where = f"{self.model.num_timesteps:,} steps are saved in {self.folder}"
                raise KeyboardInterrupt(f"{where}: --resume goes on") from None
        self.start = self.now()
        self.checkpoint()  # measuring takes time, in which Ctrl-C must not cost the run
        self.evaluate(self.model.logger)
        self.save("model")
        self.start = self.now()
        self.checkpoint()
        return self.model

    def between_rollouts(self, logger: Logger) -> None:
        """Do what is due at this many steps."""
        steps, run, state = self.model.num_timesteps, self.settings.run, self.state
        self.start = self.now()
        self.interruption.stop_if_wanted()
        anneal(self.model, self.settings.algorithm, steps / run.steps)
        state.met |= (np.asarray(self.model._last_obs) != 0).any(axis=0)
        if steps >= state.next_evaluation:
            state.next_evaluation += run.evaluate_every
            self.evaluate(logger)
        if run.target and self.score and self.score.value >= run.target:
            raise StopTraining
        if self.league.learns_from_itself and steps >= state.next_snapshot:
            state.next_snapshot += self.settings.self_play.snapshot_every
            self.renew_league(steps)
        due = steps >= state.next_checkpoint
        state.next_checkpoint += due * run.checkpoint_every
        self.start = self.now()
        if due:
            self.checkpoint()

    def after_step(self, steps: int, ended: int) -> None:
        """Count games and tell the progress bar."""
        self.state.games += ended
        speed = (steps - self.first) / max(time.monotonic() - self.began, 1e-9)
        text = f"{self.state.games:,} games, {speed:,.0f} steps/s{f', {self.score}' if self.score else ''}"
        self.progress(steps, self.settings.run.steps, text)

    def interrupt(self) -> None:
        """Stop as soon as the state of the run can be written."""
        self.interruption.wanted = True
        self.progress(self.model.num_timesteps, self.settings.run.steps, "saving; Ctrl-C again leaves at once")

    def evaluate(self, logger: Logger) -> None:
        """Measure the learner; keep it if it is the best so far."""
        steps, curve = self.model.num_timesteps, self.state.curve
        better = curve.add(steps, *self.evaluator.measure(as_player(self.model, self.game, self.state.met)))
        curve.write(self.folder / "curve.csv")
        curve.log(logger, steps)
        if better:
            self.save("best")

    def renew_league(self, steps: int) -> None:
        """Let the learner as it is now join the league, and an exploiter if one is due."""
        every = self.settings.self_play.exploiter_every
        now = as_player(self.model, self.game, self.state.met, f"snapshot {steps}")
        self.league.join(Member(now.name, PAST_SELF, now, steps))
        if every and steps >= self.state.next_exploiter:
            self.state.next_exploiter += every
            name = f"exploiter {steps}"
            trained = exploiter(self.game, self.settings, self.model, now, name, self.interruption)
            self.league.join(Member(name, EXPLOITER, trained, steps))
        self.env.batch.set_opponent(self.league.pool())
        self.league.table.write(self.folder, self.league.shares())

    def save(self, name: str) -> None:
        """Write the learner as it is now, to be played at any table of the game."""
        with models.ignoring(self.model, ~self.state.met):
            models.save(self.model, self.game, self.folder / f"{name}.zip", self.facts())

    def facts(self) -> dict[str, Any]:
        """Return what a model file of this run says of itself."""
        began_with = self.state.began_with
        return {
            "command": self.command,
            "settings": to_plain(self.settings),
            "score": self.score.to_json() if self.score else None,
            "scores": [score.to_json() for score in self.state.curve.scores],
            "seconds": round(self.seconds + time.monotonic() - self.began, 1),
            **({"began_with": began_with} if began_with else {}),
            **made_with(),
        }

    @property
    def score(self) -> Score | None:
        """The learner's result of the latest evaluation."""
        return self.state.curve.score

    def now(self) -> Moment:
        """Return the state of the run at this moment."""
        return Moment.now(self.state, self.model, self.env, self.league)

    def checkpoint(self) -> None:
        """Write the state at the start of the present rollout; the model goes back there too."""
        seconds = self.seconds + time.monotonic() - self.began
        self.start.write(self.folder, self.model, self.game, self.facts(), self.league.fixed, seconds)


def train(
    game: str,
    folder: Path,
    config: Path | None = None,
    overrides: list[str] | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> Run:
    """Train ``game`` in ``folder`` and return the finished run; see the top of this file.

    On resuming, the settings are those of the run's own ``settings.json`` with what may change; see `settings_of`.

    Raises:
        ParameterError: settings or a folder cannot work; nothing was written.
        KeyboardInterrupt: it was interrupted; see `Run.learn`.
    """
    settings, command = settings_of(game, folder, config, overrides or [], resume)
    run = Run(game, settings, folder, resume, progress, command)
    run.learn()
    for name in ("model", "best"):
        (folder / f"{name}.md").write_text(card(folder / f"{name}.zip", run.settings.run.card_games))
    return run


if __name__ == "__main__":
    from dicegym.cli import main

    main(["train", *sys.argv[1:]])
