"""What decisions cost: in a game that was played, and of a player over many games."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

import dicegym
from dicegym.cli import options
from dicegym.cli.command import NO_FILES, Outputs
from dicegym.cli.console import out, print_table, write_csv, write_json
from dicegym.cli.progress import progress_bar
from dicegym.cli.replay import REPLAY_ID, replay_named
from dicegym.errors import ParameterError
from dicegym.escape import one_line

if TYPE_CHECKING:
    from dicegym.analysis import Grade


def analyse(
    replay: Annotated[str | None, Argument(metavar="ID", help=REPLAY_ID)] = None,
    contest: Annotated[
        int | None, Option(metavar="ID", help="grade all entries of this stored contest instead, over the games it has")
    ] = None,
    games: Annotated[
        int | None,
        Option(min=1, metavar="N", help="of a contest: the first N games of each match (default: all; 1 by rollouts)"),
    ] = None,
    values: options.ValuesName = None,
    worst: Annotated[int, Option(min=0, metavar="N", help="how many of the worst decisions are shown")] = 3,
    store: options.StoreName = None,
    written: Annotated[Outputs, ".json", ".csv", ".html"] = NO_FILES,
) -> None:
    """Say what each decision of a stored game cost.

    And how lucky everybody was, and the luck-adjusted result. A .csv file has a row for each decision.

    Examples: dicegym values analyse 3fa2c1 -o game.html; dicegym values analyse --contest 3
    """
    from dicegym.analysis import analyse as analysed
    from dicegym.analysis import valuer
    from dicegym.arena.replay.telling import result_lines

    if contest is not None:
        if replay or written[".html"] is not None:
            what = f"{one_line(replay)} is" if replay else f"{written['.html']} is the page of"
            raise ParameterError(
                f"--contest {contest} grades all its entries, and {what} a single game: give one of both"
            )
        _contest(contest, games, values, store, written)
        return
    if games is not None:
        raise ParameterError(f"--games {games} is about the games of a contest: give --contest ID too")
    if not replay:
        raise ParameterError(
            "say which game: `dicegym values analyse 3fa2c1`, or a contest: `dicegym values analyse --contest 3`"
        )
    found = replay_named(replay, store)
    found.check_rules()
    game = found.table()
    with progress_bar("moves") as progress:
        asked = valuer(game, values, progress=progress)
        options.tell_better_values(asked, values)
        analysis = analysed(game, found.states(game), found.actions, found.seats, asked, progress=progress)
    out.print(analysis.text(False, worst))
    for line in result_lines(found)[1:]:
        out.print(line)
    write_json(written[".json"], analysis.to_json())
    write_csv(written[".csv"], analysis.rows())
    if (page := written[".html"]) is not None:
        from dicegym.arena.pages.analysed import write_page

        write_page(analysis, page, found.title, worst)
        out.print(f"wrote {page}: open it in a browser")


def _contest(contest: int, games: int | None, values: str | None, store: str | None, written: Outputs) -> None:
    """Show the grades of a contest's entries."""
    from dicegym.analysis import MARKS
    from dicegym.analysis.grades import facts, grade_table
    from dicegym.analysis.valuers import sure, thresholds

    where = options.store_name(store)
    from dicegym.arena.graded import contest_grades
    from dicegym.arena.store.reading import StoreReader

    with StoreReader(where, waits=True) as reader, progress_bar("games") as progress:
        found = contest_grades(reader, contest, values, games, progress=progress)
    out.print(f"{found.game.spec.title}: {found.games:,} games of contest {contest}. {sure(found.valuer)}.")
    out.print("")
    table = grade_table(found.grades, MARKS)
    print_table(*table)
    out.print("")
    out.print("Intervals are of 95 %; marks are so many in a game. " + thresholds(found.valuer.unit))
    told = facts(found.game, found.valuer, [], 0, found.grades)
    told = {name: value for name, value in told.items() if name not in ("others", "seed")}
    write_json(written[".json"], {"contest": contest, "games": found.games, **told})
    write_csv(written[".csv"], [_row(one) for one in found.grades])


def _row(one: Grade) -> dict[str, Any]:
    """Return a grade as a row of CSV."""
    row = one._asdict()
    row |= {"error_rate": one.error_rate.mean, "error_rate_half": one.error_rate.half}
    row |= {"cost": one.cost.mean, "cost_half": one.cost.half} | row.pop("marks")
    return row


def grade(
    game: options.GameName,
    agents: Annotated[
        list[str], Argument(metavar="AGENT...", help="who is graded", autocompletion=options.complete_agent)
    ],
    against: options.Against = None,
    games: Annotated[
        int | None, Option(min=1, metavar="N", help="games for each agent (default: 200; 10 by rollouts)")
    ] = None,
    values: options.ValuesName = None,
    seed: options.Seed = None,
    trust: options.Trust = False,
    written: Annotated[Outputs, ".json"] = NO_FILES,
    parameter: options.Parameters = None,
) -> None:
    """Grade agents: the regret of their decisions.

    Example: dicegym values grade hog best_by_scores swap bacon --games 500
    """
    from dicegym.analysis import MARKS, valuer
    from dicegym.analysis import grade as graded
    from dicegym.analysis.grades import facts, grade_table
    from dicegym.analysis.valuers import sure, thresholds

    table = options.chosen_game(game, parameter)
    players = [dicegym.agent(table, name, trust=trust) for name in agents]
    names = against or ([table.spec.baseline] if table.players > 1 else [])
    others = [dicegym.agent(table, name, trust=trust) for name in names]
    found: list[Grade] = []
    with progress_bar("games") as progress:
        asked = valuer(table, values, progress=progress)
        options.tell_better_values(asked, values)
        for player in players:
            found.append(graded(player, table, others, games, seed or 0, asked, progress=progress))
    against_whom = f", against {', '.join(names)}" if names else ""
    out.print(f"{table.spec.title}: {found[0].games:,} games each{against_whom}. {sure(asked)}.")
    out.print("")
    print_table(*grade_table(found, MARKS))
    out.print("")
    out.print("Intervals are of 95 %; marks are so many in a game. " + thresholds(asked.unit))
    write_json(written[".json"], facts(table, asked, names, seed or 0, found))
