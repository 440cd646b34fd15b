"""What decisions cost: in a game that was played, and of a player over many games."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

import dicegym
from dicegym.cli import shared_options
from dicegym.cli.console import NO_FILES, Outputs, print_lines, print_table
from dicegym.cli.progress import progress_bar
from dicegym.cli.replay_command import REPLAY_ID, replay_named
from dicegym.errors import ParameterError
from dicegym.escape import one_line

if TYPE_CHECKING:
    from dicegym.analysis import Grade
    from dicegym.games.worth import Valuer


def analyse(
    replay: Annotated[str | None, Argument(metavar="ID", help=REPLAY_ID)] = None,
    contest: Annotated[
        int | None, Option(metavar="ID", help="grade all entries of this stored contest instead, over its games")
    ] = None,
    games: Annotated[
        int | None,
        Option(min=1, metavar="N", help="of a contest: first N games of each match (default: all; 1 by rollouts)"),
    ] = None,
    values: shared_options.ValuesName = None,
    worst: Annotated[int, Option(min=0, metavar="N", help="show the N worst decisions")] = 3,
    store: shared_options.StoreName = None,
    written: Annotated[Outputs, ".json", ".csv", ".html"] = NO_FILES,
) -> None:
    """Show the regret of each decision of a stored game.

    Also shows each player's luck, and the luck-adjusted result. A .csv file has a row for each decision.

    Examples: dicegym values analyse 3fa2c1 -o game.html; dicegym values analyse --contest 3
    """
    from dicegym.analysis import analyse as analysed
    from dicegym.arena.replay.telling import result_lines

    if contest is not None:
        if replay or written[".html"] is not None:
            what = f"{one_line(replay)} is" if replay else f"{written['.html']} is the page of"
            raise ParameterError(f"--contest {contest} grades all its entries, and {what} one game: give one of both")
        _grade_contest(contest, games, values, store, written)
        return
    if games is not None:
        raise ParameterError(f"--games {games} is for a contest: give --contest ID too")
    if not replay:
        raise ParameterError(
            "say which game: `dicegym values analyse 3fa2c1`, or a contest: `dicegym values analyse --contest 3`"
        )
    found = replay_named(replay, store)
    found.check_rules()
    game = found.table()
    with progress_bar("moves") as progress:
        asked = shared_options.values_of(game, values, progress)
        analysis = analysed(game, found.states(game), found.actions, found.seats, asked, progress=progress)
    print_lines([analysis.text(worst), *result_lines(found)[1:]])
    written.json(analysis.to_json())
    written.csv(analysis.rows())
    if written[".html"]:
        from dicegym.arena.pages.analysed import write_page

        written.html(lambda page: write_page(analysis, page, found.title, worst))


def _grade_contest(contest: int, games: int | None, values: str | None, store: str | None, written: Outputs) -> None:
    """Show the grades of a contest's entries."""
    from dicegym.analysis.grades import facts

    with shared_options.read_store(store) as reader, progress_bar("games") as progress:
        from dicegym.arena.graded import contest_grades

        found = contest_grades(reader, contest, values, games, progress=progress)
    _print_grades(f"{found.game.spec.title}: {found.games:,} games of contest {contest}", found.grades, found.valuer)
    about = facts(found.game, found.valuer, [], 0, found.grades)
    del about["others"], about["seed"]
    written.json({"contest": contest, "games": found.games, **about})
    written.csv([_row(one) for one in found.grades])


def _print_grades(title: str, grades: list[Grade], valuer: Valuer) -> None:
    from dicegym.analysis import MARKS
    from dicegym.analysis.grades import grade_table
    from dicegym.analysis.valuers import sure, thresholds

    print_lines([f"{title}. {sure(valuer)}.", ""])
    print_table(*grade_table(grades, MARKS))
    print_lines(["", "Intervals are 95 %; marks are counts per game. " + thresholds(valuer.unit)])


def _row(one: Grade) -> dict[str, Any]:
    """Return a grade as a row of CSV."""
    row = one._asdict()
    row |= {"error_rate": one.error_rate.mean, "error_rate_half": one.error_rate.half}
    row |= {"cost": one.cost.mean, "cost_half": one.cost.half} | row.pop("marks")
    return row


def grade(
    game: shared_options.GameName,
    agents: Annotated[
        list[str], Argument(metavar="AGENT...", help="agents to grade", autocompletion=shared_options.complete_agent)
    ],
    against: shared_options.Against = None,
    games: Annotated[
        int | None, Option(min=1, metavar="N", help="games for each agent (default: 200; 10 by rollouts)")
    ] = None,
    values: shared_options.ValuesName = None,
    seed: shared_options.Seed = None,
    trust: shared_options.Trust = False,
    written: Annotated[Outputs, ".json"] = NO_FILES,
    parameter: shared_options.Parameters = None,
) -> None:
    """Grade agents by the regret of their decisions.

    Example: dicegym values grade hog best_by_scores swap bacon --games 500
    """
    from dicegym.analysis import grade as graded
    from dicegym.analysis.grades import facts

    table = shared_options.make_game(game, parameter)
    players = [dicegym.agent(table, name, trust=trust) for name in agents]
    names = against or ([table.spec.baseline] if table.players > 1 else [])
    others = [dicegym.agent(table, name, trust=trust) for name in names]
    with progress_bar("games") as progress:
        asked = shared_options.values_of(table, values, progress)
        found = [graded(player, table, others, games, seed or 0, asked, progress=progress) for player in players]
    rivals = f", against {', '.join(names)}" if names else ""
    _print_grades(f"{table.spec.title}: {found[0].games:,} games each{rivals}", found, asked)
    written.json(facts(table, asked, names, seed or 0, found))
