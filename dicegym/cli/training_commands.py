"""The command that trains, with one seed or several."""

from __future__ import annotations

import contextlib
import shlex
from math import isnan
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from dicegym.cli import shared_options
from dicegym.cli.console import err, out, print_lines, print_table
from dicegym.cli.evaluation import explain_scores
from dicegym.cli.progress import progress_bar, progress_bars
from dicegym.cli.shared_options import MACHINES, MachineOptions, decisions
from dicegym.errors import ParameterError


def train(
    game: shared_options.GameName,
    run_dir: shared_options.RunFolder = None,
    config: shared_options.ConfigName = None,
    set_: shared_options.Overrides = None,
    steps: Annotated[int | None, Option(parser=decisions, metavar="N", help="decisions of the learner")] = None,
    seed: shared_options.Seed = None,
    seeds: Annotated[int | None, Option(min=1, help="train with several seeds, each in a subfolder")] = None,
    machines: MachineOptions = MACHINES,
    resume: Annotated[bool, Option(help="continue from the newest checkpoint of the run, or of all its seeds")] = False,
    trust: shared_options.Trust = False,
) -> None:
    """Train an agent, and measure how strong it becomes.

    Models, the learning curve and TensorBoard logs are written to the run's folder. --workers and --ray are for several
    seeds.

    Examples: dicegym train hog --run-dir runs/hog --steps 500000; dicegym train hog --seeds 5 --run-dir runs/hog5;
    dicegym train yatzy --config yatzy_taught
    """
    if trust and not resume:
        raise ParameterError("--trust needs --resume: add it, or leave --trust out")
    from dicegym.learning.card import best_score
    from dicegym.learning.seeds.seeded_training import holds_seeds
    from dicegym.learning.train import train as learn

    overrides = list(set_ or [])
    short = (("steps", steps), ("seed", seed))
    overrides += [f"run.{name}={value}" for name, value in short if value is not None]
    folder = run_dir or Path("runs") / game
    if seeds is not None or (resume and holds_seeds(folder)):
        how = {"seeds": seeds, "config": config, "overrides": overrides, "resume": resume, "trust": trust}
        _train_seeds(game, folder, machines, **how)
        return
    if machines != MACHINES:
        given = "--workers" if machines.ray is None else "--ray"
        raise ParameterError(f"{given} is for several seeds: add --seeds, or --resume in a folder with seeds")
    with progress_bar("steps") as progress:
        run = learn(game, folder, config, overrides, resume, progress, trust=trust)
    if run.finished:
        steps = run.model.num_timesteps
        out.print(f"{folder} is finished after {steps:,} steps, so nothing was done; give more --steps to train on")
    best, score = folder / "best.zip", best_score(folder / "best.zip")
    out.print(f"{score}: {'the last' if run.evaluator.takes_last else 'the best'}, {best}")
    out.print(f"{run.score}: at the end, {folder / 'model.zip'}")
    print_lines(explain_scores([score], run.game))
    named = shlex.quote(str(best))
    play = f"dicegym play {game} --against {named}" if run.game.players > 1 else f"dicegym watch {named}"
    print_lines(
        [
            f"models, {'cards, ' if run.settings.run.card_games else ''}curve and logs are in {folder}",
            f"Next: {play}; dicegym runs plot {shlex.quote(str(folder))}",
        ]
    )


def _train_seeds(game: str, folder: Path, machines: MachineOptions, **how: Any) -> None:
    """Train with several seeds, and print their scores. Raises Exit(1) if one failed.

    ``how`` are further arguments of `dicegym.learning.seeds.seeded_training.train_seeds`.
    """
    from dicegym.learning.seeds.seeded_training import train_seeds
    from dicegym.learning.seeds.summary import FAILED

    with contextlib.ExitStack() as stack:
        show, say = stack.enter_context(progress_bars("steps"))
        backend = None
        if machines.ray is not None:
            from dicegym.learning.seeds.ray_trainer import ray_backend

            backend = stack.enter_context(ray_backend(machines.ray, lambda line: say(f"dicegym: {line}")))

        def progress(seed: int, done: int, total: int, text: str) -> None:
            show(f"seed {seed}", done, total, text)

        how |= {"workers": machines.workers, "progress": progress, "backend": backend, "told": say}
        found = train_seeds(game, folder, **how)
    rows = [
        [str(one.seed), one.how, f"{one.steps:,}", *("-" if isnan(s) else f"{s:.4f}" for s in (one.best, one.end))]
        for one in found.results
    ]
    print_table(["seed", "how it ended", "steps", "best model", "at the end"], rows)
    for title, value in (("at the end", found.end), ("best models", found.best)):
        if value is not None:
            out.print(f"{title}: {value}, {found.measure}")
    if found.best_model is not None:
        out.print(f"the best of all models: {found.best_model}")
    if failed := sum(one.how == FAILED for one in found.results):
        err.print(f"{failed} of {len(found.results)} seeds failed: the same command with --resume tries them again")
        raise typer.Exit(1)
