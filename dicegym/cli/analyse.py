"""What decisions cost: in a game that was played, and of a player over many games."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

import dicegym
from dicegym.cli import shared_options
from dicegym.cli.console import NO_FILES, Outputs, print_lines, print_table
from dicegym.cli.progress import progress_bar
from dicegym.cli.replay_command import REPLAY_ID, replay_named


def analyse(
    replay: Annotated[str, Argument(metavar="ID", help=REPLAY_ID)],
    values: shared_options.ValuesName = None,
    worst: Annotated[int, Option(min=0, metavar="N", help="show the N worst decisions")] = 3,
    store: shared_options.StoreName = None,
    written: Annotated[Outputs, ".json", ".csv"] = NO_FILES,
) -> None:
    """Show the regret of each decision of a stored game.

    Also shows each player's luck, and the luck-adjusted result. A .csv file has a row for each decision.

    Example: dicegym values analyse 2.1 -o game.json
    """
    from dicegym.analysis import analyse as analysed
    from dicegym.arena.replay.telling import result_lines

    found = replay_named(replay, store)
    found.check_rules()
    game = found.table()
    with progress_bar("moves") as progress:
        asked = shared_options.values_of(game, values, progress)
        analysis = analysed(game, found.states(game), found.actions, found.seats, asked, progress=progress)
    print_lines([analysis.text(False, worst), *result_lines(found)[1:]])
    written.json(analysis.to_json())
    written.csv(analysis.rows())


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
    from dicegym.analysis import MARKS
    from dicegym.analysis import grade as graded
    from dicegym.analysis.grades import facts, grade_table
    from dicegym.analysis.valuers import sure, thresholds

    table = shared_options.make_game(game, parameter)
    players = [dicegym.agent(table, name, trust=trust) for name in agents]
    names = against or ([table.spec.baseline] if table.players > 1 else [])
    others = [dicegym.agent(table, name, trust=trust) for name in names]
    with progress_bar("games") as progress:
        asked = shared_options.values_of(table, values, progress)
        found = [graded(player, table, others, games, seed or 0, asked, progress=progress) for player in players]
    rivals = f", against {', '.join(names)}" if names else ""
    print_lines([f"{table.spec.title}: {found[0].games:,} games each{rivals}. {sure(asked)}.", ""])
    print_table(*grade_table(found, MARKS))
    print_lines(["", "Intervals are 95 %; marks are counts per game. " + thresholds(asked.unit)])
    written.json(facts(table, asked, names, seed or 0, found))
