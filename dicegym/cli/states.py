"""A state that a command is asked about: a short id, or a moment of a game that was played."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from dicegym.cli.replay import replay_named
from dicegym.errors import ParameterError, one_line

if TYPE_CHECKING:
    from dicegym.games.positions import Position

StateName = Annotated[
    str,
    Argument(
        metavar="STATE",
        help="a state's id, as `hog-...`, or REPLAY:MOVE: a game as for `dicegym arena replay`, and the number of an "
        "action, from 1, before it is played",
    ),
]
_OF_A_GAME = re.compile(r"(?P<game>[A-Za-z]\w*)-[\w-]+")


def state_named(text: str, store: str | None) -> Position:
    """Return the state that `StateName` names, in which somebody is to move and knows what the text tells.

    Raises ParameterError, DependencyError and what `dicegym.cli.replay.replay_named` raises.
    """
    from dicegym.games.positions import Position, position

    replay, mark, move = text.strip().rpartition(":")
    if not mark or not move.isdecimal():
        if not _OF_A_GAME.fullmatch(text.strip()):
            raise ParameterError(
                f"{one_line(text, 60)!r} cannot be read as a state: give an id such as `hog-...` "
                "(`dicegym arena replay ID --ids` shows them), or a game and the number of one of its actions, as "
                "3fa2c1:12"
            )
        if store is not None:
            raise ParameterError("an id holds the whole state, and is in no store: leave --store out")
        found = position(text)
        _check_mover(found)
        return found
    played = replay_named(replay, store)
    number = int(move)
    if not 1 <= number <= len(played.actions):
        raise ParameterError(f"{one_line(replay)} has the actions 1 to {len(played.actions)}, and no {number}")
    game = played.table()
    played.check()
    states = next(itertools.islice(played.states(), number - 1, None))
    return Position(game, states, None)


def _check_mover(found: Position) -> None:
    """Raise ParameterError unless somebody is to move, and the id holds what that player knows."""
    state = found.state[0]
    if state["over"]:
        raise ParameterError("this game is over: there is nothing left to choose")
    if found.seat is not None and found.seat != state["player"]:
        raise ParameterError(
            f"this id holds what seat {found.seat} may know, and seat {state['player']} is to move: ask with an id of "
            "the whole state, or one made for the player to move"
        )


def told(found: Position) -> list[str]:
    """Return the table as the player to move sees it, and the id of what that player knows."""
    from dicegym.games.positions import position_id

    seat = int(found.state[0]["player"])
    scene = found.game.scene(found.state[0], seat).text()
    return [scene, f"State: {position_id(found.game, found.state[0], seat)}"]


def action_meant(found: Position, text: str) -> int:
    """Return the action that a text means: as people type it at the keyboard, its number, or its name.

    Raises ParameterError if it means none, or several that are played one after the other.
    """
    from dicegym.games.keyboard import Place
    from dicegym.players.human import keyboard_of, legal_names, meant

    game, state = found.game, found.state[0]
    names = [f"player {seat}" for seat in range(game.players)]
    place = Place(game, int(state["player"]), tuple(names))
    words = " ".join(text.lower().split())
    action = meant(words, legal_names(place, state), bare=False)
    if action is not None:
        return action
    actions: Sequence[int] = keyboard_of(game).read(place, state, words)
    if len(actions) != 1:
        raise ParameterError(f"{one_line(text)!r} is {len(actions)} actions, one after the other: name the first alone")
    return int(actions[0])
