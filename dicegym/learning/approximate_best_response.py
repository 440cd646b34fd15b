"""Train an approximate best response to a fixed player, where the exact one cannot be computed.

The result is a lower bound: longer or better training may win more. It is a usual training with the game's own
settings, at tables filled with copies of the player. The model with the best evaluation is measured in fresh games,
from every seat in turn. It plays its best action, as nothing has to be hidden from a fixed player.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.validate import MOST, seed_number, whole_number
from dicegym.errors import ParameterError
from dicegym.games import game as make_game
from dicegym.games.worth import Progress
from dicegym.learning.card import RESPONSE
from dicegym.learning.configuration import as_toml
from dicegym.learning.evaluate import FRESH_SEED, Score, evaluate
from dicegym.learning.learner import keep_generators
from dicegym.learning.train import train
from dicegym.learning.training_settings import LARGEST_TRAINING_SEED
from dicegym.players import model_file
from dicegym.players.roster import find_model_file, resolve

LOOKS = 8
"""Evaluations during the training, without the early ones; the best one selects the model."""
LOOK_GAMES = 1000
GAMES = 5000
"""Default number of fresh games for the result."""
WIDE_ENOUGH = 1 / 4
"""A value network with a widest layer below this part of the policy's was not meant to learn values."""
ITSELF = "itself"
"""``Exploited.began_with`` if the best response started from the networks of the player itself."""


class Exploited(NamedTuple):
    """The result of a best response that was trained against a fixed player, in fresh games."""

    score: Score
    """Its share of first places at a table filled with the player, from every seat in turn."""
    players: int
    """Players at the table."""
    steps: int
    """Decisions in its training."""
    seconds: float
    began_with: str
    """A model's file or `ITSELF`; empty: fresh networks."""
    seed: int

    def words(self) -> str:
        """Describe the result."""
        begun = {"": "from fresh networks", ITSELF: "from its own networks"}.get(
            self.began_with, f"from {self.began_with}"
        )
        table = "" if self.players == 2 else f" at tables of {self.players}, filled with copies of it,"
        low, high, games = self.score.low, self.score.high, self.score.games
        return (
            f"{RESPONSE}, trained against it for {self.steps:,} steps ({self.seconds:,.0f} s, "
            f"{begun}){table} wins {self.score.value:.4f} [{low:.4f}, {high:.4f}] of {games:,} fresh games "
            f"(equal strength: {1 / self.players:.4g}). Longer training may win more."
        )

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return self._asdict() | {"score": self.score.to_json()}


def best_response(
    game: Game | str,
    target: str,
    *,
    steps: int,
    start: str | Path = "",
    seed: int = 1,
    games: int = GAMES,
    overrides: Sequence[str] = (),
    progress: Progress | None = None,
) -> Exploited:
    """Train a best response to ``target``; return its result.

    Args:
        game: a game for two or more, or its name.
        target: an agent by its name or file, which fills all other seats.
        steps: decisions of the best response; with ``run.torch_threads=1`` they are the same on any machine.
        start: a model to start from: a file, such as the target's own, or an agent's name; "": fresh networks.
        seed: of networks, games and draws.
        games: fresh games for the result.
        overrides: of the training's settings, as for `dicegym.learning.train.train`.
        progress: called with (steps done, total steps, text).

    Raises:
        ParameterError: the game is for one, or a number is out of range.
        UnknownNameError, AgentError, ModelError: the target or ``start`` is invalid.
        KeyboardInterrupt: passed on.

    Example:
        >>> from dicegym.training import best_response
        >>> found = best_response("hog", "bacon", steps=4096, games=100)
        >>> 0 <= found.score.value <= 1
        True
    """
    table = make_game(game)
    if table.players < 2:
        raise ParameterError(f"{table!r} is played alone, without a best response: choose a game for two or more")
    steps = whole_number("steps", steps, 1, MOST, "the number of decisions")
    games, seed = whole_number("games", games, 1, MOST, "the number of fresh games"), seed_number("seed", seed)
    start_file = find_model_file(table, str(start), "start") if start else ""
    resolve(table, target)
    own = named_seed("best response", seed) % (LARGEST_TRAINING_SEED + 1)
    run = {
        "steps": steps,
        "seed": own,
        "temperature": 0,
        "start_from": start_file,
        "best_by": "mean",
        "evaluate_against": [target],
        "evaluate_every": max(1, steps // LOOKS),
        "evaluate_games": LOOK_GAMES,
        "checkpoint_every": steps,
        "card_games": 0,
        "log": [],
    }
    settings = [
        f"opponents={as_toml({target: 1.0})}",
        *(f"run.{name}={as_toml(value)}" for name, value in run.items()),
        *(_networks_of(start_file) if start_file else ()),
    ]
    with tempfile.TemporaryDirectory() as folder, keep_generators():  # making a model seeds them
        best = Path(folder) / "run" / "best.zip"
        trained = train(table, best.parent, None, [*settings, *overrides], progress=progress)
        score = evaluate(table, str(best), target, games, exact=False, seed=FRESH_SEED)
    itself = bool(start) and str(start) in (target, os.path.expanduser(target))
    begun = ITSELF if itself else str(start)
    return Exploited(score, table.players, trained.model.num_timesteps, trained.count_seconds(), begun, seed)


def _networks_of(model: str) -> list[str]:
    """Return the networks of a model as overrides, with a value network of the policy's sizes if its own is tiny.

    Imitation learns no values, so its models have value networks with a few units.
    """
    settings = model_file.facts(model).get("settings")
    network = settings.get("network") if isinstance(settings, dict) else None
    if not isinstance(network, dict):
        return []
    sizes = network.get("net_arch")
    policy, value = (sizes.get("pi", []), sizes.get("vf", [])) if isinstance(sizes, dict) else ([], [])
    if max(value, default=0) < WIDE_ENOUGH * max(policy, default=0):
        network = network | {"net_arch": {"pi": policy, "vf": policy}}
    return [f"network.{name}={as_toml(one)}" for name, one in network.items() if json.dumps(one) not in ('""', "{}")]
