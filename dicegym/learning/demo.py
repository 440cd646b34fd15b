"""The demonstration: train an agent, write it as a bot of the original interface, and let the contest judge it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from dicegym import games
from dicegym.arena.director import check_table
from dicegym.bots.export import export_forms, export_source
from dicegym.errors import ParameterError
from dicegym.files import write_text
from dicegym.learning import configuration
from dicegym.learning.evaluate import Score
from dicegym.learning.run_folder import SETTINGS_FILE, alone_in, empty, is_empty
from dicegym.players import model as models
from dicegym.players import model_file

ENTRY = "learned"
"""The folder, and so the name in reports, of what the demonstration trained."""


def run_demo(
    train: Callable[..., object], game: str, folder: Path, seed: int, progress: Callable[[int, int, str], None]
) -> tuple[Path, Score]:
    """Train in ``folder`` with the ``[demo]`` settings of the game's configuration; export the best model.

    Args:
        train: the training script's function of that name.
        game: a game's name.
        folder: is replaced if it is an earlier run's; otherwise it must not exist or be empty.
        seed: of the training.
        progress: told (steps done, steps in all, text).

    Returns:
        The entry for the contest, and the score of the model that it was made of.

    Raises:
        ParameterError: the game has no contest, or ``folder`` holds something else than an earlier run, or another
            training is writing there.
    """
    config = configuration.read_config(game)
    overrides = [*(f"{name}={json.dumps(value)}" for name, value in config.demo.items()), f"run.seed={seed}"]
    settings = configuration.override(config, overrides)
    table = games.game(game, **{name: value for name, value in settings.game.items() if name != "players"})
    check_table(table)  # the contest's, which may seat more players than learned together
    with alone_in(folder):
        if not is_empty(folder):
            if not (folder / SETTINGS_FILE).is_file():
                raise ParameterError(f"{folder} holds files that no demonstration wrote: give another --run-dir")
            empty(folder)
        train(game, folder, None, overrides, False, progress)
        best = folder / "best.zip"
        score = Score.from_json(model_file.facts(best).get("score"))
        forms = export_forms(table)
        if not forms:  # then the model takes part as it is
            return Path(shutil.copy(best, folder / f"{ENTRY}.zip")), score
        entry = folder / ENTRY
        entry.mkdir()
        write_text(entry / forms[0], export_source(models.load(best, table), table, forms[0]))
        return entry, score
