"""What a player printed in games where players may not print."""

from __future__ import annotations

KEPT_CHARACTERS = 2000


class Printed:
    """What was printed: all of it counted, the first `KEPT_CHARACTERS` kept.

    Attributes:
        count: number of times something was written.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget what was printed so far."""
        self.count = 0
        self._kept: list[str] = []
        self._room = KEPT_CHARACTERS

    @property
    def text(self) -> str:
        """The beginning of what was printed."""
        return "".join(self._kept)

    def write(self, text: str) -> int:
        """Take ``text`` as a stream would; return its length."""
        self.count += 1
        if self._room > 0:
            self._kept.append(text[: self._room])
            self._room -= len(text)
        return len(text)

    def flush(self) -> None:
        """Do nothing: there is nowhere to flush to."""
