"""The command line: one thin verb per capability. ``dicegym --help`` lists them."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import dicegym
from dicegym.errors import DicegymError, ParameterError
from dicegym.registry import ENVIRONMENTS, GAMES

app = typer.Typer(
    help="Five real dice games as reinforcement-learning environments.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

GameName = Annotated[str, typer.Argument(metavar="GAME", help="a game's name; `dicegym games` lists them")]
Seed = Annotated[int, typer.Option(help="same seed, same games")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--parameter", "-p", metavar="NAME=NUMBER", help="a parameter of the game; repeatable"),
]
Json = Annotated[Path | None, typer.Option("--json", help="write the result as JSON to this file too")]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; mistakes of the user end as one line on standard error and status 2."""
    try:
        _add_commands_of_games(sys.argv[1:] if arguments is None else arguments)
        app(arguments)
    except DicegymError as error:
        err.print(f"dicegym: {error}", markup=False)
        sys.exit(2)
    except OSError as error:  # a file or folder that could not be read or written
        err.print(f"dicegym: {error}", markup=False)
        sys.exit(2)
    except KeyboardInterrupt:
        err.print("dicegym: interrupted")
        sys.exit(130)


def _add_commands_of_games(arguments: list[str]) -> None:
    """Add the commands that games have of their own, a group for each game whose folder has a module ``commands``.

    They are loaded only if one of them, or the list of all commands, is asked for: that loads the games.
    """
    first = next((argument for argument in arguments if not argument.startswith("-")), None)
    for name in GAMES if first is None else {first} & set(GAMES):
        known = any(group.name == name for group in app.registered_groups)
        if not known and (Path(dicegym.__file__).parent / "games" / name / "commands.py").is_file():
            app.add_typer(importlib.import_module(f"dicegym.games.{name}.commands").app, name=name)


def _show_version(wanted: bool) -> None:
    if wanted:
        out.print(f"dicegym {dicegym.__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="print the version and stop")
    ] = False,
) -> None:
    pass


def _parameters(settings: list[str] | None) -> dict[str, int]:
    parameters: dict[str, int] = {}
    for setting in settings or []:
        key, _, value = setting.partition("=")
        try:
            parameters[key] = int(value)
        except ValueError:
            raise ParameterError(f"--parameter {setting!r} is no setting: write NAME=NUMBER, such as goal=50") from None
    return parameters


def _game(name: str, settings: list[str] | None = None) -> dicegym.Game:
    return dicegym.game(name, **_parameters(settings))


def _game_for(spec: str, name: str | None, settings: list[str] | None) -> dicegym.Game:
    """Return the game ``name`` or, without one, the game that the agent ``spec`` plays."""
    from dicegym.players.about import game_of

    return _game(name, settings) if name else game_of(spec, **_parameters(settings))


def _check_writable(path: Path | None, force: bool = True) -> None:
    """Raise ParameterError if ``path`` cannot be written, before any work is done for it."""
    if path is None:
        return
    if path.exists() and not force:
        raise ParameterError(f"{path} exists: give --force to replace it, or another --output")
    if path.is_dir():
        raise ParameterError(f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise ParameterError(f"{path} cannot be written, as there is no folder {path.parent}: make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ParameterError(f"{path} must not be written by you: give another path")


def _write_json(path: Path | None, value: Any) -> None:
    if path is not None:
        path.write_text(json.dumps(value, indent=1) + "\n")


def _write_new(path: Path, text: str) -> None:
    path.write_text(text)
    out.print(f"wrote {path}", markup=False)


def _print_table(titles: list[str], rows: list[list[str]]) -> None:
    from dicegym.arena.report import plain_table

    for line in plain_table(titles, rows):
        out.print(line, markup=False)


@contextlib.contextmanager
def _progress(unit: str) -> Iterator[Callable[[int, int, str], None]]:
    """Yield a function (done, total, text) that moves a progress bar on standard error.

    The bar appears with the first call, so that mistakes found before it are told alone, and on a terminal only.
    """
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    bar = Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())
    task = bar.add_task("", total=None)

    def show(done: int, total: int, text: str) -> None:
        bar.start()  # does nothing if it has started
        bar.update(task, completed=done, total=total, description=text)

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()


@app.command()
def games() -> None:
    """List the games and their environments."""
    rows = []
    for environment in ENVIRONMENTS:
        game = dicegym.game(environment.game, **environment.settings)
        low, high = game.spec.players
        low, high = (max(2, low), high) if environment.multi else (game.players, game.players)
        seats = f"{low}-{high}" if low < high else str(low)
        parameters = " ".join(f"{name}={value}" for name, value in game.parameters.items())
        rows.append(
            [environment.full_id, game.name, seats, str(game.n_actions), str(game.observation_size), parameters]
        )
    _print_table(["environment", "game", "players", "actions", "observation", "parameters"], rows)


@app.command()
def agents(game: GameName) -> None:
    """List the agents of a game, each with its first line."""
    from dicegym.players.about import describe

    table = dicegym.game(game)
    _print_table(["agent", "what it is"], [[name, describe(table, name)] for name in dicegym.agent_names(game)])


@app.command()
def play(
    game: GameName,
    against: Annotated[list[str] | None, typer.Option(help="an agent; repeat it for each other seat")] = None,
    seat: Annotated[int, typer.Option(help="your seat")] = 0,
    seed: Seed = 0,
    parameter: Settings = None,
) -> None:
    """Play at the keyboard."""
    from dicegym.play.drive import play_game
    from dicegym.players.human import HumanPlayer

    table = _game(game, parameter)
    if len(against or []) >= table.players:
        raise ParameterError(
            f"--against is given {len(against or [])} times, and {table!r} seats {table.players - 1} beside you: "
            "give it once for each at most"
        )
    rivals = [dicegym.agent(table, name) for name in against or [table.spec.default_opponent]]
    if not 0 <= seat < table.players:
        raise ParameterError(f"--seat {seat} is no seat: give 0 to {table.players - 1}")
    others = [s for s in range(table.players) if s != seat]
    players = {s: rivals[i % len(rivals)] for i, s in enumerate(others)} | {seat: HumanPlayer()}
    try:
        state = play_game(table, [players[s] for s in range(table.players)], seed)
    except EOFError:
        raise ParameterError("the input ended before the game did: play at a keyboard") from None
    out.print(table.scene(state).text(), markup=False)


@app.command()
def check(
    file: Annotated[str, typer.Argument(help="a bot's file, folder or name")],
    game: Annotated[str | None, typer.Option(help="the game (default: by what the file defines)")] = None,
    seconds: Annotated[float, typer.Option(help="time limit for all questions together")] = 10.0,
    parameter: Settings = None,
) -> None:
    """Tell a bot's author what the contest's own test would."""
    from dicegym import arena

    report = arena.check(file, _game_for(file, game, parameter), limits=arena.Limits(seconds=seconds))
    out.print(report.text(), markup=False)
    raise typer.Exit(0 if report.ok else 1)


@app.command()
def tournament(
    game: GameName,
    entries: Annotated[list[str] | None, typer.Argument(help="agents' names or paths (default: all agents)")] = None,
    seed: Seed = 0,
    workers: Annotated[int | None, typer.Option(help="processes (default: the processor's cores)")] = None,
    json_file: Json = None,
    parameter: Settings = None,
) -> None:
    """Run a game's contest and print its report."""
    from dicegym.arena import contest
    from dicegym.arena.report import show

    _check_writable(json_file)
    table = _game(game, parameter)
    with _progress("checks and matches") as progress:
        result = contest(table, entries or dicegym.agent_names(table), seed, workers, progress)
    show(result.report(), out)
    _write_json(json_file, result.to_json())


@app.command()
def exact(
    game: GameName,
    a: Annotated[str, typer.Argument(metavar="A", help="an agent")],
    b: Annotated[str | None, typer.Argument(metavar="B", help="another one (default: the game's baseline)")] = None,
    best_response: Annotated[bool, typer.Option(help="instead: the best anyone can do against A who sees all")] = False,
    best_table: Annotated[
        bool, typer.Option(help="instead: the best strategy found against A by what players see")
    ] = False,
    trials: Annotated[int | None, typer.Option(help="how long --best-table searches")] = None,
    output: Annotated[Path | None, typer.Option(help="write the --best-table strategy as a bot's file")] = None,
    force: Annotated[bool, typer.Option(help="replace an existing --output")] = False,
    seed: Annotated[int, typer.Option(min=0, help="of the --best-table search: same seed, same table")] = 0,
    parameter: Settings = None,
) -> None:
    """Compute exact win rates: no simulation, no error. Of a game for one, what A's choices cost it on average."""
    from dicegym.games.parts import solitaire, solver

    _check_question(b, best_response, best_table, trials, output)
    _check_writable(output, force)
    table = _game(game, parameter)
    if (alone := solitaire(table)) is not None:
        _exact_alone(alone, table, a, b, best_response, best_table, seed)
        return
    values = solver(table)
    if values is None:
        raise ParameterError(f"{table!r} has no exact values: use `dicegym evaluate`, which plays games")
    first = dicegym.agent(table, a)
    search = {"seed": seed} | ({} if trials is None else {"trials": trials})
    if best_response:
        out.print(f"{values.best_response(first, table)[0]:.6f} best response to {first.name} that sees everything")
    elif best_table and output is not None:
        _write_new(output, values.best_bot(first, table, **search))
    elif best_table:
        out.print(f"{values.best_table(first, table, **search)[0]:.6f} best table found against {first.name}")
    else:
        second = dicegym.agent(table, b or table.spec.baseline)
        out.print(f"{values.win_rate(first, second, table):.6f} exact win rate of {first.name} against {second.name}")


def _exact_alone(
    values: Any, table: dicegym.Game, a: str, b: str | None, best_response: bool, best_table: bool, seed: int
) -> None:
    """Answer `exact` for a game that is played alone."""
    if b is not None or best_table:
        extra = f"B, which is {b!r}" if b is not None else "--best-table"
        raise ParameterError(f"{table!r} is played alone: leave out {extra}")
    best = values.optimum(table)
    if best_response:
        out.print(f"{best:.6f} best possible mean return")
        return
    player = dicegym.agent(table, a)
    mean, half, games = values.mean_return(player, table, seed=seed)
    cost = f"the best possible {best:.2f} less what its choices cost, known exactly, in {games} games"
    out.print(f"{mean:.2f} ± {half:.2f} mean return of {player.name}: {cost}")


def _check_question(
    b: str | None, best_response: bool, best_table: bool, trials: int | None, output: Path | None
) -> None:
    """Raise ParameterError if the arguments of `exact` ask two things at once, or something is for none of them."""
    asked = [option for option, given in (("--best-response", best_response), ("--best-table", best_table)) if given]
    if len(asked) > 1:
        raise ParameterError("--best-response and --best-table are two questions: ask one at a time")
    if asked and b is not None:
        raise ParameterError(f"{asked[0]} is about A alone: leave out B, which is {b!r}")
    if not best_table:
        for option, value in (("--output", output), ("--trials", trials)):
            if value is not None:
                raise ParameterError(f"{option} {value} is for --best-table alone: give that too, or leave this out")


def _training() -> Any:
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
        raise dicegym.errors.DependencyError.for_extra(str(error.name), "train", "training") from error
    return module


@app.command()
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
) -> None:
    """Train an agent; the run's folder then holds its models, its curve and its TensorBoard logs."""
    overrides = list(set_ or [])
    overrides += [f"run.{name}={value}" for name, value in (("steps", steps), ("seed", seed)) if value is not None]
    folder = run_dir or Path("runs") / game
    training = _training()
    try:
        with _progress("steps") as progress:
            run = training.train(game, folder, config, overrides, resume, progress)
    except KeyboardInterrupt as stopped:
        err.print(f"dicegym: interrupted{f', {stopped}' if stopped.args else ''}", markup=False)
        raise typer.Exit(130) from None
    out.print(f"{run.score}\nmodels, curve and logs are in {folder}", markup=False)


@app.command()
def league(run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="the folder of a training")]) -> None:
    """Show who beat whom among the past selves, agents and exploiters that a training played against."""
    from dicegym.arena.report import show
    from dicegym.learning import league_table

    if not (run_dir / "league.csv").is_file():
        raise ParameterError(f'{run_dir} holds no league.csv: only a training against "self" writes it')
    table, shares = league_table.read(run_dir / "league.csv")
    show(table.report(shares), out)


@app.command()
def evaluate(
    model: Annotated[str, typer.Argument(help="a model's file, or any agent")],
    against: Annotated[
        list[str] | None, typer.Option(help="an opponent; repeatable (default: the game's baseline)")
    ] = None,
    game: Annotated[
        str | None, typer.Option(help="the game (default: what the model was trained on, or the file or name fits)")
    ] = None,
    games: Annotated[int, typer.Option(min=1, help="games to play where there is no exact value")] = 10_000,
    together: Annotated[bool, typer.Option(help="let all of --against sit at one table")] = False,
    sampled: Annotated[bool, typer.Option(help="play games even if there is an exact value")] = False,
    seed: Annotated[int, typer.Option(help="same seed, same games; 0 to 2 are those of trainings and cards")] = 3,
    json_file: Json = None,
    parameter: Settings = None,
) -> None:
    """Measure a model or an agent: exactly where that is possible, else by games with a 95 % interval."""
    from dicegym.learning.evaluate import evaluate as measure

    _check_writable(json_file)
    table = _game_for(model, game, parameter)
    opponents: Any = [against] if together else against or [None]
    scores = [measure(table, model, opponent, games, exact=not sampled, seed=seed) for opponent in opponents]
    for score in scores:
        out.print(str(score), markup=False)
    _write_json(json_file, [score.to_json() for score in scores])


@app.command()
def export(
    model: Annotated[str, typer.Argument(help="a model's file, or any agent")],
    form: Annotated[str, typer.Option("--as", help="the original interface's file name, such as hog.py")],
    output: Annotated[Path | None, typer.Option(help="where to write it (default: that name, here)")] = None,
    game: Annotated[
        str | None, typer.Option(help="the game (default: what the model was trained on, or the file or name fits)")
    ] = None,
    force: Annotated[bool, typer.Option(help="replace an existing file")] = False,
    parameter: Settings = None,
) -> None:
    """Write a model, or any other agent, as a bot in the game's original interface."""
    from dicegym.bots.export import export_source

    target = output or Path(form)
    _check_writable(target, force)
    table = _game_for(model, game, parameter)
    _write_new(target, export_source(dicegym.agent(table, model), table, form))


@app.command()
def demo(
    game: GameName,
    run_dir: Annotated[Path | None, typer.Option(help="the run's folder, replaced (default: runs/demo-GAME)")] = None,
    seed: Seed = 1,
) -> None:
    """Train an agent for about two minutes, then enter it in the contest against every agent of the game."""
    from dicegym.learning.demo import run_demo

    with _progress("steps") as progress:
        entry, score = run_demo(_training(), game, run_dir or Path("runs") / f"demo-{game}", seed, progress)
    out.print(f"trained {entry}: {score}", markup=False)
    tournament(game, [*dicegym.agent_names(game), str(entry)], seed=seed)


@app.command()
def serve(
    game: GameName,
    more: Annotated[list[str] | None, typer.Argument(metavar="[AGENTS]...", help="further --agents")] = None,
    tcp: Annotated[int | None, typer.Option(metavar="PORT", help="serve plain TCP there; 0: any free port")] = None,
    ws: Annotated[int | None, typer.Option(metavar="PORT", help="serve WebSocket there; 0: any free port")] = None,
    agents: Annotated[list[str] | None, typer.Option(metavar="AGENT...", help="agents that fill free seats")] = None,
    players: Annotated[int, typer.Option(help="seats at a table")] = 2,
    games: Annotated[int, typer.Option(help="stop after so many games; 0: go on")] = 0,
    secrets: Annotated[Path | None, typer.Option(help="file of lines name:secret; these names need them")] = None,
    guests: Annotated[bool | None, typer.Option(help="let everybody play (default: on a loopback address)")] = None,
    host: Annotated[str, typer.Option(help="address to listen on; 0.0.0.0 for all")] = "127.0.0.1",
    database: Annotated[Path | None, typer.Option(help="of results (default: dicegym-GAME.sqlite)")] = None,
    seed: Annotated[int | None, typer.Option(help="of all dice (default: a fresh one)")] = None,
) -> None:
    """Let bots play rated games against each other over the network, with a live scoreboard."""
    import asyncio

    from dicegym.server.scoreboard import Scoreboard
    from dicegym.server.server import serve as run
    from dicegym.server.settings import ServerSettings

    settings = ServerSettings(
        game, tcp, ws, host, players, (*(agents or ()), *(more or ())), games, secrets, guests, database, seed
    )
    asyncio.run(run(settings, Scoreboard(out)))


@app.command()
def join(
    game: GameName,
    server: Annotated[str, typer.Argument(metavar="HOST:PORT", help="or a ws:// address")],
    agent: Annotated[str, typer.Option(help="who plays: any agent, a bot's file or a model")],
    name: Annotated[str | None, typer.Option(help="to play under (default: the agent's, or the secret's)")] = None,
    secret: Annotated[str | None, typer.Option(envvar="DICEGYM_SECRET", help="to log in by")] = None,
    games: Annotated[int, typer.Option(min=0, help="leave after so many games; 0: stay")] = 0,
    seed: Annotated[int | None, typer.Option(help="of the agent's randomness (default: a fresh one)")] = None,
) -> None:
    """Let an agent play on a server."""
    from dicegym.server.client import join as run

    run(game, server, agent, name, secret, games, seed, lambda text: out.print(text, markup=False))


@app.command()
def bench(
    modes: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MODE]...", help="what to measure, or `all` (default: all but the long ones)"),
    ] = None,
    games: Annotated[str, typer.Option(metavar="GAME,...", help="these games alone")] = "",
    seconds: Annotated[float, typer.Option(help="how long each loop runs")] = 0.5,
    repeats: Annotated[int, typer.Option(min=1, help="runs of each loop; the median is shown")] = 5,
    threads: Annotated[str, typer.Option(metavar="NUMBER,...", help="large batches on so many threads too")] = "1",
    json_file: Json = None,
    table: Annotated[Path | None, typer.Option(help="write the tables as Markdown to this file too")] = None,
    chart: Annotated[Path | None, typer.Option(help="draw the speeds to this file, .png or .svg")] = None,
    from_file: Annotated[
        Path | None, typer.Option("--from", help="measure nothing: show the figures that --json wrote")
    ] = None,
) -> None:
    """Measure speed on this machine, beside the peers that are installed: medians, with machine and versions.

    Modes: memory, batch, make_vec, sb3, make, state, aec, parallel, threads, peers, start; and the long ones, contest,
    server and training.
    """
    from dicegym.bench import Options, Result, run_bench
    from dicegym.bench.chart import check_chart, draw
    from dicegym.bench.report import markdown, plain

    numbers = threads.split(",")
    if not all(number.isdigit() for number in numbers):
        raise ParameterError(f"--threads {threads!r} cannot be read: give whole numbers, such as 1,2")
    named = tuple(name for name in games.split(",") if name)
    options = Options(tuple(modes or ()), named, seconds, repeats, tuple(map(int, numbers))).check()
    for path in (json_file, table, chart):
        _check_writable(path)
    if chart is not None:
        check_chart(chart)
    if from_file is not None:
        result = Result.read(from_file)
    else:
        result = run_bench(options, progress=lambda text: err.print(text, markup=False))
    out.print(plain(result), markup=False)
    _write_json(json_file, result.to_json())
    if table is not None:
        table.write_text(markdown(result), encoding="utf-8")
    if chart is not None:
        draw(result, chart)
