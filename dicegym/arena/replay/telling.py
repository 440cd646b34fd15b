"""A replay in words and scenes: for everybody at once, or as one seat was shown it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dicegym.arena.replay.replay import LONGEST_REASON, Frame, Notes, Replay
from dicegym.engine.game import Game
from dicegym.escape import one_line
from dicegym.pictures.watched import WatchedMove, tell_apart, watch_move


def moments(replay: Replay, seat: int | None = None, notes: Notes | None = None) -> Iterator[WatchedMove]:
    """Yield the beginning of a game that was played, and each moment after something was done.

    Args:
        replay: the game.
        seat: as this seat was shown it: its own hidden things, and what is public; None: everything.
        notes: told with the moves.

    Raises:
        ReplayError: it is not played again as it was; before the first moment.
        ParameterError: there is no such seat.
    """
    if seat is not None:
        replay.seat(seat)
    game, names = replay.table(), tell_apart(replay.seats)
    for frame in replay.frames(game, notes):
        yield moment(game, frame, names, seat)


def moment(game: Game, frame: Frame, names: Sequence[str], seat: int | None = None) -> WatchedMove:
    """Return a frame in words and as a scene; ``names`` are those of the seats, no two alike."""
    said: dict[int, list[str]] = {}
    for played in frame.done:
        if played.may_know(seat):
            said.setdefault(played.seat, []).append(played.words(seat))
    lines = tuple(f"{names[one]}: {', '.join(texts)}" for one, texts in said.items())
    return watch_move(game, frame.state, lines, names, seat)


def result_lines(replay: Replay, seat: int | None = None) -> list[str]:
    """Return the result of the game for each seat, and what the contest noted, of this seat alone; a line for each.

    Arguments and errors as of `moments`.
    """
    names = tell_apart(replay.seats)
    came = ", ".join(f"{name} {value:g}" for name, value in zip(names, replay.returns, strict=True))
    when: dict[tuple[int, int], str] = {}
    for number, frame in enumerate(replay.frames()):
        for played in frame.done:
            when[played.seat, played.turn] = f"in move {number}, its decision {played.turn}"
    lines = [f"returns: {came}"]
    for incident in replay.incidents:
        if seat in (None, incident.seat):
            known = when.get((incident.seat, incident.turn), "beside its decisions")
            lines.append(f"noted: {names[incident.seat]}, {known}: {one_line(incident.reason, LONGEST_REASON)}")
    return lines
