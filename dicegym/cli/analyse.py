"""What decisions cost: in a game that was played, and of a player over many games."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import dicegym
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
    out,
    print_table,
    progress_bar,
    tell_better_values,
    write_json,
)
from dicegym.cli.replay import REPLAY_ID, replay_named
from dicegym.errors import ParameterError
from dicegym.games import spec as spec_of


def analyse(
    replay: Annotated[list[str] | None, typer.Argument(metavar="[GAME] ID", help=REPLAY_ID)] = None,
    contest: Annotated[
        int | None,
        typer.Option(metavar="ID", help="grade all entries of this stored contest instead, over the games it has"),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="of a contest: the first N games of each match (default: all; 1 by rollouts)"
        ),
    ] = None,
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

    Example: dicegym analyse --contest 3
    """
    from dicegym.analysis import analyse as analysed
    from dicegym.analysis import valuer
    from dicegym.arena.replay.telling import result_lines
    from dicegym.errors import one_line

    for path in (json_file, csv_file, html_file):
        check_writable(path)
    if contest is not None:
        if replay or html_file is not None:
            what = f"{one_line(replay[-1])} is" if replay else "--html is of"
            raise ParameterError(
                f"--contest {contest} grades all its entries, and {what} a single game: give one of both"
            )
        _contest(contest, games, values, store, json_file, csv_file)
        return
    if games is not None:
        raise ParameterError(f"--games {games} is about the games of a contest: give --contest ID too")
    if not replay:
        raise ParameterError("say which game: `dicegym analyse 3fa2c1`, or a contest: `dicegym analyse --contest 3`")
    if len(replay) > 2:
        raise ParameterError(f"{len(replay)} games are too many: name one, as in `dicegym analyse 3fa2c1`")
    *named, wanted = replay
    spec = [spec_of(name) for name in named]  # before the store is asked
    found = replay_named(wanted, store)
    if spec and spec[0].name != found.game:
        raise ParameterError(f"{one_line(wanted)} is a game of {one_line(found.game)}: leave {spec[0].name} out")
    found.check_rules()
    game = found.table()
    with progress_bar("moves") as progress:
        asked = valuer(game, values, progress=progress)
        tell_better_values(asked, values)
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


def _contest(
    contest: int,
    games: int | None,
    values: str | None,
    store: str | None,
    json_file: Path | None,
    csv_file: Path | None,
) -> None:
    """Show the grades of a contest's entries."""
    from dicegym.analysis import MARKS
    from dicegym.analysis.grades import facts, grade_table
    from dicegym.analysis.valuers import sure, thresholds
    from dicegym.arena.sheets import csv_text
    from dicegym.arena.storage import named_store
    from dicegym.errors import DependencyError
    from dicegym.files import write_text

    try:
        from dicegym.arena.graded import contest_grades
        from dicegym.arena.store.reading import StoreReader
    except ImportError as error:
        raise DependencyError.for_extra(str(error.name), "arena", "a store of contests") from error
    with StoreReader(named_store(store), waits=True) as reader, progress_bar("games") as progress:
        found = contest_grades(reader, contest, values, games, progress=progress)
    out.print(f"{found.game.spec.title}: {found.games:,} games of contest {contest}. {sure(found.valuer)}.")
    out.print("")
    table = grade_table(found.grades, MARKS)
    print_table(*table)
    out.print("")
    out.print("Intervals are of 95 %; marks are so many in a game. " + thresholds(found.valuer.unit))
    told = facts(found.game, found.valuer, [], 0, found.grades)
    told = {name: value for name, value in told.items() if name not in ("others", "seed")}
    write_json(json_file, {"contest": contest, "games": found.games, **told})
    if csv_file is not None:
        rows = [
            one._asdict()
            | {
                "error_rate": one.error_rate.mean,
                "error_rate_half": one.error_rate.half,
                "cost": one.cost.mean,
                "cost_half": one.cost.half,
            }
            | one.marks
            for one in found.grades
        ]
        for row in rows:
            del row["marks"]
        write_text(csv_file, csv_text(rows))


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
    """Grade agents: what their decisions give away.

    Example: dicegym grade hog best_by_scores swap bacon --games 500
    """
    from dicegym.analysis import MARKS, Grade, valuer
    from dicegym.analysis import grade as graded
    from dicegym.analysis.grades import facts, grade_table
    from dicegym.analysis.valuers import sure, thresholds

    check_writable(json_file)
    table = chosen_game(game, parameter)
    players = [dicegym.agent(table, name, trust=trust) for name in agents]
    names = against or ([table.spec.baseline] if table.players > 1 else [])
    others = [dicegym.agent(table, name, trust=trust) for name in names]
    found: list[Grade] = []
    with progress_bar("games") as progress:
        asked = valuer(table, values, progress=progress)
        tell_better_values(asked, values)
        for player in players:
            found.append(graded(player, table, others, games, seed, asked, progress=progress))
    against_whom = f", against {', '.join(names)}" if names else ""
    out.print(f"{table.spec.title}: {found[0].games:,} games each{against_whom}. {sure(asked)}.")
    out.print("")
    print_table(*grade_table(found, MARKS))
    out.print("")
    out.print("Intervals are of 95 %; marks are so many in a game. " + thresholds(asked.unit))
    write_json(json_file, facts(table, asked, names, seed, found))
