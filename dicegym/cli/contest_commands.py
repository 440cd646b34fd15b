"""Commands that run contests and comparisons."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from typer import Argument, Option

import dicegym
from dicegym.cli import shared_options
from dicegym.cli.console import NO_FILES, Outputs, check_writable, err, out
from dicegym.cli.progress import progress_bar
from dicegym.cli.shared_options import BOTS, MACHINES, STORE, BotOptions, MachineOptions, StoreOptions, complete_agent
from dicegym.errors import ParameterError
from dicegym.play.seeds import draw_seed
from dicegym.signals import going_on

if TYPE_CHECKING:
    from dicegym.arena import Named
    from dicegym.arena.results import ContestResult
    from dicegym.arena.storage import Storage


FORMATS = "round-robin|groups|one-table|swiss"
ELO_HELP = "test a difference of LOW (not better) against HIGH (better) Elo; default: 0 20"
MARGINS_HELP = "the same for differences of the mean score; default with others: 0 0.05"


class TournamentOptions(NamedTuple):
    """The options of contests, here or on the web server."""

    format: Annotated[str | None, Option(metavar=FORMATS, help="the pairings (default: the game's own)")] = None
    games: Annotated[int | None, Option(help="games of a match; in groups, the most games of a playoff")] = None
    seeds: Annotated[int, Option(help="how often each match is played, with new dice each time")] = 1
    rounds: Annotated[int | None, Option(help="rounds of swiss (default: as many as it needs)")] = None
    exact: Annotated[bool, Option("--exact", help="rank by exact win rates; --games 0: play nothing")] = False
    less_luck: shared_options.LessLuck = False


TOURNAMENT = TournamentOptions()


class ComparisonOptions(NamedTuple):
    """The options of comparisons, for `dicegym.arena.compare`."""

    elo: Annotated[tuple[float, float] | None, Option(metavar="LOW HIGH", help=ELO_HELP)] = None
    margins: Annotated[tuple[float, float] | None, Option(metavar="LOW HIGH", help=MARGINS_HELP)] = None
    games: Annotated[int | None, Option(help="most games to play (default: 100,000)")] = None
    less_luck: shared_options.LessLuck = False


COMPARISON = ComparisonOptions()


def tournament(
    game: shared_options.GameName,
    entries: Annotated[
        list[str] | None,
        Argument(
            metavar="[NAME=]ENTRY",
            help="names, files or folders; a folder of submissions adds all of them (default: all agents)",
        ),
    ] = None,
    seed: shared_options.Seed = None,
    contest: TournamentOptions = TOURNAMENT,
    bots: BotOptions = BOTS,
    machines: MachineOptions = MACHINES,
    kept: StoreOptions = STORE,
    written: Annotated[Outputs, ".json", ".csv", ".html", ".md"] = NO_FILES,
    parameter: shared_options.Parameters = None,
) -> None:
    """Run a contest between agents, and rank them.

    The same command again plays only the matches that are missing in the store: after a kill, or when entries have
    changed. A .csv file contains the ranking, and a second file beside it the matches.

    Example: dicegym tournament hog submissions/ bacon --exact

    Example: dicegym tournament yatzy mine=bots/yatzy.py gather thrifty --format swiss --rounds 2

    Example: dicegym tournament liarsdice even honest bayes --less-luck
    """
    shared_options.begin_loading(game, machines.ray is None)
    from dicegym import arena

    table = shared_options.make_game(game, parameter)
    named = parse_entries(entries or dicegym.agent_names(table))
    run = functools.partial(arena.contest, table, named, **contest._asdict())
    _run(run, named, seed, bots, machines, kept, written)


def compare(
    game: shared_options.GameName,
    first: Annotated[str, Argument(metavar="A", help="the current agent", autocompletion=complete_agent)],
    second: Annotated[str, Argument(metavar="B", help="is it better?", autocompletion=complete_agent)],
    others: Annotated[list[str] | None, Option(help="another agent at a larger table; repeatable")] = None,
    comparison: ComparisonOptions = COMPARISON,
    seed: shared_options.Seed = None,
    bots: BotOptions = BOTS,
    machines: MachineOptions = MACHINES,
    kept: StoreOptions = STORE,
    written: Annotated[Outputs, ".json", ".csv", ".html", ".md"] = NO_FILES,
    parameter: shared_options.Parameters = None,
) -> None:
    """Test whether B is better than A, in few games.

    They play pairs of games on the same dice in exchanged seats until a sequential test is decided. The same command
    again plays only the games that are missing in the store.

    Example: dicegym compare hog bacon swap

    Example: dicegym compare liarsdice even honest --less-luck
    """
    shared_options.begin_loading(game, machines.ray is None)
    from dicegym.arena.compare import comparing

    table = shared_options.make_game(game, parameter)
    named = one, two, *rest = parse_entries([first, second, *(others or [])])
    how = {name: value for name, value in comparison._asdict().items() if value is not None}
    run = functools.partial(comparing.compare, table, one, two, rest or None, **how)
    _run(run, named, seed, bots, machines, kept, written)


def _run(
    run: Callable[..., ContestResult],
    named: Iterable[str | Named],
    seed: int | None,
    bots: BotOptions,
    machines: MachineOptions,
    kept: StoreOptions,
    written: Outputs,
) -> None:
    """Run a contest or a comparison, print its result and storage, and write the output files.

    ``run`` takes the options that contests and comparisons share. Raises Exit(1) if fewer than two entries were ranked;
    the outputs then say why.
    """
    from dicegym.arena import Named

    if sheet := written[".csv"]:
        from dicegym.arena.csv_tables import name_of_matches

        check_writable(name_of_matches(sheet))
    executors = machines.executors()
    if machines.ray is None:
        bots.tell_isolation(str(one.spec) if isinstance(one, Named) else one for one in named)
    storage, again = kept.storage(), "the same command continues"
    if storage is None:
        if page := written[".html"]:
            raise ParameterError(f"--output {page} needs a stored contest: leave --store none out")
        seed = draw_seed() if seed is None else seed
        again = f"and nothing of the contest is stored; --seed {seed} starts the same one again"
    how = {"limits": bots.limits(), "isolation": bots.isolation, "executors": executors, "store": storage}
    with progress_bar("checks and matches") as progress, going_on(again):
        result = run(seed=seed, progress=progress, **how)
    out.print(result.text(out.width))
    if result.stored is not None:
        err.print(f"dicegym: {result.stored}; --label NAME starts another")
    _write(result, storage, written)
    if len(result.standings) < 2:
        err.print("dicegym: no contest was run, as fewer than two entries can play")
        raise typer.Exit(1)


def _write(result: ContestResult, storage: Storage | None, written: Outputs) -> None:
    """Write the output files; the page needs a stored contest."""
    written.json(result.to_json())
    if (sheet := written[".csv"]) is not None:
        from dicegym.arena.csv_tables import result_sheets

        result_sheets(result.to_json(), sheet)
    if (page := written[".html"]) is not None and result.stored is not None and storage is not None:
        from dicegym.arena.pages.contest_page import write_page
        from dicegym.arena.pages.stored_contest import build_page

        with shared_options.read_store(str(storage.where)) as reader:
            write_page(build_page(reader, reader.contest(result.stored.contest)), page)
    if (text := written[".md"]) is not None:
        from dicegym.arena.report import markdown_text
        from dicegym.files import write_text

        write_text(text, markdown_text(result.report()))


def parse_entries(given: Iterable[str]) -> list[str | Named]:
    """Return entries; ``name=entry`` renames one, unless a file has the whole text as its path."""
    from dicegym.arena import Named

    found: list[str | Named] = []
    for text in given:
        name, equals, spec = text.partition("=")
        path = not re.fullmatch(r"[^()/\\]*", name)  # a path, or arguments of an agent
        if not equals or path or os.path.exists(os.path.expanduser(text)):
            found.append(text)
        elif not name or not spec:
            raise ParameterError(f"invalid entry {text!r}: write NAME=ENTRY, such as mine=bots/hog.py")
        else:
            found.append(Named(name, spec))
    return found
