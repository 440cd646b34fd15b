"""A replay in words and scenes: for everybody at once, or as one seat was shown it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dicegym.arena.replay.replay import Frame, PlayedAction, Replay
from dicegym.engine.game import Game
from dicegym.escape import one_line
from dicegym.pictures.watched import WatchedMove, tell_apart, watch_move

REASON = 300
"""Characters of what was wrong that are shown."""
Notes = Mapping[tuple[int, int], str]
"""Notes on decisions, by seat and number of the seat's decision from 1."""


def moments(
    replay: Replay, seat: int | None = None, game: Game | None = None, notes: Notes | None = None
) -> Iterator[WatchedMove]:
    """Yield the beginning of a game that was played, and each moment after something was done.

    Args:
        replay: the game.
        seat: as this seat was shown it: its own hidden things, and what is public; None: everything.
        game: as of `Replay.table`.
        notes: told with the moves.

    Raises:
        ReplayError: it is not played again as it was; before the first moment.
        ParameterError: there is no such seat.
    """
    if seat is not None:
        replay.seat(seat)
    table, names = replay.table(game), tell_apart(replay.seats)
    for frame in replay.frames(table):
        yield moment(table, frame, names, seat, notes)


def moment(
    table: Game, frame: Frame, names: Sequence[str], seat: int | None = None, notes: Notes | None = None
) -> WatchedMove:
    """Return a frame in words and as a scene; ``names`` are those of the seats, no two alike."""
    said: dict[int, list[str]] = {}
    for played in frame.done:
        if may_know(played, seat):
            said.setdefault(played.seat, []).append(words(table, played, seat, notes))
    lines = tuple(f"{names[one]}: {', '.join(texts)}" for one, texts in said.items())
    return watch_move(table, frame.state, lines, names, seat)


def may_know(played: PlayedAction, seat: int | None) -> bool:
    """Return whether a seat may know which action was played; None: a viewer that sees everything."""
    return played.public or seat in (None, played.seat)


def words(table: Game, played: PlayedAction, seat: int | None = None, notes: Notes | None = None) -> str:
    """Return what was done, and what a seat may know of what was wrong with it; None: a viewer that sees everything.

    What the contest noted may quote what the player was asked, and answered, and what a decision cost tells of the
    player's dice: that is for its own seat.
    """
    wrong = one_line(played.wrong if seat in (None, played.seat) else played.fault, REASON)
    note = find_note(played, notes) if seat in (None, played.seat) else ""
    said = played.said if seat in (None, played.seat) else table.action_name(played.action)
    return said + (f" ({wrong})" if wrong else "") + (f" {note}" if note else "")


def find_note(played: PlayedAction, notes: Notes | None) -> str:
    """Return the note on a decision; empty if it has no note."""
    return "" if notes is None else notes.get((played.seat, played.turn), "")


def result_lines(replay: Replay, seat: int | None = None, game: Game | None = None) -> list[str]:
    """Return the result of the game for each seat, and what the contest noted, of this seat alone; a line for each.

    Args and errors: as of `moments`.
    """
    names = tell_apart(replay.seats)
    came = ", ".join(f"{name} {value:g}" for name, value in zip(names, replay.returns, strict=True))
    when: dict[tuple[int, int], str] = {}
    for number, frame in enumerate(replay.frames(game)):
        for played in frame.done:
            when[played.seat, played.turn] = f"in move {number}, its decision {played.turn}"
    lines = [f"returns: {came}"]
    for incident in replay.incidents:
        if seat in (None, incident.seat):
            known = when.get((incident.seat, incident.turn), "beside its decisions")
            lines.append(f"noted: {names[incident.seat]}, {known}: {one_line(incident.reason, REASON)}")
    return lines
