"""Training: runs, their leagues, and the demonstration."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated, Any

import typer

import dicegym
from dicegym.cli.common import GameName, Seed, err, out, progress_bar
from dicegym.cli.contests import tournament
from dicegym.errors import DependencyError, ParameterError


def training_script() -> Any:
    """Return the training script as a module: of the checkout, or as it ships in the wheel."""
    from dicegym.shipped import shipped_folder

    path = shipped_folder("training") / "train.py"
    spec = importlib.util.spec_from_file_location("dicegym_training", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ParameterError(f"the training script is missing from this installation: {path}")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        raise DependencyError.for_extra(str(error.name), "train", "training") from error
    return module


def _show_settings(wanted: bool) -> None:
    """Print each setting of a training: what it takes, its default and its meaning."""
    if not wanted:
        return
    from dicegym.learning.configuration import described

    section = ""
    for setting in described():
        if setting.section != section:
            section = setting.section
            out.print(f"[{section}]", markup=False)
        default = f" (default: {setting.default})" if setting.default else ""
        out.print(f"  {setting.key or 'KEY'}: {setting.takes}{default}\n      {setting.meaning}", markup=False)
    out.print("What a game's training takes, with reasons: training/configs/GAME.toml.", markup=False)
    raise typer.Exit


def train(
    game: GameName,
    run_dir: Annotated[Path | None, typer.Option(help="the run's folder (default: runs/GAME)")] = None,
    config: Annotated[Path | None, typer.Option(help="settings (default: training/configs/GAME.toml)")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help="override one setting; repeatable")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="short for --set run.steps=...")] = None,
    seed: Annotated[int | None, typer.Option(help="short for --set run.seed=...")] = None,
    resume: Annotated[bool, typer.Option(help="go on from the run's newest checkpoint")] = False,
    help_settings: Annotated[
        bool,
        typer.Option(
            "--help-settings",
            is_eager=True,
            callback=_show_settings,
            help="show all settings that --set takes, and exit",
        ),
    ] = False,
) -> None:
    """Train an agent; the run's folder then holds its models, its curve and its TensorBoard logs."""
    overrides = list(set_ or [])
    overrides += [f"run.{name}={value}" for name, value in (("steps", steps), ("seed", seed)) if value is not None]
    folder = run_dir or Path("runs") / game
    training = training_script()
    try:
        with progress_bar("steps") as progress:
            run = training.train(game, folder, config, overrides, resume, progress)
    except KeyboardInterrupt as stopped:
        err.print(f"dicegym: interrupted{f', {stopped}' if stopped.args else ''}", markup=False)
        raise typer.Exit(130) from None
    out.print(f"{run.score}\nmodels, curve and logs are in {folder}", markup=False)


def league(run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="the folder of a training")]) -> None:
    """Show who beat whom among the past selves, agents and exploiters that a training played against."""
    from dicegym.arena.report import show
    from dicegym.learning import league_table

    if not (run_dir / "league.csv").is_file():
        raise ParameterError(f'{run_dir} holds no league.csv: only a training against "self" writes it')
    table, shares = league_table.read(run_dir / "league.csv")
    show(table.report(shares), out)


def demo(
    game: GameName,
    run_dir: Annotated[Path | None, typer.Option(help="the run's folder, replaced (default: runs/demo-GAME)")] = None,
    seed: Seed = 1,
) -> None:
    """Train an agent for about two minutes, then enter it in the contest against every agent of the game."""
    from dicegym.learning.demo import run_demo

    with progress_bar("steps") as progress:
        entry, score = run_demo(training_script().train, game, run_dir or Path("runs") / f"demo-{game}", seed, progress)
    out.print(f"trained {entry}: {score}", markup=False)
    tournament(game, [*dicegym.agent_names(game), str(entry)], seed=seed)
