"""What a client reads in a STANDING and a FINAL, of this server or of another make."""

from __future__ import annotations

from typing import Any

from dicegym.engine.game import Game
from dicegym.games.yatzy.protocol_words import (
    BAD_STANDING,
    FINAL,
    LONGEST,
    OPEN,
    STANDING,
    CommandError,
    in_short,
    word_of,
)
from dicegym.games.yatzy.tables import BOXES, DICE, FACES, ROLLS, YATZY_POINTS
from dicegym.games.yatzy.view import View, record_of


def _bad(message: str) -> CommandError:
    return CommandError(BAD_STANDING, message)


def _number(value: object, low: int, high: int, what: str) -> int:
    if type(value) is not int or not low <= value <= high:
        raise _bad(f"{in_short(value)} is no {what}: a whole number from {low} to {high} is meant")
    return value


def _standing(message: object) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the parts ``standing`` and ``currentPlayer`` of a STANDING, their forms checked."""
    if word_of(message) != STANDING:
        raise _bad(f"{in_short(message)} is no {STANDING}")
    whole: dict[Any, Any] = message  # type: ignore[assignment]  # word_of takes nothing else
    rows, current = whole.get("standing"), whole.get("currentPlayer")
    if type(rows) is not list or not all(isinstance(row, dict) for row in rows):
        raise _bad(f"standing {in_short(rows)} is no list of players")
    if not isinstance(current, dict):
        raise _bad(f"currentPlayer {in_short(current)} is no player")
    names = [row.get("playerName") for row in rows]
    if not all(type(name) is str for name in names) or len(set(names)) < len(names):
        raise _bad(f"the names {in_short(names)} do not tell the players apart")
    if current.get("playerName") not in names:
        raise _bad(f"currentPlayer {in_short(current.get('playerName'))} is none of {in_short(names)}")
    return rows, current


def names_of(message: object) -> list[str]:
    """Return the names in a STANDING, by seat; their number is that of the game's players. Raises CommandError."""
    return [row["playerName"] for row in _standing(message)[0]]


def mover_of(message: object) -> str:
    """Return the name of the player to move in a STANDING. Raises CommandError."""
    name: str = _standing(message)[1]["playerName"]
    return name


def _scores(score: object) -> list[int]:
    """Return fifteen points, -1 for an open box, from a text as the rules say, or an array as the original sends."""
    if type(score) is list:
        if len(score) != BOXES:
            raise _bad(f"score {in_short(score)} has not {BOXES} numbers")
        return [_number(points, -1, YATZY_POINTS, "score of a box") for points in score]
    fields = score.split(",") if type(score) is str and len(score) <= 8 * BOXES else []
    if len(fields) != BOXES:
        raise _bad(f"score {in_short(score)} has not {BOXES} fields with commas between")
    found = []
    for field in map(str.strip, fields):
        if field != OPEN and not (field.isascii() and field.isdigit() and int(field) <= YATZY_POINTS):
            raise _bad(f"{in_short(field)} is no score of a box: {OPEN!r} or points up to {YATZY_POINTS} are meant")
        found.append(-1 if field == OPEN else int(field))
    return found


def state_of(message: object, seat_name: str, game: Game) -> tuple[Any, int]:
    """Return the record that a STANDING describes, and the seat of ``seat_name``.

    Any `dicegym.Player` can so play on a server of its own or of another make. Seats are in the order of the
    standing. What no message tells (the key, errors, whom the server helps) is as in a new game.

    Args:
        message: anything.
        seat_name: the own name in the standing.
        game: a game of Yatzy with as many players as the standing has (`names_of`).

    Raises:
        CommandError: it is no STANDING, or not of such a game, or the name is not in it.
    """
    rows, current = _standing(message)
    names = [row["playerName"] for row in rows]
    if len(rows) != game.players:
        raise _bad(f"{len(rows)} players do not play {game!r}")
    if seat_name not in names:
        raise _bad(f"{in_short(seat_name)} is none of {in_short(names)}")
    dice = current.get("dice")
    if type(dice) is not list or len(dice) != DICE:
        raise _bad(f"dice {in_short(dice)} are not five dice")
    scores = tuple(tuple(_scores(row.get("score"))) for row in rows)
    player = names.index(current["playerName"])
    filled = sum(points >= 0 for points in scores[player])
    shown = View(
        seat=names.index(seat_name),
        player=player,
        round_number=min(filled + 1, BOXES),  # boxes say it better than a counter of somebody else's
        rolls_left=_number(current.get("rollsLeft"), 0, ROLLS, "number of rolls left"),
        dice=tuple(_number(face, 1, FACES, "face of a die") for face in dice),
        scores=scores,
    )
    return record_of(game, shown), shown.seat


def continues(before: object, after: object) -> bool:
    """Return whether the second STANDING can be of the same game as the first: the same names, no box opened again.

    Raises CommandError if one of them is no STANDING.
    """
    boards = []
    for message in (before, after):
        boards.append({row["playerName"]: _scores(row.get("score")) for row in _standing(message)[0]})
    first, second = boards
    return list(first) == list(second) and all(
        old in (-1, new) for name in first for old, new in zip(first[name], second[name], strict=True)
    )


def open_boxes(message: object, name: str) -> int:
    """Return how many boxes a player of a STANDING has still to fill; 0 if it is not there. Raises CommandError."""
    rows = [row for row in _standing(message)[0] if row["playerName"] == name]
    return _scores(rows[0].get("score")).count(-1) if rows else 0


def final_text(message: object) -> str:
    """Return in one line what a FINAL says. Raises CommandError if it is none."""
    rows = message.get("standing") if isinstance(message, dict) and word_of(message) == FINAL else None
    if type(rows) is not list or not all(isinstance(row, dict) for row in rows):
        raise CommandError(BAD_STANDING, f"{in_short(message)} is no {FINAL}")
    fields = ("place", "playerName", "total", "rating")
    told = [[str(row.get(field, "?"))[:LONGEST] for field in fields] for row in rows]
    return ", ".join(f"{place}. {name} {total} ({rating})" for place, name, total, rating in told)
