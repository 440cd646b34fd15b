"""The messages of a Yatzy server and their meaning in the rules.

Messages are JSON objects, here plain dicts. A server sends STANDING, FINAL, ERROR and WELCOME; a client sends LOGIN
(`login_message`), ROLL_DICE and SCORE_BOX (`command_in`). The rule text names a command under ``type``, original
clients under ``key``: we read either and write both.

Any JSON value may arrive; the readers raise nothing but `CommandError`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.validate import is_whole_number
from dicegym.errors import DicegymError
from dicegym.games.yatzy.rules import (
    BAD_COMMAND,
    BEST,
    BOXES,
    DICE,
    FACES,
    FIRST_BOX,
    HANDFULS,
    KEEPS,
    MOST_HELP,
    N_ACTIONS,
    NO_DICE,
    NO_ROLLS_LEFT,
    NOT_SHOWN,
    POINTS,
    ROLL_PLACES,
    ROLLS,
    SCORE_PLACES,
    SERVER_TURN,
    SPEC,
    USED_BOX,
    YATZY_POINTS,
    View,
    places_kept,
    record_of,
    set_of,
    total,
    view,
)

Message = dict[str, Any]
"""A JSON object."""
OPEN = "-"
"""Marks an open box in a standing."""
WORDS = ("type", "key")
"""A command may be named under either."""
ROLL_DICE, SCORE_BOX, LOGIN = "ROLL_DICE", "SCORE_BOX", "LOGIN"
STANDING, FINAL, ERROR, WELCOME = "STANDING", "FINAL", "ERROR", "WELCOME"

BAD_WORD, BAD_INDEX, BAD_BOX = "bad-command", "bad-index", "bad-box"
BAD_STANDING, BAD_LOGIN = "bad-standing", "bad-login"
UNREADABLE = -1
"""The action for a command that cannot be read; the rules count it as an error."""
LONGEST = 60
"""Longest text that is shown of a foreign value, in characters."""


class CommandError(DicegymError, ValueError):
    """A message is invalid.

    Attributes:
        code: a short code for programs.
        message: what was read, why it cannot work, what to send.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[type[CommandError], tuple[str, str]]:
        """Pickle by the two arguments."""
        return type(self), (self.code, self.message)


def in_short(value: object) -> str:
    """Return any value as a short piece of JSON."""
    try:
        huge = isinstance(value, int) and abs(value) >= 1 << 63
        text = "a huge number" if huge else json.dumps(value, default=repr)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def word_of(message: object) -> str:
    """Return the kind of a message: the word under "type" or "key". Raises CommandError."""
    if not isinstance(message, dict):
        raise CommandError(BAD_WORD, f"invalid message {in_short(message)}: send a JSON object")
    words = [message[name] for name in WORDS if name in message]
    if not words or type(words[0]) is not str or any(word != words[0] for word in words):
        raise CommandError(
            BAD_WORD,
            f'{in_short(message)} does not say what it is: put {ROLL_DICE} or {SCORE_BOX} under "type" or "key"',
        )
    return words[0]


# --- messages of a server --------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)  # most rows of a table have not changed since the last question
def score_text(scores: tuple[int, ...]) -> str:
    """Return fifteen points (-1: an open box) as text of a STANDING."""
    return ",".join([OPEN if points < 0 else str(points) for points in scores])


def table_message(shown: View, names: Sequence[str], ratings: Sequence[int]) -> Message:
    """Return the STANDING of a view; see `standing_message`."""
    return {
        "key": STANDING,
        "roundNumber": shown.round_number,
        "standing": [
            {"playerName": name, "rating": rating, "score": score_text(row)}
            for name, rating, row in zip(names, ratings, shown.scores, strict=True)
        ],
        "currentPlayer": {"playerName": names[shown.player], "rollsLeft": shown.rolls_left, "dice": list(shown.dice)},
    }


def standing_message(game: Game, state: Any, names: Sequence[str], ratings: Sequence[int]) -> Message:
    """Return the STANDING for all players after a change; names and ratings are by seat."""
    return table_message(view(state, 0), names, ratings)


def totals_of(game: Game, state: Any) -> list[int]:
    """Return each seat's points, the bonus included."""
    return [int(total(state, seat)) for seat in range(game.players)]


def final_message(game: Game, state: Any, names: Sequence[str], ratings: Sequence[int]) -> Message:
    """Return the FINAL of a finished game: names, boxes, totals, places and new ratings, best first.

    Equal totals share the better place, and the next places are skipped.
    """
    totals, scores = totals_of(game, state), view(state, 0).scores
    rows = [
        {
            "playerName": names[seat],
            "rating": ratings[seat],
            "score": score_text(scores[seat]),
            "total": totals[seat],
            "place": 1 + sum(better > totals[seat] for better in totals),
        }
        for seat in sorted(range(game.players), key=lambda seat: -totals[seat])
    ]
    return {"key": FINAL, "standing": rows}


def error_message(code: str, message: str) -> Message:
    """Return the ERROR for a command that cannot be carried out."""
    return {"key": ERROR, "code": code, "message": message}


def has_given_up(state: Any, seat: int) -> bool:
    """Return whether the server plays the rest of the game for this seat."""
    return bool(state["helped"][seat] >= MOST_HELP)


def interludes(game: Game, state: Any, action: int) -> list[Any]:
    """Return the records between ``action`` and the next seat that plays for itself, in order.

    In each of them a seat that has given up sees its five dice. The rules play such turns within the same step, but
    clients see each of them begin. ``state`` is not changed.
    """
    if max(state["helped"].tolist()) < MOST_HELP:
        return []
    after, table = state.copy(), state.copy()
    game.step(after, action)
    found: list[Any] = []
    while True:
        # With one helped turn less, step stops at such a seat; the server's turn then counts it again.
        table["helped"] = table["helped"].clip(max=MOST_HELP - 1)
        game.step(table, SERVER_TURN if found else action)
        if table["over"] or not has_given_up(after, int(table["player"])):
            return found
        found.append(table.copy())


def as_original(standing: Message) -> Message:
    """Return a STANDING in the original server's form: ``score`` is an array, with -1 for an open box."""
    rows = [
        row | {"score": [-1 if text == OPEN else int(text) for text in row["score"].split(",")]}
        for row in standing["standing"]
    ]
    return standing | {"standing": rows}


def welcome_message(name: str, rating: int) -> Message:
    """Return the WELCOME that tells a client its name in standings."""
    return {"key": WELCOME, "playerName": name, "rating": rating}


# --- reading messages of a server ------------------------------------------------------------------------------


def _bad(message: str) -> CommandError:
    return CommandError(BAD_STANDING, message)


def _number(value: object, low: int, high: int, what: str) -> int:
    if type(value) is not int or not low <= value <= high:
        raise _bad(f"invalid {what} {in_short(value)}: give a whole number from {low} to {high}")
    return value


def _standing(message: object) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return ``standing`` and ``currentPlayer`` of a STANDING, after checking their forms."""
    if word_of(message) != STANDING:
        raise _bad(f"expected a {STANDING}, got {in_short(message)}")
    whole: dict[Any, Any] = message  # type: ignore[assignment]  # word_of accepts nothing else
    rows, current = whole.get("standing"), whole.get("currentPlayer")
    if type(rows) is not list or not all(isinstance(row, dict) for row in rows):
        raise _bad(f"invalid standing {in_short(rows)}: give a list of players")
    if not isinstance(current, dict):
        raise _bad(f"invalid currentPlayer {in_short(current)}: give an object")
    names = [row.get("playerName") for row in rows]
    if not all(type(name) is str for name in names) or len(set(names)) < len(names):
        raise _bad(f"invalid names {in_short(names)}: give each player a different name")
    if current.get("playerName") not in names:
        raise _bad(f"currentPlayer {in_short(current.get('playerName'))} is not one of {in_short(names)}")
    return rows, current


def names_of(message: object) -> list[str]:
    """Return the names in a STANDING, by seat. Raises CommandError."""
    return [row["playerName"] for row in _standing(message)[0]]


def mover_of(message: object) -> str:
    """Return the name of the player to move in a STANDING. Raises CommandError."""
    name: str = _standing(message)[1]["playerName"]
    return name


def _scores(score: object) -> list[int]:
    """Return fifteen points (-1: an open box) from text of the rules, or from an array of the original server."""
    if type(score) is list:
        if len(score) != BOXES:
            raise _bad(f"invalid score {in_short(score)}: give {BOXES} numbers")
        return [_number(points, -1, YATZY_POINTS, "score of a box") for points in score]
    fields = score.split(",") if type(score) is str and len(score) <= 8 * BOXES else []
    if len(fields) != BOXES:
        raise _bad(f"invalid score {in_short(score)}: give {BOXES} fields separated by commas")
    found = []
    for field in map(str.strip, fields):
        if field != OPEN and not (field.isascii() and field.isdigit() and int(field) <= YATZY_POINTS):
            raise _bad(f'invalid score of a box {in_short(field)}: give "{OPEN}" or points up to {YATZY_POINTS}')
        found.append(-1 if field == OPEN else int(field))
    return found


def state_of(message: object, seat_name: str, game: Game) -> tuple[Any, int]:
    """Return (record, seat of ``seat_name``) of a STANDING; seats are in its order.

    Fields that no message contains (the key, errors, helped turns) are as in a new game. Raises CommandError if it is
    not a STANDING, has another number of players than ``game``, or lacks the name.
    """
    rows, current = _standing(message)
    names = [row["playerName"] for row in rows]
    if len(rows) != game.players:
        raise _bad(f"invalid standing of {len(rows)} players for {game!r}")
    if seat_name not in names:
        raise _bad(f"{in_short(seat_name)} is not one of {in_short(names)}")
    dice = current.get("dice")
    if type(dice) is not list or len(dice) != DICE:
        raise _bad(f"invalid dice {in_short(dice)}: give five dice")
    scores = tuple(tuple(_scores(row.get("score"))) for row in rows)
    player = names.index(current["playerName"])
    filled = sum(points >= 0 for points in scores[player])
    shown = View(
        seat=names.index(seat_name),
        player=player,
        round_number=min(filled + 1, BOXES),  # filled boxes are more reliable than the sender's counter
        rolls_left=_number(current.get("rollsLeft"), 0, ROLLS, "number of rolls left"),
        dice=tuple(_number(face, 1, FACES, "face of a die") for face in dice),
        scores=scores,
    )
    return record_of(game, shown), shown.seat


def continues(before: object, after: object) -> bool:
    """Return whether the second STANDING can follow the first in one game: same names, no box opened again.

    Raises CommandError if one of them is not a STANDING.
    """
    first, second = (
        {row["playerName"]: _scores(row.get("score")) for row in _standing(message)[0]} for message in (before, after)
    )
    return list(first) == list(second) and all(
        old in (-1, new) for name in first for old, new in zip(first[name], second[name], strict=True)
    )


def open_boxes(message: object, name: str) -> int:
    """Return how many open boxes a player has in a STANDING; 0 if it is not there. Raises CommandError."""
    rows = [row for row in _standing(message)[0] if row["playerName"] == name]
    return _scores(rows[0].get("score")).count(-1) if rows else 0


def final_text(message: object) -> str:
    """Return a FINAL as one line of text. Raises CommandError."""
    rows = message.get("standing") if isinstance(message, dict) and word_of(message) == FINAL else None
    if type(rows) is not list or not all(isinstance(row, dict) for row in rows):
        raise CommandError(BAD_STANDING, f"expected a {FINAL}, got {in_short(message)}")
    fields = ("place", "playerName", "total", "rating")
    told = [[str(row.get(field, "?"))[:LONGEST] for field in fields] for row in rows]
    return ", ".join(f"{place}. {name} {total} ({rating})" for place, name, total, rating in told)


def read_welcome(message: object) -> str:
    """Return the name in a WELCOME. Raises CommandError."""
    name = message.get("playerName") if isinstance(message, dict) and word_of(message) == WELCOME else None
    if type(name) is not str:
        raise CommandError(BAD_LOGIN, f"expected a {WELCOME}, got {in_short(message)}")
    return name


# --- messages of a client --------------------------------------------------------------------------------------------

FAULT_CODES = {
    BAD_COMMAND: BAD_WORD,
    NO_ROLLS_LEFT: "no-rolls-left",
    USED_BOX: "used-box",
    NOT_SHOWN: "bad-dice",
    NO_DICE: "no-dice",
}
"""{fault of the rules: code of the ERROR}."""
_ALLOWED = f"from 0 to {DICE - 1}"


def login_message(secret: str | None = None, name: str | None = None, client: str | None = None) -> Message:
    """Return a client's LOGIN: the secret that identifies it, the name to play under, and the program, for people.

    Original clients send only a secret (`original_login`).
    """
    given = {"playerName": name, "secret": secret, "client": client}
    return {"key": LOGIN} | {key: value for key, value in given.items() if value is not None}


_LOGIN_HINT = json.dumps(login_message("..."))


def login_of(message: object) -> tuple[str | None, str | None]:
    """Return (name, secret) of a LOGIN, each None if it is missing. Raises CommandError.

    Original clients send only a secret; ``playerName`` is our addition, for servers that let players choose a name.
    """
    if word_of(message) != LOGIN or not isinstance(message, dict):
        raise CommandError(BAD_LOGIN, f"log in first: send {_LOGIN_HINT}")
    found = message.get("playerName"), message.get("secret")
    for value in found:
        if value is not None and type(value) is not str:
            raise CommandError(BAD_LOGIN, f"{in_short(value)} is not a text: send {_LOGIN_HINT}")
    return found


def original_login(message: object) -> bool:
    """Return whether a LOGIN comes from an original client: only a secret, with the command under "key"."""
    return isinstance(message, dict) and set(message) == {"key", "secret"} and message["key"] == LOGIN


def _places(message: dict[Any, Any]) -> int:
    """Return the bit mask of the places in a command."""
    if "dice" not in message:
        raise CommandError(BAD_INDEX, f'the command names no dice: add "dice", a list of places {_ALLOWED}')
    dice = message["dice"]
    if type(dice) not in (list, tuple) or len(dice) > DICE:
        raise CommandError(BAD_INDEX, f"invalid dice {in_short(dice)}: give a list of at most {DICE} places {_ALLOWED}")
    places = 0
    for place in dice:
        if not is_whole_number(place) or not 0 <= place < DICE:
            raise CommandError(BAD_INDEX, f"invalid place of a die {in_short(place)}: give whole numbers {_ALLOWED}")
        if places >> int(place) & 1:
            raise CommandError(BAD_INDEX, f"place {place} is named twice: name each die once")
        places |= 1 << int(place)
    return places


def action_of(command: object) -> int:
    """Return the wide action of a ROLL_DICE or SCORE_BOX, which may be illegal. Raises CommandError."""
    word = word_of(command)
    message: dict[Any, Any] = command  # type: ignore[assignment]  # word_of accepts nothing else
    if word == ROLL_DICE:
        return ROLL_PLACES + _places(message)
    if word != SCORE_BOX:
        raise CommandError(BAD_WORD, f"invalid command {in_short(word)}: send {ROLL_DICE} or {SCORE_BOX}")
    box = message.get("box")
    if not is_whole_number(box) or not 1 <= box <= BOXES:
        raise CommandError(BAD_BOX, f"invalid box {in_short(box)}: give a whole number from 1 to {BOXES}")
    return SCORE_PLACES + (int(box) - 1) * HANDFULS + _places(message)


def fault_error(fault: int) -> CommandError:
    """Return the error for a fault that ``step`` found in a command."""
    code = FAULT_CODES.get(fault, BAD_WORD)
    return CommandError(code, f"{SPEC.faults[fault]}: nothing has changed, send another command")


def _best_places(box: int, dice: Sequence[int] | np.ndarray) -> int:
    """Return the first places with the most points in ``box`` (from 0); all five if nothing scores."""
    most = BEST[set_of(dice, HANDFULS - 1) - KEEPS, box]
    fitting = (places for places in range(HANDFULS) if POINTS[set_of(dice, places), box] == most)
    return next(fitting) if most else HANDFULS - 1


def name_dice(action: int, dice: Sequence[int] | np.ndarray) -> tuple[int | None, int]:
    """Return (box from 0, or None for a roll; bit mask of the places) of one of the environments' actions."""
    if action < KEEPS:
        return None, HANDFULS - 1 - int(places_kept(dice, action))
    return action - FIRST_BOX, _best_places(action - FIRST_BOX, dice)


def write_command(box: int | None, places: int) -> Message:
    """Return the command that scores ``box`` (from 0), or rolls if it is None, with the dice in a bit mask."""
    words = dict.fromkeys(WORDS, ROLL_DICE if box is None else SCORE_BOX)
    scored = {} if box is None else {"box": box + 1}
    return {**words, **scored, "dice": [place for place in range(DICE) if places >> place & 1]}


def command_in(action: int, state: Any) -> Message:
    """Return the command for an action in a state.

    Raises CommandError for an unknown action, and for one that keeps dice that are not shown.
    """
    dice = state["dice"]
    if 0 <= action < N_ACTIONS:
        box, places = name_dice(action, dice)
        if box is not None or set_of(dice, HANDFULS - 1 - places) == action:
            return write_command(box, places)
    elif ROLL_PLACES <= action < ROLL_PLACES + HANDFULS:
        return write_command(None, action - ROLL_PLACES)
    elif SCORE_PLACES <= action < SCORE_PLACES + BOXES * HANDFULS:
        return write_command(*divmod(action - SCORE_PLACES, HANDFULS))
    raise CommandError(BAD_WORD, f"no command means action {action} with the dice {in_short(dice.tolist())}")
