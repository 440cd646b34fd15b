"""Commands about decisions: hints in a state, regret in a game, grades of agents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

import dicegym
from dicegym.cli import shared_options
from dicegym.cli.console import NO_FILES, Outputs, out, print_lines, print_table
from dicegym.cli.progress import progress_bar
from dicegym.cli.replay_command import REPLAY_ID, analyse_replay, replay_named
from dicegym.errors import ParameterError, one_line

if TYPE_CHECKING:
    from dicegym.games.positions import Position

SHOWN = 10
"""Choices shown by default."""
_ID = re.compile(r"[A-Za-z]\w*-[\w-]+")


def state_named(text: str, store: str | None) -> Position:
    """Return the state for an id, or for a game and the number of its next action; a player is to move in it.

    Raises ParameterError, DependencyError and what `dicegym.cli.replay_command.replay_named` raises.
    """
    from dicegym.games.positions import Position, position

    replay, mark, move = text.strip().rpartition(":")
    if mark and move.isdecimal() and len(move) < 10:
        played, number = replay_named(replay, store), int(move)
        if not 1 <= number <= len(played.actions):
            raise ParameterError(f"{one_line(replay)} has no action {number}: give 1 to {len(played.actions)}")
        return Position(played.table(), played.states()[number - 1], None)
    if not _ID.fullmatch(text.strip()):
        raise ParameterError(
            f"invalid state {one_line(text, 60)!r}: give an id such as `hog-...` (type `id` in `dicegym "
            "play`), or a game and the number of one of its actions, as 2.1:12"
        )
    found = position(text)
    state = found.state[0]
    if state["over"]:
        raise ParameterError("this game is over: choose an earlier state")
    if found.seat is not None and found.seat != state["player"]:
        raise ParameterError(
            f"this id is the view of seat {found.seat}, and seat {state['player']} is to move: use an id of the whole "
            "state, or one made for the player to move"
        )
    return found


def hint(
    state: Annotated[str, Argument(metavar="STATE", help="an id, or GAME:N, a stored game before its action N")],
    values: shared_options.ValuesName = None,
    games: Annotated[int | None, Option(min=2, metavar="N", help="play on N times with each choice")] = None,
    top: Annotated[int, Option(min=0, metavar="N", help="show the N best choices; 0: all")] = SHOWN,
    store: shared_options.StoreName = None,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Rank the legal choices in a state by their value.

    Each choice is judged by what the player to move may know, and shown with its uncertainty. `--values rollouts` plays
    on from the state with each choice.

    Example: dicegym values hint 2.1:12 --games 2000
    """
    from dicegym.analysis.rollouts import RolloutValuer
    from dicegym.analysis.valuers import hint as ranked
    from dicegym.games.hidden import open_fields
    from dicegym.games.positions import position_id

    found = state_named(state, store)
    game, record = found.game, found.state[0]
    with progress_bar("steps") as progress:
        if games is None:
            asked = shared_options.values_of(game, values, progress, fair=True)
        elif values not in (None, "rollouts"):
            raise ParameterError(f"--games {games} is for rollouts, and --values {values} plays none: leave one out")
        else:
            asked = RolloutValuer(game, games=games)
        answer = ranked(game, record, asked)
    seat = int(record["player"])
    known = position_id(game, record, seat)
    print_lines([game.scene(record, seat).text(), f"State: {known}", "", *answer.lines(top or None)])
    seen = sorted(open_fields(game))
    if seen and asked.sees_all:
        out.print(f"People at a table see {', '.join(seen)}; bots in the game's contest do not.")
    choices: list[dict[str, Any]] = [
        {key: None if value != value else value for key, value in one._asdict().items()}  # noqa: PLR0124 - JSON has no NaN
        for one in answer.choices
    ]
    judged = {"source": asked.name, "kind": asked.kind, "unit": asked.unit, "sure": asked.sure}
    written.json({"state": known, **shared_options.about(game), "seat": answer.seat, **judged, "choices": choices})


def analyse(
    replay: Annotated[str, Argument(metavar="ID", help=REPLAY_ID)],
    values: shared_options.ValuesName = None,
    worst: Annotated[int, Option(min=0, metavar="N", help="show the N worst decisions")] = 3,
    store: shared_options.StoreName = None,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Show the regret of each decision of a stored game.

    Also shows each player's luck, and the luck-adjusted result.

    Example: dicegym values analyse 2.1 -o game.json
    """
    from dicegym.arena.replay.replay import result_lines

    found = replay_named(replay, store)
    found.check_rules()
    analysis = analyse_replay(found, values)
    print_lines([analysis.text(worst), *result_lines(found)[1:]])
    written.json(analysis.to_json())


def grade(
    game: shared_options.GameName,
    agents: shared_options.Agents,
    against: shared_options.Against = None,
    games: Annotated[int | None, Option(min=1, metavar="N", help="games for each agent")] = None,
    values: shared_options.ValuesName = None,
    seed: shared_options.Seed = None,
    written: Annotated[Outputs, ".json"] = NO_FILES,
    parameter: shared_options.Parameters = None,
) -> None:
    """Grade agents by the regret of their decisions.

    Example: dicegym values grade hog best_by_scores swap bacon --games 500
    """
    from dicegym.analysis.grades import facts, grade_table
    from dicegym.analysis.grades import grade as graded
    from dicegym.analysis.valuers import sure, thresholds

    table = shared_options.make_game(game, parameter)
    players = [dicegym.agent(table, name) for name in agents]
    names = against or ([table.spec.baseline] if table.players > 1 else [])
    others = [dicegym.agent(table, name) for name in names]
    with progress_bar("games") as progress:
        asked = shared_options.values_of(table, values, progress)
        found = [graded(player, table, others, games, seed or 0, asked, progress=progress) for player in players]
    rivals = f", against {', '.join(names)}" if names else ""
    print_lines([f"{table.spec.title}: {found[0].games:,} games each{rivals}. {sure(asked)}.", ""])
    print_table(*grade_table(found))
    print_lines(["", "Intervals are 95 %; marks are counts per game. " + thresholds(asked.unit)])
    written.json(facts(table, asked, names, seed or 0, found))
