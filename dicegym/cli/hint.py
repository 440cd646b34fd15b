"""What to do in a state: every choice, the best first."""

from __future__ import annotations

from typing import Annotated

import typer

from dicegym.cli.common import (
    JsonFile,
    StoreName,
    ValuesName,
    check_writable,
    out,
    progress_bar,
    tell_better_values,
    thinking,
    write_json,
)
from dicegym.cli.states import StateName, state_named, told
from dicegym.errors import ParameterError


def hint(
    state: StateName,
    values: ValuesName = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="how many choices are shown")] = 10,
    every: Annotated[bool, typer.Option("--all", help="show all of them")] = False,
    store: StoreName = None,
    json_file: JsonFile = None,
) -> None:
    """Rank what may be played in a state, by what it is worth.

    Each choice is judged by what the player to move may know, and its value stands beside how sure it is.

    Examples: dicegym hint hog-CgBQUEI --top 3; dicegym hint 3fa2c1:12
    """
    from dicegym.analysis.hints import hint as ranked
    from dicegym.analysis.valuers import fair_valuer
    from dicegym.games.hidden import open_fields
    from dicegym.games.positions import position_id

    check_writable(json_file)
    found = state_named(state, store)
    game = found.game
    if found.state[0]["over"]:
        raise ParameterError("this game is over: there is nothing left to choose")
    with progress_bar("steps") as progress:
        asked = fair_valuer(game, values, progress=progress)
    tell_better_values(asked, values)
    with thinking("weighing what may be played"):
        answer = ranked(game, found.state[0], asked)
    for line in told(found):
        out.print(line)
    out.print("")
    for line in answer.lines(None if every else top):
        out.print(line)
    seen = sorted(open_fields(game))
    if seen and asked.sees_all:
        out.print(f"Everybody at a table sees {', '.join(seen)}; programs of the game's contest are not told of it.")
    if json_file is not None:
        seat = answer.seat
        choices = [one._asdict() for one in answer.choices]
        for one in choices:
            one.update({key: None for key, value in one.items() if value != value})  # noqa: PLR0124 - nan is no JSON
        write_json(
            json_file,
            {
                "state": position_id(game, found.state[0], seat),
                "game": game.name,
                "players": game.players,
                "parameters": dict(game.parameters),
                "seat": seat,
                "source": asked.name,
                "kind": asked.kind,
                "unit": asked.unit,
                "sure": asked.sure,
                "choices": choices,
            },
        )
