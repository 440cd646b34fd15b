"""What to do in a state: every choice with its value."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from dicegym.cli import shared_options
from dicegym.cli.console import NO_FILES, Outputs, out, print_lines
from dicegym.cli.progress import progress_bar, thinking
from dicegym.cli.replay_command import replay_named
from dicegym.errors import ParameterError, one_line

if TYPE_CHECKING:
    from dicegym.games.positions import Position
    from dicegym.games.worth import Valuer

SHOWN = 10
"""Choices that are shown."""
StateName = Annotated[
    str,
    Argument(
        metavar="STATE",
        help="a state's id, such as `hog-...`, or GAME:N: a game as for `dicegym arena replay`, before its action "
        "number N, from 1",
    ),
]
_ID = re.compile(r"[A-Za-z]\w*-[\w-]+")


def state_named(text: str, store: str | None) -> Position:
    """Return the state that `StateName` names, in which a player is to move and knows what the text tells.

    Raises ParameterError, DependencyError and what `dicegym.cli.replay_command.replay_named` raises.
    """
    from dicegym.games.positions import Position, position

    replay, mark, move = text.strip().rpartition(":")
    if not mark or not move.isdecimal():
        if not _ID.fullmatch(text.strip()):
            raise ParameterError(
                f"{one_line(text, 60)!r} cannot be read as a state: give an id such as `hog-...` "
                "(`dicegym arena replay ID --ids` shows them), or a game and the number of one of its actions, as "
                "3fa2c1:12"
            )
        if store is not None:
            raise ParameterError("an id holds the whole state, and no store is read: leave --store out")
        found = position(text)
        _check_mover(found)
        return found
    played, number = replay_named(replay, store), int(move)
    if not 1 <= number <= len(played.actions):
        raise ParameterError(f"{one_line(replay)} has the actions 1 to {len(played.actions)}, and no {number}")
    game = played.table()
    played.check()
    return Position(game, next(itertools.islice(played.states(), number - 1, None)), None)


def _check_mover(found: Position) -> None:
    """Raise ParameterError unless a player is to move, and the id holds what that player knows."""
    state = found.state[0]
    if state["over"]:
        raise ParameterError("this game is over: there is nothing left to choose")
    if found.seat is not None and found.seat != state["player"]:
        raise ParameterError(
            f"this id holds what seat {found.seat} may know, and seat {state['player']} is to move: use an id of "
            "the whole state, or one made for the player to move"
        )


def _print_state(found: Position) -> str:
    """Print the table as the player to move sees it; return the id of what that player knows."""
    from dicegym.games.positions import position_id

    seat = int(found.state[0]["player"])
    known = position_id(found.game, found.state[0], seat)
    print_lines([found.game.scene(found.state[0], seat).text(), f"State: {known}", ""])
    return known


def hint(
    state: StateName,
    values: shared_options.ValuesName = None,
    games: Annotated[
        int | None, Option(min=1, metavar="N", help="play on N times with each choice, whatever values there are")
    ] = None,
    top: Annotated[int, Option(min=0, metavar="N", help="show the N best choices; 0: all")] = SHOWN,
    store: shared_options.StoreName = None,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Rank the legal choices in a state by their value.

    Each choice is judged by what the player to move may know, and shown with its uncertainty.

    Examples: dicegym values hint hog-CgBQUEI --top 3; dicegym values hint 3fa2c1:12 --games 2000
    """
    from dicegym.analysis.hints import hint as ranked
    from dicegym.analysis.rollouts import RolloutValuer
    from dicegym.games.hidden import open_fields

    found = state_named(state, store)
    if games is not None:
        if values not in (None, "rollouts"):
            raise ParameterError(f"--games {games} is for playing on, and --values {values} computes: give one of both")
        asked: Valuer = RolloutValuer(found.game, games=games)
    else:
        with progress_bar("steps") as progress:
            asked = shared_options.values_of(found.game, values, progress, fair=True)
    with thinking("weighing what may be played"):
        answer = ranked(found.game, found.state[0], asked)
    known = _print_state(found)
    print_lines(answer.lines(top or None))
    seen = sorted(open_fields(found.game))
    if seen and asked.sees_all:
        out.print(f"Everybody at a table sees {', '.join(seen)}; programs of the game's contest are not told of it.")
    choices: list[dict[str, Any]] = [
        {key: None if value != value else value for key, value in one._asdict().items()}  # noqa: PLR0124 - NaN is no JSON
        for one in answer.choices
    ]
    judged = {"source": asked.name, "kind": asked.kind, "unit": asked.unit, "sure": asked.sure}
    written.json(
        {"state": known, **shared_options.about(found.game), "seat": answer.seat, **judged, "choices": choices}
    )
