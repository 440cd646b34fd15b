"""Training: runs, their leagues, and the demonstration."""

from __future__ import annotations

import contextlib
import shlex
from math import isnan
from pathlib import Path
from typing import Annotated, Any

import typer

import dicegym
from dicegym.cli.common import GameName, Seed, Trust, err, out, print_table, progress_bar
from dicegym.cli.contests import tournament
from dicegym.cli.evaluation import in_words
from dicegym.cli.machines import RAY, RayAddress, chosen_executors
from dicegym.cli.numbers import decisions
from dicegym.cli.side_by_side import progress_bars
from dicegym.errors import DicegymError, ParameterError


def _show_settings(wanted: bool) -> None:
    """Print each setting of a training: what it takes, its default and its meaning."""
    if not wanted:
        return
    from dicegym.learning.configuration import described

    section = ""
    for setting in described():
        if setting.section != section:
            section = setting.section
            out.print(f"[{section}]")
        default = f" (default: {setting.default})" if setting.default else ""
        out.print(f"  {setting.key or 'KEY'}: {setting.takes}{default}\n      {setting.meaning}")
    out.print("What a game's training takes, with reasons: training/configs/GAME.toml.")
    raise typer.Exit


def train(
    game: GameName,
    run_dir: Annotated[Path | None, typer.Option(help="the run's folder (default: runs/GAME)")] = None,
    config: Annotated[
        Path | None, typer.Option(help="settings: a file, or the name of one that ships (default: GAME)")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help="override one setting; repeatable")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(parser=decisions, metavar="N", help="short for --set run.steps=...")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="short for --set run.seed=...")] = None,
    device: Annotated[
        str | None, typer.Option(help="short for --set run.device=...: cpu, cuda, cuda:1, mps or auto")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="train with so many seeds side by side, each in a folder of its own in the run's"),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="with --seeds: trainings at once (default: the processor's cores)")
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            RAY, metavar="[ADDRESS]", help="with --seeds: train on a Ray cluster; addresses are as for contests"
        ),
    ] = None,
    resume: Annotated[bool, typer.Option(help="go on from the run's newest checkpoint, or with all its seeds")] = False,
    trust: Trust = False,
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
    """Train an agent, and see how strong it becomes.

    The run's folder then holds its models, its curve and its TensorBoard logs.

    Examples: dicegym train hog --run-dir runs/hog --steps 500000; dicegym train hog --seeds 5 --run-dir runs/hog5;
    dicegym train yatzy --config yatzy_taught
    """
    from dicegym.learning.card import best_score
    from dicegym.learning.curves import floors_in_words, floors_of
    from dicegym.learning.seeds.summary import holds_seeds
    from dicegym.learning.train import train as learn
    from dicegym.players import model as models

    overrides = list(set_ or [])
    short = (("steps", steps), ("seed", seed), ("device", device))
    overrides += [f"run.{name}={value}" for name, value in short if value is not None]
    folder = run_dir or Path("runs") / game
    if seeds is not None or (resume and holds_seeds(folder)):
        _train_seeds(game, folder, seeds, config, overrides, resume, workers, ray, trust)
        return
    if workers is not None or ray is not None:
        given = "--workers" if ray is None else "--ray"
        raise ParameterError(f"{given} is about several seeds: give --seeds with it, or --resume where there are some")
    _say_before(game, config, overrides, resume)
    with progress_bar("steps") as progress:
        run = learn(game, folder, config, overrides, resume, progress, trust=trust)
    if run.finished:
        out.print(
            f"{folder} is finished, after {run.model.num_timesteps:,} steps: nothing was done; more --steps train on"
        )
    best, more = folder / "best.zip", 2 * run.settings.run.steps
    last = run.evaluator.takes_last
    how = ("the last to miss the floor least" if run.settings.run.best_floor else "the last") if last else "the best"
    out.print(f"{best_score(best)}: {how}, {best}\n{run.score}: at the end, {folder / 'model.zip'}")
    wanted, missed = floors_of(models.facts(best))
    if missed:
        one = "the last one" if last else "the one"
        out.print(f"none came to {floors_in_words(wanted)}: the best is {one} that fell least short, by {missed:.4f}")
    out.print(f"models, cards, curve and logs are in {folder}")
    longer = f"dicegym train {game} --run-dir {shlex.quote(str(folder))} --resume --steps {more}"
    score = best_score(best)
    _tell_more(run.game, score, best, longer, run.evaluator.even(score))


def _say_before(game: str, config: Path | None, overrides: list[str], resume: bool) -> None:
    """Say that a training is for one player, of a game that others play at tables; and that its critic begins anew."""
    from dicegym.learning.configuration import override, read_config
    from dicegym.players.roster import model_file
    from dicegym.players.sb3 import has_critic, weights_of

    settings = override(read_config(game, config), overrides)
    seats, start = settings.game.get("players"), settings.run.start_from
    with contextlib.suppress(DicegymError, ImportError):  # the training says what is wrong with it
        if start and not resume and not has_critic(weights_of(model_file(dicegym.game(game), start, "run.start_from"))):
            err.print(
                f"dicegym: the file of {start} holds its policy alone, as those of models that ship do: the training "
                "goes on with that, and its value network starts fresh."
            )
    most = dicegym.game(game).spec.players[1]
    if seats == 1 and most > 1:
        err.print(
            "dicegym: this trains for the most points of a player alone. The model plays at tables of up to "
            f"{most} too; --set game.players=2 trains at one."
        )


def _train_seeds(
    game: str,
    folder: Path,
    seeds: int | None,
    config: Path | None,
    overrides: list[str],
    resume: bool,
    workers: int | None,
    ray: str | None,
    trust: bool,
) -> None:
    """Train with several seeds, and say what they came to. Raises Exit(1) if one of them failed."""
    from dicegym.learning.seeds.summary import PICTURE
    from dicegym.learning.seeds.task import FAILED
    from dicegym.learning.seeds.training import train_seeds
    from dicegym.players import model as models

    with contextlib.ExitStack() as stack:
        show, say = stack.enter_context(progress_bars("steps"))
        workshop = None
        if ray is not None:
            from dicegym.learning.seeds.ray_trainer import ray_workshop

            workshop = stack.enter_context(ray_workshop(ray or None, workers, lambda line: say(f"dicegym: {line}")))
        found = train_seeds(
            game,
            folder,
            seeds,
            config,
            overrides,
            resume,
            workers,
            lambda seed, done, total, text: show(f"seed {seed}", done, total, text),
            trust,
            workshop,
            say,
        )
    rows = [
        [str(one.seed), one.how, f"{one.steps:,}", *("-" if isnan(s) else f"{s:.4f}" for s in (one.best, one.end))]
        for one in found.results
    ]
    print_table(["seed", "how it ended", "steps", "best model", "at the end"], rows)
    for title, value in (("at the end", found.end), ("best models", found.best)):
        if value is not None:
            out.print(f"{title}: {value}, {found.measure}")
    if found.floor:
        out.print(f"below the floor, {found.floor}: {found.below}")
    shown = shlex.quote(str(folder))
    failed = [one.seed for one in found.results if one.how == FAILED]
    if found.best_model is not None:
        model, table = shlex.quote(str(found.best_model)), models.trained_on(str(found.best_model))
        seat = f"dicegym tournament {game} {model} {shlex.quote(table.spec.baseline)}"
        _show_next(
            (f"dicegym plot {shown}", f"the curve with its band: {PICTURE}"),
            *([(f"dicegym evaluate {model} --against all", "how the best of all models fares")] * (table.players > 1)),
            *([(seat, "a contest: name whom you like")] * (table.players > 1)),
        )
    if failed:
        err.print(
            f"{len(failed)} of {len(found.results)} seeds failed: the same command with --resume tries them again"
        )
        raise typer.Exit(1)


def _tell_more(game: dicegym.Game, score: Any, model: Path, longer: str, even: float) -> None:
    """Say what the score of a new model means, where equals come to ``even``, and what can be done with the model."""
    for line in in_words([score], game, model.name, even):
        out.print(line)
    if (page := model.with_suffix(".md")).is_file():
        out.print(f"How it fares against every bot: {page}")
    named = shlex.quote(str(model))
    _show_next(
        (f"dicegym plot {shlex.quote(str(model.parent))}", "the curve as a picture"),
        *([(f"dicegym play {game.name} --against {named}", "play against it")] if game.players > 1 else []),
        *([(f"dicegym watch {named}", "see it play alone")] if game.players == 1 else []),
        (f"dicegym tournament {game.name} {named} {shlex.quote(game.spec.baseline)}", "a contest: name whom you like"),
        (longer, "go on where this ended"),
    )


def _show_next(*ideas: tuple[str, str]) -> None:
    """Print commands to go on with, and what each does."""
    width = max(len(command) for command, _ in ideas)
    out.print("Next:")
    for command, what in ideas:
        out.print(f"  {command:{width}}  {what}")


def league(
    run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="the folder of a training")],
    games: Annotated[
        int | None, typer.Option(min=1, help="measure all members anew, in so many games for each two")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="with --games: processes, the same table with any number"),
    ] = None,
    ray: RayAddress = None,
    trust: Trust = False,
) -> None:
    """Show who beat whom in a training's league.

    Its members are the past selves, agents and exploiters that the training played against. A training has them play
    few games: --games N lets those who are in its newest checkpoint play N fresh ones, each against each.

    Examples: dicegym league runs/liarsdice; dicegym league runs/liarsdice --games 10000 --workers 2
    """
    from dicegym.arena.report import show
    from dicegym.learning.league import read_league

    if games is None:
        if workers is not None or ray is not None:
            raise ParameterError("--workers and --ray are about measuring anew: give --games with them")
        if not (run_dir / "league.csv").is_file():
            raise ParameterError(f'{run_dir} holds no league.csv: only a training against "self" writes it')
        table, shares = read_league(run_dir / "league.csv")
    else:
        from dicegym.learning.run_state import league_of

        executors = None if ray is None and (workers or 1) == 1 else chosen_executors(workers, ray)
        found = league_of(run_dir, trust)
        with progress_bar("games") as progress:
            table, shares = found.measured_anew(games, executors, progress), found.shares()
    show(table.report(shares), out)


def demo(
    game: GameName,
    run_dir: Annotated[Path | None, typer.Option(help="the run's folder, replaced (default: runs/demo-GAME)")] = None,
    seed: Seed = 1,
) -> None:
    """Train an agent for two minutes, and enter it.

    There it meets every agent of the game.

    Example: dicegym demo hog
    """
    from dicegym.games.parts import solver
    from dicegym.learning.demo import run_demo
    from dicegym.learning.train import train as learn

    folder = run_dir or Path("runs") / f"demo-{game}"
    with progress_bar("steps") as progress:
        entry, score = run_demo(learn, game, folder, seed, progress)
    out.print(f"trained {entry}: {score}")
    table = dicegym.game(game)
    tournament(game, [*dicegym.agent_names(game), str(entry)], seed=seed, exact=solver(table) is not None)
    told = "" if solver(table) is None else ", which exact win rates rank: the games that it plays are part luck"
    out.print(f"\n{entry.stem} is the agent that was just trained, in the contest of {table.spec.title}{told}.")
    named = shlex.quote(str(entry))
    _show_next(
        (f"dicegym play {game} --against {named}", "play against it"),
        (f"dicegym plot {shlex.quote(str(folder))}", "its curve as a picture"),
        (f"dicegym train {game}", "train for as long as the game deserves"),
    )
