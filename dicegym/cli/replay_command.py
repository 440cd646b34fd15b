"""The command that replays a stored game: move by move, as a film, a page or a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from dicegym.cli import shared_options
from dicegym.cli.console import NO_FILES, Outputs, out, print_lines
from dicegym.cli.progress import progress_bar
from dicegym.cli.watch import Delay, pause_of, record, show
from dicegym.errors import ParameterError

if TYPE_CHECKING:
    from dicegym.analysis.decisions import Analysis
    from dicegym.arena.replay import Replay
    from dicegym.pictures.watched import WatchedMove


REPLAY_ID = "a match of the store (its first game), MATCH.GAME, server:NUMBER, or a game's .json file"
"""The help text for the id of a stored game."""


def replay(
    game: Annotated[str, Argument(metavar="ID", help=REPLAY_ID)],
    seat: Annotated[int | None, Option(metavar="N", help="show only what this seat, from 0, could see")] = None,
    written: Annotated[Outputs, ".gif", ".html", ".json"] = NO_FILES,
    analyse: Annotated[bool, Option("--analyse", help="show the regret of mistakes, and better choices")] = False,
    store: shared_options.StoreName = None,
    delay: Delay = None,
) -> None:
    """Replay a stored game: by moves, as a film or a page.

    The game is played again by the current rules and compared with the stored result. If rules have changed, the
    command says so.

    A .json file contains the game, to be replayed elsewhere; an .html page steps through it in a browser.

    Examples: dicegym arena replay 2.1 --seat 0; dicegym arena replay 2.1 -o game.html
    """
    from dicegym.arena.replay import moments, save
    from dicegym.arena.replay.replay import result_lines
    from dicegym.pictures.watched import tell_apart

    gif, json = written[".gif"], written[".json"]
    pause = pause_of(delay, gif is not None)
    if json is not None and seat is not None:
        raise ParameterError(f"{json} contains the view of all seats: leave --seat out, or write a page (-o FILE.html)")
    found = replay_named(game, store)
    found.check_rules()
    notes = analyse_replay(found, None).notes() if analyse else None
    every = list(moments(found, seat, notes=notes))
    names = tell_apart(found.seats)
    facts = [f"game {found.id}"] if found.id else []
    if seat is None:  # the seed reveals hidden dice
        facts.append(f"seed {found.seed}, number {found.number}")
    seen = "" if seat is None else f", as {names[seat]} (seat {seat}) was shown it"
    called = f"; {', '.join(facts)}" if facts else ""
    out.print(f"{found.table().spec.title}: {', '.join(names)}{called}{seen}")
    if json is not None:
        save(found, json)
        out.print(f"wrote {json}")
    if written[".html"]:
        from dicegym.arena.replay.page import write_page

        written.html(lambda page: write_page(found, page, seat, notes=notes))
    if gif is not None:
        record(iter(every), gif, pause)
    if not written:
        show(_numbered(every), pause)
    print_lines(result_lines(found, seat))


def analyse_replay(found: Replay, values: str | None) -> Analysis:
    """Return the regret of each decision in a game, by the source of values that ``--values`` names."""
    from dicegym.analysis.decisions import analyse

    game = found.table()
    with progress_bar("moves") as progress:
        asked = shared_options.values_of(game, values, progress)
        return analyse(game, found.states(), found.actions, found.seats, asked, progress=progress)


def _numbered(every: list[WatchedMove]) -> Iterator[WatchedMove]:
    """Yield moments with their numbers, for ``dicegym values hint GAME:N``."""
    for number, moment in enumerate(every):
        heading = (f"move {number} of {len(every) - 1}",) if number else ()
        yield moment._replace(done=(*heading, *moment.done))


def replay_named(game: str, store: str | None) -> Replay:
    """Return a stored game, or the game in a file; `REPLAY_ID` describes the ids."""
    from dicegym.arena.replay import load

    if Path(game).suffix.lower() == ".json":
        if store is not None:
            raise ParameterError(
                f"a .json file such as {game} needs no store: leave --store out, or name a stored game"
            )
        return load(game)
    shared_options.store_name(store)  # names a missing library before the next imports fail
    from dicegym.arena.replay.stored_replays import find_replay, game_id

    game_id(game)  # checks the id before the store is opened
    with shared_options.read_store(store) as reader:
        return find_replay(reader, game)
