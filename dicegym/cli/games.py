"""Games and agents: what there is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import dicegym
from dicegym.cli.common import (
    GameName,
    Parameters,
    chosen_game,
    out,
    print_table,
    write_new,
)
from dicegym.registry import ENVIRONMENTS, GAMES


def games() -> None:
    """List the games and their environments.

    Example: dicegym games
    """
    from dicegym.games import loadable

    rows = []
    known = loadable()
    for environment in ENVIRONMENTS:
        if environment.game not in known:
            continue
        game = dicegym.game(environment.game, **environment.settings)
        low, high = game.spec.players
        low, high = (max(2, low), high) if environment.multi else (game.players, game.players)
        seats = f"{low}-{high}" if low < high else str(low)
        parameters = " ".join(f"{name}={value}" for name, value in game.all_parameters.items())
        rows.append(
            [environment.full_id, game.name, seats, str(game.n_actions), str(game.observation_size), parameters]
        )
    print_table(["environment", "game", "players", "actions", "observation", "parameters"], rows)


def agents(game: GameName, parameter: Parameters = None) -> None:
    """List the agents of a game, each with its first line.

    Example: dicegym agents hog

    Example: dicegym agents hog -p memory=1
    """
    from dicegym.players.roster import describe, names_elsewhere

    table = chosen_game(game, parameter)
    print_table(["agent", "what it is"], [[name, describe(table, name)] for name in dicegym.agent_names(table)])
    elsewhere: dict[str, list[str]] = {}
    for name, wanted in names_elsewhere(table).items():
        other = " ".join(f"-p {key}={value}" for key, value in wanted.items() if table.parameters.get(key) != value)
        elsewhere.setdefault(other, []).append(name)
    for other, names in elsewhere.items():
        there = f"is {names[0]}" if len(names) == 1 else f"are {', '.join(names)}"
        out.print(f"With other parameters there {there}: dicegym agents {table.name} {other}".rstrip())


def playthrough(
    games: Annotated[list[str] | None, typer.Argument(metavar="[GAME]...", help="default: all of them")] = None,
    write: Annotated[Path | None, typer.Option(metavar="FOLDER", help="write <game>.txt there, not print")] = None,
) -> None:
    """Write out a whole game, with all that players are told.

    The tests compare it with one that was kept.

    Example: dicegym playthrough hog
    """
    from dicegym.checks.playthrough import playthrough as written_out

    for name in games or GAMES:
        text = written_out(name)
        if write is None:
            typer.echo(text, nl=False)
            continue
        write.mkdir(parents=True, exist_ok=True)
        write_new(write / f"{name}.txt", text)
