"""The game server, and joining one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dicegym.cli.common import GameName, out


def serve(
    game: GameName,
    more: Annotated[list[str] | None, typer.Argument(metavar="[AGENTS]...", help="further --agents")] = None,
    tcp: Annotated[int | None, typer.Option(metavar="PORT", help="serve plain TCP there; 0: any free port")] = None,
    ws: Annotated[int | None, typer.Option(metavar="PORT", help="serve WebSocket there; 0: any free port")] = None,
    agents: Annotated[list[str] | None, typer.Option(metavar="AGENT...", help="agents that fill free seats")] = None,
    players: Annotated[int, typer.Option(help="seats at a table")] = 2,
    games: Annotated[int, typer.Option(help="stop after so many games; 0: go on")] = 0,
    secrets: Annotated[Path | None, typer.Option(help="file of lines name:secret; these names need them")] = None,
    guests: Annotated[bool | None, typer.Option(help="let everybody play (default: on a loopback address)")] = None,
    host: Annotated[str, typer.Option(help="address to listen on; 0.0.0.0 for all")] = "127.0.0.1",
    database: Annotated[Path | None, typer.Option(help="of results (default: dicegym-GAME.sqlite)")] = None,
    seed: Annotated[int | None, typer.Option(help="of all dice (default: a fresh one)")] = None,
) -> None:
    """Let bots play rated games against each other over the network, with a live scoreboard."""
    import asyncio

    from dicegym.server.scoreboard import Scoreboard
    from dicegym.server.server import serve as run
    from dicegym.server.settings import ServerSettings

    settings = ServerSettings(
        game, tcp, ws, host, players, (*(agents or ()), *(more or ())), games, secrets, guests, database, seed
    )
    asyncio.run(run(settings, Scoreboard(out)))


def join(
    game: GameName,
    server: Annotated[str, typer.Argument(metavar="HOST:PORT", help="or a ws:// address")],
    agent: Annotated[str, typer.Option(help="who plays: any agent, a bot's file or a model")],
    name: Annotated[str | None, typer.Option(help="to play under (default: the agent's, or the secret's)")] = None,
    secret: Annotated[str | None, typer.Option(envvar="DICEGYM_SECRET", help="to log in by")] = None,
    games: Annotated[int, typer.Option(min=0, help="leave after so many games; 0: stay")] = 0,
    seed: Annotated[int | None, typer.Option(help="of the agent's randomness (default: a fresh one)")] = None,
) -> None:
    """Let an agent play on a server."""
    from dicegym.server.client import join as run

    run(game, server, agent, name, secret, games, seed, lambda text: out.print(text, markup=False))
