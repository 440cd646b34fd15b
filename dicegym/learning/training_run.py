"""The training of a Stable-Baselines3 agent on a game, from start to end.

A resumed run continues exactly if its opponents keep no memory and draw only by the keys of games (bots with
``PURE = True``, compiled twins, models, past selves), and its algorithm keeps no replay buffer (PPO, MaskablePPO, A2C).
Otherwise it continues with new games of the same seeds, or an empty buffer. `RandomPlayer`, the opponent of self-play
before its first snapshot, restarts its generator. Ctrl-C, SIGTERM and SIGHUP write a checkpoint from before the current
rollout; a second signal leaves at once. A finished run stays as it is, unless --steps asks for more.
`dicegym.learning.run_folder` lists the files of a run.
"""

from __future__ import annotations

import shlex
import signal
import time
from collections.abc import Callable
from typing import Any, NoReturn

import torch
from stable_baselines3.common.logger import Logger

from dicegym.errors import ParameterError
from dicegym.games.worth import Progress
from dicegym.learning.card import card, collect_versions, write_card
from dicegym.learning.configuration import AboutRun, about_run, to_plain, write_about
from dicegym.learning.curves import BEGAN_WITH, PaceLog, curve_fact
from dicegym.learning.evaluate import Evaluator, Score, next_evaluation
from dicegym.learning.learner import LearningAgent, TrainingCallback
from dicegym.learning.preparation import Prepared, find_program
from dicegym.learning.run_folder import newest_checkpoint
from dicegym.learning.run_state import RunState, restore, take_moment, write_checkpoint
from dicegym.players import model as models
from dicegym.players import model_file
from dicegym.signals import SignalInterrupt, on_signals


class Run:
    """One training run in one folder.

    Args:
        prepared: its settings and folder; a run to resume continues from the newest checkpoint in the folder.
        progress: called with (steps done, total steps, text).
        evaluated: called with (steps, score) after every evaluation; an exception from it ends the run.

    Attributes:
        finished: whether nothing was left to do when this session began.
    """

    def __init__(
        self,
        prepared: Prepared,
        progress: Progress | None = None,
        evaluated: Callable[[int, Score], None] | None = None,
    ) -> None:
        self.game, settings, self.command, folder, resume, self.finished = prepared
        run = settings.run
        torch.set_num_threads(run.torch_threads)
        self.settings, self.folder = settings, folder
        self.progress = progress or (lambda done, total, text: None)
        self.evaluated = evaluated or (lambda steps, score: None)
        self.signal: int | None = None
        """The signal that ends this session."""
        self.evaluator = Evaluator(self.game, run)
        self.seconds, self.began = 0.0, time.monotonic()  # before this session, and when it began
        newest = newest_checkpoint(folder) if resume else None
        if resume and not newest and about_run(folder).finished:  # it would start over, and replace its models
            raise ParameterError(
                f"{folder} holds a finished run without its checkpoint: begin a new run with "
                f"--set run.start_from={folder / 'best.zip'}"
            )
        logs = folder / "tensorboard" if "tensorboard" in run.log else None
        if newest:
            self.learner, self.state, self.seconds = restore(newest, lambda: LearningAgent(self.game, settings, logs))
        else:  # new, or killed before its first checkpoint
            self.learner = LearningAgent(self.game, settings, logs)
            self.state = RunState(run.checkpoint_every, settings.self_play.snapshot_every)
            if run.start_from:
                self.state.began_with = self.learner.start_from(run.start_from)
        self.model = self.learner.model
        self.first = self.model.num_timesteps  # of this session, which may have other intervals
        self.state.next_checkpoint = min(self.state.next_checkpoint, self.first + run.checkpoint_every)
        self.state.next_evaluation = min(self.state.next_evaluation, next_evaluation(self.first, run.evaluate_every))
        folder.mkdir(parents=True, exist_ok=True)
        self.note(self.finished)  # first: a run without it cannot be resumed
        self.pace = PaceLog(folder, self.first)

    def note(self, finished: bool) -> None:
        """Write the command and the settings, and whether the run is finished."""
        write_about(self.folder, AboutRun(shlex.split(self.command), to_plain(self.settings), finished))

    def learn(self) -> None:
        """Train to the end.

        Raises KeyboardInterrupt when it was interrupted, with model and checkpoint on disk.
        """
        self.stopped = False
        with on_signals(self.interrupt, once=True):
            self.model.learn(
                max(0, self.settings.run.steps - self.model.num_timesteps),
                callback=TrainingCallback(self.between_rollouts, self.after_step),
                reset_num_timesteps=False,
                tb_log_name="run",
                log_interval=10,
            )
        if self.stopped:
            self.leave()
        self.follow()
        self.mark()
        if self.signal is not None:  # it came during the last update
            self.leave()
        self.checkpoint()  # before the evaluation, which takes time: Ctrl-C must not lose the run
        self.evaluate(self.model.logger)
        self.save("model")
        if (best := self.folder / "best.zip").is_file():  # its curve also has the evaluations after it was saved
            model_file.replace_facts(best, curve_fact(self.state.curve.evaluations))
        self.mark()
        self.checkpoint()

    def write_cards(self) -> None:
        """Write the cards of the models, unless the settings turn them off."""
        games = self.settings.run.card_games
        for model in (self.folder / "model.zip", self.folder / "best.zip") if games else ():

            def progress(done: int, total: int, text: str, name: str = model.name) -> None:
                self.tell(f"{self.score}; card of {name}, {done + 1} of {total}: {text}")

            write_card(model, card(model, games, progress=progress, trust=True))

    def leave(self) -> NoReturn:
        """Save the run, and raise KeyboardInterrupt."""
        self.checkpoint()
        self.save("model")
        where = f"{self.model.num_timesteps:,} steps are saved in {self.folder}"
        raise SignalInterrupt(self.signal or signal.SIGINT, f"{where}: {self.again()}")

    def again(self) -> str:
        """Return, in words, the command that resumes the run."""
        trust = " --trust" if find_program(self.game, self.settings) else ""
        return f"`dicegym train {self.game.name} --run-dir {shlex.quote(str(self.folder))} --resume{trust}` continues"

    def between_rollouts(self, logger: Logger) -> None:
        """Evaluate, update the league and write a checkpoint where these are due."""
        steps, run, state, league = self.model.num_timesteps, self.settings.run, self.state, self.learner.league
        self.pace.note(self.count_seconds(), steps, state.games)
        if self.signal is not None:  # the first step ends the training
            self.mark()
            return
        bonus, at_end, done = self.settings.algorithm.ent_coef, self.settings.algorithm.ent_coef_end, steps / run.steps
        if bonus is not None and at_end is not None:  # algorithms anneal only the learning rate themselves
            vars(self.model)["ent_coef"] = (1 - done) * bonus + done * at_end
        self.learner.look()
        self.follow()
        if steps >= state.next_evaluation:
            state.next_evaluation = next_evaluation(steps, run.evaluate_every)
            self.evaluate(logger)
        if league.learns_from_itself and steps >= state.next_snapshot:
            state.next_snapshot += self.settings.self_play.snapshot_every
            self.learner.join_league()
            league.table.write(self.folder, league.shares())
        due = steps >= state.next_checkpoint
        state.next_checkpoint += due * run.checkpoint_every
        self.mark()
        if due:
            self.checkpoint()

    def follow(self) -> None:
        """Add the current networks to their average, if the settings ask for one."""
        learned = self.model.num_timesteps > 0 or bool(self.state.began_with)  # not fresh networks
        if self.settings.run.average and learned:
            self.learner.average.follow(self.model, self.settings.run.average)

    def after_step(self, steps: int, ended: int) -> bool:
        """Count games and report progress; return whether the training continues."""
        self.state.games += ended
        speed = (steps - self.first) / max(time.monotonic() - self.began, 1e-9)
        text = f"{self.state.games:,} games, {speed:,.0f} steps/s{f', {self.score}' if self.score else ''}"
        others = [one for one in self.state.curve.scores if self.score and one.opponent != self.score.opponent]
        text += "".join(f"; {one.value:.4f} against {one.opponent}" for one in others)
        self.tell(text)
        self.stopped = self.signal is not None
        return not self.stopped

    def interrupt(self, number: int) -> None:
        """Stop by the signal ``number`` once the state can be written; at once before the first step."""
        if self.model.num_timesteps == self.first:  # kernels may compile for minutes, and there is nothing to write
            raise SignalInterrupt(number)
        self.signal = number
        self.tell("saving; Ctrl-C again leaves at once")

    def tell(self, text: str) -> None:
        """Report progress with a text."""
        steps = self.model.num_timesteps
        self.progress(steps, max(steps, self.settings.run.steps), text)  # the last rollout is whole

    def evaluate(self, logger: Logger) -> None:
        """Measure the learner, and save it if it is the best so far."""
        steps, curve = self.model.num_timesteps, self.state.curve
        score, scores = self.evaluator.measure(self.learner.play_average("learner"))
        better = curve.add(steps, score, scores, self.evaluator.takes_last)
        curve.write(self.folder)
        curve.log(logger, steps)
        self.pace.note(self.count_seconds(), steps, self.state.games, now=True)
        if better:
            self.save("best")
        self.evaluated(steps, score)

    def save(self, name: str) -> None:
        """Write a model file of the learner, or of its average."""
        self.learner.save(self.folder / f"{name}.zip", self.facts())

    def facts(self) -> dict[str, Any]:
        """Return the facts for a model file of this run."""
        began_with = self.state.began_with
        return {
            "command": self.command,
            "settings": to_plain(self.settings),
            "score": self.score.to_json() if self.score else None,
            "scores": [score.to_json() for score in self.state.curve.scores],
            "seconds": round(self.count_seconds(), 1),
            **curve_fact(self.state.curve.evaluations),
            **({"taught_by": teacher} if (teacher := getattr(self.model, "teacher", None)) else {}),
            **({BEGAN_WITH: began_with} if began_with else {}),
            **models.playing(self.model, self.game, self.settings.run.temperature),
            **collect_versions(),
        }

    def count_seconds(self) -> float:
        """Return the seconds of training so far."""
        return self.seconds + time.monotonic() - self.began

    @property
    def score(self) -> Score | None:
        """The score of the latest evaluation."""
        return self.state.curve.score

    def mark(self) -> None:
        """Keep the current state, to which `checkpoint` returns."""
        self.start = take_moment(self.state, self.learner)

    def checkpoint(self) -> None:
        """Write the state at the start of the current rollout, and return the model to its steps."""
        write_checkpoint(self.folder, self.start, self.learner, self.facts(), self.count_seconds())
