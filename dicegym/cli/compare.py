"""Is one player better than another?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dicegym.cli.console import out
from dicegym.cli.contests import ENDINGS, hand_over, named_entries
from dicegym.cli.machines import chosen_executors
from dicegym.cli.options import (
    GameName,
    IsolationName,
    Label,
    LessLuck,
    LimitsGiven,
    Outputs,
    Parameters,
    RayAddress,
    Seed,
    StoreName,
    Workers,
    chosen_game,
    chosen_storage,
    complete_agent,
    limits_of,
    output,
    tell_isolation,
)
from dicegym.cli.progress import progress_bar
from dicegym.play.seeds import drawn_seed
from dicegym.signals import going_on


def compare(
    game: GameName,
    first: Annotated[
        str, typer.Argument(metavar="A", help="what there is: an agent's name, a file", autocompletion=complete_agent)
    ],
    second: Annotated[
        str, typer.Argument(metavar="B", help="the candidate: is it better?", autocompletion=complete_agent)
    ],
    others: Annotated[
        list[str] | None,
        typer.Option(
            help="who else sits at the table; repeatable (default: nobody where A and B can meet, else all agents)"
        ),
    ] = None,
    elo: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="LOW HIGH", help="test an Elo difference of LOW (not better) against HIGH (better); default: 0 20"
        ),
    ] = None,
    margins: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LOW HIGH", help="the same as differences of scores a game; default with others: 0 0.05"),
    ] = None,
    alpha: Annotated[float, typer.Option(help="how often `better` may be wrong")] = 0.05,
    beta: Annotated[float, typer.Option(help="how often `not better` may be wrong")] = 0.05,
    games: Annotated[int | None, typer.Option(help="the most games (default: 100,000)")] = None,
    score: Annotated[
        str, typer.Option(metavar="win|place", help="what a game is worth: first place, or others left behind")
    ] = "win",
    less_luck: LessLuck = False,
    seed: Seed = None,
    limit: LimitsGiven = None,
    isolation: IsolationName = "auto",
    workers: Workers = None,
    ray: RayAddress = None,
    store: StoreName = None,
    label: Label = "",
    files: Annotated[list[Path] | None, output(*ENDINGS)] = None,
    parameter: Parameters = None,
) -> None:
    """Say whether B is better than A, with few games.

    They play pairs of games on the same dice in exchanged seats until a sequential test has decided. The same command
    again plays only what is missing in the store.

    Example: dicegym compare hog bacon swap

    Example: dicegym compare liarsdice even honest --less-luck
    """
    from dicegym.arena.compare.comparing import MOST_GAMES
    from dicegym.arena.compare.comparing import compare as run_comparison
    from dicegym.arena.report import show

    written = Outputs(files, *ENDINGS)
    table = chosen_game(game, parameter)
    one, two, *rest = named_entries([first, second, *(others or [])])
    executors = chosen_executors(workers, ray)
    if ray is None:
        tell_isolation(isolation, [first, second, *(others or [])])
    storage = chosen_storage(store, label)
    again = "the same command goes on where it stopped"
    if storage is None:
        seed = drawn_seed() if seed is None else seed
        again = f"and nothing is kept of the comparison; --seed {seed} begins the same one again"
    with progress_bar("games") as progress, going_on(again):
        result = run_comparison(
            table,
            one,
            two,
            rest or None,
            seed,
            None,
            progress,
            limits_of(limit),
            elo=elo,
            margins=margins,
            alpha=alpha,
            beta=beta,
            games=MOST_GAMES if games is None else games,
            score=score,
            less_luck=less_luck,
            isolation=isolation,
            executors=executors,
            store=storage,
        )
    show(result.report(), out)
    hand_over(result, storage, written)
