"""Is one player better than another?"""

from __future__ import annotations

from typing import Annotated

import typer

from dicegym.cli.common import (
    MEMORY,
    DrawnSeed,
    GameName,
    HtmlFile,
    IsolationName,
    JsonFile,
    Label,
    LoadSeconds,
    Memory,
    MoveSeconds,
    NewContest,
    NoStore,
    Parameters,
    StoreName,
    check_writable,
    chosen_game,
    chosen_storage,
    complete_agent,
    out,
    progress_bar,
    tell_isolation,
)
from dicegym.cli.contests import CsvSheets, hand_over, named_entries
from dicegym.cli.machines import RayAddress, Workers, chosen_executors
from dicegym.errors import ParameterError
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
    elo0: Annotated[
        float | None, typer.Option(help="an Elo difference that is not worth calling better (default: 0)")
    ] = None,
    elo1: Annotated[float | None, typer.Option(help="one that is, and should be found (default: 20 above)")] = None,
    margin0: Annotated[
        float | None, typer.Option(help="as --elo0, as a difference of scores a game, such as 0.02")
    ] = None,
    margin1: Annotated[float | None, typer.Option(help="as --elo1; default with others: 0.05 above")] = None,
    alpha: Annotated[float, typer.Option(help="how often `better` may be wrong")] = 0.05,
    beta: Annotated[float, typer.Option(help="how often `not better` may be wrong")] = 0.05,
    games: Annotated[int | None, typer.Option(help="the most games (default: 100,000)")] = None,
    score: Annotated[
        str, typer.Option(metavar="win|place", help="what a game is worth: first place, or others left behind")
    ] = "win",
    less_luck: Annotated[
        bool, typer.Option("--less-luck", help="take luck out of the results, so that fewer games decide")
    ] = False,
    players: Annotated[int | None, typer.Option(help="seats at the table (default: the game's)")] = None,
    seed: DrawnSeed = None,
    details: Annotated[bool, typer.Option("--pairs", help="list how many pairs came out how")] = False,
    seconds: Annotated[
        float, typer.Option(help="processor time of a bot for as many games as a match of the game's contest has")
    ] = 10.0,
    load_seconds: LoadSeconds = None,
    move_seconds: MoveSeconds = None,
    memory: Memory = MEMORY,
    isolation: IsolationName = "auto",
    workers: Workers = None,
    ray: RayAddress = None,
    store: StoreName = None,
    no_store: NoStore = False,
    new: NewContest = False,
    label: Label = "",
    json_file: JsonFile = None,
    csv_file: CsvSheets = None,
    html_file: HtmlFile = None,
    parameter: Parameters = None,
) -> None:
    """Say whether B is better than A, with few games.

    They play pairs of games on the same dice in exchanged seats until a sequential test has decided. The same command
    again plays only what is missing in the store.

    Example: dicegym compare hog bacon swap

    Example: dicegym compare liarsdice even honest --less-luck
    """
    from dicegym.arena import Limits
    from dicegym.arena.compare.comparing import ELO, MARGINS, MOST_GAMES
    from dicegym.arena.compare.comparing import compare as hold
    from dicegym.arena.report import show

    for file in (json_file, csv_file, html_file):
        check_writable(file)
    table = chosen_game(game, with_players(parameter, players))
    one, two, *rest = named_entries([first, second, *(others or [])])
    elo = _both(elo0, elo1, ELO)
    margins = _both(margin0, margin1, MARGINS)
    limits = Limits(seconds, memory << 20, load_seconds, move_seconds)
    executors = chosen_executors(workers, ray)
    if ray is None:
        tell_isolation(isolation, [first, second, *(others or [])])
    storage = chosen_storage(store, no_store, new, label)
    again = "the same command goes on where it stopped"
    if storage is None:
        seed = drawn_seed() if seed is None else seed
        again = f"and nothing is kept of the comparison; --seed {seed} begins the same one again"
    with progress_bar("games") as progress, going_on(again):
        result = hold(
            table,
            one,
            two,
            rest or None,
            seed,
            None,
            progress,
            limits,
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
    show(result.report(details), out)
    hand_over(result, storage, json_file, csv_file, html_file)


def _both(low: float | None, high: float | None, usual: tuple[float, float]) -> tuple[float, float] | None:
    """Return two bounds of which one may not have been given; None: neither was."""
    if low is None and high is None:
        return None
    below = usual[0] if low is None else low
    return below, below + (usual[1] - usual[0]) if high is None else high


def with_players(parameter: list[str] | None, players: int | None) -> list[str]:
    """Return what was given as ``--parameter`` with the number of seats. Raises ParameterError if they differ."""
    given = list(parameter or [])
    if players is None:
        return given
    said = [text for text in given if text.startswith("players=")]
    if said and said[-1] != f"players={players}":
        raise ParameterError(f"--players {players} and -p {said[-1]} differ: give one of them")
    return [*given, f"players={players}"]
