"""What the messages of a Yatzy server are made of: their words, the codes of errors, and the error itself."""

from __future__ import annotations

from dicegym.errors import DicegymError

START_RATING = 1200
OPEN = "-"
"""How an open box is written in a standing."""
WORDS = ("type", "key")
"""Under which of these a command is named is all the same."""
ROLL_DICE, SCORE_BOX, LOGIN = "ROLL_DICE", "SCORE_BOX", "LOGIN"
STANDING, FINAL, ERROR, WELCOME = "STANDING", "FINAL", "ERROR", "WELCOME"

BAD_WORD, BAD_INDEX, BAD_BOX, BAD_STANDING, BAD_LOGIN = (
    "bad-command",
    "bad-index",
    "bad-box",
    "bad-standing",
    "bad-login",
)
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
    """Return a value in a few characters, whatever it is."""
    try:
        text = repr(value) if not isinstance(value, int) or abs(value) < 1 << 63 else "a huge number"
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def word_of(message: object) -> str:
    """Return what kind of message this is: the word under "type" or "key". Raises CommandError."""
    if not isinstance(message, dict):
        raise CommandError(BAD_WORD, f"{in_short(message)} is no message: send a JSON object")
    words = [message[name] for name in WORDS if name in message]
    if not words or type(words[0]) is not str or any(word != words[0] for word in words):
        raise CommandError(
            BAD_WORD,
            f"{in_short(message)} does not say what it is: put {ROLL_DICE} or {SCORE_BOX} under 'type' or 'key'",
        )
    return words[0]
