"""The redirected output of a player."""

from __future__ import annotations

KEPT_CHARACTERS = 2000


class Printed:
    """Output of a player: ``count`` writes, and the first `KEPT_CHARACTERS` as ``text``."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget the output."""
        self.count = 0
        self.text = ""

    def write(self, text: str) -> int:
        """Write ``text`` as to a stream; return its length."""
        self.count += 1
        self.text += text[: KEPT_CHARACTERS - len(self.text)]
        return len(text)

    def flush(self) -> None:
        """Do nothing."""
