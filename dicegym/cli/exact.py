"""True values, where a game has them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import dicegym
from dicegym.cli.common import GameName, Parameters, check_writable, chosen_game, out, write_new
from dicegym.errors import ParameterError


def exact(
    game: GameName,
    a: Annotated[str, typer.Argument(metavar="A", help="an agent")],
    b: Annotated[str | None, typer.Argument(metavar="B", help="another one (default: the game's baseline)")] = None,
    best_response: Annotated[bool, typer.Option(help="instead: the best anyone can do against A who sees all")] = False,
    best_table: Annotated[
        bool, typer.Option(help="instead: the best strategy found against A by what players see")
    ] = False,
    trials: Annotated[int | None, typer.Option(help="how long --best-table searches")] = None,
    output: Annotated[Path | None, typer.Option(help="write the --best-table strategy as a bot's file")] = None,
    force: Annotated[bool, typer.Option(help="replace an existing --output")] = False,
    seed: Annotated[int, typer.Option(min=0, help="of the --best-table search: same seed, same table")] = 0,
    parameter: Parameters = None,
) -> None:
    """Compute exact win rates: no simulation, no error. Of a game for one, what A's choices cost it on average."""
    from dicegym.games.parts import solitaire, solver

    _check_question(b, best_response, best_table, trials, output)
    check_writable(output, force)
    table = chosen_game(game, parameter)
    if (alone := solitaire(table)) is not None:
        _exact_alone(alone, table, a, b, best_response, best_table, seed)
        return
    values = solver(table)
    if values is None:
        raise ParameterError(f"{table!r} has no exact values: use `dicegym evaluate`, which plays games")
    first = dicegym.agent(table, a)
    search = {"seed": seed} | ({} if trials is None else {"trials": trials})
    if best_response:
        out.print(f"{values.best_response(first, table)[0]:.6f} best response to {first.name} that sees everything")
    elif best_table and output is not None:
        write_new(output, values.best_bot(first, table, **search))
    elif best_table:
        out.print(f"{values.best_table(first, table, **search)[0]:.6f} best table found against {first.name}")
    else:
        second = dicegym.agent(table, b or table.spec.baseline)
        out.print(f"{values.win_rate(first, second, table):.6f} exact win rate of {first.name} against {second.name}")


def _exact_alone(
    values: Any, table: dicegym.Game, a: str, b: str | None, best_response: bool, best_table: bool, seed: int
) -> None:
    """Answer `exact` for a game that is played alone."""
    if b is not None or best_table:
        extra = f"B, which is {b!r}" if b is not None else "--best-table"
        raise ParameterError(f"{table!r} is played alone: leave out {extra}")
    best = values.optimum(table)
    if best_response:
        out.print(f"{best:.6f} best possible mean return")
        return
    player = dicegym.agent(table, a)
    mean, half, games = values.mean_return(player, table, seed=seed)
    cost = f"the best possible {best:.2f} less what its choices cost, known exactly, in {games} games"
    out.print(f"{mean:.2f} ± {half:.2f} mean return of {player.name}: {cost}")


def _check_question(
    b: str | None, best_response: bool, best_table: bool, trials: int | None, output: Path | None
) -> None:
    """Raise ParameterError if the arguments of `exact` ask two things at once, or something is for none of them."""
    asked = [option for option, given in (("--best-response", best_response), ("--best-table", best_table)) if given]
    if len(asked) > 1:
        raise ParameterError("--best-response and --best-table are two questions: ask one at a time")
    if asked and b is not None:
        raise ParameterError(f"{asked[0]} is about A alone: leave out B, which is {b!r}")
    if not best_table:
        for option, value in (("--output", output), ("--trials", trials)):
            if value is not None:
                raise ParameterError(f"{option} {value} is for --best-table alone: give that too, or leave this out")
