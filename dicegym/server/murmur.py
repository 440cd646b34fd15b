"""Lines for the operator about what strangers do: the first of a kind at once, and no more than that of a thousand."""

from __future__ import annotations

import time
from collections.abc import Callable

QUIET = 10.0
"""Seconds between two lines of a kind."""
KINDS = 1000
"""Kinds that are remembered."""


class Murmur:
    """A log that does not grow with what is thrown at the server.

    Args:
        log: takes the lines.
        clock: in seconds.
    """

    def __init__(self, log: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._clock = clock
        self._kinds: dict[tuple[str, str], tuple[float, int]] = {}  # when the last line was written, how many since

    def note(self, kind: str, who: str, text: str) -> None:
        """Write ``text``, unless a line of its kind about ``who`` was just written; the next one counts it."""
        now = self._clock()
        written, more = self._kinds.get((kind, who), (now - QUIET, 0))
        if now - written < QUIET:
            self._kinds[kind, who] = written, more + 1
            return
        self._kinds.pop((kind, who), None)  # who was written about last stands last
        self._kinds[kind, who] = now, 0
        if len(self._kinds) > KINDS:
            del self._kinds[next(iter(self._kinds))]
        self._log(f"{text} (and {more} times more before)" if more else text)
