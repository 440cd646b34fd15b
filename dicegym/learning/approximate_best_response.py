"""Train an approximate best response to a fixed player, where the exact one cannot be computed.

The result is a lower bound: longer or better training may win more. It is a usual training with the game's own
settings, at tables filled with copies of the player. The model with the best evaluation is measured in fresh games,
from every seat in turn. It plays its best action, as nothing has to be hidden from a fixed player.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.validate import MOST, seed_number, whole_number
from dicegym.errors import ParameterError
from dicegym.files import writing
from dicegym.games import game as make_game
from dicegym.games.worth import Progress
from dicegym.learning.card import ITSELF, Exploited
from dicegym.learning.configuration import as_toml
from dicegym.learning.curves import curve_in
from dicegym.learning.evaluate import FRESH_SEED, evaluate
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


def best_response(
    game: Game | str,
    target: str,
    *,
    steps: int,
    start: str | Path = "",
    seed: int = 1,
    games: int = GAMES,
    overrides: Sequence[str] = (),
    output: Path | None = None,
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
        output: file for the best response as a model.
        progress: called with (steps done, total steps, text).

    Raises:
        ParameterError: the game is for one, a number is out of range, or the folder of ``output`` is missing.
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
    if output is not None and not Path(output).parent.is_dir():
        raise ParameterError(f"{output} cannot be written, as there is no folder {Path(output).parent}: make it first")
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
        curve = tuple((one.steps, one.value) for one in curve_in(model_file.facts(best)))
        if output is not None:
            with writing(output) as unfinished:
                shutil.copyfile(best, unfinished)
    itself = bool(start) and str(start) in (target, os.path.expanduser(target))
    begun = ITSELF if itself else str(start)
    return Exploited(score, table.players, trained.model.num_timesteps, trained.count_seconds(), begun, seed, curve)


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
