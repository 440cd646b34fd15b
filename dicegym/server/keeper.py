"""How results come to the disk whatever happens to their file: into it, or beside it until it can be written again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dicegym.arena.store.trouble import Trouble, called, trouble_of
from dicegym.errors import DicegymError
from dicegym.server.results import GameResult

if TYPE_CHECKING:
    from dicegym.server.store import Store

RETRY = 0.5
"""Seconds between two attempts at a file that could not be written."""
MOST_HELD = 100_000
"""Results that wait beside a file (about 30 MB); when there are more, the server stops."""


class Keeper:
    """Stores results, one call after the other; a call may take as long as the disk does.

    Args:
        store: where.
        wait: seconds after which it is in vain to wait for a file that cannot be written.
        log: takes lines for the operator; called in whatever thread the call comes from.

    Attributes:
        trouble: what is the matter with the file; None if nothing is.
    """

    def __init__(self, store: Store, wait: float, log: Callable[[str], None]) -> None:
        self.trouble: Trouble | None = None
        self._store = store
        self._wait = wait
        self._log = log
        self._since = self._tried = 0.0

    @property
    def held(self) -> int:
        """How many results wait beside the file."""
        return self._store.held

    def keep(self, results: Sequence[GameResult]) -> bool:
        """Bring results to the disk; return whether that was possible, and they can be told.

        Raises what no waiting helps against, and what is no trouble with the file at all.
        """
        if self.trouble is None or not self.held:
            try:
                self._store.write(results)
            except Exception as error:
                self._meet(error)
            else:
                self._over(len(results))
                return True
        try:
            self._store.hold(results)
        except OSError:
            return False
        return True

    def retry(self) -> None:
        """Put what waits beside the file into it, if that can be done by now. Raises as `keep` does."""
        if self.trouble is None or not self.held or time.monotonic() < self._tried + RETRY:
            return
        self._tried = time.monotonic()
        try:
            stored = self._store.catch_up()
        except Exception as error:
            self._meet(error)
        else:
            self._over(stored)

    def despair(self, told: bool) -> None:
        """Raise DicegymError if it is in vain to wait longer; ``told``: whether everything is on the disk."""
        trouble = self.trouble
        if trouble is None:
            return
        if trouble.passes and time.monotonic() < self._since + self._wait and self.held < MOST_HELD:
            return
        since = f" for {self._wait:g} s" if trouble.passes and self.held < MOST_HELD else ""
        raise DicegymError(
            f"{called(self._store.name)} {trouble.reason}{since}, and the server stops: {self._way_out(trouble)}"
            + self.remains(told)
        )

    def remains(self, told: bool) -> str:
        """Return what becomes of results that are not in the file, or nothing if there are none."""
        held = (
            f"; {self.held} results wait in {self._store.pending} and are stored when a server starts there again"
            if self.held
            else ""
        )
        return held + ("" if told else "; results that were told to nobody are lost")

    def _way_out(self, trouble: Trouble) -> str:
        return trouble.instead.replace("FILE", str(self._store.name))

    def _meet(self, error: Exception) -> None:
        found = trouble_of(error)
        if found is None:
            raise error
        if self.trouble is None:
            self._since = time.monotonic()
            waits = (
                f"results wait beside it for at most {self._wait:g} s, and games go on" if found.passes else "see below"
            )
            self._log(f"{called(self._store.name)} {found.reason}: {waits}; {self._way_out(found)}")
        self.trouble = found

    def _over(self, stored: int) -> None:
        if self.trouble is not None:
            self._log(f"{called(self._store.name)} can be written again: {stored} results that waited are stored")
        self.trouble = None
