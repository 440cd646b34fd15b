"""What a player printed in games where players may not print."""

from __future__ import annotations

KEPT_CHARACTERS = 2000


class Printed:
    """What was printed: ``count`` is how often something was written, ``text`` the first `KEPT_CHARACTERS` of it."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget what was printed so far."""
        self.count = 0
        self.text = ""

    def write(self, text: str) -> int:
        """Take ``text`` as a stream would; return its length."""
        self.count += 1
        self.text += text[: KEPT_CHARACTERS - len(self.text)]
        return len(text)

    def flush(self) -> None:
        """Do nothing: there is nowhere to flush to."""
