"""A best response to a fixed player, by training: how much can be won of it where nobody can compute that.

A trained best response is a bound from below: longer or better training may find one that wins more. It is trained by
the settings of the game's own training against the player alone, at a table filled with copies of it; the best of its
training, by games of its curve, is measured in fresh ones, from every seat in turn, playing its best action, as against
a fixed player nobody has to hide anything.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.logger import Logger

from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.validate import MOST, whole_number
from dicegym.errors import ParameterError
from dicegym.games import game as make_game
from dicegym.games.worth import Progress
from dicegym.learning.building import new_games, new_model
from dicegym.learning.card import ITSELF, Exploited, collect_versions
from dicegym.learning.configuration import from_plain, read_config, to_plain
from dicegym.learning.evaluate import CURVE_SEED, FRESH_SEED, Score, evaluate
from dicegym.learning.learner import Interruption, TrainingCallback, anneal, as_player, keep_generators, start_from
from dicegym.learning.training_settings import LARGEST_TRAINING_SEED, TrainingSettings
from dicegym.play.player import Player
from dicegym.players import model as models
from dicegym.players.pool import Pool
from dicegym.players.roster import model_file, opponent

LOOKS = 8
"""How often a best response is measured while it is trained; the best of them counts."""
LOOK_GAMES = 1000
GAMES = 5000
"""Fresh games that the result is measured in, unless told otherwise."""
WIDE_ENOUGH = 1 / 4
"""A value network whose widest layer is a smaller part of the policy's was not meant to learn what states are worth."""


def settings_for(game: Game, start: str = "") -> TrainingSettings:
    """Return by which settings a best response is trained: the game's own, with the networks of ``start``, a model.

    Imitation learns no values, so its models have value networks of a few units. Then there is one of the policy's
    sizes instead. Raises ModelError if ``start`` is not a model's file.
    """
    settings = read_config(game.name)
    said = models.facts(start).get("settings") if start else None
    network = said.get("network") if isinstance(said, dict) else None
    if isinstance(network, dict):
        settings = from_plain(to_plain(settings) | {"network": network})
    sizes = settings.network.net_arch
    policy, value = (sizes.get("pi", []), sizes.get("vf", [])) if isinstance(sizes, dict) else ([], [])
    if max(value, default=0) < WIDE_ENOUGH * max(policy, default=0):
        settings = replace(settings, network=replace(settings.network, net_arch={"pi": policy, "vf": policy}))
    return replace(settings, game={"players": game.players, **game.parameters}, opponents={})


def best_response(
    game: Game | str,
    target: Any,
    *,
    steps: int,
    start: str | Path = "",
    seed: int = 1,
    games: int = GAMES,
    settings: TrainingSettings | None = None,
    output: Path | None = None,
    progress: Progress | None = None,
    trust: bool = False,
) -> Exploited:
    """Train a best response to ``target``; return what it wins.

    Args:
        game: a game of two or more, or its name.
        target: an agent, as for `dicegym.agent`, which fills all other seats.
        steps: how many decisions of the best response, which any machine makes the same (with ``run.torch_threads=1``).
        start: a model whose networks it begins with, a file such as the target's own or an agent's name; "": they are
            drawn by the seed.
        seed: of networks, games and what is drawn.
        games: fresh games that the result is measured in.
        settings: of the training; default: `settings_for`.
        output: where the best response is written as a model.
        progress: told (steps done, steps in all, text).
        trust: as for `dicegym.agent`.

    Raises:
        ParameterError: the game is played alone, or ``steps`` is less than 1.
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
    steps = whole_number("steps", steps, 1, MOST, "how many decisions are trained")
    begin = model_file(table, str(start), "start") if start else ""
    against = opponent(table, target, trust=trust)
    with keep_generators():  # making a model seeds them
        own = named_seed("best response", seed) % (LARGEST_TRAINING_SEED + 1)
        settings = settings or settings_for(table, begin)
        told = progress or (lambda done, total, text: None)
        training = _Training(table, against, settings, steps, begin, own, output, told)
        training.learn()
    score = evaluate(table, training.best, against, games, exact=False, seed=FRESH_SEED)
    itself = bool(start) and isinstance(target, str | Path)
    itself = itself and (str(start) == str(target) or Path(begin).expanduser() == Path(target).expanduser())
    begun = ITSELF if itself else str(start)
    return Exploited(score, table.players, training.steps, training.seconds, begun, seed, tuple(training.curve))


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
        most: int,
        start: str,
        seed: int,
        output: Path | None,
        progress: Progress,
    ) -> None:
        self._game, self._target, self._settings, self._most = game, target, settings, most
        self._output, self._progress = output, progress
        env = new_games(game, settings, seed, Pool([target], [1.0]))
        self._model = new_model(settings, env, seed, None)
        self._seen_inputs = np.zeros(env.observation_space.shape or (), np.bool_)
        if start:
            self._seen_inputs |= start_from(self._model, start, game)[1]
        self.curve: list[tuple[int, float]] = []
        self.best: Player = self._player()
        self._best_rate, self._looked = -1.0, 0
        self.steps, self.seconds, self._began = 0, 0.0, time.monotonic()

    def learn(self) -> None:
        """Train, looking now and then how it does."""
        self._began = time.monotonic()
        callback = TrainingCallback(Interruption(), self._between_rollouts, self._after_step)
        self._model.learn(self._most, callback=callback)
        self.steps, self.seconds = self._model.num_timesteps, time.monotonic() - self._began
        self._look()

    def _between_rollouts(self, logger: Logger) -> None:
        done = min(1.0, self._model.num_timesteps / self._most)
        anneal(self._model, self._settings.algorithm, done)
        self._seen_inputs |= (np.asarray(vars(self._model)["_last_obs"]) != 0).any(axis=0)
        if self._looked < int(done * LOOKS):
            self._looked = int(done * LOOKS)
            began = time.monotonic()
            self._look()
            self._began += time.monotonic() - began  # measuring does not count as training

    def _after_step(self, steps: int, ended: int) -> None:
        rate = f", wins {self.curve[-1][1]:.3f}" if self.curve else ""
        self._progress(min(steps, self._most), self._most, f"a best response to {self._target.name}{rate}")

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
