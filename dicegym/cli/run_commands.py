"""Commands about trainings: settings, learning curves, cards, and searches for settings."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from dicegym.cli import shared_options
from dicegym.cli.command import group
from dicegym.cli.console import NO_FILES, Outputs, check_writable, err, out, print_lines, print_table
from dicegym.cli.progress import progress_bar
from dicegym.cli.shared_options import decisions
from dicegym.cli.watch import find_model


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


def card(
    model: Annotated[str, Argument(help="a trained model's file, or the folder of a training")],
    games: Annotated[int, Option(min=1, metavar="N", help="games against each scripted agent")] = 1000,
    seconds: Annotated[float, Option(metavar="N", help="search time for a best response")] = 3.0,
    write: Annotated[bool, Option("--write", help="replace the card beside the model instead of showing it")] = False,
) -> None:
    """Show how a trained model was made and how strong it is.

    A training writes this card beside each model; the command renews it with the agents that exist now. It keeps
    what the card beside the model says of a trained best response and of regret. With --write, the learning curve in
    the model's file is drawn beside the card.

    Example: dicegym runs card runs/hog/best.zip --games 1000 --seconds 300 --write
    """
    from dicegym.learning.card import card as page
    from dicegym.learning.card import keep_copied, write_card

    file = Path(find_model(model))
    with progress_bar("measurements") as progress:
        text = keep_copied(file, page(file, games, seconds, progress))
    if write:
        print_lines(f"wrote {path}" for path in write_card(file, text))
    else:
        out.print(text)


def plot(
    run_dirs: Annotated[list[Path], Argument(metavar="RUN_DIR...", help="trainings, or folders with trainings")],
    written: Annotated[Outputs, ".png", ".svg"] = NO_FILES,
) -> None:
    """Plot the learning curves of trainings, seeds as a band.

    Runs that differ only in their seed are one line with a band; a folder of such runs means all of them. Without
    --output the picture is curve.png in the one folder, or here.

    Examples: dicegym runs plot runs/hog; dicegym runs plot runs/* -o curves.svg
    """
    from dicegym.learning.curve_pictures import check_picture, draw_runs, write_curves
    from dicegym.learning.curves import find_runs

    runs, others = find_runs(run_dirs)
    one = runs[0].folder if len(runs) == 1 else run_dirs[0] if len(run_dirs) == 1 else Path()
    targets = list(written) or [one / "curve.png"]
    for target in targets:
        check_writable(target)
        check_picture(target)
    pictures = draw_runs(runs)
    for folder in others:
        err.print(f"dicegym: {folder} is skipped: it contains no training")
    for (game, _), picture in pictures.items():
        print_table(["game", *picture.titles], [[game, *row] for row in picture.rows])
    for target in targets:
        write_curves(list(pictures.values()), target)
        out.print(f"wrote {target}")


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
) -> None:
    """Search for good settings of a game's training.

    Each trial is a training; a trial that is worse than half of the earlier ones is stopped. The same command continues
    an interrupted search. The best settings are written to best.toml in the folder.

    Examples: dicegym runs tune hog --trials 20 --steps 1000000; dicegym runs tune hog --run-dir runs/rates
    --search 'algorithm.learning_rate={low=1e-4, high=1e-2, log=true}'
    """
    from dicegym.learning.tune import BEST, OVER, USUAL, as_settings, best_trial
    from dicegym.learning.tune import tune as search_settings

    folder, searched = run_dir or Path("runs") / f"tune-{game}", search or USUAL
    with progress_bar("trials") as progress:
        study = search_settings(game, folder, trials, steps, searched, config, set_ or [], seed or 0, progress=progress)
    ends = Counter(OVER.get(one.state, "unfinished") for one in study.trials)
    out.print(f"{len(study.trials)} trials: {', '.join(f'{count} {word}' for word, count in ends.items())}")
    if (best := best_trial(study)) is not None:
        chosen = ", ".join(as_settings(best.params))
        print_lines([f"best: trial {best.number}, {best.value:.4f}, with {chosen}", f"wrote {folder / BEST}"])


runs = group(
    "Plot and tune trainings, show their cards and settings.",
    plot=plot,
    card=card,
    tune=tune,
    settings=settings,
)
