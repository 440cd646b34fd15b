"""Commands that measure models and agents, and export them as bots."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

import dicegym
from dicegym.cli import shared_options
from dicegym.cli.console import NO_FILES, Outputs, check_writable, err, out, print_lines, print_table, write_new
from dicegym.cli.progress import progress_bar
from dicegym.cli.shared_options import BOTS, MACHINES, BotOptions, MachineOptions
from dicegym.errors import FaultWarning, ParameterError
from dicegym.escape import one_line

if TYPE_CHECKING:
    from dicegym.learning.evaluate import Score

ALL = "all"
"""The value of ``--against`` for every agent of the game."""
FAULTS_SHOWN = 3
"""Faults printed in words; the rest are counted."""


def table_for(agent: str, game: str | None, parameter: list[str] | None, others: int) -> dicegym.Game:
    """Return the game for ``agent`` and ``others`` opponents at one table.

    It has the usual number of seats, or more for more opponents, unless ``parameter`` sets it. Raises ParameterError if
    they do not fit at one table.
    """
    given = list(parameter or [])
    table = shared_options.game_or_that_of(agent, game, given)
    if others < table.players:
        return table
    if table.players == 1 and others:
        raise ParameterError(f"{table!r} has one player: leave out --against, or give -p players=2 or more")
    fixed = "players" in shared_options.parameters_of(given)
    most = table.players if fixed else table.spec.players[1]
    if others >= most:
        raise ParameterError(
            f"{others} opponents do not fit at one table: {table.spec.title} has {most - 1} seats for them here; name "
            "fewer, or leave out --together to meet one after the other"
        )
    return shared_options.game_or_that_of(agent, game, [*given, f"players={others + 1}"])


@contextlib.contextmanager
def count_faults() -> Iterator[list[str]]:
    """Yield a list that collects the faults of all players in words, instead of printing thousands of warnings."""
    faults: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", FaultWarning)
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, FaultWarning):
                faults.append(str(message))
            else:
                others(message, category, *where, **more)

        warnings.showwarning = show
        yield faults


def print_faults(faults: list[str]) -> None:
    """Print the first `FAULTS_SHOWN` faults, and how many more there were."""
    for fault in faults[:FAULTS_SHOWN]:
        err.print(f"fault: {fault}")
    if len(faults) > FAULTS_SHOWN:
        err.print(f"and {len(faults) - FAULTS_SHOWN:,} more faults")


def evaluate(
    model: Annotated[str, Argument(help="a model's file, or any agent")],
    against: Annotated[
        list[str] | None, Option(help="an opponent (default: the baseline), or `all`; repeatable")
    ] = None,
    game: shared_options.GameOption = None,
    games: Annotated[int, Option(min=1, help="games to play without an exact value")] = 10_000,
    together: Annotated[bool, Option(help="seat all of --against at one table")] = False,
    sampled: Annotated[bool, Option(help="play games even if there is an exact value")] = False,
    less_luck: shared_options.LessLuck = False,
    seed: shared_options.Seed = None,
    temperature: shared_options.Temperature = None,
    machines: MachineOptions = MACHINES,
    bots: BotOptions = BOTS,
    written: Annotated[Outputs, ".json"] = NO_FILES,
    parameter: shared_options.Parameters = None,
) -> None:
    """Measure how strong a model or agent is, exactly if possible.

    Otherwise it plays games, and the result has a 95 % interval. Bots' files run in separate processes; the limit
    `seconds` applies to loading, to a move, and to an average game. Without such a file, --ray or --workers above 1,
    all games are played in this process.

    Examples: dicegym evaluate mine.zip --game hog --against all; dicegym evaluate mine.py --game yatzy --workers 4;
    dicegym evaluate ppo --game liarsdice --against bayes --less-luck --temperature 1
    """
    from dicegym.learning.evaluate import FRESH_SEED, keep_open, limits_of
    from dicegym.learning.evaluate import evaluate as measure
    from dicegym.players.roster import agent_name, is_strangers

    asked = bots.limits(("seconds", "memory"))
    named, seed = list(against or []), FRESH_SEED if seed is None else seed
    if ALL in named and (together or len(named) > 1):
        raise ParameterError(f"--against {ALL} means every agent, one after the other: give it alone")
    table = table_for(model, game, parameter, len(named) if together else min(1, len(named)))
    met = other_agents(table, model) if named == [ALL] else named
    strangers = [one for one in (model, *met) if is_strangers(table, one)]
    apart = bool(strangers) or machines.ray is not None or (machines.workers or 1) > 1
    # A name may find a compiled twin, which is faster and has known probabilities.
    named_only = temperature is None and (apart or less_luck)
    player: Any = model if named_only else dicegym.agent(table, model, temperature=temperature)
    if strangers and machines.ray is None:
        bots.tell_isolation(strangers)
    with count_faults() as faults, progress_bar("games") as progress, contextlib.ExitStack() as stack:
        how: dict[str, Any] = {
            "exact": not sampled,
            "seed": seed,
            "less_luck": less_luck,
            "progress": progress,
            "executors": stack.enter_context(keep_open(machines.executors())) if apart else None,
            "isolation": bots.isolation,
            "limits": limits_of(asked.seconds, asked.memory),
        }
        opponents: Sequence[Any] = [met] if together and met else met or [None]
        scores = [measure(table, player, opponent, games, **how) for opponent in opponents]
    print_faults(faults)
    show_scores(scores, table, one_line(agent_name(table, model)))
    about = {"model": model, **shared_options.about(table), "fingerprint": table.fingerprint}
    about |= {"seed": seed, "faults": len(faults)}
    written.json([about | score.to_json() for score in scores])


def other_agents(table: dicegym.Game, model: str) -> list[str]:
    """Return every agent of a game but ``model`` itself. Raises ParameterError if there is no other."""
    from dicegym.players.roster import resolve

    own = resolve(table, model)
    names = [name for name in dicegym.agent_names(table) if resolve(table, name) != own]
    if not names:
        raise ParameterError(f"{table.spec.title} has no other agents than {model}")
    return names


def show_scores(scores: Sequence[Score], table: dicegym.Game, name: str) -> None:
    """Print a score, or a table of several with the hardest opponent first; then explain them."""
    from dicegym.learning.evaluate import overall

    def row(score: Score, against: str = "") -> list[str]:
        interval = f"{score.low:.4f} - {score.high:.4f}" if score.games else ""
        return [against or score.opponent, f"{score.value:.4f}", interval, score.known_by]

    if len(scores) == 1:
        out.print(str(scores[0]))
    else:
        rows = [row(score) for score in sorted(scores, key=lambda score: score.value)]
        rows.append(row(overall(scores), f"mean of {len(scores)}"))
        print_table([f"{name} against", "win rate", "95 % interval", "games"], rows)
    print_lines(explain_scores(scores, table))


def explain_scores(scores: Sequence[Score], table: dicegym.Game) -> list[str]:
    """Return what scores at ``table`` mean."""
    from dicegym.analysis.variance_reduction import MOST_SAVED
    from dicegym.learning.evaluate import OF_ONE_DRAW

    if table.players == 1:
        lines = ["The mean return of a game alone, with its 95 % interval: more --games make it narrower."]
    elif any(score.games for score in scores):
        lines = ["The share of games won, over all seats, with its 95 % interval: more --games make it narrower."]
    elif any(score.measure == OF_ONE_DRAW for score in scores):
        lines = ["One draw: the win rate for one sample of all answers. Another differs, and --sampled plays games."]
    else:
        lines = ["Exact win rate, computed without luck; a fair coin decides who begins."]
    if saved := [score.saved for score in scores if score.saved is not None]:
        times = f"Without variance reduction you would need {min(saved):,.3g} times as many games."
        lines.append("All variance was luck, and is removed." if min(saved) > MOST_SAVED else times)
    if table.players > 1:
        equal = 1 / table.players
        better, worse = sum(score.low > equal for score in scores), sum(score.high < equal for score in scores)
        verdict = f"better than {better} of {len(scores)}, worse than {worse}"
        if len(scores) == 1:
            verdict = "it is stronger" if better else "it is weaker" if worse else "no difference is certain"
        lines.append(f"{f'{equal:.3f}'.rstrip('0')} = equal strength: {verdict}.")
    return lines


def export(
    model: Annotated[str, Argument(help="a model's file, or any agent")],
    form: Annotated[Path, Option("--as", metavar="PATH", help="the file to write, such as hog.py or my/bots/hog.py")],
    game: shared_options.GameOption = None,
    force: Annotated[bool, Option(help="replace an existing file")] = False,
    temperature: shared_options.Temperature = None,
    parameter: shared_options.Parameters = None,
) -> None:
    """Write a model or an agent as an original bot.

    Missing folders are made. Where a game's interface has several forms, the file's name chooses one (default: the
    first). If the agent reads a table, it is written beside the bot. A stochastic model makes a stochastic bot.

    Example: dicegym export agents/hog/ppo.zip --as hog.py
    """
    from dicegym.bots.export import TABLE_SUFFIX, export_forms, export_source, table_beside
    from dicegym.files import writing

    if form.suffix not in ("", ".py"):
        raise ParameterError(f"--as {form} is not a Python file: name a .py file, such as hog.py")
    if form.parent.exists():  # otherwise it is made at the end
        check_writable(form, force)
    table = shared_options.game_or_that_of(model, game, parameter)
    player = dicegym.agent(table, model, temperature=temperature)
    forms = export_forms(table)
    fitting = form.name if form.name in forms else next(iter(forms), form.name)
    source, data = export_source(player, table, fitting), table_beside(player)
    form.parent.mkdir(parents=True, exist_ok=True)
    if data is not None:
        beside = form.with_suffix(TABLE_SUFFIX)
        check_writable(beside, force)
        with writing(beside) as unfinished:
            unfinished.write_bytes(data.read_bytes())
        out.print(f"wrote {beside}")
    write_new(form, source)
