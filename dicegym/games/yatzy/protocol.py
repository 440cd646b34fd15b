"""The messages of a Yatzy server, and what they mean by the rules: pure functions, no connection.

Messages are JSON objects, here plain dicts. From the server: STANDING, FINAL, ERROR, WELCOME (``server_messages.py``).
From a client, here: LOGIN (`login_message`), ROLL_DICE and SCORE_BOX (`command_of`). The rule text names a command
under ``type``, the original clients name it under ``key``; either is read, both are written.

Servers and clients find all of it in this module, as `dicegym.games.messages.Wire` says.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.games.yatzy.hands import HANDFULS, places_kept, set_of
from dicegym.games.yatzy.rules import (
    BAD_COMMAND,
    FIRST_BOX,
    N_ACTIONS,
    NO_DICE,
    NO_ROLLS_LEFT,
    NOT_SHOWN,
    ROLL_PLACES,
    SCORE_PLACES,
    SPEC,
    UNREADABLE,
    USED_BOX,
)
from dicegym.games.yatzy.server_messages import (
    BAD_BOX,
    BAD_INDEX,
    BAD_LOGIN,
    BAD_WORD,
    ERROR,
    FINAL,
    LOGIN,
    OPEN,
    ROLL_DICE,
    SCORE_BOX,
    STANDING,
    WELCOME,
    WORDS,
    CommandError,
    as_original,
    continues,
    error_message,
    final_message,
    final_text,
    given_up,
    in_short,
    interludes,
    mover_of,
    names_of,
    open_boxes,
    standing_message,
    state_of,
    totals_of,
    welcome_message,
    welcomed,
    word_of,
)
from dicegym.games.yatzy.tables import BEST, BOXES, DICE, KEEPS, POINTS

__all__ = [
    "ERROR",
    "FAULT_CODES",
    "FINAL",
    "LOGIN",
    "STANDING",
    "UNREADABLE",
    "WELCOME",
    "CommandError",
    "action_of",
    "as_original",
    "cheap_command",
    "command_in",
    "command_of",
    "continues",
    "ends_turn",
    "error_message",
    "fault_error",
    "final_message",
    "final_text",
    "given_up",
    "interludes",
    "login_message",
    "login_of",
    "mover_of",
    "named_by",
    "names_of",
    "open_boxes",
    "original_login",
    "standing_message",
    "state_of",
    "totals_of",
    "welcome_message",
    "welcomed",
    "word_of",
    "written",
]

FAULT_CODES = {
    BAD_COMMAND: BAD_WORD,
    NO_ROLLS_LEFT: "no-rolls-left",
    USED_BOX: "used-box",
    NOT_SHOWN: "bad-dice",
    NO_DICE: "no-dice",
}
"""The code of an ERROR for each fault of the rules that a player can commit."""


def login_message(secret: str | None = None, name: str | None = None, client: str | None = None) -> dict[str, Any]:
    """Return what a client says first; see `login_of`.

    Args:
        secret: to be known by.
        name: to play under.
        client: the program, for people. A secret alone is how clients of the original log in (`original_login`): one
            that wants to hear more than they do says something more.
    """
    given = {"playerName": name, "secret": secret, "client": client}
    return {"key": LOGIN} | {key: value for key, value in given.items() if value is not None}


def login_of(message: object) -> tuple[str | None, str | None]:
    """Return the name and the secret in a LOGIN, each None if it is not there. Raises CommandError.

    Original clients send a secret alone, which the server knows whose it is (`original_login`); ``playerName`` is ours,
    for servers where names are free.
    """
    if word_of(message) != LOGIN or not isinstance(message, dict):
        raise CommandError(BAD_LOGIN, f"log in first: send {login_message('...')}")
    found = message.get("playerName"), message.get("secret")
    for value in found:
        if value is not None and type(value) is not str:
            raise CommandError(BAD_LOGIN, f"{in_short(value)} is no text: send {login_message('...')}")
    return found


def original_login(message: object) -> bool:
    """Return whether a LOGIN is one of the original's clients: a secret and nothing more, the command under "key"."""
    return isinstance(message, dict) and set(message) == {"key", "secret"} and message["key"] == LOGIN


def _places(message: dict[Any, Any]) -> int:
    """Return the bit mask of the dice that a command names."""
    if "dice" not in message:
        raise CommandError(BAD_INDEX, f"the command names no dice: add 'dice', a list of places from 0 to {DICE - 1}")
    dice = message["dice"]
    if type(dice) not in (list, tuple) or len(dice) > DICE:
        raise CommandError(
            BAD_INDEX, f"dice {in_short(dice)} is no list of at most {DICE} places: give places from 0 to {DICE - 1}"
        )
    places = 0
    for place in dice:
        if type(place) is not int or not 0 <= place < DICE:
            raise CommandError(
                BAD_INDEX, f"{in_short(place)} is no place of a die: places are whole numbers from 0 to {DICE - 1}"
            )
        if places >> place & 1:
            raise CommandError(BAD_INDEX, f"place {place} is named twice: name each die once")
        places |= 1 << place
    return places


def action_of(command: object) -> int:
    """Return the action that a ROLL_DICE or SCORE_BOX command means: a wide one, which names dice by places.

    Whether it is legal now is for ``step`` to say. Raises CommandError for everything that is no such command.
    """
    word = word_of(command)
    message: dict[Any, Any] = command  # type: ignore[assignment]  # word_of takes nothing else
    if word == ROLL_DICE:
        return ROLL_PLACES + _places(message)
    if word != SCORE_BOX:
        raise CommandError(BAD_WORD, f"{in_short(word)} is no command: send {ROLL_DICE} or {SCORE_BOX}")
    box = message.get("box")
    if type(box) is not int or not 1 <= box <= BOXES:
        raise CommandError(BAD_BOX, f"{in_short(box)} is no box: boxes are whole numbers from 1 to {BOXES}")
    return SCORE_PLACES + (box - 1) * HANDFULS + _places(message)


def ends_turn(command: object) -> bool:
    """Return whether a command is one that scores a box."""
    return isinstance(command, dict) and any(command.get(word) == SCORE_BOX for word in WORDS)


def fault_error(fault: int) -> CommandError:
    """Return the error that tells a player of a fault that ``step`` found with its command."""
    code = FAULT_CODES.get(fault, BAD_WORD)
    return CommandError(code, f"{SPEC.faults[fault]}: nothing has changed, send another command")


def _best_places(box: int, dice: Sequence[int] | np.ndarray) -> int:
    """Return the places that score most in ``box`` (from 0), the first such; all five if none scores."""
    most = BEST[set_of(dice, HANDFULS - 1) - KEEPS, box]
    fitting = (places for places in range(HANDFULS) if POINTS[set_of(dice, places), box] == most)
    return next(fitting) if most else HANDFULS - 1


def named_by(action: int, dice: Sequence[int] | np.ndarray) -> tuple[int | None, int]:
    """Return (box from 0, None for a roll; bit mask of the places) that one of the environments' actions names."""
    if action < KEEPS:
        return None, HANDFULS - 1 - int(places_kept(dice, action))
    return action - FIRST_BOX, _best_places(action - FIRST_BOX, dice)


def written(box: int | None, places: int) -> dict[str, Any]:
    """Return the command that scores a box (from 0), or rolls if it is None, with the dice in a bit mask."""
    words = dict.fromkeys(WORDS, ROLL_DICE if box is None else SCORE_BOX)
    scored = {} if box is None else {"box": box + 1}
    return {**words, **scored, "dice": [place for place in range(DICE) if places >> place & 1]}


def command_of(action: int, dice: Sequence[int]) -> dict[str, Any]:
    """Return the command that an action means when these five dice lie on the table.

    Raises CommandError if no command means it: the action is none, or dice are to be kept that are not there.
    """
    shown = np.array(dice, np.int8)
    box, fits = None, True
    if 0 <= action < N_ACTIONS and shown.shape == (DICE,):
        box, places = named_by(action, shown)
        fits = box is not None or set_of(shown, HANDFULS - 1 - places) == action
    elif ROLL_PLACES <= action < ROLL_PLACES + HANDFULS:
        places = action - ROLL_PLACES
    elif SCORE_PLACES <= action < SCORE_PLACES + BOXES * HANDFULS:
        box, places = divmod(action - SCORE_PLACES, HANDFULS)
    else:
        places, fits = 0, False
    if not fits:
        raise CommandError(BAD_WORD, f"no command means action {action} with the dice {in_short(dice)}")
    return written(box, places)


def command_in(action: int, state: Any) -> dict[str, Any]:
    """Return the command that an action means in a state, as `command_of` does. Raises CommandError."""
    return command_of(action, state["dice"].tolist())


def cheap_command(standing: bytes, name: str) -> bytes | None:
    """Return a legal command of ``name`` as JSON, None if it is not its turn: for measuring servers.

    It rolls all dice while it can, and then scores the first open box with them. Both sides of the exchange are text,
    and the standing is one that `standing_message` made without spaces: a client should cost a measurement little.
    """
    before, _, now = standing.rpartition(b'"currentPlayer":')
    own = b'{"playerName":' + json.dumps(name).encode() + b","
    if not now.startswith(own):
        return None
    if b'"rollsLeft":0' not in now:
        return b'{"type":"ROLL_DICE","dice":[0,1,2,3,4]}'
    scores = before.partition(own)[2].partition(b'"score":"')[2].partition(b'"')[0].split(b",")
    return b'{"type":"SCORE_BOX","box":%d,"dice":[0,1,2,3,4]}' % (1 + scores.index(OPEN.encode()))
