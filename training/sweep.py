"""Search for good settings of a training with Optuna, and give up early on what goes badly.

    python training/sweep.py hog --trials 20 --steps 1000000
    python training/sweep.py hog --trials 20 --steps 1000000     # again: the same study goes on

Copy this file and change `suggest` to search for something else: whatever ``dicegym train --set`` takes. Every
evaluation of a run is an intermediate value of its trial; Optuna's pruner ends a run that is worse, after as many
evaluations, than half of the runs before it. The folder (default: runs/sweep-GAME) then holds a run for each trial and
``study.log``, which several of these programs may share, each in a process or on a machine of its own.
"""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import Annotated

import typer

from dicegym.cli.ending import run_to_the_end
from dicegym.errors import DependencyError
from dicegym.learning.evaluate import Score
from dicegym.learning.script import train
from dicegym.signals import SignalInterrupt, number_of

try:
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend
except ImportError as error:
    raise DependencyError.for_extra("optuna", "sweep", "a sweep") from error

EVALUATIONS = 16
"""Evaluations of a run at equal distances; a few early ones come first."""
NOT_BEFORE = 5
"""Evaluations, and runs to compare with, before any run is given up."""


def suggest(trial: optuna.Trial) -> list[str]:
    """Return the settings that a trial tries, as ``dicegym train --set`` takes them."""
    width = trial.suggest_categorical("width", [64, 128, 256])
    return [
        f"algorithm.learning_rate={trial.suggest_float('learning_rate', 1e-4, 3e-3, log=True)}",
        f"algorithm.ent_coef={trial.suggest_float('ent_coef', 1e-3, 1.0, log=True)}",
        f"algorithm.gae_lambda={trial.suggest_float('gae_lambda', 0.3, 1.0)}",
        f"algorithm.n_epochs={trial.suggest_int('n_epochs', 2, 8)}",
        f"network.net_arch=[{width}, {width}]",
    ]


def objective(trial: optuna.Trial, game: str, folder: Path, short: list[str], given: list[str]) -> float:
    """Train with what `suggest` says; return the best score. Raises TrialPruned to give up.

    Args:
        trial: Optuna's.
        game: a game's name.
        folder: the study's.
        short: settings that make a run one of many.
        given: settings of all runs that are to be kept when the best is trained for long.
    """
    scores: list[float] = []

    def evaluated(steps: int, score: Score) -> None:
        scores.append(score.value)
        trial.report(score.value, len(scores))
        if trial.should_prune():
            raise optuna.TrialPruned(f"{score} after {steps:,} steps")

    tried = [*given, *suggest(trial)]
    trial.set_user_attr("settings", tried)
    train(game, folder / f"trial-{trial.number:03}", overrides=[*short, *tried], evaluated=evaluated)
    return max(scores)


def sweep(
    game: Annotated[str, typer.Argument(metavar="GAME", help="a game's name")],
    trials: Annotated[int, typer.Option(min=1, help="how many runs to add to the study")] = 20,
    steps: Annotated[int, typer.Option(min=EVALUATIONS, help="decisions of the learner in each")] = 1_000_000,
    run_dir: Annotated[Path | None, typer.Option(help="the study's folder (default: runs/sweep-GAME)")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help="a setting of all runs; repeatable")
    ] = None,
    seed: Annotated[int, typer.Option(help="of what is tried; runs have the seed that their settings say")] = 0,
) -> None:
    """Search for settings that train a game well."""
    folder = run_dir or Path("runs") / f"sweep-{game}"
    folder.mkdir(parents=True, exist_ok=True)
    study = optuna.create_study(
        study_name=game,
        storage=JournalStorage(JournalFileBackend(str(folder / "study.log"))),
        load_if_exists=True,
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=seed),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=NOT_BEFORE, n_warmup_steps=NOT_BEFORE),
    )
    short = [
        f"run.steps={steps}",
        f"run.evaluate_every={steps // EVALUATIONS}",
        f"run.checkpoint_every={steps}",  # a trial is not resumed
        "run.card_games=0",  # nor does anybody read its card
    ]
    ended: list[KeyboardInterrupt] = []

    def tried(trial: optuna.Trial) -> float:
        try:
            return objective(trial, game, folder, short, set_ or [])
        except KeyboardInterrupt as end:  # Optuna would print where it came from
            ended.append(end)
            study.stop()
            return math.nan  # the trial counts for nothing

    study.optimize(tried, n_trials=trials)
    for end in ended:
        kept = f"{len(study.trials) - 1} trials are kept in {folder}"
        raise SignalInterrupt(number_of(end), f"{kept}: the same command goes on")
    tell(study, game, folder)


def tell(study: optuna.Study, game: str, folder: Path) -> None:
    """Print the best trials, and how to go on."""
    done = study.get_trials(states=[optuna.trial.TrialState.COMPLETE])
    print(f"\n{len(study.trials)} trials, {len(done)} of them run to the end; the best:")
    for trial in sorted(done, key=lambda one: one.value or 0.0, reverse=True)[:5]:
        print(f"  {trial.value:.4f}  trial-{trial.number:03}  {trial.params}")
    print(
        "\nThe best of many is partly lucky: train with its settings and another seed before you believe it. What is "
        "best in a\nshort run is often too hasty for a long one.\n"
    )
    chosen = [word for text in study.best_trial.user_attrs["settings"] for word in ("--set", text)]
    print(f"  dicegym train {game} --seed 2 --run-dir runs/{game}-2 {shlex.join(chosen)}")
    print(f"  dicegym plot {folder}")


if __name__ == "__main__":
    run_to_the_end(lambda: typer.run(sweep), "sweep")
