"""What to do in a state: every choice with its value, or with what it brings when the game is played on."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from dicegym.cli import shared_options
from dicegym.cli.console import NO_FILES, Outputs, out, print_lines, print_table
from dicegym.cli.progress import progress_bar, thinking
from dicegym.cli.replay_command import replay_named
from dicegym.errors import ParameterError, one_line

if TYPE_CHECKING:
    from dicegym.games.positions import Position

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
                "2.1:12"
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


def action_meant(found: Position, text: str) -> int:
    """Return the action that a text means: as people type it at the keyboard, its number, or its name.

    Raises ParameterError if it means none, or several that are played one after the other.
    """
    from dicegym.games.keyboard import Place
    from dicegym.players.human import keyboard_of, legal_names, match_action

    game, state = found.game, found.state[0]
    place = Place(game, int(state["player"]), tuple(f"player {seat}" for seat in range(game.players)))
    words = " ".join(text.lower().split())
    action = match_action(words, legal_names(place, state), bare=False)
    if action is not None:
        return action
    actions = keyboard_of(game).read(place, state, words)
    if len(actions) != 1:
        raise ParameterError(f"{one_line(text)!r} is {len(actions)} actions, one after the other: name the first alone")
    return int(actions[0])


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
    top: Annotated[int, Option(min=0, metavar="N", help="show the N best choices; 0: all")] = SHOWN,
    store: shared_options.StoreName = None,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Rank the legal choices in a state by their value.

    Each choice is judged by what the player to move may know, and shown with its uncertainty.

    Examples: dicegym values hint hog-CgBQUEI --top 3; dicegym values hint 2.1:12
    """
    from dicegym.analysis.hints import hint as ranked
    from dicegym.games.hidden import open_fields

    found = state_named(state, store)
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


def rollout(
    state: StateName,
    games: Annotated[int, Option(min=1, metavar="N", help="most games with each choice")] = 20_000,
    until: Annotated[
        float, Option(min=0, metavar="ERROR", help="stop when the standard error of the best value is this or less")
    ] = 0.0,
    action: Annotated[
        list[str] | None, Option(help="a choice, as you would type it in `dicegym play`; repeatable (default: all)")
    ] = None,
    player: Annotated[
        str | None,
        Option(
            metavar="AGENT",
            help="the agent that plays on (default: the strongest that is compiled)",
            autocompletion=shared_options.complete_agent,
        ),
    ] = None,
    against: Annotated[
        str | None, Option(metavar="AGENT", help="the agent in the other seats (default: the same)")
    ] = None,
    policy: Annotated[
        str | None, Option(metavar="NAME", help="a source of values: play on as it assumes that all players do")
    ] = None,
    leaves: Annotated[
        str | None,
        Option(
            metavar="NAME", help="a source of values: use it at the end of a hand (in games without hands: at once)"
        ),
    ] = None,
    seconds: Annotated[float | None, Option(min=0, metavar="S", help="start no games after S seconds")] = None,
    seed: shared_options.Seed = 0,
    store: shared_options.StoreName = None,
    trust: shared_options.Trust = False,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Estimate each choice in a state by playing on many times.

    All choices get the same dice. What others hide is drawn from what the player to move may believe. Choices that are
    clearly worse are dropped, and the command stops when one is left.

    Example: dicegym values rollout 2.1:12 --until 0.001
    """
    from dicegym.analysis.rollouts import rollout as rolled_out
    from dicegym.analysis.valuers import figure, unit_title, valuer

    if policy is not None and player is not None:
        raise ParameterError(f"--policy {policy} and --player {player} both say who plays on: give one of them")
    found = state_named(state, store)
    game = found.game
    with progress_bar("games") as progress:
        result = rolled_out(
            game,
            found.state[0],
            actions=[action_meant(found, text) for text in action] if action else None,
            games=games,
            until=until,
            player=player if policy is None else valuer(game, policy, progress=progress),
            against=against,
            leaves=None if leaves is None else valuer(game, leaves, progress=progress),
            seconds=seconds,
            seed=seed or 0,
            trust=trust,
            progress=progress,
        )
    known = _print_state(found)
    rows = []
    for place, one in enumerate(result.candidates[:SHOWN], 1):
        value, error, *behind = (
            figure(number, result.unit) for number in (one.value, one.error, one.difference, one.difference_error)
        )
        behind = behind if place > 1 else ["", ""]
        rows.append([str(place), one.name, value, error, *behind, f"{one.games:,}", "worse" if one.dropped else ""])
    print_table(["", "choice", unit_title(result.unit), "± error", "behind", "± error", "games", ""], rows)
    if len(result.candidates) > SHOWN:
        out.print(f"({len(result.candidates) - SHOWN} more)")
    print_lines(["", *result.lines()])
    facts = shared_options.about(game)
    facts["players_of_game"] = facts.pop("players")
    candidates = [one._asdict() for one in result.candidates]
    written.json({"state": known, **result._asdict(), **facts, "candidates": candidates})
