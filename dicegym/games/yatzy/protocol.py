"""The messages of a Yatzy server, and what they mean by the rules: pure functions, no connection.

Messages are JSON objects, here plain dicts. What comes from outside may be anything that JSON can say; what is
wrong with it is told by `CommandError` and nothing else is ever raised because of it.

From the server: STANDING (`standing_message`), FINAL (`final_message`), ERROR (`error_message`), WELCOME. From a
client: LOGIN (`login_message`), ROLL_DICE and SCORE_BOX (`command_of`). The rule text names a command under ``type``,
the original clients name it under ``key``; either is read, both are written.

This is the door, by which servers and clients enter (`dicegym.games.messages.Wire`). Behind it: ``protocol_words``, of
which messages are made; ``protocol_login``; ``protocol_told``, what a server says; ``protocol_read``, what a client
reads of that; ``protocol_commands``, from commands to actions and back.
"""

from __future__ import annotations

from dicegym.games.yatzy.protocol_commands import (
    FAULT_CODES,
    action_of,
    action_or_unreadable,
    cheap_command,
    command_in,
    command_of,
    ends_turn,
    fault_error,
    named_by,
    written,
)
from dicegym.games.yatzy.protocol_login import (
    login_message,
    login_of,
    original_login,
    secret_of,
    welcome_message,
    welcomed,
)
from dicegym.games.yatzy.protocol_read import continues, final_text, mover_of, names_of, open_boxes, state_of
from dicegym.games.yatzy.protocol_told import (
    as_original,
    error_message,
    final_message,
    given_up,
    interludes,
    score_text,
    standing_message,
    table_message,
    totals_of,
)
from dicegym.games.yatzy.protocol_words import (
    ERROR,
    FINAL,
    LOGIN,
    OPEN,
    ROLL_DICE,
    SCORE_BOX,
    STANDING,
    START_RATING,
    WELCOME,
    WORDS,
    CommandError,
    word_of,
)
from dicegym.games.yatzy.rules import UNREADABLE

__all__ = [
    "ERROR",
    "FAULT_CODES",
    "FINAL",
    "LOGIN",
    "OPEN",
    "ROLL_DICE",
    "SCORE_BOX",
    "STANDING",
    "START_RATING",
    "UNREADABLE",
    "WELCOME",
    "WORDS",
    "CommandError",
    "action_of",
    "action_or_unreadable",
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
    "score_text",
    "secret_of",
    "standing_message",
    "state_of",
    "table_message",
    "totals_of",
    "welcome_message",
    "welcomed",
    "word_of",
    "written",
]
