"""A game that was played, seen again: move by move, as a film, as a page, as a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dicegym.cli import options
from dicegym.cli.command import NO_FILES, Outputs
from dicegym.cli.console import out
from dicegym.cli.progress import progress_bar
from dicegym.cli.viewer import show
from dicegym.cli.watch import DELAY, record
from dicegym.errors import ParameterError

if TYPE_CHECKING:
    from dicegym.arena.replay import Replay
    from dicegym.pictures.watched import WatchedMove


REPLAY_ID = "a match of the store (its first game), MATCH.GAME, server:NUMBER, or a game written as .json"
"""What names a game that was played."""


def replay(
    game: Annotated[str, typer.Argument(metavar="ID", help=REPLAY_ID)],
    step: Annotated[bool, typer.Option("--step", help="wait for a key after each move")] = False,
    seat: Annotated[
        int | None, typer.Option(metavar="N", help="show what this seat, from 0, was shown (default: everything)")
    ] = None,
    written: Annotated[Outputs, ".gif", ".html", ".json"] = NO_FILES,
    analyse: Annotated[
        bool, typer.Option("--analyse", help="tell what mistakes gave away, and what would have been better")
    ] = False,
    values: options.ValuesName = None,
    ids: Annotated[
        bool, typer.Option("--ids", help="show an id of each state, for `dicegym values hint` and `rollout`")
    ] = False,
    store: options.StoreName = None,
    delay: Annotated[
        float | None,
        typer.Option(min=0, help="seconds from move to move (default: 1; none where the output is no terminal)"),
    ] = None,
) -> None:
    """See a stored game again: by moves, film or page.

    It is played again by the rules of today, to the result that is stored; if rules have changed since, it says which.

    A .json file is handed on and read again; an .html page steps through the game in a browser.

    Examples: dicegym arena replay 3fa2c1 --step; dicegym arena replay 3fa2c1 -o game.html
    """
    from dicegym.arena.replay import moments, save
    from dicegym.arena.replay.telling import result_lines

    gif, html, json = (written[ending] for ending in (".gif", ".html", ".json"))
    if step and (written or not out.is_terminal or not sys.stdin.isatty()):
        reason = "which writes files" if written else "and there is no terminal with a keyboard"
        raise ParameterError(f"--step waits for keys, {reason}: leave it out")
    if json is not None and seat is not None:
        raise ParameterError(f"{json} holds the game of all seats: leave --seat out, or write a page (-o FILE.html)")
    if values is not None and not analyse:
        raise ParameterError(f"--values {values} says whose values mistakes are judged by: give --analyse too")
    found = replay_named(game, store)
    found.check_rules()
    notes = _notes(found, values) if analyse else None
    every = list(moments(found, seat, notes=notes))
    if ids:
        every = _with_ids(found, every, seat)
    out.print(_heading(found, seat))
    if json is not None:
        save(found, json)
        out.print(f"wrote {json}")
    if html is not None:
        from dicegym.arena.replay.page import write_page

        write_page(found, html, seat, notes=notes)
        out.print(f"wrote {html}: open it in a browser")
    if gif is not None:
        record(iter(every), [gif], DELAY if delay is None else delay)
    if not written:
        show(_numbered(every), (DELAY if out.is_terminal else 0.0) if delay is None else delay, paused=step)
    for line in result_lines(found, seat):
        out.print(line)


def _notes(found: Replay, values: str | None) -> dict[tuple[int, int], str]:
    """Return what mistakes gave away, by seat and number of the seat's decision."""
    from dicegym.analysis import analyse, valuer

    game = found.table()
    with progress_bar("moves") as progress:
        asked = valuer(game, values, progress=progress)
        options.tell_better_values(asked, values)
        return analyse(game, found.states(game), found.actions, found.seats, asked, progress=progress).notes()


def _numbered(every: list[WatchedMove]) -> Iterator[WatchedMove]:
    """Yield moments with their numbers: what was noted names them."""
    for number, moment in enumerate(every):
        told = (f"move {number} of {len(every) - 1}",) if number else ()
        yield moment._replace(done=(*told, *moment.done))


def _with_ids(found: Replay, every: list[WatchedMove], seat: int | None) -> list[WatchedMove]:
    """Return moments with the id of each state: of all of it, or of what a seat may know."""
    from dicegym.games.positions import position_id

    game = found.table()
    texts = [position_id(game, frame.state, seat) for frame in found.frames()]
    return [moment._replace(done=(*moment.done, f"state {text}")) for moment, text in zip(every, texts, strict=True)]


def replay_named(game: str, store: str | None) -> Replay:
    """Return the game that `REPLAY_ID` names: one of the store, or that of a file."""
    from dicegym.arena.replay import load

    if Path(game).suffix.lower() == ".json":
        if store is not None:
            raise ParameterError(f"{game} is a file, and in no store: leave --store out")
        return load(game)
    where = options.store_name(store)
    from dicegym.arena.replay.stored import game_id, stored_replay
    from dicegym.arena.store.reading import StoreReader

    game_id(game)  # before the store is opened
    with StoreReader(where, waits=True) as reader:
        return stored_replay(reader, game)


def _heading(found: Replay, seat: int | None) -> str:
    """Return what is to be seen, in a line."""
    from dicegym.pictures.watched import told_apart

    names = told_apart(found.seats)
    seen = "" if seat is None else f", as {names[seat]} (seat {seat}) was shown it"
    called = f"game {found.id}, " if found.id else ""
    called += f"seed {found.seed}, number {found.number}"
    where = ", in the order of their seats" if found.players > 1 else ""
    return f"{found.table().spec.title}: {', '.join(names)}{where}; {called}{seen}"
