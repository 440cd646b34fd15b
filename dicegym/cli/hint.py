"""What to do in a state: every choice, the best first."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from dicegym.cli import options
from dicegym.cli.command import NO_FILES, Outputs
from dicegym.cli.console import out, write_json
from dicegym.cli.progress import progress_bar, thinking
from dicegym.cli.states import StateName, state_named, told
from dicegym.errors import ParameterError


def hint(
    state: StateName,
    values: options.ValuesName = None,
    top: Annotated[int, Option(min=0, metavar="N", help="how many choices are shown; 0: all")] = 10,
    store: options.StoreName = None,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Rank what may be played in a state, by what it is worth.

    Each choice is judged by what the player to move may know, and its value stands beside how sure it is.

    Examples: dicegym values hint hog-CgBQUEI --top 3; dicegym values hint 3fa2c1:12
    """
    from dicegym.analysis.hints import hint as ranked
    from dicegym.analysis.valuers import fair_valuer
    from dicegym.games.hidden import open_fields
    from dicegym.games.positions import position_id

    found = state_named(state, store)
    game = found.game
    if found.state[0]["over"]:
        raise ParameterError("this game is over: there is nothing left to choose")
    with progress_bar("steps") as progress:
        asked = fair_valuer(game, values, progress=progress)
    options.tell_better_values(asked, values)
    with thinking("weighing what may be played"):
        answer = ranked(game, found.state[0], asked)
    for line in told(found):
        out.print(line)
    out.print("")
    for line in answer.lines(top or None):
        out.print(line)
    seen = sorted(open_fields(game))
    if seen and asked.sees_all:
        out.print(f"Everybody at a table sees {', '.join(seen)}; programs of the game's contest are not told of it.")
    if written:
        seat = answer.seat
        choices = [one._asdict() for one in answer.choices]
        for one in choices:
            one.update({key: None for key, value in one.items() if value != value})  # noqa: PLR0124 - nan is no JSON
        write_json(
            written[".json"],
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
