"""Games and agents: what there is, and playing at the keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import dicegym
from dicegym.cli.common import (
    GameName,
    Parameters,
    Seed,
    chosen_game,
    out,
    print_table,
    write_new,
)
from dicegym.errors import ParameterError
from dicegym.games import loadable
from dicegym.registry import ENVIRONMENTS, GAMES


def games() -> None:
    """List the games and their environments."""
    rows = []
    known = loadable()
    for environment in ENVIRONMENTS:
        if environment.game not in known:
            continue
        game = dicegym.game(environment.game, **environment.settings)
        low, high = game.spec.players
        low, high = (max(2, low), high) if environment.multi else (game.players, game.players)
        seats = f"{low}-{high}" if low < high else str(low)
        parameters = " ".join(f"{name}={value}" for name, value in game.parameters.items())
        rows.append(
            [environment.full_id, game.name, seats, str(game.n_actions), str(game.observation_size), parameters]
        )
    print_table(["environment", "game", "players", "actions", "observation", "parameters"], rows)


def agents(game: GameName) -> None:
    """List the agents of a game, each with its first line."""
    from dicegym.players.about import describe

    table = dicegym.game(game)
    print_table(["agent", "what it is"], [[name, describe(table, name)] for name in dicegym.agent_names(game)])


def play(
    game: GameName,
    against: Annotated[list[str] | None, typer.Option(help="an agent; repeat it for each other seat")] = None,
    seat: Annotated[int, typer.Option(help="your seat")] = 0,
    seed: Seed = 0,
    parameter: Parameters = None,
) -> None:
    """Play at the keyboard."""
    from dicegym.play.drive import play_game
    from dicegym.players.human import HumanPlayer

    table = chosen_game(game, parameter)
    if len(against or []) >= table.players:
        raise ParameterError(
            f"--against is given {len(against or [])} times, and {table!r} seats {table.players - 1} beside you: "
            "give it once for each at most"
        )
    rivals = [dicegym.agent(table, name) for name in against or [table.spec.default_opponent]]
    if not 0 <= seat < table.players:
        raise ParameterError(f"--seat {seat} is no seat: give 0 to {table.players - 1}")
    others = [s for s in range(table.players) if s != seat]
    players = {s: rivals[i % len(rivals)] for i, s in enumerate(others)} | {seat: HumanPlayer()}
    try:
        state = play_game(table, [players[s] for s in range(table.players)], seed)
    except EOFError:
        raise ParameterError("the input ended before the game did: play at a keyboard") from None
    out.print(table.scene(state).text(), markup=False)


def playthrough(
    games: Annotated[list[str] | None, typer.Argument(metavar="[GAME]...", help="default: all of them")] = None,
    write: Annotated[Path | None, typer.Option(metavar="FOLDER", help="write <game>.txt there, not print")] = None,
) -> None:
    """Write out a whole game with all that players are told, as the tests compare it."""
    from dicegym.checks.playthrough import playthrough as written_out

    for name in games or GAMES:
        text = written_out(name)
        if write is None:
            typer.echo(text, nl=False)
            continue
        write.mkdir(parents=True, exist_ok=True)
        write_new(write / f"{name}.txt", text)
