"""The messages of a Yatzy server, and what they mean by the rules: a `dicegym.games.messages.Wire`.

Messages are JSON objects, here plain dicts. From the server: STANDING, FINAL, ERROR and WELCOME. From a client: LOGIN
(`login_message`), ROLL_DICE and SCORE_BOX (`command_of`). The rule text names a command under ``type``, the original
clients name it under ``key``; either is read, both are written.

What is read may be anything that JSON can say; `CommandError` is all that is ever raised because of it.
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
from dicegym.games.messages import Message
from dicegym.games.yatzy.rules import (
    BAD_COMMAND,
    FIRST_BOX,
    MOST_HELP,
    N_ACTIONS,
    NO_DICE,
    NO_ROLLS_LEFT,
    NOT_SHOWN,
    ROLL_PLACES,
    SCORE_PLACES,
    SERVER_TURN,
    SPEC,
    USED_BOX,
    View,
    record_of,
    total,
    view,
)
from dicegym.games.yatzy.tables import (
    BEST,
    BOXES,
    DICE,
    FACES,
    HANDFULS,
    KEEPS,
    POINTS,
    ROLLS,
    YATZY_POINTS,
    places_kept,
    set_of,
)

OPEN = "-"
"""How an open box is written in a standing."""
WORDS = ("type", "key")
"""Under which of these a command is named is all the same."""
ROLL_DICE, SCORE_BOX, LOGIN = "ROLL_DICE", "SCORE_BOX", "LOGIN"
STANDING, FINAL, ERROR, WELCOME = "STANDING", "FINAL", "ERROR", "WELCOME"

BAD_WORD, BAD_INDEX, BAD_BOX = "bad-command", "bad-index", "bad-box"
BAD_STANDING, BAD_LOGIN = "bad-standing", "bad-login"
UNREADABLE = -1
"""What stands for a command that cannot be read: one of the many numbers that are no action."""
LONGEST = 60
"""Characters of a foreign value that are shown."""


class CommandError(DicegymError, ValueError):
    """A message means nothing here.

    Attributes:
        code: one short word for programs.
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
    """Return a value as JSON in a few characters, whatever it is."""
    try:
        text = (
            json.dumps(value, default=repr) if not isinstance(value, int) or abs(value) < 1 << 63 else "a huge number"
        )
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def word_of(message: object) -> str:
    """Return what kind of message this is: the word under "type" or "key". Raises CommandError."""
    if not isinstance(message, dict):
        raise CommandError(BAD_WORD, f"invalid message {in_short(message)}: send a JSON object")
    words = [message[name] for name in WORDS if name in message]
    if not words or type(words[0]) is not str or any(word != words[0] for word in words):
        raise CommandError(
            BAD_WORD,
            f'{in_short(message)} does not say what it is: put {ROLL_DICE} or {SCORE_BOX} under "type" or "key"',
        )
    return words[0]


# --- what a server says ----------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)  # most rows of a table are as they were when somebody was asked last
def score_text(scores: tuple[int, ...]) -> str:
    """Return fifteen points, -1 for an open box, as a STANDING has them."""
    return ",".join([OPEN if points < 0 else str(points) for points in scores])


def table_message(shown: View, names: Sequence[str], ratings: Sequence[int]) -> Message:
    """Return the STANDING of a table that somebody is shown; see `standing_message`."""
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
    """Return the STANDING that goes to every player after every change; names and ratings are by seat."""
    return table_message(view(state, 0), names, ratings)


def totals_of(game: Game, state: Any) -> list[int]:
    """Return each seat's points, the bonus included."""
    return [int(total(state, seat)) for seat in range(game.players)]


def final_message(game: Game, state: Any, names: Sequence[str], ratings: Sequence[int]) -> Message:
    """Return the FINAL of a game that is over: names, boxes, totals, places and new ratings, best first.

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
    """Return the ERROR that answers a command which cannot be carried out."""
    return {"key": ERROR, "code": code, "message": message}


def has_given_up(state: Any, seat: int) -> bool:
    """Return whether the server plays the rest of the game for this seat."""
    return bool(state["helped"][seat] >= MOST_HELP)


def interludes(game: Game, state: Any, action: int) -> list[Any]:
    """Return the tables that ``action`` leads through before it leads to the next seat that plays for itself.

    The rules play the turns of seats that have given up within the step that leads to them. Clients see each of them
    begin: these are the records, in their order, in which such a seat is shown its five dice. ``state`` is not changed.
    """
    if max(state["helped"].tolist()) < MOST_HELP:
        return []
    after, table = state.copy(), state.copy()
    game.step(after, action)
    found: list[Any] = []
    while True:
        # With one turn less on their account they are waited for, and the server's turn then puts it back.
        table["helped"] = table["helped"].clip(max=MOST_HELP - 1)
        game.step(table, SERVER_TURN if found else action)
        if table["over"] or not has_given_up(after, int(table["player"])):
            return found
        found.append(table.copy())


def as_original(standing: Message) -> Message:
    """Return a STANDING as the original server writes it: ``score`` is an array, with -1 for an open box."""
    rows = [
        row | {"score": [-1 if text == OPEN else int(text) for text in row["score"].split(",")]}
        for row in standing["standing"]
    ]
    return standing | {"standing": rows}


def welcome_message(name: str, rating: int) -> Message:
    """Return the WELCOME that tells a client under which name it plays; standings know it by that alone."""
    return {"key": WELCOME, "playerName": name, "rating": rating}


# --- what a client reads of it ---------------------------------------------------------------------------------


def _bad(message: str) -> CommandError:
    return CommandError(BAD_STANDING, message)


def _number(value: object, low: int, high: int, what: str) -> int:
    if type(value) is not int or not low <= value <= high:
        raise _bad(f"invalid {what} {in_short(value)}: it is a whole number from {low} to {high}")
    return value


def _standing(message: object) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the parts ``standing`` and ``currentPlayer`` of a STANDING, their forms checked."""
    if word_of(message) != STANDING:
        raise _bad(f"expected a {STANDING}, got {in_short(message)}")
    whole: dict[Any, Any] = message  # type: ignore[assignment]  # word_of takes nothing else
    rows, current = whole.get("standing"), whole.get("currentPlayer")
    if type(rows) is not list or not all(isinstance(row, dict) for row in rows):
        raise _bad(f"invalid standing {in_short(rows)}: it is a list of players")
    if not isinstance(current, dict):
        raise _bad(f"invalid currentPlayer {in_short(current)}: it is an object")
    names = [row.get("playerName") for row in rows]
    if not all(type(name) is str for name in names) or len(set(names)) < len(names):
        raise _bad(f"the names {in_short(names)} do not tell the players apart")
    if current.get("playerName") not in names:
        raise _bad(f"currentPlayer {in_short(current.get('playerName'))} is not one of {in_short(names)}")
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
            raise _bad(f'invalid score of a box {in_short(field)}: it is "{OPEN}" or points up to {YATZY_POINTS}')
        found.append(-1 if field == OPEN else int(field))
    return found


def state_of(message: object, seat_name: str, game: Game) -> tuple[Any, int]:
    """Return the record that a STANDING describes, and the seat of ``seat_name``; seats are in its order.

    What no message tells (the key, errors, whom the server helps) is as in a new game. Raises CommandError if it is no
    STANDING, not of a ``game`` with as many players (`names_of`), or without the name.
    """
    rows, current = _standing(message)
    names = [row["playerName"] for row in rows]
    if len(rows) != game.players:
        raise _bad(f"{len(rows)} players do not play {game!r}")
    if seat_name not in names:
        raise _bad(f"{in_short(seat_name)} is not one of {in_short(names)}")
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
    first, second = (
        {row["playerName"]: _scores(row.get("score")) for row in _standing(message)[0]} for message in (before, after)
    )
    return list(first) == list(second) and all(
        old in (-1, new) for name in first for old, new in zip(first[name], second[name], strict=True)
    )


def open_boxes(message: object, name: str) -> int:
    """Return how many boxes a player of a STANDING has still to fill; 0 if it is not there. Raises CommandError."""
    rows = [row for row in _standing(message)[0] if row["playerName"] == name]
    return _scores(rows[0].get("score")).count(-1) if rows else 0


def final_text(message: object) -> str:
    """Return in one line what a FINAL says. Raises CommandError for anything else."""
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


# --- what a client says ----------------------------------------------------------------------------------------------

FAULT_CODES = {
    BAD_COMMAND: BAD_WORD,
    NO_ROLLS_LEFT: "no-rolls-left",
    USED_BOX: "used-box",
    NOT_SHOWN: "bad-dice",
    NO_DICE: "no-dice",
}
"""The code of an ERROR for each fault of the rules that a player can commit."""
_ALLOWED = f"from 0 to {DICE - 1}"


def login_message(secret: str | None = None, name: str | None = None, client: str | None = None) -> Message:
    """Return what a client says first: a secret to be known by, a name to play under, and the program, for people.

    A secret alone is how clients of the original log in (`original_login`).
    """
    given = {"playerName": name, "secret": secret, "client": client}
    return {"key": LOGIN} | {key: value for key, value in given.items() if value is not None}


_LOGIN_HINT = json.dumps(login_message("..."))


def login_of(message: object) -> tuple[str | None, str | None]:
    """Return the name and the secret in a LOGIN, each None if it is not there. Raises CommandError.

    Original clients send a secret alone; ``playerName`` is ours, for servers where names are free.
    """
    if word_of(message) != LOGIN or not isinstance(message, dict):
        raise CommandError(BAD_LOGIN, f"log in first: send {_LOGIN_HINT}")
    found = message.get("playerName"), message.get("secret")
    for value in found:
        if value is not None and type(value) is not str:
            raise CommandError(BAD_LOGIN, f"{in_short(value)} is not a text: send {_LOGIN_HINT}")
    return found


def original_login(message: object) -> bool:
    """Return whether a LOGIN is one of the original's clients: a secret and nothing more, the command under "key"."""
    return isinstance(message, dict) and set(message) == {"key", "secret"} and message["key"] == LOGIN


def _places(message: dict[Any, Any]) -> int:
    """Return the bit mask of the dice that a command names."""
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
    """Return the wide action that a ROLL_DICE or SCORE_BOX command means; whether it is legal is for ``step`` to say.

    Raises CommandError for everything that is no such command.
    """
    word = word_of(command)
    message: dict[Any, Any] = command  # type: ignore[assignment]  # word_of takes nothing else
    if word == ROLL_DICE:
        return ROLL_PLACES + _places(message)
    if word != SCORE_BOX:
        raise CommandError(BAD_WORD, f"invalid command {in_short(word)}: send {ROLL_DICE} or {SCORE_BOX}")
    box = message.get("box")
    if not is_whole_number(box) or not 1 <= box <= BOXES:
        raise CommandError(BAD_BOX, f"invalid box {in_short(box)}: boxes are whole numbers from 1 to {BOXES}")
    return SCORE_PLACES + (int(box) - 1) * HANDFULS + _places(message)


def fault_error(fault: int) -> CommandError:
    """Return the error that tells a player of a fault that ``step`` found with its command."""
    code = FAULT_CODES.get(fault, BAD_WORD)
    return CommandError(code, f"{SPEC.faults[fault]}: nothing has changed, send another command")


def _best_places(box: int, dice: Sequence[int] | np.ndarray) -> int:
    """Return the places that score most in ``box`` (from 0), the first such; all five if none scores."""
    most = BEST[set_of(dice, HANDFULS - 1) - KEEPS, box]
    fitting = (places for places in range(HANDFULS) if POINTS[set_of(dice, places), box] == most)
    return next(fitting) if most else HANDFULS - 1


def name_dice(action: int, dice: Sequence[int] | np.ndarray) -> tuple[int | None, int]:
    """Return (box from 0, None for a roll; bit mask of the places) that one of the environments' actions names."""
    if action < KEEPS:
        return None, HANDFULS - 1 - int(places_kept(dice, action))
    return action - FIRST_BOX, _best_places(action - FIRST_BOX, dice)


def write_command(box: int | None, places: int) -> Message:
    """Return the command that scores a box (from 0), or rolls if it is None, with the dice in a bit mask."""
    words = dict.fromkeys(WORDS, ROLL_DICE if box is None else SCORE_BOX)
    scored = {} if box is None else {"box": box + 1}
    return {**words, **scored, "dice": [place for place in range(DICE) if places >> place & 1]}


def command_of(action: int, dice: Sequence[int]) -> Message:
    """Return the command that an action means when these five dice lie on the table.

    Raises CommandError if no command means it: an unknown action, or one that keeps dice that are not there.
    """
    shown = np.array(dice, np.int8)
    box, fits = None, True
    if 0 <= action < N_ACTIONS and shown.shape == (DICE,):
        box, places = name_dice(action, shown)
        fits = box is not None or set_of(shown, HANDFULS - 1 - places) == action
    elif ROLL_PLACES <= action < ROLL_PLACES + HANDFULS:
        places = action - ROLL_PLACES
    elif SCORE_PLACES <= action < SCORE_PLACES + BOXES * HANDFULS:
        box, places = divmod(action - SCORE_PLACES, HANDFULS)
    else:
        places, fits = 0, False
    if not fits:
        raise CommandError(BAD_WORD, f"no command means action {action} with the dice {in_short(dice)}")
    return write_command(box, places)


def command_in(action: int, state: Any) -> Message:
    """Return the command that an action means in a state, as `command_of` does. Raises CommandError."""
    return command_of(action, state["dice"].tolist())
