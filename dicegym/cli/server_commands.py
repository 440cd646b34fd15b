"""Commands about the game server: start one, join one, and list its ratings and games."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from dicegym.cli import shared_options
from dicegym.cli.command import group
from dicegym.cli.console import NO_FILES, Outputs, out, print_table
from dicegym.columns import write_count

if TYPE_CHECKING:
    from dicegym.server.history import Archive


def start(
    game: shared_options.GameName,
    more: Annotated[list[str] | None, Argument(metavar="AGENTS", help="further --agents")] = None,
    tcp: Annotated[int | None, Option(metavar="PORT", help="a port for plain TCP; 0: any free port")] = None,
    ws: Annotated[int | None, Option(metavar="PORT", help="a port for WebSocket; 0: any free port")] = None,
    agents: Annotated[list[str] | None, Option(metavar="AGENT...", help="agents that fill free seats")] = None,
    always: Annotated[bool, Option("--always", help="let them play while no remote bot is connected")] = False,
    players: Annotated[int, Option(help="seats at a table")] = 2,
    games: Annotated[int, Option(help="stop after N games; 0: never")] = 0,
    secrets: Annotated[Path | None, Option(help="file of lines name:secret, for names that need a secret")] = None,
    guests: Annotated[bool | None, Option(help="admit any name (default: on a loopback address)")] = None,
    host: shared_options.HostAddress = "127.0.0.1",
    store: shared_options.StoreName = None,
    isolation: shared_options.IsolationName = "auto",
    seed: shared_options.Seed = None,
    connections: shared_options.Connections = 1000,
    allow_host: shared_options.AllowHost = None,
    allow_origin: Annotated[list[str] | None, Option(help="a web page that may connect; repeatable")] = None,
) -> None:
    """Run a server where bots play rated games over the network.

    It prints what happens. The server rests while no remote bot is connected. To admit bots of other machines, give a
    file of secrets, as in the second example.

    Examples: dicegym server start yatzy --tcp 5000 --agents thrifty gather; dicegym server start yatzy --tcp 5000
    --ws 5001 --host 0.0.0.0 --secrets secrets.txt
    """
    import asyncio

    from dicegym.arena.storage import resolve_store

    resolve_store(store)  # refuses "none": a server stores its ratings
    from dicegym.server.server import serve as run
    from dicegym.server.server_settings import ServerSettings

    settings = ServerSettings(
        game,
        tcp,
        ws,
        host,
        players,
        (*(agents or ()), *(more or ())),
        games,
        secrets,
        guests,
        store,
        seed,
        connections=connections,
        always=always,
        hosts=tuple(allow_host or ()),
        origins=tuple(allow_origin or ()),
        isolation=isolation,
    )
    asyncio.run(run(settings, out.print))


def join(
    game: shared_options.GameName,
    server: Annotated[str, Argument(metavar="HOST:PORT", help="the server's address, or its ws:// or wss:// address")],
    agent: Annotated[str, Option(help="the agent that plays: a name, a bot's file or a model")],
    name: Annotated[str | None, Option(help="its name on the server (default: the agent's, or the secret's)")] = None,
    secret: Annotated[str | None, Option(envvar="DICEGYM_SECRET", help="the secret to log in with")] = None,
    games: Annotated[int, Option(min=0, help="leave after N games; 0: stay")] = 0,
    seed: shared_options.Seed = None,
) -> None:
    """Let an agent play on a server.

    Example: dicegym server join yatzy 127.0.0.1:5000 --agent planner --games 10
    """
    from dicegym.server.client import join as run

    run(game, server, agent, name, secret, games, seed, out.print)


def ratings(
    game: shared_options.SomeGame = None,
    store: shared_options.StoreName = None,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Show the rating, games and wins of each player, the best first.

    Example: dicegym server ratings yatzy -o ratings.json
    """
    with _archive(game, store) as archive:
        ranked, about = archive.ratings(), _about(archive)
    rows: list[dict[str, Any]] = []
    shown = []
    for place, (name, one) in enumerate(ranked.items(), 1):
        own = {"place": place, "player": name, **one._asdict()}
        rows.append(own | {"margin": one.margin, "provisional": one.provisional})
        shown.append([str(place), name, one.text, str(one.games), str(one.wins)])
    written.json({**about, "ratings": rows})
    out.print(f"{about['game']}: {write_count(about['games'], 'finished game')} in {about['store']}")
    print_table(["", "player", "rating", "games", "wins"], shown)


def games(
    game: shared_options.SomeGame = None,
    last: Annotated[int, Option(min=0, help="list the newest N; 0: all")] = 20,
    player: Annotated[str | None, Option(help="only the games of this player")] = None,
    store: shared_options.StoreName = None,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """List finished games, the newest last.

    Each with its time, players, points, rating changes and faults.

    Examples: dicegym server games --last 5; dicegym server games --player anna --last 0
    """
    with _archive(game, store) as archive:
        found, about = archive.games(last, player), _about(archive)
    written.json({**about, "listed": [_plain(one) for one in found]})
    for one in found:
        best_first = sorted(one.places, key=lambda place: place.place)
        results = ", ".join(
            f"{p.place}. {p.name} {p.total} ({p.before:.0f} to {p.after:.0f}{'' if p.rated else ', not rated'})"
            for p in best_first
        )
        ended = datetime.fromisoformat(one.ended).astimezone()  # in this machine's time zone
        out.print(f"{one.id:>6}  {ended:%Y-%m-%d %H:%M:%S}  {results}")
        for incident in one.incidents:
            name = one.places[incident.seat].name
            out.print(f"        the server played decision {incident.turn} of {name}: {incident.reason}")
    if not found:
        out.print("no game is finished yet")


def mcp(
    hints: Annotated[bool, Option("--hints", help="let the client ask what its actions are worth")] = False,
) -> None:
    """Serve the games to a language model's client by MCP.

    MCP is the Model Context Protocol. The client starts this command, and speaks to it over standard input and output.

    Example: dicegym mcp --hints
    """
    from dicegym.mcp_server import make_server

    make_server(hints).run("stdio")


server = group(
    "Run a game server, join one, and show its ratings and games.\n\n`dicegym mcp` serves games to language models.",
    start=start,
    join=join,
    ratings=ratings,
    games=games,
)


def _archive(game: str | None, store: str | None) -> Archive:
    """Return the stored results of a server. Raises ParameterError if they cannot be read."""
    where = shared_options.store_name(store)
    from dicegym.server.history import Archive

    return Archive(where, game)


def _about(archive: Archive) -> dict[str, Any]:
    return {"game": archive.game, "store": archive.name, "games": archive.count_games()}


def _plain(value: Any) -> Any:
    """Return a named tuple as a dict, with all named tuples in it."""
    if hasattr(value, "_asdict"):
        return {name: _plain(field) for name, field in value._asdict().items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
