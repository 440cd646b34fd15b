"""What decisions cost: in a game that was played, and of a player over many games."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import dicegym
from dicegym import games
from dicegym.cli.common import (
    GameName,
    HtmlFile,
    JsonFile,
    Parameters,
    Seed,
    StoreName,
    Trust,
    ValuesName,
    check_writable,
    chosen_game,
    complete_agent,
    err,
    out,
    print_table,
    progress_bar,
    write_json,
)
from dicegym.cli.replay import REPLAY_ID, replay_named
from dicegym.errors import ParameterError


def analyse(
    replay: Annotated[list[str], typer.Argument(metavar="[GAME] ID", help=REPLAY_ID)],
    values: ValuesName = None,
    brief: Annotated[bool, typer.Option("--brief", help="leave out the list of all decisions")] = False,
    worst: Annotated[int, typer.Option(min=0, metavar="N", help="how many of the worst decisions are shown")] = 3,
    store: StoreName = None,
    json_file: JsonFile = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="write a row for each decision as CSV to this file too")
    ] = None,
    html_file: HtmlFile = None,
) -> None:
    """Say what each decision of a stored game cost.

    And how lucky everybody was, and what the game came to without. The game follows from the ID; its name may stand
    before it.

    Example: dicegym analyse 3fa2c1 --html game.html
    """
    from dicegym.analysis import analyse as analysed
    from dicegym.analysis import valuer
    from dicegym.arena.replay.telling import result_lines
    from dicegym.errors import one_line

    for path in (json_file, csv_file, html_file):
        check_writable(path)
    if len(replay) > 2:
        raise ParameterError(f"{len(replay)} games are too many: name one, as in `dicegym analyse 3fa2c1`")
    *named, wanted = replay
    spec = [games.spec(name) for name in named]  # before the store is asked
    found = replay_named(wanted, store)
    if spec and spec[0].name != found.game:
        raise ParameterError(f"{one_line(wanted)} is a game of {one_line(found.game)}: leave {spec[0].name} out")
    for note in found.other_rules():
        err.print(f"dicegym: not as when it was played, though the game is the same: {note}")
    game = found.table()
    with progress_bar("moves") as progress:
        asked = valuer(game, values, progress=progress)
        analysis = analysed(game, found.states(game), found.actions, found.seats, asked, progress=progress)
    out.print(analysis.text(brief, worst))
    for line in result_lines(found)[1:]:
        out.print(line)
    write_json(json_file, analysis.to_json())
    if csv_file is not None:
        from dicegym.arena.sheets import csv_text
        from dicegym.files import write_text

        write_text(csv_file, csv_text(analysis.rows()))
    if html_file is not None:
        from dicegym.arena.pages.analysed import write_page

        write_page(analysis, html_file, found.title, worst)
        out.print(f"wrote {html_file}: open it in a browser")


def grade(
    game: GameName,
    agents: Annotated[
        list[str], typer.Argument(metavar="AGENT...", help="who is graded", autocompletion=complete_agent)
    ],
    against: Annotated[
        list[str] | None, typer.Option(help="who else sits at the table; repeatable (default: the game's baseline)")
    ] = None,
    games: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="games for each agent (default: 200; 10 by rollouts)")
    ] = None,
    values: ValuesName = None,
    seed: Seed = 0,
    trust: Trust = False,
    json_file: JsonFile = None,
    parameter: Parameters = None,
) -> None:
    """Grade agents: what their decisions give away, over many games.

    Example: dicegym grade hog best_by_scores swap bacon --games 500
    """
    from dicegym.analysis import MARKS, Grade, valuer
    from dicegym.analysis import grade as graded
    from dicegym.analysis.grades import facts
    from dicegym.analysis.marks import thresholds
    from dicegym.analysis.report import grade_table, sure

    check_writable(json_file)
    table = chosen_game(game, parameter)
    players = [dicegym.agent(table, name, trust=trust) for name in agents]
    names = against or ([table.spec.baseline] if table.players > 1 else [])
    others = [dicegym.agent(table, name, trust=trust) for name in names]
    found: list[Grade] = []
    with progress_bar("games") as progress:
        asked = valuer(table, values, progress=progress)
        for player in players:
            found.append(graded(player, table, others, games, seed, asked, progress=progress))
    against_whom = f", against {', '.join(names)}" if names else ""
    out.print(f"{table.spec.title}: {found[0].games:,} games each{against_whom}. {sure(asked)}.")
    out.print("")
    print_table(*grade_table(found, MARKS))
    out.print("")
    out.print("Intervals are of 95 %; marks are so many in a game. " + thresholds(asked.unit))
    write_json(json_file, facts(table, asked, names, seed, found))
