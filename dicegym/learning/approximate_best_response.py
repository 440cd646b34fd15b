"""A best response to a fixed player, by training: how much can be won of it where nobody can compute that.

A trained best response is a bound from below: longer or better training may find one that wins more. It is trained by
the settings of the game's own training against the player alone, at a table filled with copies of it; the best of its
training, by games of its curve, is measured in fresh ones, from every seat in turn, playing its best action, as against
a fixed player nobody has to hide anything. Exploiters are trained against the learner of one moment: those of a league
join it, and those of evaluations say how much is left to the learner.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.logger import Logger

from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.validate import MOST, finite_number, whole_number
from dicegym.errors import ParameterError
from dicegym.games import game as make_game
from dicegym.games.worth import Progress
from dicegym.learning.building import new_games, new_model
from dicegym.learning.card import ITSELF, Exploited, collect_versions
from dicegym.learning.configuration import from_plain, read_config, to_plain
from dicegym.learning.evaluate import CURVE_SEED, FRESH_SEED, LEAGUE_SEED, Score, evaluate
from dicegym.learning.evaluator import EXPLOITER
from dicegym.learning.learner import (
    Interruptible,
    Interruption,
    LearnerNetworks,
    StopTraining,
    TrainingCallback,
    anneal,
    as_player,
    keep_generators,
    load_networks,
    start_from,
    with_enough_critic,
)
from dicegym.learning.training_settings import LARGEST_TRAINING_SEED, TrainingSettings
from dicegym.play.player import Player
from dicegym.players import model as models
from dicegym.players.model import PolicyPlayer
from dicegym.players.pool import Pool
from dicegym.players.roster import model_file, opponent

LOOKS = 8
"""How often a best response is measured while it is trained; the best of them counts."""
LOOK_GAMES = 1000
GAMES = 5000
"""Fresh games that the result is measured in, unless told otherwise."""


def settings_for(game: Game, start: str = "") -> TrainingSettings:
    """Return by which settings a best response is trained: the game's own, with the networks of ``start``, a model.

    Raises ModelError if ``start`` is not a model's file.
    """
    settings = read_config(game.name)
    if start:
        said = models.facts(start).get("settings")
        network = said.get("network") if isinstance(said, dict) else None
        if isinstance(network, dict):
            settings = from_plain(to_plain(settings) | {"network": network})
    return replace(
        settings,
        game={"players": game.players, **game.parameters},
        run=replace(settings.run, tables=[]),
        opponents={},
    )


def best_response(
    game: Game | str,
    target: Any,
    *,
    minutes: float | None = None,
    steps: int | None = None,
    start: str | Path | LearnerNetworks = "",
    seed: int = 1,
    games: int = GAMES,
    settings: TrainingSettings | None = None,
    output: Path | None = None,
    progress: Progress | None = None,
    trust: bool = False,
    measured_in: int = FRESH_SEED,
    interruption: Interruption | None = None,
) -> Exploited:
    """Train a best response to ``target``; return what it wins.

    Args:
        game: a game of two or more, or its name.
        target: an agent, as for `dicegym.agent`, which fills all other seats.
        minutes: how long to train; or
        steps: how many decisions of the best response, which any machine makes the same (with ``run.torch_threads=1``).
        start: a model whose networks it begins with, a file such as the target's own or an agent's name; or networks of
            the target, which ``settings`` must fit; "": they are drawn by the seed. In place of a value network that is
            hardly any (`with_enough_critic`) it gets one of the policy's sizes, drawn by the seed.
        seed: of networks, games and what is drawn.
        games: fresh games that the result is measured in.
        settings: of the training; default: `settings_for`.
        output: where the best response is written as a model.
        progress: told (steps done, steps in all or 0, text).
        trust: as for `dicegym.agent`.
        measured_in: which games those are; as ``seed`` of `dicegym.learning.evaluate.evaluate`.
        interruption: of a training that waits for it.

    Raises:
        StopTraining: ``interruption`` wants that.
        ParameterError: the game is played alone, or neither or both of ``minutes`` and ``steps`` are given.
        UnknownNameError, AgentError, ModelError: the target or ``start`` cannot be.
        KeyboardInterrupt: as it comes; what was written so far stays.

    Example:
        >>> from dicegym.training import best_response
        >>> found = best_response("hog", "bacon", steps=4096, games=100)
        >>> 0 <= found.score.value <= 1
        True
    """
    table = make_game(game)
    if table.players < 2:
        raise ParameterError(f"{table!r} is played alone: nobody there can be exploited")
    if (minutes is None) == (steps is None):
        raise ParameterError("say how long a best response is trained: minutes=10, or steps=1_000_000, not both")
    named = "" if isinstance(start, LearnerNetworks) else str(start)
    if start and not isinstance(start, LearnerNetworks):
        start = model_file(table, str(start), "start")
    against = opponent(table, target, trust=trust)
    with keep_generators():  # making a model seeds them
        training = _Training(
            table,
            against,
            settings or settings_for(table, "" if isinstance(start, LearnerNetworks) else str(start)),
            None if minutes is None else 60 * finite_number("minutes", minutes, "the time to train", above=0),
            None if steps is None else whole_number("steps", steps, 1, MOST, "how many decisions are trained"),
            start if isinstance(start, LearnerNetworks) else str(start),
            named_seed("best response", seed) % (LARGEST_TRAINING_SEED + 1),
            output,
            progress or (lambda done, total, text: None),
            interruption or Interruption(),
        )
        training.learn()
    score = evaluate(table, training.best, against, games, exact=False, seed=measured_in)
    begun = ITSELF if named == target or _is_own(start, target) else named
    return Exploited(score, table.players, training.steps, training.seconds, begun, seed, tuple(training.curve))


def _is_own(start: str | Path | LearnerNetworks, target: Any) -> bool:
    """Return whether a best response begins with the networks of its target."""
    if isinstance(start, LearnerNetworks) or not start:
        return isinstance(start, LearnerNetworks)
    return isinstance(target, str | Path) and Path(start).expanduser() == Path(target).expanduser()


class _Training:
    """The training of one best response.

    Attributes:
        best: who did best at any look.
        curve: (steps, share of first places) of each look.
        steps, seconds: how long it took.
    """

    def __init__(
        self,
        game: Game,
        target: Player,
        settings: TrainingSettings,
        seconds: float | None,
        steps: int | None,
        start: str | LearnerNetworks,
        seed: int,
        output: Path | None,
        progress: Progress,
        interruption: Interruption,
    ) -> None:
        # What it begins with may have been taught, and know of no values.
        own = with_enough_critic(settings) if start else settings
        grown, settings = own is not settings, own
        self._game, self._target, self._settings, self._output = game, target, settings, output
        self._most_seconds, self._most_steps = seconds, steps
        self._progress, self._interruption = progress, interruption
        env = new_games(game, settings, seed, Pool([target], [1.0]))
        self._model = new_model(settings, env, seed, None)
        self._seen_inputs = np.zeros(env.observation_space.shape or (), np.bool_)
        if isinstance(start, LearnerNetworks):
            load_networks(self._model, start.weights)
            self._seen_inputs |= start.used_inputs
        elif start:
            _, used_inputs = start_from(self._model, start, game, own_critic=grown)
            self._seen_inputs |= used_inputs
        self.curve: list[tuple[int, float]] = []
        self.best: Player = self._player()
        self._best_rate, self._looked = -1.0, 0
        self.steps, self.seconds, self._began = 0, 0.0, time.monotonic()

    def learn(self) -> None:
        """Train, looking now and then how it does. Raises StopTraining if its interruption wants that."""
        self._began = time.monotonic()
        callback = TrainingCallback(self._interruption, self._between_rollouts, self._after_step)
        with contextlib.suppress(StopTraining):
            self._model.learn(self._most_steps or MOST, callback=callback)
        self._interruption.stop_if_wanted()
        self.steps, self.seconds = self._model.num_timesteps, time.monotonic() - self._began
        self._look()

    @property
    def _done(self) -> float:
        """What part of the training is over."""
        if self._most_steps is not None:
            return min(1.0, self._model.num_timesteps / self._most_steps)
        return min(1.0, (time.monotonic() - self._began) / (self._most_seconds or 1.0))

    def _between_rollouts(self, logger: Logger) -> None:
        done = self._done
        anneal(self._model, self._settings.algorithm, done)
        self._seen_inputs |= (np.asarray(vars(self._model)["_last_obs"]) != 0).any(axis=0)
        if self._looked < int(done * LOOKS):
            self._looked = int(done * LOOKS)
            began = time.monotonic()
            self._look()
            self._began += time.monotonic() - began  # measuring does not count as training

    def _after_step(self, steps: int, ended: int) -> None:
        rate = f", wins {self.curve[-1][1]:.3f}" if self.curve else ""
        text = f"a best response to {self._target.name}{rate}"
        if self._most_steps is not None:
            self._progress(min(steps, self._most_steps), self._most_steps, text)
        else:
            seconds = int(self._most_seconds or 0)
            self._progress(int(min(time.monotonic() - self._began, seconds)), seconds, f"{text}, {steps:,} decisions")
            if self._done >= 1:
                raise StopTraining

    def _player(self) -> Player:
        return as_player(self._model, self._game, self._seen_inputs, f"best response to {self._target.name}", 0.0)

    def _look(self) -> None:
        """Measure it as it is; keep it if it was never better."""
        now = self._player()
        score = evaluate(self._game, now, self._target, LOOK_GAMES, exact=False, seed=CURVE_SEED)
        self.curve.append((self._model.num_timesteps, score.value))
        if score.value <= self._best_rate:
            return
        self.best, self._best_rate = now, score.value
        if self._output is not None:
            with models.ignore_inputs(self._model, ~self._seen_inputs):
                models.save(self._model, self._game, self._output, self._facts(score))

    def _facts(self, score: Score) -> dict[str, Any]:
        """Return what the model's file says of it."""
        return {
            "command": f"best response to {self._target.name}",
            "settings": to_plain(self._settings),
            "score": score.to_json(),
            "scores": [score.to_json()],
            "seconds": round(time.monotonic() - self._began, 1),
            **collect_versions(),
            **models.playing(self._model, self._game, 0.0),
        }


def exploiter(
    game: Game,
    settings: TrainingSettings,
    learner: BaseAlgorithm,
    target: PolicyPlayer,
    name: str,
    interruption: Interruption,
) -> PolicyPlayer:
    """Return a copy of the learner, or a fresh network, that was trained against ``target`` alone.

    It learns by the settings of the run, but nothing pulls it back (``kl_coef``) to the learner that it begins as, and
    in place of a value network that is hardly any it has one of the policy's sizes (`with_enough_critic`).

    Args:
        game: what they play.
        settings: of the run; its seed and ``name`` decide all that is drawn.
        learner: whose networks it begins with, unless ``self_play.exploiter_fresh``.
        target: the learner as a player.
        name: of the exploiter.
        interruption: of the run.

    Raises StopTraining if that is wanted. The run continues as if nothing had been drawn for it.
    """
    seed = named_seed(name, settings.run.seed) % (LARGEST_TRAINING_SEED + 1)
    if getattr(settings.algorithm, "kl_coef", 0.0):
        plain = to_plain(settings)
        settings = from_plain(plain | {"algorithm": plain["algorithm"] | {"kl_coef": 0.0}})
    if not settings.self_play.exploiter_fresh:
        settings = with_enough_critic(settings)
    with keep_generators():
        model = new_model(settings, new_games(game, settings, seed, target), seed, None)
        if not settings.self_play.exploiter_fresh:
            load_networks(model, learner.policy.state_dict())
        model.learn(settings.self_play.exploiter_steps, callback=Interruptible(interruption))
    return PolicyPlayer(model, game, name)


def against_exploiter(
    settings: TrainingSettings,
    learner: PolicyPlayer,
    networks: LearnerNetworks | None,
    steps: int,
    interruption: Interruption,
    tell: Callable[[str], None],
) -> Score:
    """Return what is left to a learner of one who was trained to beat it: of two players, the share that it still wins.

    At larger tables, which copies of the learner fill, it is the share of each copy, so that equals have as much as
    there. It is measured in games of which neither the exploiter nor the curve has seen any, and which nobody plays
    who measures the model afterwards.

    Args:
        settings: of the run, of which ``exploiter_steps`` and ``evaluate_games`` count here, and its networks. All
            else, such as the algorithm, is as the game's own training has it, so that trainings can be compared.
        learner: as it would be saved.
        networks: with which the exploiter begins; None: with fresh ones, which those of the game's own training are.
        steps: of the learner; they and the run's seed decide all that is drawn.
        interruption: of the run.
        tell: told how far it is.

    Raises StopTraining if that is wanted. The run continues as if nothing had been drawn for it.
    """
    game, run = learner.game, settings.run
    own = settings_for(game)
    found = best_response(
        game,
        learner,
        steps=run.exploiter_steps,
        start="" if networks is None else networks,
        seed=named_seed("exploiter", steps, run.seed),
        games=run.evaluate_games,
        settings=replace(
            own,
            run=replace(own.run, device=run.device),
            network=own.network if networks is None else settings.network,
        ),
        progress=lambda done, total, text: tell(f"measuring: {text}, {done:,} of {total:,} steps"),
        measured_in=LEAGUE_SEED,
        interruption=interruption,
    )
    others = game.players - 1
    value, low, high = ((1 - share) / others for share in (found.score.value, found.score.high, found.score.low))
    return Score("win rate", EXPLOITER, value, low, high, found.score.games)
