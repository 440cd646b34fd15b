"""Trainings that ran: their settings, curves and cards; and searches for settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from dicegym.cli import shared_options
from dicegym.cli.card_command import card
from dicegym.cli.command import group
from dicegym.cli.console import out, print_lines
from dicegym.cli.curve_commands import plot
from dicegym.cli.progress import progress_bar
from dicegym.cli.shared_options import decisions


def settings() -> None:
    """Print all settings of a training: values, default, meaning.

    Example: dicegym runs settings
    """
    from dicegym.learning.configuration import describe_settings

    section = ""
    for setting in describe_settings():
        if setting.section != section:
            section = setting.section
            out.print(f"[{section}]")
        default = f" (default: {setting.default})" if setting.default else ""
        out.print(f"  {setting.key or 'KEY'}: {setting.takes}{default}\n      {setting.meaning}")
    out.print("What a game's training takes, with reasons: training/configs/GAME.toml.")


def tune(
    game: shared_options.GameName,
    run_dir: shared_options.RunFolder = None,
    trials: Annotated[int, Option(min=1, help="trials in total, earlier ones included")] = 20,
    steps: Annotated[int, Option(parser=decisions, metavar="N", help="decisions of the learner in each")] = 1_000_000,
    search: Annotated[
        list[str] | None,
        Option(metavar="SECTION.KEY={...}", help="search this setting instead of the usual ones; repeatable"),
    ] = None,
    config: shared_options.ConfigName = None,
    set_: shared_options.Overrides = None,
    seed: shared_options.Seed = None,
    trust: shared_options.Trust = False,
) -> None:
    """Search for good settings of a game's training.

    Each trial is a training; a trial that is worse than half of the earlier ones is stopped. The same command continues
    an interrupted search. The best settings are written to best.toml in the folder.

    Examples: dicegym runs tune hog --trials 20 --steps 1000000; dicegym runs tune hog --run-dir runs/rates
    --search 'algorithm.learning_rate={low=1e-4, high=1e-2, log=true}'
    """
    from dicegym.learning.tune import BELIEVE, USUAL, count_ends, train_command, write_best
    from dicegym.learning.tune import tune as search_settings

    folder, searched = run_dir or Path("runs") / f"tune-{game}", search or USUAL
    with progress_bar("trials") as progress:
        how: dict[str, Any] = {"trust": trust, "progress": progress}
        found = search_settings(game, folder, trials, steps, searched, config, set_ or [], seed or 0, **how)
    out.print(f"{len(found.trials())} trials: {count_ends(found)}")
    if (best := found.best) is not None and (written := write_best(found)) is not None:
        chosen = ", ".join(found.plan.settings(best))
        print_lines(
            [f"best: trial {best.number}, {best.value:.4f}, with {chosen}", BELIEVE, f"  {train_command(found)}"]
        )
        out.print(f"wrote {written}")


runs = group(
    "Plot and tune trainings, show their cards and settings.",
    plot=plot,
    card=card,
    tune=tune,
    settings=settings,
)
